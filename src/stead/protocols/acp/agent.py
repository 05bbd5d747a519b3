"""The methods of the protocol, each a request or two to the daemon.

Layer: a door. What is asked for in an editor may be asked for at the command line, and nothing else: it is the same
credential, and the daemon decides. Work happens in the session's folder through the gate; the editor's own file system
and terminals are never used.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from stead.client import ApiError, Client, Json
from stead.config import Home
from stead.protocols.acp import options, prompts, servers
from stead.protocols.acp.following import OpenSession
from stead.protocols.acp.jsonrpc import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    NOT_FOUND,
    Lanes,
    Peer,
    Request,
    RpcError,
)
from stead.protocols.acp.rendering import message
from stead.protocols.acp.servers import EditorServers

VERSION = 1
DOOR = "acp"
"""As the record has it."""
SESSIONS_LIMIT = 100
"""Open in one editor at a time."""
_SESSION = re.compile(r"s_[0-9a-f]{16}")
_SIGN_IN = "stead-home"
_COMMAND = re.compile(r"\s*/([a-z]+)(?:\s+(.*))?", re.DOTALL)


class Commands(NamedTuple):
    """The slash commands: their names with what each does, and how one is carried out, giving what it prints."""

    about: dict[str, str]
    run: Callable[[str, str, str], str]


class Agent:
    """What an editor talks to, for as long as it stays.

    Args:
        peer: the editor.
        home: whose daemon.
        start: starts the daemon where none runs.
        fields: of every session that is opened: model, limits, profile.
        commands: what can be typed after a slash.
        version: of Stead.
    """

    def __init__(
        self, peer: Peer, home: Home, start: Callable[[], None], fields: Json, commands: Commands, version: str
    ) -> None:
        self._peer = peer
        self._home = home
        self._start = start
        self._fields = fields
        self._commands = commands
        self._version = version
        self._lanes = Lanes()
        self._open: dict[str, OpenSession] = {}
        self._servers = EditorServers(peer, self._client, partial(self._lanes.put, ("servers",)))
        self._initialized = self._terminals = False
        self._methods: dict[str, Callable[[Request], None]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": partial(self._attach, tell=True),
            "session/resume": partial(self._attach, tell=False),
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
        }

    def take(self, request: Request) -> None:
        """Have a request or notification carried out, after those of the same session that came before."""
        if request.method == "session/cancel":
            self._cancel(request.params)
            return
        if request.method == "$/cancel_request":  # nothing but a prompt takes long
            meant = self._peer.find(request.params.get("requestId"))
            if meant is not None and meant.method == "session/prompt":
                self._cancel(meant.params)
            return
        if request.method not in self._methods:
            request.fail(NO_METHOD, f"there is no method {request.method[:80]!r}")
        elif not self._initialized and request.method != "initialize":
            request.fail(INVALID_REQUEST, "the first request is initialize")
        elif request.method == "initialize":
            self._carry_out(request)
        else:
            lane = self._lane(request)
            if lane in self._open:
                request.mark = self._open[lane].cancels
            self._lanes.put(lane, partial(self._carry_out, request))

    def _cancel(self, params: Json) -> None:
        session = self._open.get(str(params.get("sessionId")))
        if session is not None:
            session.cancels += 1
            self._lanes.put(("cancel", session.id), partial(session.cancel, self._client()))

    def _lane(self, request: Request) -> str:
        session = request.params.get("sessionId")
        return session if isinstance(session, str) and session in self._open else ""

    def _carry_out(self, request: Request) -> None:
        try:
            self._methods[request.method](request)
        except RpcError as error:
            request.fail(error.code, error.message)
        except ApiError as error:
            request.fail(_code_of(error), error.message)
        except Exception as error:  # noqa: BLE001 - the door: every fault is an answer, or an editor waits for ever
            self._peer.log(f"{request.method} failed: {type(error).__name__}: {error}")
            request.fail(INTERNAL, f"{error!r}; see what `stead acp` printed")

    def _client(self, *, starts: bool = True) -> Client:
        return Client(self._home, self._start if starts else None, door=DOOR)

    # -- the connection -----------------------------------------------------------------------------------------------

    def _initialize(self, request: Request) -> None:
        asked = request.params.get("protocolVersion")
        if not isinstance(asked, int) or isinstance(asked, bool) or not 0 <= asked < 2**16:
            raise RpcError(INVALID_PARAMS, "protocolVersion is a whole number from 0 to 65535")
        given = request.params.get("clientCapabilities")
        meta = given.get("_meta") if isinstance(given, dict) else None
        self._terminals = isinstance(meta, dict) and meta.get("terminal_output") is True
        self._initialized = True
        request.answer(
            {
                "protocolVersion": VERSION,
                "agentInfo": {"name": "stead", "title": "Stead", "version": self._version},
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                    "mcpCapabilities": {"http": True, "sse": False},
                    "sessionCapabilities": {"list": {}, "resume": {}, "fork": {}, "close": {}},
                },
                "authMethods": [
                    {
                        "id": _SIGN_IN,
                        "name": "Stead on this machine",
                        "description": "Uses the key file in your Stead home; nothing is to be entered.",
                    }
                ],
            }
        )

    def _authenticate(self, request: Request) -> None:
        if request.params.get("methodId") != _SIGN_IN:
            raise RpcError(INVALID_PARAMS, f"the only method is {_SIGN_IN!r}")
        self._client().get("/status")
        request.answer({})

    # -- sessions -----------------------------------------------------------------------------------------------------

    def _new(self, request: Request) -> None:
        directory = _folder(request.params)
        client = self._client()
        self._require_room()
        answer = client.post("/sessions", {"directory": directory, **self._fields})
        self._show(request, client, answer["session"], tell=False, names=True)

    def _attach(self, request: Request, *, tell: bool) -> None:
        _folder(request.params)
        self._show(request, self._client(), _session_of(request.params), tell=tell, names=False)

    def _fork(self, request: Request) -> None:
        directory, client = _folder(request.params), self._client()
        source = _session_of(request.params)
        same = os.path.realpath(directory) == client.get(f"/sessions/{source}")["directory"]
        answer = client.post(f"/sessions/{source}/fork", {} if same else {"directory": directory})
        self._show(request, client, answer["session"], tell=False, names=True)

    def _show(self, request: Request, client: Client, id: str, *, tell: bool, names: bool) -> None:
        """Open a session in the editor, and answer."""
        offered = servers.read(request.params)
        row = client.get(f"/sessions/{id}")
        if row["kind"] != "session":
            raise RpcError(NOT_FOUND, f"{id} is an objective, which works alone; see: stead watch {id}")
        before = self._open.get(id)
        if before is None:
            self._require_room()
        work = partial(self._lanes.put, ("answers", id))
        session = OpenSession(self._peer, self._client(starts=False), row, work, terminals=self._terminals)
        session.read(tell=tell)
        self._open[id] = session
        if before is not None:
            session.cancels = before.cancels
            before.hand_over(session)
        answer: Json = {"sessionId": id} if names else {}
        answer["modes"] = options.modes(session.chosen)
        answer["configOptions"] = options.config_options(client, session.chosen)
        request.answer(answer)
        listed = [
            {"name": name, "description": about, "input": {"hint": "arguments"}}
            for name, about in self._commands.about.items()
        ]
        session.update({"sessionUpdate": "available_commands_update", "availableCommands": listed})
        session.follow()
        if offered:
            self._lanes.put(("servers",), partial(self._servers.offer, id, session.directory, offered))

    def _require_room(self) -> None:
        if len(self._open) >= SESSIONS_LIMIT:
            raise RpcError(INVALID_REQUEST, f"{SESSIONS_LIMIT} sessions are open in this editor; close one")

    def _list(self, request: Request) -> None:
        given = request.params
        cwd, cursor = given.get("cwd") or "", given.get("cursor") or ""
        if not isinstance(cwd, str) or not isinstance(cursor, str):
            raise RpcError(INVALID_PARAMS, "cwd and cursor are strings")
        page = self._client().get("/sessions", directory=cwd and os.path.realpath(cwd), after=cursor)
        rows = [
            {
                "sessionId": row["id"],
                "cwd": row["directory"],
                "title": row["title"],
                "updatedAt": _at(row["updated_ms"]),
            }
            for row in page["items"]
        ]
        request.answer({"sessions": rows} | ({"nextCursor": page["next"]} if page["next"] else {}))

    def _close(self, request: Request) -> None:
        id, client = _session_of(request.params), self._client()
        if client.get(f"/sessions/{id}")["status"] != "closed":
            client.post(f"/sessions/{id}/close")
        if (session := self._open.pop(id, None)) is not None:
            session.close()
            self._lanes.put(("servers",), partial(self._servers.close, id))
        request.answer({})

    def _opened(self, request: Request) -> OpenSession:
        id = _session_of(request.params)
        if id not in self._open:
            raise RpcError(NOT_FOUND, f"{id} is not open in this editor; load it first")
        return self._open[id]

    # -- what is said and chosen --------------------------------------------------------------------------------------

    def _prompt(self, request: Request) -> None:
        session = self._opened(request)
        said = prompts.read(request.params.get("prompt"), session.directory)
        typed = _COMMAND.fullmatch(said.text)
        if typed and typed[1] in self._commands.about:
            text = self._commands.run(session.id, typed[1], (typed[2] or "").strip())
            session.update(message(text))
            request.answer({"stopReason": "end_turn"})
            return
        client = self._client()
        session.prompt(request, client, prompts.upload(client, said))

    def _set_mode(self, request: Request) -> None:
        self._opened(request).choose(self._client(), "mode", request.params.get("modeId"))
        request.answer({})

    def _set_option(self, request: Request) -> None:
        session, option = self._opened(request), request.params.get("configId")
        if not isinstance(option, str):
            raise RpcError(INVALID_PARAMS, "configId is a string")
        client = self._client()
        session.choose(client, option, request.params.get("value"))
        request.answer({"configOptions": options.config_options(client, session.chosen)})


def _code_of(error: ApiError) -> int:
    if error.status == 404:
        return NOT_FOUND
    return INVALID_PARAMS if 400 <= error.status < 429 else INTERNAL


def _session_of(params: Json) -> str:
    id = params.get("sessionId")
    if not isinstance(id, str):
        raise RpcError(INVALID_PARAMS, "sessionId is a string")
    if not _SESSION.fullmatch(id):
        raise RpcError(NOT_FOUND, f"there is no session {id[:40]!r}; see session/list")
    return id


def _folder(params: Json) -> str:
    """Where a session is to be opened; its other parameters are right, too."""
    directory = params.get("cwd")
    if not isinstance(directory, str) or not directory.startswith("/"):
        raise RpcError(INVALID_PARAMS, "cwd is an absolute path")
    if params.get("additionalDirectories"):
        raise RpcError(INVALID_PARAMS, "a session works in one folder; leave additionalDirectories out")
    servers.read(params)
    return directory


def _at(time_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_ms / 1000))
