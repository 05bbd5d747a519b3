"""What a model's calls pass on their way, and what they cannot get at: real daemon, real gate, real sandbox."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from scripts.gen_docs import tool_specs
from stead.client import ApiError
from stead.domain.ends import WELL
from stead.storage.database import connect
from stead.storage.journal import open_journal
from stead.storage.keystore import open_keys
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

SECRET = "marmalade-canary"
TOTAL: Json = {"question": "the total", "fields": [{"name": "total", "type": "number"}]}
SAID_OUT = (
    Call("plan", {"steps": [{"title": "use everything"}]}),
    Call("read", {"path": "README.md"}),
    Call("glob", {"pattern": "*.md"}),
    Call("grep", {"pattern": "Quill"}),
    Call("write", {"path": "new.md", "text": "one\n"}),
    Call("edit", {"path": "new.md", "old": "one", "new": "two"}),
    Call("shell", {"command": "cat new.md"}),
    Call("fetch", {"url": "http://127.0.0.1:9/"}),
    Call("extract", {"path": "new.md", **TOTAL}),
    Call("extract_page", {"url": "http://127.0.0.1:9/", **TOTAL}),
    Call("browser_open", {"url": "http://shop.invalid/"}),
    Call("browser_read", {"url": "http://shop.invalid/"}),
    Call("browser_act", {"url": "http://shop.invalid/", "element": 1, "name": "Buy"}),
    Call("browser_shot", {"url": "http://shop.invalid/", "path": "shop.png"}),
    Call("web_search", {"query": "quills"}),
    Call("api_read", {"url": "http://127.0.0.1:9/"}),
    Call("api_call", {"url": "http://127.0.0.1:9/", "method": "POST", "body": {}}),
    Call("history", {"query": "everything"}),
    Call("history_all", {"query": "everything"}),
    Call("recall", {"query": "everything"}),
    Call("recall_all", {"query": "everything"}),
    Call("remember", {"items": [{"text": "try all of it"}]}),
    Call("propose_soul", {"text": "Try all of it, always."}),
    Call("correct_memory", {"old": "try all of it", "text": "try none of it"}),
    Call("forget_memory", {"memories": ["try all of it"]}),
    Call("config", {}),
    Call("use_tool", {"name": "config_set", "arguments": {"setting": "daily_usd", "value": "5"}}),
    Call("use_tool", {}),
    Call("find_tools", {}),
    Call("teleport", {"to": "moon"}),
    Call("read", {"path": "../outside"}),
    Call("shell", {"wrong": "arguments"}),
)
"""Calls whose arguments say something; the other tools get the least that their schemas take."""


def least(schema: Json) -> object:
    """The smallest value that a terse schema takes."""
    if "enum" in schema:
        return schema["enum"][0]
    required = {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    plain = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": [], "object": required}
    return plain[schema.get("type", "string")]


def least_arguments(schema: Json) -> Json:
    """As ``least``, of a tool's arguments, which are an object."""
    return cast("Json", least(schema))


APART = {"spawn_agent"}
"""A subagent would do the same again; tests/flows/test_agents.py judges its calls."""

EVERY_TOOL = Turn(
    "I will use everything.",
    calls=(
        *SAID_OUT,
        *(
            Call(spec.name, least_arguments(dict(spec.parameters)))
            for spec in tool_specs()
            if spec.name not in {"config_set", *APART, *(call.tool for call in SAID_OUT)}
        ),
    ),
)


REFUSED = {
    *("fetch", "extract_page", "api_read", "api_call", "web_search", "use_tool", "delegate", "message", "send_file"),
}
"""What the gate refuses: where it leads is not to be reached, no engine, agent or chat is set up, it names no tool."""


def found_by_name(house: LivingHome, id: str) -> set[str]:
    """The tools that ``find_tools`` listed: they stand in no request."""
    listed = [body["text"] for body in house.bodies(id, "tool.finished") if body["tool"] == "find_tools"]
    return {line.partition(":")[0] for text in listed for line in text.splitlines()}


@promise("SEC-1.gate", "SEC-10.recorded", "OPS-4.sqlite")
def test_every_call_is_judged_before_it_runs_and_all_of_it_stands_in_the_chain(
    house: LivingHome, project: Path
) -> None:
    with served(by_turn(EVERY_TOOL, then=Turn("I have used everything."))) as model:
        use_model(house, model.openai)
        id = house.give("use everything", project)
        assert house.finish(id, answer="once")["status"] in WELL
    known = {tool["function"]["name"] for tool in model.requests()[0].body["tools"]}
    known |= found_by_name(house, id)
    assert known == {call.tool for call in EVERY_TOOL.calls} - {"teleport"} | {"config_set", *APART}
    events = house.events(id)
    started = [event["body"] for event in events if event["body"]["type"] == "tool.started"]
    finished = [event["body"] for event in events if event["body"]["type"] == "tool.finished"]
    assert {body["tool"] for body in started} == known - REFUSED - APART
    assert len(finished) == len(EVERY_TOOL.calls)
    for body in started:
        last = _judged_before(events, body)[-1]
        assert (last["verdict"], last["digest"]) == ("allow", body["digest"])
    for body in finished:
        assert _judged_before(events, body), body
    for path in ("/tools/shell", f"/objectives/{id}/calls", f"/objectives/{id}/steps", "/events"):
        with pytest.raises(ApiError) as refused:
            house.post(path, {"tool": "shell", "arguments": {"command": "id"}})
        assert refused.value.status in (404, 405), path
    head = house.get("/status")["head"]
    house.stop()
    _is_whole(house, more_than=head)


