"""An editor that floods, talks nonsense or claims rights: each byte written by hand, against a running daemon."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served

__all__ = ["house"]

Json = dict[str, Any]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
EDIT = Turn("", calls=(Call("edit", {"path": "README.md", "old": "Notes.", "new": "Few notes."}),))


def _script(seen: Seen) -> Turn:
    last = seen.body["messages"][-1]
    return EDIT if last["role"] == "user" and "edit" in str(last["content"]) else Turn("Done.")


class Wire:
    """The agent's process, and the bare lines of both directions."""

    def __init__(self, house: LivingHome, project: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stead", "--home", str(house.root), "acp"],
            env=house.environment,
            cwd=project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines: list[Json] = []
        self.errors = b""
        self._news = threading.Condition()
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(json.loads(line))  # nothing else may stand there
                self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def write(self, line: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        """Write a value as a line."""
        self.write(json.dumps(message).encode() + b"\n")

    def until(self, found: Callable[[Json], bool], since: int = 0, timeout_s: float = 30) -> Json:
        """Wait for a line."""
        deadline = time.monotonic() + timeout_s
        with self._news:
            while True:
                for line in self.lines[since:]:
                    if found(line):
                        return line
                left = deadline - time.monotonic()
                assert left > 0, f"nothing of the kind came; last: {str(self.lines[-5:])[:1000]}"
                self._news.wait(left)

    def ask(self, id: object, method: object, params: object) -> Json:
        """Send a request and give its answer."""
        since = len(self.lines)
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return self.until(lambda line: line.get("id") == id and "method" not in line, since)

    def refusal(self, line: bytes) -> tuple[int, object]:
        """Write bytes that are to be refused; gives code and id of the answer."""
        since = len(self.lines)
        self.write(line)
        answer = self.until(lambda line: "error" in line, since)
        return answer["error"]["code"], answer["id"]

    def leave(self) -> int:
        """Hang up; gives the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(20)
        for thread in self._threads:
            thread.join(10)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code


@pytest.fixture
def model(house: LivingHome) -> Iterator[ServedModel]:
    """The home's only model."""
    with served(_script) as server:
        use_model(house, server.openai)
        yield server


@pytest.fixture
def wire(house: LivingHome, project: Path, model: ServedModel) -> Iterator[Wire]:
    """A process that has been greeted; it must survive the test, and leave when its editor does."""
    running = Wire(house, project)
    running.send(HELLO)
    running.until(lambda line: line.get("id") == 0)
    try:
        yield running
        assert running.process.poll() is None, "it is still there"
        assert running.leave() == 0
        bearer = json.loads(house.home.address.read_text("utf-8"))["bearer"].encode()
        assert bearer not in running.errors
        assert bearer not in json.dumps(running.lines).encode()
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.leave()


def _begun(wire: Wire, project: Path) -> str:
    session: str = wire.ask("new", "session/new", {"cwd": str(project), "mcpServers": []})["result"]["sessionId"]
    return session


def _prompt(session: str, text: str) -> Json:
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def test_nonsense_is_answered_by_the_book_and_changes_nothing(wire: Wire, project: Path) -> None:
    for line in (
        b"nonsense\n",
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"\n',
        b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}\n',
        b'{"jsonrpc": "2.0", "id": NaN, "method": "x"}\n',
        b'{"a":' * 100_000 + b"\n",
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "x"}\n',
    ):
        assert wire.refusal(line) == (-32700, None), line[:60]
    for value in ([], 5, "text", None, {}, {"jsonrpc": "1.0", "id": 1, "method": "initialize"}, [HELLO, HELLO]):
        assert wire.refusal(json.dumps(value).encode() + b"\n") == (-32600, None), value
    strange: list[object] = [True, 1.5, {}, ["x"]]
    for id in strange:
        bad = {"jsonrpc": "2.0", "id": id, "method": "session/list"}
        assert wire.refusal(json.dumps(bad).encode() + b"\n") == (-32600, None), id
    assert wire.ask(1, 5, {})["error"]["code"] == -32600
    assert wire.ask(2, "session/list", [1])["error"]["code"] == -32602
    assert wire.ask(3, "no/such", {})["error"]["code"] == -32601
    assert wire.ask(4, "session/delete", {"sessionId": "s_0000000000000000"})["error"]["code"] == -32601
    wire.send({"jsonrpc": "2.0", "method": "no/such"})
    wire.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": {}}})
    wire.send({"jsonrpc": "2.0", "id": 77, "result": {}})
    wire.write(b"\n\n   \n")
    assert "result" in wire.ask("last", "session/list", {}), "and it goes on"


