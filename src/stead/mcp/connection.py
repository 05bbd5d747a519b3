"""One conversation with one server, whichever revision and transport it speaks.

Layer: mcp. What a server asks of us in return is answered here: a ping is, a question to the person is handed up, and
models, folders and everything else are refused. Every wait has a deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stead.domain.errors import FetchFault, SteadError
from stead.domain.mcp import Json
from stead.mcp.messages import (
    CAPABILITIES,
    CLIENT,
    HANDSHAKE,
    METHOD_NOT_FOUND,
    OLDER,
    STATELESS,
    UNSUPPORTED_VERSION,
    headers,
    request,
    with_defaults,
)

CONNECT_S, CALL_S = 45.0, 120.0
MOST_PAGES = 50
MOST_ROUNDS = 10
"""How often a request may want something before it is answered."""
_ELICIT = "elicitation/create"


class Wire(Protocol):
    """Carries messages."""

    host: str
    """Whose server it is; "" for a program in a machine."""

    async def send(self, message: Json, headers: Mapping[str, str]) -> None:
        """Send a message."""

    async def cancel(self, ident: int) -> bool:
        """Cut a request off; false where the server needs a message for that."""

    async def close(self) -> None:
        """End it."""


@dataclass
class _Pending:
    answer: asyncio.Future[Json] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    asked: asyncio.Queue[Json] = field(default_factory=asyncio.Queue)


@dataclass
class Wanted:
    """What a server wants of the person before it answers a request.

    Args:
        asks: its questions by the server's own keys, each ``elicitation/create`` with its parameters.
        method: of the request.
        params: of the request.
        state: what the server is to be given back, in the stateless revision.
        reply: under way until the question is answered, with the handshake's revisions.
        pending: of that one: further questions come to it.
    """

    asks: dict[str, Json]
    method: str
    params: Json
    schema: Json
    state: str | None = None
    reply: asyncio.Task[Json] | None = None
    pending: _Pending | None = None


class Refused(FetchFault):
    """The server answered with an error. ``number`` as JSON-RPC has it, ``data`` as the server has it."""

    def __init__(self, error: object) -> None:
        found = error if isinstance(error, dict) else {}
        super().__init__("the server answers with an error: {}", str(found.get("message", ""))[:1000] or "no reason")
        self.number = number if isinstance(number := found.get("code"), int) else 0
        self.data = found.get("data")


class Connection:
    """A conversation. Give it a ``wire`` before ``open``, and close it.

    Args:
        waits_s: how much longer it waits for everything, since a person has to do something first.
        call_s: how long a request may take.
    """

    def __init__(self, waits_s: float = 0.0, call_s: float = CALL_S) -> None:
        self._waits_s = waits_s
        self._call_s = call_s + waits_s
        self.wire: Wire | None = None
        self.version = ""
        self.changed = False
        """The server said that its list of tools is another one now."""
        self.broken: SteadError | None = None
        self.capabilities: Json = {}
        self._pending: dict[int, _Pending] = {}
        self._number = 0
        self._replying: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return any(not pending.answer.done() for pending in self._pending.values())

    # -- what a wire brings -----------------------------------------------------------------------------------------

    def receive(self, message: Json) -> None:
        """Take a message of the server."""
        method, ident = message.get("method"), message.get("id")
        if isinstance(method, str):
            if ident is None:
                self.changed |= method == "notifications/tools/list_changed"
            else:
                self._asked(method, message)
        elif isinstance(ident, int) and (pending := self._pending.get(ident)) and not pending.answer.done():
            pending.answer.set_result(message)

    def fail(self, ident: int, fault: SteadError) -> None:
        """A request will not be answered."""
        if (pending := self._pending.get(ident)) and not pending.answer.done():
            pending.answer.set_exception(fault)

    def end(self, fault: SteadError) -> None:
        """Nothing more comes."""
        self.broken = fault
        for ident in list(self._pending):
            self.fail(ident, fault)

    def _asked(self, method: str, message: Json) -> None:
        """The server wants something. Its question goes to the oldest request that is under way."""
        waiting = next((one for one in self._pending.values() if not one.answer.done()), None)
        if method == _ELICIT and waiting:
            waiting.asked.put_nowait(message)
        elif method == "ping":
            self._reply({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        else:
            error = {"code": METHOD_NOT_FOUND, "message": f"{method[:60]} is not offered"}
            self._reply({"jsonrpc": "2.0", "id": message["id"], "error": error})

    def _reply(self, message: Json) -> None:
        task = asyncio.create_task(self._send(message), name="mcp reply")
        self._replying.add(task)
        task.add_done_callback(self._replying.discard)

    async def _send(self, message: Json) -> None:
        assert self.wire is not None
        with contextlib.suppress(SteadError):  # the request that it is about fails by itself
            await self.wire.send(message, headers(message, self.version))

    # -- asking -----------------------------------------------------------------------------------------------------

    async def open(self, *, legacy: bool = False) -> None:
        """Agree on a revision: the stateless one, unless the server does not know it.

        Raises:
            FetchFault, MachineError: no agreement, or no server.
        """
        async with asyncio.timeout(CONNECT_S + self._waits_s):
            if legacy or not await self._discover():
                await self._shake_hands()

    async def _discover(self) -> bool:
        """Whether the server speaks the stateless revision; then that is agreed on."""
        for _ in range(2):
            try:
                found = await self._ask("server/discover", {}, STATELESS)
            except Refused as refused:
                known = refused.data.get("supported") if isinstance(refused.data, dict) else None
                spoken = set(map(str, known)) if isinstance(known, list) else {HANDSHAKE}
                if refused.number != UNSUPPORTED_VERSION or spoken & {HANDSHAKE, *OLDER}:
                    return False
                if STATELESS not in spoken:
                    raise FetchFault("the server speaks {} alone", sorted(spoken)) from refused
            else:
                if STATELESS not in (found.get("supportedVersions") or ()):
                    return False
                self.version, self.capabilities = STATELESS, _object(found, "capabilities")
                return True
        raise FetchFault("the server names the revision {} and refuses it", STATELESS)

    async def _shake_hands(self) -> None:
        asked = {"protocolVersion": HANDSHAKE, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
        found = await self._ask("initialize", asked, "")
        if (version := found.get("protocolVersion")) not in (HANDSHAKE, *OLDER):
            raise FetchFault("the server answers in the revision {!r}, which is not known", str(version)[:40])
        self.version, self.capabilities = str(version), _object(found, "capabilities")
        assert self.wire is not None
        done: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.wire.send(done, headers(done, self.version))

    async def listed(self, method: str, key: str) -> list[Json]:
        """All pages of a list: of ``tools/list`` the ``tools``."""
        found: list[Json] = []
        params: Json = {}
        for _ in range(MOST_PAGES):
            page = await self._ask(method, params, self.version)
            rows = page.get(key)
            found += [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return found
            params = {"cursor": cursor}
        raise FetchFault("the list {!r} has no end", method)

    async def request(self, method: str, params: Json, schema: Json | None = None) -> Json | Wanted:
        """The result of a request, or what the server wants first; ``schema`` is of the tool that is called.

        Raises:
            Refused: the server answers with an error.
            FetchFault, MachineError: no answer came in time.
        """
        wanted = Wanted({}, method, params, schema or {})
        return await self._followed(wanted, params)

    async def answer(self, wanted: Wanted, content: Json | None) -> Json | Wanted:
        """Go on with a request after the person answered, or declined (None); as ``request``.

        Args:
            wanted: as ``request`` gave it.
            content: the fields of the answer; of several questions, by the server's keys.
        """
        given: Json = {}
        for key, ask in wanted.asks.items():
            one = content if len(wanted.asks) == 1 or content is None else content.get(key, {})
            given[key] = {"action": "decline"} if one is None else _accepted(ask, one)
        if wanted.reply is not None and wanted.pending is not None:
            [(key, result)] = given.items()
            await self._send({"jsonrpc": "2.0", "id": wanted.asks[key]["id"], "result": result})
            return await self._waited(wanted, wanted.reply, wanted.pending)
        return await self._followed(wanted, {**wanted.params, "inputResponses": given, **_state(wanted.state)})

    async def _followed(self, wanted: Wanted, params: Json) -> Json | Wanted:
        for round in range(MOST_ROUNDS):
            pending = _Pending()
            task = asyncio.create_task(self._ask(wanted.method, params, self.version, wanted.schema, pending))
            found = await self._waited(wanted, task, pending)
            if isinstance(found, Wanted) or found.get("resultType") != "input_required":
                return found
            asks, state = _object(found, "inputRequests"), found.get("requestState")
            state = state if isinstance(state, str) else None
            if asks:
                if bad := [ask for ask in asks.values() if not isinstance(ask, dict) or ask.get("method") != _ELICIT]:
                    raise FetchFault("the server wants {}, which it is not given", str(bad[0])[:100])
                return Wanted(asks, wanted.method, wanted.params, wanted.schema, state)
            params = {**wanted.params, **_state(state)}
            await asyncio.sleep(min(0.05 * 2**round, 2.0))
        raise FetchFault("the server wants something more without end")

    async def _waited(self, wanted: Wanted, task: asyncio.Task[Json], pending: _Pending) -> Json | Wanted:
        """The result of a request under way, or the question that the server asks meanwhile."""
        asked = asyncio.create_task(pending.asked.get())
        try:
            await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return await task
            message = asked.result()
            asks = {str(message["id"]): message}
            return Wanted(asks, wanted.method, wanted.params, wanted.schema, reply=task, pending=pending)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            asked.cancel()

    async def _ask(
        self, method: str, params: Json, version: str, schema: Json | None = None, pending: _Pending | None = None
    ) -> Json:
        if self.broken:
            raise self.broken
        assert self.wire is not None
        self._number += 1
        ident = self._number
        pending = self._pending[ident] = pending or _Pending()
        message = request(ident, method, params, version)
        try:
            async with asyncio.timeout(self._call_s):
                await self.wire.send(message, headers(message, version, schema))
                reply = await pending.answer
        except TimeoutError as error:
            await self._cancel(ident)
            raise FetchFault("the server did not answer {!r} within {:g} s", method, self._call_s) from error
        except asyncio.CancelledError:
            await self._cancel(ident)
            raise
        finally:
            self._pending.pop(ident, None)
        if "error" in reply:
            raise Refused(reply["error"])
        return _object(reply, "result")

    async def _cancel(self, ident: int) -> None:
        assert self.wire is not None
        if not await self.wire.cancel(ident) or self.version != STATELESS:
            params = {"requestId": ident, "reason": "it is not wanted any more"}
            self._reply({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    async def close(self) -> None:
        """End the conversation."""
        self.end(FetchFault("the conversation with the server was ended"))
        if self.wire is not None:
            await self.wire.close()


def _object(message: Json, key: str) -> Json:
    return found if isinstance(found := message.get(key), dict) else {}


def _state(state: str | None) -> Json:
    return {} if state is None else {"requestState": state}


def _accepted(ask: Json, content: Json) -> Json:
    params = _object(ask, "params")
    if params.get("mode") == "url":
        return {"action": "accept"}
    return {"action": "accept", "content": with_defaults(_object(params, "requestedSchema"), content)}
