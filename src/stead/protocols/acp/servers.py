"""MCP servers that an editor hands over: each is the editor's claim, and the person says what becomes of it.

Layer: a door. It is the road of ``stead mcp add``, with the person asked in the editor: whether the server is set up,
with its command or URL and its hosts, and then which tools it has, in its words, pinned as they were shown. Nothing of
it is started before the first yes, and none of its tools can be called before the second. One that the home has with
approved tools is used as it is there.
"""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import NamedTuple

from stead.client import ApiError, Client, Json
from stead.domain.shown import reveal
from stead.protocols.acp.jsonrpc import INVALID_PARAMS, Peer, RpcError
from stead.protocols.acp.questions import DWELL_S, HASTY_LIMIT
from stead.protocols.acp.rendering import message, text_block

SERVERS_LIMIT = 20
"""Handed over with one session."""
TEXT_LIMIT = 20_000
"""Characters of a question; what would be longer is looked at elsewhere."""
_TEST_S = 120.0
_NO = {"optionId": "deny", "name": "Not now", "kind": "reject_once"}


class Offer(NamedTuple):
    """A server that may be set up: the fields of the command that does so; ``note``: why it cannot be."""

    name: str
    body: Json
    note: str = ""


class _Question(NamedTuple):
    text: str
    yes: str


class _End(NamedTuple):
    text: str = ""
    done: bool = False


_Talk = Generator[_Question, bool, _End]
"""Yields what the person is asked, gets whether they said yes, and ends with what is said to them, if anything."""


class _Asked(NamedTuple):
    session: str
    offer: Offer
    call: str
    talk: _Talk


def read(params: Json) -> list[Json]:
    """The servers that come with a session, unread.

    Raises:
        RpcError: they are no list of servers, or too many.
    """
    given = params.get("mcpServers")
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > SERVERS_LIMIT:
        raise RpcError(INVALID_PARAMS, f"mcpServers is a list of at most {SERVERS_LIMIT} servers")
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in given):
        raise RpcError(INVALID_PARAMS, "each of mcpServers is an object with a name")
    return given


def _offers(given: list[Json]) -> Iterator[Offer]:
    import msgspec

    from stead.domain.mcp_files import found_servers  # most editors hand none over

    for one in given:
        values = {kind: _values(one.get(kind)) for kind in ("env", "headers")}
        found = list(found_servers({"mcpServers": {one["name"]: {**one, **values}}}, "", {}))
        if not found:
            yield Offer(one["name"], {}, "is reached in a way that is not known here")
        for server, note in found:
            body = msgspec.to_builtins(server)
            del body["type"]
            yield Offer(server.name, body, note)


def _values(pairs: object) -> Json:
    rows = [row for row in pairs if isinstance(row, dict)] if isinstance(pairs, list) else []
    return {str(row.get("name")): str(row.get("value", "")) for row in rows}