def test_wrong_types_are_invalid_parameters_in_every_method(wire: Wire, project: Path) -> None:
    session = _begun(wire, project)
    strange: list[object] = [None, 5, [], {}, True, "", "relative", "\ud800", "/" + "x" * 5000]
    for value in strange:
        for method, params in (
            ("initialize", {"protocolVersion": value if value != 5 else -1}),
            ("authenticate", {"methodId": value}),
            ("session/new", {"cwd": value, "mcpServers": []}),
            ("session/load", {"sessionId": session, "cwd": value if value != "/" + "x" * 5000 else 1}),
            ("session/set_mode", {"sessionId": session, "modeId": value}),
            ("session/set_config_option", {"sessionId": session, "configId": value, "value": value}),
            ("session/prompt", {"sessionId": session, "prompt": value}),
            ("session/prompt", {"sessionId": session, "prompt": [value]}),
            (
                "session/prompt",
                {
                    "sessionId": session,
                    "prompt": [
                        {"type": "text", "text": value if value != "relative" and not isinstance(value, str) else 5}
                    ],
                },
            ),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": value}]}),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "image", "data": "%%", "mimeType": "x"}]}),
        ):
            answer = wire.ask(f"{method} {str(value)[:9].encode('ascii', 'replace')!r}", method, params)
            assert answer.get("error", {}).get("code") in (-32602, -32002), (method, params, answer)
    for unknown in ("../approvals", "s_0000000000000000", "s_" + "f" * 16 + "/stop", "x" * 100_000):
        for method in ("session/load", "session/resume", "session/fork", "session/prompt", "session/close"):
            told = {"sessionId": unknown, "cwd": str(project), "mcpServers": [], "prompt": []}
            assert wire.ask(f"{method} {unknown[:20]}", method, told)["error"]["code"] == -32002
    assert wire.ask("p", "session/prompt", _prompt(session, "hello"))["result"] == {"stopReason": "end_turn"}


def test_the_first_request_is_initialize(house: LivingHome, project: Path) -> None:
    wire = Wire(house, project)
    assert wire.ask(1, "session/list", {})["error"]["code"] == -32600
    assert "result" in wire.ask(2, "initialize", {"protocolVersion": 1})
    assert "result" in wire.ask(3, "session/list", {})
    wire.write(b'{"jsonrpc": "2.0", "id": 4, "method": "session/li')
    assert wire.leave() == 0, "an editor that goes in the middle of a message"
    assert not [line for line in wire.lines if line.get("id") == 4]


def test_a_line_without_end_is_left_out_and_the_next_one_is_read(wire: Wire) -> None:
    since = len(wire.lines)
    wire.write(b'{"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {"cwd": "')
    for _ in range(40):
        wire.write(b"x" * 1_000_000)
    wire.write(b'"}}\n')
    assert wire.until(lambda line: "error" in line, since)["error"]["code"] == -32600
    assert "result" in wire.ask(10, "session/list", {})
    peak = next(
        line for line in Path(f"/proc/{wire.process.pid}/status").read_text("utf-8").splitlines() if "VmHWM" in line
    )
    assert int(peak.split()[1]) < 200_000, peak


def test_a_flood_is_bounded_and_every_request_is_answered_once(wire: Wire, project: Path) -> None:
    session = _begun(wire, project)
    since = len(wire.lines)
    for number in range(500):
        wire.send({"jsonrpc": "2.0", "id": f"f{number}", "method": "session/list", "params": {}})
        wire.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
    wire.send({"jsonrpc": "2.0", "id": "last", "method": "no/such"})
    wire.until(lambda line: line.get("id") == "last", since, timeout_s=120)
    answered = list[str]()

    def all_of_them(_: Json) -> bool:
        answered[:] = [line["id"] for line in wire.lines[since:] if str(line.get("id")).startswith("f")]
        return len(answered) >= 500

    wire.until(all_of_them, since, timeout_s=120)
    assert len(answered) == len(set(answered)) == 500
    tasks = len(list(Path(f"/proc/{wire.process.pid}/task").iterdir()))
    assert tasks < 20, f"{tasks} threads"
    assert wire.ask("p", "session/prompt", _prompt(session, "hello"))["result"] == {"stopReason": "end_turn"}


