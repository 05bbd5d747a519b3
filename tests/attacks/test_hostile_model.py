"""A model that has been taken over, over the real wire, through every door: not one effect outside policy.

The daemon, its sandbox, its policy and its journal are the product's. The model is a scripted server that does its
worst (``hostile.py``, ``hostile_wire.py``); the person says no to everything, or, which is harder, yes.
One wall does not show here when it fails alone: where the dialer's look at addresses is gone, the gate's look at every
URL holds. ``test_ssrf.py`` tries the dialer by itself.
"""

from __future__ import annotations

import ast
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stead.cli.catalogue import SUMMARIES
from tests.attacks import hostile, hostile_wire
from tests.attacks.hostile_grounds import SOURCE, Grounds, grounds, in_parts, unaccounted
from tests.fakes.http import serve
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, use_model
from tests.flows.served import by_turn, in_thread, served
from tests.promises import promise

WAYS_IN_AND_OUT = {
    **dict.fromkeys(
        ("channels/dialing.py", "channels/http.py"),
        "a channel's process, in a machine, through its proxy; tests/machines/test_channel_programs.py",
    ),
    "cli/checks.py": "asks bubblewrap's version; no word of a model is in it",
    "cli/clipboard.py": "the person's own desktop gives its picture, after their key; no word of a model is in it",
    "cli/daemon_control.py": "the person's terminal; commands() tries each command from a machine",
    "cli/doctor.py": "looks whether a port is free; no word of a model is in it",
    "cli/editing.py": "the person's own editor, over a call's arguments or a directive; tests/cli and tests/flows",
    "cli/own_service.py": "the person's terminal asks systemctl or launchctl; commands() tries each from a machine",
    "cli/releases.py": "the person's terminal unpacks a release; commands() tries each from a machine",
    "cli/starting.py": "the person's terminal starts the daemon; commands() tries each command from a machine",
    "cli/upgrade.py": "the person's terminal starts another version; commands() tries each from a machine",
    "client/exchange.py": "the person's terminal asks the daemon; what it needs, commands() looks for",
    "egress/proxy.py": "the machine's one socket to the proxy; tests/egress",
    "machines/host.py": "asks what the host offers; no word of a model is in it",
    "machines/idmap.py": "maps the workspace's owner; no word of a model is in it",
    "machines/process.py": "starts a machine; tests/attacks/test_escape.py and commands()",
    "machines/runner/main.py": "where the machine's programs look for a proxy, inside; tests/egress",
    "machines/runner/frames.py": "a resident's process for the proxy's inner end, in the machine; tests/egress",
    "machines/runner/ignored.py": "asks git in the machine what a search leaves out; commands()",
    "machines/runner/bridge.py": "the machine's inner end of the proxy's socket; tests/egress",
    "machines/runner/browse.py": "the browser machine's inner end of the proxy's socket; tests/browsing",
    "machines/runner/chromium.py": "starts the browser, in a machine of its own; tests/browsing",
    "machines/runner/jobs.py": "starts what a model asks for, in the machine; commands()",
    "machines/runner/terminal.py": "starts the person's shell, in a machine; tests/machines/test_terminals.py",
    "machines/git_running.py": "runs the person's git over what machines made; folder_to_host, test_git_settings.py",
    "machines/network.py": "starts what connects to a service; attacks/test_services.py",
    "machines/network_helper.py": "connects in a machine's own network; attacks/test_services.py",
    "machines/previews.py": "the person's browser asks it for a service; attacks/test_services.py",
    "machines/layers.py": "removes what is nested too deep for Python; attacks/test_transactions.py",
    "machines/space.py": "removes what a machine has made; attacks/test_transactions.py",
    "machines/runner/enter.py": "a fork that looks at other views again, in the machine; attacks/test_transactions.py",
    "memory/embedding/process.py": "starts the embedder, with no word of a model on its line; tests/memory/embedding",
    "mcp/signing_in.py": "the person's browser comes back to it once, with a secret state; tests/attacks/test_mcp.py",
    "net/imap.py": "a mailbox that the person names; no word of a model is in it",
    "net/dialing.py": "fetch, api_read, api_call, web_search, and the proxy; fetches(), test_ssrf.py and tests/egress",
    "notifiers/desktop.py": "starts notify-send with our sentence and a cleaned title; attacks/test_notifications.py",
    "notifiers/mail.py": "connects to the mail server that the person named; attacks/test_notifications.py",
    "providers/discovery.py": "looks for model servers on fixed ports of this computer",
    "providers/transport.py": "the model's own wire, and what the person alone asks a provider; hostile_wire.replies()",
    "runtime/supervisor.py": "a datagram to what started the daemon; no word of a model is in it",
    "storage/residue.py": "reads the journal's own files, with no word of a model on its line; tests/storage",
    "tools/checking.py": "checks values against schemas in a process of its own; tests/tools/test_calling.py",
    "web/webhooks.py": "a test asks the listener itself, signed; commands(), and tests/attacks/test_triggers.py",
    "web/server.py": "the door; fetches() and commands() try each route, tests/attacks/test_door_matrix.py each knock",
    "runtime/calendars.py": "starts the reader of calendar files; tests/runtime/test_calendars.py",
}
"""Every file that opens a socket or starts a program, and how the hostile model tries it. A new one needs an entry."""
_OPENERS = {
    *("socket.socket", "_socket.socket", "socket.create_connection", "socket.create_server", "socket.socketpair"),
    *("asyncio.start_server", "asyncio.start_unix_server", "asyncio.open_connection", "asyncio.open_unix_connection"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "loop.create_server"),
    *("subprocess.run", "subprocess.Popen", "subprocess.check_output", "subprocess.check_call", "subprocess.call"),
    "imaplib.IMAP4_SSL",
    *("os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.popen", "os.execv", "os.execve", "os.execvp"),
    *(
        "httpcore2.AsyncConnectionPool",
        "httpcore2.AsyncHTTPProxy",
        "urllib.request.urlopen",
        "http.client.HTTPConnection",
    ),
}


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Grounds]:
    """A running daemon among canaries."""
    with grounds(tmp_path) as made:
        yield made