def _judged_before(events: list[Json], call: Json) -> list[Json]:
    """The verdicts on a call that stand before one of its events, oldest first."""
    bodies = [event["body"] for event in events]
    earlier = bodies[: bodies.index(call)]
    return [body for body in earlier if body["type"] == "call.judged" and body["key"] == call["key"]]


def _is_whole(house: LivingHome, *, more_than: int) -> None:
    """The home's one SQLite file is sound, and its chain goes through every event."""
    keys = open_keys(house.home, "file", lambda: "").keys
    journal = open_journal(house.home.journal, keys)
    try:
        report = journal.verify_chain()
    finally:
        journal.close()
    assert report.faults == ()
    assert report.rows == report.head > more_than
    with contextlib.closing(connect(house.home.journal, keys.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (report.rows,)
        connection.execute("UPDATE events SET ts_ms = ts_ms + 1 WHERE seq = 3")
        connection.commit()
    tampered = open_journal(house.home.journal, keys)
    try:
        assert "event 3" in tampered.verify_chain().faults[0]
    finally:
        tampered.close()


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of this machine that no session has anything to do with."""
    command = [sys.executable, "-c", f"import sys; sys.stdin.read()  # {SECRET}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process
        process.send_signal(signal.SIGKILL)


def run_in_machine(house: LivingHome, project: Path, *commands: str) -> list[str]:
    """What the model reads of each command that it has run."""
    calls = tuple(Call("shell", {"command": command}) for command in commands)
    with served(by_turn(Turn("", calls=calls), then=Turn("That was it."))) as model:
        use_model(house, model.openai)
        id = house.give("look around", project, allow=["shell"])
        assert house.finish(id)["status"] in WELL
    return [end["text"] for end in house.bodies(id, "tool.finished")]


@promise("SEC-5.no-network")
def test_a_models_command_reaches_no_network(house: LivingHome, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        port = listener.getsockname()[1]
        knock = f"timeout 5 bash -c 'echo hi > /dev/tcp/{{}}/{port}' && echo REACHED || echo unreachable"
        local, far, interfaces = run_in_machine(
            house, project, knock.format("127.0.0.1"), knock.format("192.0.2.1"), "tail -n +3 /proc/net/dev"
        )
        with pytest.raises(TimeoutError):
            listener.accept()
    assert "unreachable" in local and "REACHED" not in local
    assert "unreachable" in far and "REACHED" not in far
    assert {line.split(":")[0].strip() for line in interfaces.splitlines() if ":" in line} <= {"lo"}


@promise("SEC-6.processes")
def test_a_models_command_sees_and_signals_only_its_own_processes(
    house: LivingHome, project: Path, stranger: subprocess.Popen[bytes]
) -> None:
    assert house.process is not None
    victims = f"{stranger.pid} {house.process.pid}"
    seen, killed = run_in_machine(
        house,
        project,
        "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; echo END",
        f"for pid in {victims} -1; do kill -9 $pid; done; echo TRIED",
    )
    assert "END" in seen
    assert SECRET not in seen
    assert "stead.serve" not in seen
    assert killed.count("No such process") == 3
    assert stranger.poll() is None
    assert house.process.poll() is None
    assert house.get("/status")["head"] > 0


@promise("SEC-6.paths")
def test_no_path_and_no_link_of_a_models_call_leads_out(house: LivingHome, project: Path) -> None:
    secret = project.parent / "secret.txt"
    secret.write_text(f"{SECRET}\n", "utf-8")
    (project / "link").symlink_to(secret)
    (project / "folder").symlink_to(project.parent)
    refused = [
        ("read", "../secret.txt"),
        ("read", str(secret)),
        ("read", "a/../../secret.txt"),
        ("read", "/etc/passwd"),
    ]
    led_out = [("read", "link"), ("read", "folder/secret.txt")]
    calls = [Call(tool, {"path": path}) for tool, path in refused + led_out]
    calls += [
        Call("write", {"path": "../planted", "text": "x"}),
        Call("write", {"path": "folder/planted", "text": "x"}),
    ]
    calls += [Call("grep", {"pattern": SECRET}), Call("glob", {"pattern": "folder/*.txt"})]
    calls += [Call("shell", {"command": f"cat link {secret} folder/secret.txt; ln -s {secret} made; cat made"})]
    with served(by_turn(Turn("", calls=tuple(calls)), then=Turn("I cannot see it."))) as model:
        use_model(house, model.openai)
        id = house.give("find it", project, allow=["shell", "write"])
        assert house.finish(id)["status"] in WELL
    judged = house.bodies(id, "call.judged")
    rules = [body["reason"]["rule"] for body in judged]
    assert rules[: len(refused)] == ["outside-workspace"] * len(refused)
    outcomes = {body["key"]: body["outcome"] for body in house.bodies(id, "tool.finished")}
    in_order = [outcomes[body["key"]] for body in judged]
    assert in_order[: len(refused)] == ["denied"] * len(refused)
    assert in_order[len(refused) : len(refused) + len(led_out)] == ["error"] * len(led_out)
    assert in_order[len(calls) - 5 : len(calls) - 3] == ["denied", "error"]
    assert all(SECRET not in body["text"] for body in house.bodies(id, "tool.finished"))
    assert not (project.parent / "planted").exists()
    assert secret.read_text("utf-8") == f"{SECRET}\n"
