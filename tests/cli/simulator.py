"""A strict stand-in for the daemon: the HTTP API over a real socket, driven by a script that a test writes.

It takes exactly what the contract allows, bodies parsed as the very commands of ``domain/commands.py``, and answers in
the very rows and events. Whatever a client does wrong (a wrong bearer or host, a cookie, no idempotency key, an unknown
path, query or field) is refused and kept in ``breaches``, which every test checks at its end.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

import msgspec

from stead.client import Address
from stead.config import Home, code_id
from stead.domain import commands
from stead.domain.checkpoints import FileChange
from stead.domain.commands import Answer
from stead.domain.ends import End
from stead.domain.events import ApprovalRequested, Body, Budget, ModelRef, ObjectiveEnded, PlanStep, TurnEnded
from stead.domain.ids import ApprovalId, CallDigest, CallKey, SessionId
from stead.domain.memory import Leg, LegState
from stead.domain.memory_ports import Place
from stead.domain.mirroring import MirrorState
from stead.domain.policies import Reason, Risk
from stead.domain.providers import ProviderRow
from stead.domain.rows import ApprovalRow, StepRow
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow, Watcher
from tests.cli.contract import ISOLATION, answer, created, provider_row
from tests.cli.wire import REHEARSAL, Markdown, Refused, now_ms

WAIT_S = 20.0
_KEY = re.compile(r"[A-Za-z0-9_-]{8,128}")
_QUERIES = {
    "after",
    "limit",
    "status",
    "streams",
    "session",
    "q",
    "by",
    "days",
    "old",
    "new",
    "format",
    "archived",
    "directory",
    "tag",
}
_QUERIES |= {"since_ms", "until_ms", "model", "since", "until", "per", "lines", "schedule"}

Script = Callable[["Run"], None]
Turn = Callable[["Sitting", str], None]


@dataclass
class Run:
    """One objective or session, as its script sees it."""

    api: Simulator
    id: SessionId
    command: commands.OpenSession
    status: str = "running"
    reason: str = ""
    summary: str = ""
    tokens: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def title(self) -> str:
        """What lists call it."""
        command = self.command
        goal = command.goal or os.path.basename(command.directory)
        return command.title or goal.split("\n")[0]

    def happen(self, *bodies: Body, actor: str = "stead") -> None:
        """Record events."""
        self.api.record(self.id, actor, *bodies)

    def stream(self, body: dict[str, Any]) -> None:
        """Send a transient to whoever watches."""
        envelope = {"v": 1, "ts": now_ms(), "workspace": "default", "stream": self.id, "actor": "model", "body": body}
        self.api.publish(envelope)

    def ask(self, key: str, tool: str, arguments: dict[str, Any], **options: Any) -> str:
        """Ask the person and wait for the answer: once, session, project, deny, or "" when it was cancelled."""
        approval = ApprovalId(f"a_{os.urandom(8).hex()}")
        row = ApprovalRow(
            id=approval,
            session=self.id,
            title=self.title,
            directory=self.command.directory,
            key=CallKey(key),
            tool=tool,
            arguments=json.dumps(arguments),
            digest=CallDigest(os.urandom(32).hex()),
            level=options.get("level", "session"),
            rule="write.session",
            reason=options.get("reason", "writes are asked about once in a session"),
            risk=options.get("risk", "medium"),
            status="pending",
            door="",
            requested_ms=now_ms(),
            expires_at_ms=now_ms() + 7 * 86400_000,
            shape=options.get("shape", "" if options.get("level") == "confirm" else "any"),
            sources=options.get("sources", ()),
        )
        self.api.approvals[approval] = row
        self.status = "waiting"
        reason = Reason(row.rule, row.reason)
        requested = ApprovalRequested(
            approval, row.key, tool, row.arguments, row.digest, options.get("level", "session"), reason,
            Risk(row.risk), row.expires_at_ms,
        )  # fmt: skip
        self.happen(requested)
        with self.api.changed:
            answered = self.api.changed.wait_for(lambda: approval in self.api.answers or self.api.closing, WAIT_S)
        assert answered, "nobody answered"
        self.status = "running"
        return self.api.answers.get(approval, "")

    def end(self, status: End, reason: str = "done", summary: str = "") -> None:
        """Record the end."""
        self.status, self.reason, self.summary = status, reason, summary
        self.happen(ObjectiveEnded(status, reason, summary))


@dataclass
class Sitting(Run):
    """A session that people work in, as the script of its turns sees it."""

    status: str = "idle"
    turns: int = 0
    heard: list[str] = field(default_factory=list)
    """What was said to it, in order."""
    plan: tuple[PlanStep, ...] = ()
    budget: Budget = commands.SESSION_BUDGET
    calls: list[CallRow] = field(default_factory=list)
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    edits: list[EditRow] = field(default_factory=list)
    differences: dict[tuple[str, str], list[FileChange]] = field(default_factory=dict)
    watchers: list[Watcher] = field(default_factory=list)

    def rest(self, reason: str = "done", summary: str = "", *changes: FileChange) -> None:
        """End the turn."""
        self.status, self.reason, self.summary = "idle", reason, summary
        self.happen(TurnEnded(self.turns, reason, summary, changes, len(changes)))


class Simulator:
    """The daemon of a home, for as long as the context lasts.

    Args:
        home: gets an address file.
        script: runs for every objective that is created, in a thread of its own.
        turn: likewise for every turn of a session, with the words that begin it.
    """

    def __init__(self, home: Home, script: Script | None = None, turn: Turn | None = None) -> None:
        self.home = home
        self.turn = turn or (lambda sitting, _: sitting.rest("done", "All right."))
        self.sessions: dict[str, Sitting] = {}
        self.script = script or (lambda run: run.end("unverified"))
        self.changed = threading.Condition()
        self.closing = False
        self.breaches: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.events: list[dict[str, Any]] = []
        self.runs: dict[str, Run] = {}
        self.approvals: dict[str, ApprovalRow] = {}
        self.answers: dict[str, str] = {}
        self.claims: dict[str, Answer] = {}
        self.commands: list[commands.Command] = []
        self.providers: dict[str, ProviderRow] = {"rehearsal": provider_row("rehearsal", found=True)}
        self.chain: tuple[ModelRef, ...] = (REHEARSAL,)
        self.caps = dict.fromkeys(("daily", "monthly"), Budget("unlimited", "unlimited"))
        self.steps: list[StepRow] = []
        self.isolation = ISOLATION
        self.listed: dict[str, list[Any]] = {}
        """Rows of lists that no command of the simulator fills, by their path."""
        self.search = {"engine": "", "url": "", "key": "none"}
        self.legs: tuple[LegState, ...] = tuple(LegState(leg, True, "") for leg in get_args(Leg))
        self.places: tuple[Place, ...] = ()
        self.files = MirrorState(alive=True, reason="", folder=str(home.memory_files), last_sync_ms=1)
        self.epoch = "epoch-1"
        self.bearer = ""
        self.streams_opened = 0
        self.hang_ups = 0
        """How many requests for a timeline are yet to be left without an answer."""
        self._streams: set[Handler] = set()
        self._threads: list[threading.Thread] = []
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.api = self

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Simulator:
        self.home.make()
        self.write_address()
        self._start(self._server.serve_forever, 0.02)
        return self

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self.drop_streams()
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()

    def write_address(self) -> None:
        """Say where it is, under a new bearer."""
        self.bearer = os.urandom(16).hex()
        address = Address(os.getpid(), self.port, "brave-otter", self.bearer, "0.1.0", now_ms(), code_id())
        self.home.address.write_text(json.dumps(address._asdict()))
        self.home.address.chmod(0o600)

    def record(self, stream: str, actor: str, *bodies: Body, cause: str = "") -> None:
        """Write events and show them to whoever watches."""
        for body in bodies:
            with self.changed:
                envelope = {
                    "v": 1,
                    "seq": len(self.events) + 1,
                    "ts": now_ms(),
                    "workspace": "default",
                    "stream": stream,
                    "actor": actor,
                    "cause": cause,
                    "body": json.loads(msgspec.json.encode(body)),
                }
                self.events.append(envelope)
                self.changed.notify_all()

    def publish(self, envelope: dict[str, Any]) -> None:
        """Send a transient to the streams that are open now."""
        with self.changed:
            for handler in self._streams:
                handler.transients.append((len(self.events), envelope))
            self.changed.notify_all()

    def drop_streams(self) -> None:
        """Cut every open stream, as a network does."""
        with self.changed:
            for handler in self._streams:
                with contextlib.suppress(OSError):
                    handler.connection.shutdown(socket.SHUT_RDWR)

    def wait_for(self, what: Callable[[], bool]) -> None:
        """Until something is so, within a deadline."""
        with self.changed:
            assert self.changed.wait_for(what, WAIT_S), "it did not come about"

    def begin(self, command: commands.OpenSession, cause: str = "") -> Run:
        """Create an objective and start its script."""
        run = Run(self, SessionId(f"s_{os.urandom(8).hex()}"), command)
        self.runs[run.id] = run
        self.record(run.id, "person", created(command), cause=cause)
        self._start(self.script, run)
        return run

    def seat(self, command: commands.OpenSession) -> Sitting:
        """Open a session."""
        sitting = Sitting(self, SessionId(f"s_{os.urandom(8).hex()}"), command)
        self.sessions[sitting.id] = sitting
        return sitting

    def take_turn(self, sitting: Sitting, text: str) -> None:
        """Begin a turn."""
        sitting.turns += 1
        sitting.status = "running"
        self._start(self.turn, sitting, text)

    def watching(self) -> bool:
        """Whether a stream is open."""
        return bool(self._streams)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    api: Simulator


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        """As the base, and with a deadline."""
        super().setup()
        self.connection.settimeout(WAIT_S)
        self.transients: list[tuple[int, dict[str, Any]]] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def handle(self) -> None:
        """As the base; a client that hangs up is no fault of ours."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle()

    def do_GET(self) -> None:
        """Read."""
        self._serve()

    def do_POST(self) -> None:
        """Command."""
        self._serve()

    def do_PUT(self) -> None:
        """Command."""
        self._serve()

    def do_DELETE(self) -> None:
        """Command."""
        self._serve()

    def _serve(self) -> None:
        api = self.server.api
        parts = urlsplit(self.path)
        api.requests.append((self.command, self.path))
        try:
            body = self._read_body()
            self._check()
            query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query), max_num_fields=9))
            if unknown := set(query) - _QUERIES:
                raise Refused(400, "invalid", f"unknown query {unknown}")
            path = parts.path.removeprefix("/api/v1")
            if path.endswith("/timeline") and api.hang_ups:
                api.hang_ups -= 1
                self.close_connection = True
                return
            if path == "/events/stream":
                self._stream(query)
                return
            self._answer(*answer(api, self.command, path, query, body, self.headers.get("Idempotency-Key", "")))
        except Refused as error:
            if error.status in (401, 421, 400) and error.code == "breach":
                api.breaches.append(f"{self.command} {self.path}: {error}")
            self._answer(error.status, {"error": {"code": error.code, "message": str(error)}})

    def _read_body(self) -> bytes:
        size = int(self.headers.get("Content-Length", 0))
        if size > 2_000_000:
            self.close_connection = True
            raise Refused(413, "too_large", "the body is larger than 2 MB; put it into a file")
        return self.rfile.read(size)

    def _check(self) -> None:
        api = self.server.api
        if self.headers.get("Host") != f"127.0.0.1:{api.port}":
            raise Refused(421, "breach", "wrong host")
        if self.headers.get("Authorization") != f"Bearer {api.bearer}":
            raise Refused(401, "breach", "wrong bearer")
        if self.headers.get("Cookie") or self.headers.get("Origin"):
            raise Refused(400, "breach", "this door takes no cookie and no origin")
        if self.command == "GET":
            return
        if not _KEY.fullmatch(self.headers.get("Idempotency-Key", "")):
            raise Refused(400, "breach", "no Idempotency-Key")
        if self.command in ("POST", "PUT") and self.headers.get("Content-Type") != "application/json":
            raise Refused(400, "breach", "no JSON")

    def _answer(self, status: int, value: object) -> None:
        written = isinstance(value, Markdown)
        content = value.text.encode() if isinstance(value, Markdown) else msgspec.json.encode(value)
        self.send_response(status)
        self.send_header("Content-Type", "text/markdown; charset=utf-8" if written else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, query: dict[str, str]) -> None:
        api = self.server.api
        after = int(self.headers.get("Last-Event-ID") or query.get("after", "0"))
        streams = [name for name in query.get("streams", "").split(",") if name]
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with api.changed:
            api._streams.add(self)
            api.streams_opened += 1
            api.changed.notify_all()
        hello = {"type": "hello", "server_id": "sim", "epoch": api.epoch, "head_seq": len(api.events)}
        try:
            self._send_frame(0, [{"v": 1, "body": hello | {"oldest_seq": 1, "build": "test"}}])
            while not api.closing:
                with api.changed:
                    api.changed.wait_for(partial(self._has_news, after), 0.1)
                    news = [(event["seq"], event) for event in api.events[after:]]
                    news = [(at, event) for at, event in news if not streams or event["stream"] in streams]
                    batch = [envelope for _, envelope in sorted(news + self.transients, key=lambda pair: pair[0])]
                    after, self.transients = len(api.events), []
                self._send_frame(after, batch)  # an empty one is a ping, and shows whether somebody is there
        finally:
            with api.changed:
                api._streams.discard(self)
                api.changed.notify_all()

    def _has_news(self, after: int) -> bool:
        api = self.server.api
        return len(api.events) > after or bool(self.transients) or api.closing

    def _send_frame(self, seen: int, batch: list[dict[str, Any]]) -> None:
        text = f"id: {seen}\ndata: {json.dumps(batch, ensure_ascii=False)}\n\n:\n\n".encode()
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):  # a chunk's end is no message's end
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()


@contextlib.contextmanager
def listening(handle: Callable[[socket.socket], None]) -> Iterator[int]:
    """A bare server that does with each connection what the test says; gives its port."""
    server = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):
                    if not done.is_set():
                        handle(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(server.getsockname()[1])
    finally:
        done.set()
        with contextlib.suppress(OSError):
            socket.create_connection(server.getsockname(), 1).close()
        server.close()
        thread.join(WAIT_S)