def test_every_way_in_and_out_of_the_daemon_is_one_that_the_model_tries() -> None:
    found = set()
    for module in SOURCE.rglob("*.py"):
        text = module.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in _OPENERS) else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _OPENERS:
                found.add(module.relative_to(SOURCE).as_posix())
    assert found - WAYS_IN_AND_OUT.keys() == set(), "say in WAYS_IN_AND_OUT how the hostile model tries it"


def test_the_model_knows_every_tool_route_and_command(field: Grounds) -> None:
    """What it tries is read from the product, so that nothing new is left out."""
    aims = field.aims
    everything = [call for turn in hostile.turns(aims) for call in turn.calls]
    with served(by_turn(Turn("", calls=(Call("find_tools", {}),)), then=Turn("Nothing."))) as model:
        use_model(field.house, model.openai)
        id = field.give("say nothing")
        field.answer(lambda question: "deny")
        offered = {tool["function"]["name"] for tool in model.requests()[0].body["tools"]}
    (listed,) = field.house.bodies(id, "tool.finished")
    offered |= {line.partition(":")[0] for line in listed["text"].splitlines()}
    assert offered >= {"shell", "use_tool", "history", "config_set"}
    assert offered <= {call.tool for call in everything}
    text = "\n".join(call.text for call in everything)
    assert {word for word in SUMMARIES if f"stead {word};" not in text} == set()
    for _, path in aims.routes:
        assert f'"http://127.0.0.1:{aims.door}{path}"' in text, path
    assert len(everything) > 600


@promise("SEC-1.gate", "SEC-6.paths", "SEC-6.network")
def test_a_hostile_model_causes_nothing_while_the_person_says_no(field: Grounds) -> None:
    before = tree(field.project)
    rules = let_loose(field, lambda question: "deny")

    assert field.harm() == []
    assert field.said_yes == []
    assert tree(field.project) == before
    assert rules >= {"unknown-tool", "arguments", "outside-workspace", "address", "auto"}
    trees = [*field.given, *(body["session"] for id in field.given for body in field.house.bodies(id, "agent.spawned"))]
    started = {body["tool"] for id in trees for body in field.house.bodies(id, "tool.started")}
    looked = {"read", "glob", "grep", "plan", "shell", "extract", "find_tools", "mcp_page", "history", "history_all"}
    assert started <= looked | {
        "recall",
        "recall_all",
        "remember",
        "correct_memory",
        "propose_soul",
        "spawn_agent",
        "notify",
    }