class EditorServers:
    """The servers of one editor, asked about one after another. Its methods are called from one thread at a time.

    Args:
        peer: the editor.
        client: gives one to the daemon.
        work: has something done in that thread.
    """

    def __init__(self, peer: Peer, client: Callable[[], Client], work: Callable[[Callable[[], None]], None]) -> None:
        self._peer = peer
        self._client = client
        self._work = work
        self._waiting: deque[_Asked] = deque()
        self._now: _Asked | None = None
        self._known: set[str] = set()
        """Those that were asked about since the editor began, by how they are reached."""
        self._request = self._hasty = self._count = 0
        self._shown_s = 0.0

    def offer(self, session: str, directory: str, given: list[Json]) -> None:
        """Use what is approved at home, and ask about the others, unless they were asked about before."""
        for offer in _offers(given):
            if offer.note:
                self._tell(session, f"The MCP server {offer.name[:80]!r} is not used: it {offer.note}")
            elif (mark := _mark(offer.body)) not in self._known:
                self._known.add(mark)
                self._count += 1
                call = f"mcp.{self._count}.{offer.name}"
                self._waiting.append(_Asked(session, offer, call, self._talk(offer.body, directory)))
        self._begin()

    def close(self, session: str) -> None:
        """Ask nothing more in a session; what was not answered is asked in the next one."""
        for asked in [one for one in self._waiting if one.session == session]:
            self._waiting.remove(asked)
            self._known.discard(_mark(asked.offer.body))
        if self._now and self._now.session == session:
            self._peer.withdraw(self._request)
            self._known.discard(_mark(self._now.offer.body))
            self._end(_End("The session was closed."))
            self._begin()

    # -- what is asked ------------------------------------------------------------------------------------------------

    def _talk(self, body: Json, directory: str) -> _Talk:
        client, name = self._client(), body["name"]
        rows = {row["server"]["name"]: row for row in client.items("/mcp")}
        same = next((row for row in rows.values() if _mark(row["server"]) == _mark(body)), None)
        if same and same["approved"]:
            return _End()
        if same:
            body, name = same["server"], same["server"]["name"]
        elif name in rows:  # the person has another one by that name
            name = next(free for at in range(2, 99) if (free := f"{name[:28]}-{at}") not in rows)
        text = _described(name, body)
        if len(text) > TEXT_LIMIT:
            return _End(f"{name} is too long to be shown. Set it up with: stead mcp add")
        if not (yield _Question(text, "Set it up, and show its tools")):
            return _End(f"Not set up. Later: stead mcp add {name}")
        if not same:
            client.post("/mcp", {**body, "name": name})
        check = client.post(f"/mcp/{name}/test", {"directory": directory}, timeout_s=_TEST_S)
        if not check["ok"]:
            return _End(f"It could not be asked: {check['text'][:2000]}. Next: stead mcp show {name}")
        waiting = [tool for tool in client.items(f"/mcp/{name}/tools") if tool["state"] in ("new", "changed")]
        text = reveal("\n\n".join([f"{name} has these tools, in its own words:", *map(_tool, waiting)]))
        if not waiting or len(text) > TEXT_LIMIT:
            return _End(f"{len(waiting)} of its tools wait for you. Next: stead mcp review {name}")
        if not (yield _Question(text, f"Approve {len(waiting)}; each call is confirmed by you")):
            return _End(f"No tool is approved. Later: stead mcp review {name}")
        client.post(f"/mcp/{name}/approve", {"tools": {tool["tool"]: tool["fingerprint"] for tool in waiting}})
        return _End(f"{len(waiting)} tools of {name} can be called, each call confirmed by you.", done=True)

    # -- asking -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        while not self._now and self._waiting:
            self._now, self._request, self._hasty = self._waiting.popleft(), 0, 0
            self._go_on(None)

    def _go_on(self, answer: bool | None) -> None:
        """Take the answer to the last question, and put the next one."""
        assert self._now is not None
        try:
            question = self._now.talk.send(answer)  # type: ignore[arg-type]  # None begins it
        except StopIteration as ended:
            self._end(ended.value)
        except ApiError as error:
            self._end(_End(f"Not done: {error.message}"))
        else:
            if not self._request:
                title = f"The editor brings the MCP server {self._now.offer.name}"
                call = {"title": title, "kind": "other", "status": "pending", "content": []}
                self._update(self._now, {"sessionUpdate": "tool_call", **call})
            self._ask(question)

    def _ask(self, question: _Question, note: str = "") -> None:
        assert self._now is not None
        content = [text_block(note)] if note else []
        content.append(text_block(question.text, fence=True, limit=TEXT_LIMIT))
        options = [{"optionId": "yes", "name": question.yes, "kind": "allow_once"}, _NO]
        call = {"toolCallId": self._now.call, "status": "pending", "content": content}
        params = {"sessionId": self._now.session, "toolCall": call, "options": options}
        self._shown_s = time.monotonic()
        heard = partial(self._hear, self._now, question)
        self._request = self._peer.ask(
            "session/request_permission", params, lambda result: self._work(partial(heard, result))
        )

    def _hear(self, asked: _Asked, question: _Question, result: Json | None) -> None:
        if self._now is not asked:
            return
        outcome = (result or {}).get("outcome")
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if chosen == "yes" and time.monotonic() - self._shown_s < DWELL_S:
            self._hasty += 1
            if self._hasty < HASTY_LIMIT:
                self._ask(question, "That was quick for something of a stranger's; read it, and answer again.")
                return
            chosen = None
        if chosen in ("yes", "deny"):
            self._go_on(chosen == "yes")
        else:
            self._known.discard(_mark(asked.offer.body))
            self._end(_End("Nobody answered; the next session asks again."))
        self._begin()

    def _end(self, end: _End) -> None:
        """Have done with the one that is asked about."""
        asked, self._now = self._now, None
        assert asked is not None
        asked.talk.close()
        if self._request:
            status = "completed" if end.done else "failed"
            content = [text_block(reveal(end.text))]
            self._update(asked, {"sessionUpdate": "tool_call_update", "status": status, "content": content})
        elif end.text:
            self._tell(asked.session, end.text)

    def _update(self, asked: _Asked, update: Json) -> None:
        update = {**update, "toolCallId": asked.call}
        self._peer.notify("session/update", {"sessionId": asked.session, "update": update})

    def _tell(self, session: str, text: str) -> None:
        update = message(f"({reveal(text)})\n\n")
        self._peer.notify("session/update", {"sessionId": session, "update": update})


def _mark(server: Json) -> str:
    """How a server is reached, in one text."""
    return "\0".join([server["url"], *server["command"]])


def _described(name: str, server: Json) -> str:
    how = f"it is asked at: {server['url']}"
    if server["command"]:
        how = f"it runs, in a sandbox of its own: {shlex.join(server['command'])}"
    lines = [f"The editor brings the MCP server {name}. Nothing of it was started.", how]
    if not server["url"]:
        lines.append(f"it may reach: {', '.join(server['hosts']) or 'no host'}")
    if server["folder"]:
        lines.append("it is shown the session's folder; what it changes there is thrown away")
    if server["secrets"]:
        lines.append(f"into your vault go its values of: {', '.join(server['secrets'])}")
    return reveal("\n".join([*lines, "It stays set up for your other sessions, too."]))


def _tool(tool: Json) -> str:
    arguments = ", ".join(tool["schema"].get("properties", {}))
    claims = ", ".join(name if on else f"not {name}" for name, on in sorted(tool["claims"].items()))
    words = "\n".join(tool["diff"]) or tool["description"]
    rest = [f"arguments: {arguments}"] if arguments else []
    rest += [f"it claims to be (trusted for nothing): {claims}"] if claims else []
    return "\n".join([f"{tool['tool']} ({tool['state']}): {words}", *rest])
