"""The client's side of the Agent Client Protocol, as far as handing one task to an agent needs it.

Layer: tools. An agent is a stranger: whatever it sends is bounded, what was not asked for ends the conversation, and
nothing is offered to it but answers to what it asks leave for. It gets no files and no terminals of Stead's: its work
is in its own machine.

Source: Agent Client Protocol, version 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from stead import __version__
from stead.domain.errors import FetchFault, SteadError
from stead.domain.mcp import Json, Program
from stead.net.json_lines import JsonLines

VERSION = 1
MOST_BYTES, MOST_MESSAGES, MOST_OPEN, MOST_CALLS = 256 << 20, 200_000, 16, 2_000
"""Of a whole run: bytes and messages that an agent may send, requests of it that are open at once, tool calls that are
remembered."""
_SAID_CHARS = 100_000
_SET_UP_S, _CANCEL_S = 120.0, 5.0
_NO_METHOD, _NO_PARAMS = -32601, -32602

OnRequest = Callable[[Json], Awaitable[bool]]
"""Given a tool call as described so far: whether leave is given for it, this once."""


class AcpClient:
    """One agent that works on one task.

    Args:
        program: that was started; ended by ``close``.
        on_request: answers what it asks leave for.
        on_words: takes what it says as it comes. Never blocks.
    """

    def __init__(self, program: Program, on_request: OnRequest, on_words: Callable[[str], None]) -> None:
        self._on_request = on_request
        self._on_words = on_words
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._number = 0
        self._messages = 0
        self._session = ""
        self._asked: set[int | str] = set()
        self._answering: set[asyncio.Task[None]] = set()
        self._calls: dict[str, Json] = {}
        self._over: SteadError | None = None
        self.said = ""
        """Its last words: what it said after its last tool call."""
        self._lines = JsonLines(program, self._receive, self._end, "agent", MOST_BYTES)

    async def meet(self) -> str:
        """Agree on the protocol; gives who the agent says that it is, and how it can be signed in to.

        Raises:
            FetchFault, MachineError: the agent refused, made no sense or died.
            TimeoutError: it said nothing in time.
        """
        async with asyncio.timeout(_SET_UP_S):
            # What is not named here is not offered: no files, no terminals, no questions.
            client = {"name": "stead", "version": __version__}
            hello = {"protocolVersion": VERSION, "clientCapabilities": {}, "clientInfo": client}
            met = await self._request("initialize", hello)
        version = met.get("protocolVersion")
        if version != VERSION:
            raise FetchFault("the agent speaks version {} of the protocol, not {}", repr(version)[:20], VERSION)
        info, ways = met.get("agentInfo"), met.get("authMethods")
        named = [str(one.get("id"))[:60] for one in ways if isinstance(one, dict)] if isinstance(ways, list) else []
        own = [str(info.get(key, ""))[:60] for key in ("name", "version")] if isinstance(info, dict) else []
        return " ".join([*own, *(["signs in by", ", ".join(named[:10])] if named else [])]) or "it gave no name"

    async def start(self, folder: str, method: str, mode: str) -> None:
        """Agree on the protocol, sign in where that is wanted, and open a session in a folder and a mode.

        Raises:
            FetchFault, MachineError: the agent refused, made no sense or died.
        """
        await self.meet()
        async with asyncio.timeout(_SET_UP_S):
            if method:
                await self._request("authenticate", {"methodId": method})
            opened = await self._request("session/new", {"cwd": folder, "mcpServers": []})
        session = opened.get("sessionId")
        if not isinstance(session, str) or not 0 < len(session) <= 1000:
            raise FetchFault("the agent opened no session")
        self._session = session
        if mode:
            async with asyncio.timeout(_SET_UP_S):
                await self._request("session/set_mode", {"sessionId": session, "modeId": mode})

    async def prompt(self, text: str) -> str:
        """Give it the task, and wait for the end of its turn; gives why it ended.

        Raises:
            FetchFault, MachineError: as ``start``.
        """
        parts = [{"type": "text", "text": text}]
        end = await self._request("session/prompt", {"sessionId": self._session, "prompt": parts})
        reason = end.get("stopReason")
        if not isinstance(reason, str):
            raise FetchFault("the agent ended its turn without a reason")
        return "done" if reason == "end_turn" else reason[:40]

    async def cancel(self) -> None:
        """Tell it to stop, and give it a moment to end its turn."""
        if turns := [*self._waiting.values()]:
            async with asyncio.timeout(_CANCEL_S):
                await self._lines.write(
                    {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": self._session}}
                )
                await asyncio.wait(turns)

    async def close(self) -> None:
        """End it, with everything in its machine, and every request of it that is open."""
        self._end(FetchFault("the agent was ended"))
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)
        await self._lines.close()

    async def _request(self, method: str, params: Json) -> Json:
        if self._over is not None:
            raise self._over
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._lines.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            reply = await asyncio.shield(answer)
        finally:
            if answer.done():
                del self._waiting[number]
        error = reply.get("error")
        if error is not None:
            said = error.get("message") if isinstance(error, dict) else error
            raise FetchFault("the agent refused {}: {}", method, str(said)[:1000])
        result = reply.get("result")
        return result if isinstance(result, dict) else {}

    def _receive(self, message: Json) -> None:
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            raise FetchFault("the agent sent more than {:,} messages", MOST_MESSAGES)
        ident, method = message.get("id"), message.get("method")
        if method is None:
            answer = self._waiting.get(ident) if isinstance(ident, int) and not isinstance(ident, bool) else None
            if answer is None:
                raise FetchFault("the agent answered what it was not asked: {}", repr(ident)[:60])
            if not answer.done():
                answer.set_result(message)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            if method == "session/update" and params.get("sessionId") == self._session:
                self._update(params.get("update"))
            return
        if not (isinstance(method, str) and isinstance(ident, int | str)) or ident in self._asked:
            raise FetchFault("the agent asks with an id that cannot be: {}", repr(ident)[:60])
        if len(self._answering) >= MOST_OPEN:
            raise FetchFault("the agent asks for more than {} things at once", MOST_OPEN)
        self._asked.add(ident)
        task = asyncio.create_task(self._answer(ident, method, params), name="request of an agent")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def _update(self, update: object) -> None:
        if not isinstance(update, dict):
            return
        kind, content, title = update.get("sessionUpdate"), update.get("content"), update.get("title")
        if kind == "agent_message_chunk" and isinstance(content, dict) and isinstance(content.get("text"), str):
            self.said = (self.said + content["text"])[-_SAID_CHARS:]
            self._on_words(content["text"])
        elif kind in ("tool_call", "tool_call_update"):
            self._known(update)
            if kind == "tool_call":
                self.said = ""
                self._on_words(f"\n[{' '.join(str(title).split())[:200]}]\n")

    def _known(self, update: Json) -> Json:
        """A tool call with what an update says of it; what it does not mention stays."""
        ident = str(update.get("toolCallId"))[:200]
        known = {**self._calls.pop(ident, {}), **{key: value for key, value in update.items() if value is not None}}
        self._calls[ident] = known
        while len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        return known

    async def _answer(self, ident: int | str, method: str, params: Json) -> None:
        try:
            reply = await self._reply(method, params)
            self._asked.discard(ident)  # it may use the id again as soon as it has read the answer
            if self._over is None:
                await self._lines.write({"jsonrpc": "2.0", "id": ident, **reply})
        except SteadError as fault:
            self._end(fault)

    async def _reply(self, method: str, params: Json) -> Json:
        call, offered = params.get("toolCall"), params.get("options")
        if method != "session/request_permission":
            return {"error": {"code": _NO_METHOD, "message": f"{method[:100]} is not offered"}}
        if params.get("sessionId") != self._session or not isinstance(call, dict) or not isinstance(offered, list):
            return {"error": {"code": _NO_PARAMS, "message": "a tool call of this session and options are needed"}}
        ways = {str(one.get("kind")): one.get("optionId") for one in offered if isinstance(one, dict)}
        given = await self._on_request(self._known(call)) if "allow_once" in ways else False
        # An answer is for this once, and never for what comes after.
        chosen = ways.get("allow_once" if given else "reject_once")
        known = {"outcome": "selected", "optionId": chosen} if isinstance(chosen, str) else {"outcome": "cancelled"}
        return {"result": {"outcome": known}}

    def _end(self, fault: SteadError) -> None:
        self._over = self._over or fault
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._over)
                answer.exception()  # nobody may be left who asked