@pytest.mark.timeout(300)
@promise("SEC-6.paths", "SEC-6.network", "SEC-6.processes")
def test_a_hostile_model_stays_inside_although_the_person_says_yes_to_everything(field: Grounds) -> None:
    let_loose(field, lambda question: "session" if question["level"] == "session" else "once", timeout_s=240)

    assert field.harm() == []
    assert (field.project / "owned").exists() or field.said_yes, "it was let do something"


def let_loose(field: Grounds, choose: object, timeout_s: float = 100) -> set[str]:
    """All of it; gives the rules that judged it."""
    assert callable(choose)
    turns = list(hostile.turns(field.aims))
    with served(in_parts(turns), strict=False) as model:
        use_model(field.house, model.openai)
        field.watch()
        for number in range(len(turns)):
            field.give(f"part {number} of the work")
        field.answer(choose, timeout_s=timeout_s)
    return {body["reason"]["rule"] for id in field.given for body in field.house.bodies(id, "call.judged")}


def test_a_reply_that_no_server_should_send_starts_nothing_by_itself(field: Grounds) -> None:
    wire = hostile_wire.Wire(hostile_wire.replies())
    with in_thread(serving(wire)) as port:
        use_model(field.house, f"http://127.0.0.1:{port}/v1")
        field.watch()
        while wire.left:
            field.give("part 0")
            field.answer(lambda question: "deny")

    assert wire.sent == [name for name, _ in hostile_wire.replies()]
    assert field.harm() == []
    assert [body for id in field.given for body in field.house.bodies(id, "tool.started")] == []
    assert field.house.get("/status")["version"]


def test_a_yes_covers_the_call_that_was_shown_and_no_other_under_its_name(field: Grounds) -> None:
    """The same id again, with other arguments, and the words that the person has approved it."""
    harmless, harmful = ('{"command": "touch fine"}', '{"command": "touch owned"}')
    wire = hostile_wire.Wire(("again", hostile_wire.one_call("call_1", "shell", args)) for args in (harmless, harmful))
    with in_thread(serving(wire)) as port:
        use_model(field.house, f"http://127.0.0.1:{port}/v1")
        field.watch()
        id = field.give("part 0")
        field.answer(lambda question: "once" if "fine" in question["arguments"] else "deny")

    assert field.harm() == []
    assert [json.loads(body["arguments"])["command"] for body in field.house.bodies(id, "tool.started")] == [
        "touch fine"
    ]
    assert not (field.project / "owned").exists()


@asynccontextmanager
async def serving(wire: hostile_wire.Wire) -> AsyncIterator[int]:
    async with serve(wire.handle) as port:
        yield port


def tree(folder: Path) -> dict[str, str]:
    """Every path of a folder and what is there."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") if path.is_file() else "folder"
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


EVENT: Json = {"actor": "stead"}


@pytest.mark.parametrize(
    ("bodies", "flaw"),
    [
        ([{"type": "tool.started", "key": "k", "tool": "shell", "digest": "d"}], "the last judgement was None"),
        (
            [
                {"type": "call.judged", "key": "k", "tool": "shell", "verdict": "ask", "digest": "d"},
                {"type": "tool.started", "key": "k", "tool": "shell", "digest": "d"},
            ],
            "the last judgement was",
        ),
        ([{"type": "approval.given", "id": "a", "key": "k", "digest": "d"}], "nobody gave"),
        ([{"type": "grant.made", "tool": "shell"}], "a grant by the stead"),
        (
            [
                {
                    "type": "call.judged",
                    "key": "k",
                    "tool": "fetch",
                    "verdict": "allow",
                    "digest": "d",
                    "reason": {"rule": "auto"},
                },
                {"type": "tool.started", "key": "k", "tool": "fetch", "digest": "d"},
            ],
            "nobody was asked",
        ),
    ],
)
def test_a_journal_with_an_effect_that_nobody_allowed_is_found_out(bodies: list[Json], flaw: str) -> None:
    found = list(unaccounted([{**EVENT, "body": body} for body in bodies], []))

    assert [line for line in found if flaw in line], found