def test_an_id_that_is_open_cannot_be_used_twice(house: LivingHome, wire: Wire, project: Path) -> None:
    session = _begun(wire, project)
    wire.ask("m", "session/set_mode", {"sessionId": session, "modeId": "ask"})
    wire.send({"jsonrpc": "2.0", "id": "same", "method": "session/prompt", "params": _prompt(session, "edit it")})
    question = wire.until(lambda line: line.get("method") == "session/request_permission")
    again = json.dumps({"jsonrpc": "2.0", "id": "same", "method": "session/list", "params": {}}).encode() + b"\n"
    assert wire.refusal(again) == (-32600, None)
    chosen = {"outcome": {"outcome": "selected", "optionId": "deny"}}
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": chosen})
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": chosen})
    done = wire.until(lambda line: line.get("id") == "same")
    assert done["result"] == {"stopReason": "end_turn"}
    assert len(house.bodies(session, "approval.denied")) == 1


def test_answers_that_nobody_asked_for_allow_nothing(house: LivingHome, wire: Wire, project: Path) -> None:
    session = _begun(wire, project)
    wire.ask("m", "session/set_mode", {"sessionId": session, "modeId": "ask"})
    yes = {"outcome": {"outcome": "selected", "optionId": "once"}}
    for id in (1, 2, 3, "1", None):
        wire.send({"jsonrpc": "2.0", "id": id, "result": yes})
    wire.send({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": _prompt(session, "edit it")})
    question = wire.until(lambda line: line.get("method") == "session/request_permission")
    for result in (
        {"outcome": {"outcome": "selected", "optionId": "project"}},
        {"outcome": {"outcome": "selected", "optionId": ["once"]}},
        {"outcome": "once"},
        yes["outcome"],
        [yes],
    ):
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": result})
    wire.until(lambda line: "stays open" in str(line))
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": yes})
    assert "result" in wire.ask("l", "session/list", {})
    assert house.get(f"/sessions/{session}")["status"] == "waiting"
    assert house.bodies(session, "approval.given") == []
    assert "Few" not in (project / "README.md").read_text("utf-8")


def test_an_editor_gains_no_more_than_the_command_line_has(house: LivingHome, wire: Wire, project: Path) -> None:
    claims = {"profile": "root", "tools": ["*"], "allow": ["shell"], "secrets": ["shop"], "_meta": {"allow": ["shell"]}}
    session = wire.ask(1, "session/new", {"cwd": str(project), "mcpServers": [], **claims})["result"]["sessionId"]
    (opened,) = house.bodies(session, "session.opened")
    assert (opened["profile"], opened.get("secrets", [])) == ("work", [])
    assert house.bodies(session, "grant.made") == []
    for directory in (str(house.root), "/proc", "/nowhere"):
        assert wire.ask(directory, "session/new", {"cwd": directory, "mcpServers": []})["error"]["code"] in (
            -32602,
            -32002,
        ), directory
    more = {"cwd": str(project), "mcpServers": [], "additionalDirectories": ["/etc"]}
    assert wire.ask(3, "session/new", more)["error"]["code"] == -32602
    objective = house.give("say hello", project)
    opening = {"sessionId": objective, "cwd": str(project), "mcpServers": []}
    assert wire.ask(4, "session/load", opening)["error"]["code"] == -32002


def test_only_known_bridges_may_name_themselves_as_a_door(house: LivingHome, project: Path) -> None:
    from stead.client import ApiError, Client

    for name in ("web", "evil", "cli"):
        with pytest.raises(ApiError, match="X-Stead-Door"):
            Client(house.home, door=name).post("/sessions", {"directory": str(project)})
