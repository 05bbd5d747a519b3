"""MCP servers that an editor hands over: the person decides, and nothing of one is started before that."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.protocols.acp.questions import DWELL_S
from tests.fakes.editor import Editor, Json, editor
from tests.fakes.models import Seen, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.mcp_homes import PEARS, add, everything, home_events, use
from tests.flows.served import served
from tests.flows.test_editors import acp, begun, prompt, refused
from tests.machines.bench import processes_with
from tests.promises import promise

VALUE = "pear-secret-5d41402abc4b2a76"


def pears(mode: str = "honest", name: str = "Pear Tree") -> Json:
    """A server as an editor hands it over."""
    env = [{"name": "PEAR_KEY", "value": VALUE}]
    return {"name": name, "command": "python3", "args": ["-c", PEARS, mode], "env": env}


def _script(seen: Seen) -> Turn:
    last = seen.body["messages"][-1]
    if last["role"] != "user" or "count" not in str(last["content"]):
        return Turn("Done.")
    name = str(last["content"]).split()[-1]
    return Turn("", calls=(use(f"mcp__{name}__count_pears", orchard="north"),))


@pytest.fixture
def zed(house: LivingHome, project: Path) -> Iterator[Editor]:
    """An editor; its model calls a server's tool where it is told which."""
    with served(_script) as model, editor(acp(house), house.environment, project) as running:
        use_model(house, model.openai)
        running.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        yield running


def opened(zed: Editor, project: Path, *servers: Json) -> str:
    """A session with which the editor hands servers over."""
    return str(zed.request("session/new", {"cwd": str(project), "mcpServers": list(servers)})["sessionId"])


def asked(zed: Editor, since: int = 0) -> Json:
    """The next question, read by the person for as long as it has to be."""
    question = zed.permission(since)
    time.sleep(max(0.0, question["at_s"] + DWELL_S + 0.1 - time.monotonic()))  # the time itself is what is tested
    return question


def after(zed: Editor, question: Json) -> int:
    """Where what came after it begins."""
    return zed.seen.index(question) + 1


def shown(question: Json) -> str:
    """All that a question shows."""
    return "\n".join(one["content"]["text"] for one in question["permission"]["toolCall"]["content"])


def settled(zed: Editor, question: Json) -> Json:
    """How it ended."""
    id = question["permission"]["toolCall"]["toolCallId"]
    ends = ("completed", "failed")
    found = zed.until(
        lambda one: (
            (update := one.get("update", {}).get("update", {})).get("toolCallId") == id and update.get("status") in ends
        ),
        "the question to be settled",
    )
    return dict(found["update"]["update"])


@promise("ACP-1.agent", "MCP-1.stdio")
def test_a_server_of_the_editors_is_set_up_and_its_tools_called_once_the_person_has_said_yes_to_both(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    session = opened(zed, project, pears())
    first = zed.permission()
    call = first["permission"]["toolCall"]["toolCallId"]
    assert first["permission"]["sessionId"] == session
    assert call in str([one for one in zed.seen[: zed.seen.index(first)] if "update" in one]), "it was told of first"
    assert "python3 -c" in shown(first) and "it may reach: no host" in shown(first) and "PEAR_KEY" in shown(first)
    assert zed.request("session/prompt", prompt(session, "hello")) == {"stopReason": "end_turn"}, "nothing waits for it"
    assert house.get("/mcp")["items"] == [] and processes_with(PEARS) == [], "nothing was done before the answer"

    zed.permit(asked(zed), "yes")
    second = asked(zed, after(zed, first))
    assert second["permission"]["toolCall"]["toolCallId"] == call
    assert "count_pears (new): Counts the pears" in shown(second) and "readOnlyHint" in shown(second)
    (row,) = house.get("/mcp")["items"]
    assert (row["server"]["name"], row["server"]["secrets"], row["approved"]) == ("pear-tree", ["PEAR_KEY"], 0)
    zed.permit(second, "yes")
    assert settled(zed, second)["status"] == "completed"
    assert [body["door"] for body in home_events(house, "mcp.tools_approved")] == ["acp"]

    going = zed.begin("session/prompt", prompt(session, "please count with pear-tree"))
    third = asked(zed, after(zed, second))
    assert "north" in shown(third), "each call is confirmed with its arguments"
    zed.permit(third, "once")
    assert zed.result(going) == {"stopReason": "end_turn"}
    assert [body["text"] for body in house.bodies(session, "tool.finished")] == ["There are 41 pears in north."]
    assert VALUE not in everything(house)
    assert VALUE not in str([one for one in zed.seen if "wire" in one])


@pytest.mark.parametrize("answer", ["deny", pytest.param("", marks=pytest.mark.long)])
def test_without_a_yes_nothing_is_set_up_and_a_no_is_not_asked_again(
    house: LivingHome, zed: Editor, project: Path, answer: str
) -> None:
    opened(zed, project, pears())
    question = asked(zed)
    zed.permit(question, answer)
    assert settled(zed, question)["status"] == "failed"
    assert house.get("/mcp")["items"] == [] and processes_with(PEARS) == []
    since = len(zed.seen)
    session = opened(zed, project, pears())
    assert zed.request("session/prompt", prompt(session, "hello")) == {"stopReason": "end_turn"}
    if answer:
        assert not [one for one in zed.seen[since:] if "permission" in one]
    else:
        assert zed.permission(since), "what was not answered is asked again"


def test_a_server_whose_tools_are_not_approved_is_set_up_and_can_do_nothing(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    session = opened(zed, project, pears())
    first = asked(zed)
    zed.permit(first, "yes")
    second = zed.permission(after(zed, first))
    zed.permit(second, "deny")
    assert "stead mcp review pear-tree" in str(settled(zed, second))
    assert [row["approved"] for row in house.get("/mcp")["items"]] == [0]
    assert zed.request("session/prompt", prompt(session, "please count with pear-tree")) == {"stopReason": "end_turn"}
    assert [body["outcome"] for body in house.bodies(session, "tool.finished")] == ["denied"]


def test_one_that_the_home_has_approved_is_used_without_a_question(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    add(house, "orchard")
    session = opened(zed, project, pears())
    going = zed.begin("session/prompt", prompt(session, "please count with orchard"))
    question = asked(zed)
    assert "orchard" in str(question) and "north" in shown(question), "the first question is that of the call"
    zed.permit(question, "once")
    assert zed.result(going) == {"stopReason": "end_turn"}
    assert [row["server"]["name"] for row in house.get("/mcp")["items"]] == ["orchard"]


def test_it_never_takes_the_place_of_a_server_of_the_persons(house: LivingHome, zed: Editor, project: Path) -> None:
    add(house, "pear-tree", "long")
    opened(zed, project, pears())
    question = asked(zed)
    assert "the MCP server pear-tree-2" in shown(question)
    zed.permit(question, "yes")
    zed.permission(after(zed, question))
    rows = {row["server"]["name"]: row for row in house.get("/mcp")["items"]}
    assert rows["pear-tree"]["server"]["command"][-1] == "long" and rows["pear-tree"]["approved"] == 1
    assert rows["pear-tree-2"]["server"]["command"][-1] == "honest"


def test_a_yes_that_comes_as_programs_answer_does_not_count(house: LivingHome, zed: Editor, project: Path) -> None:
    opened(zed, project, pears())
    question, since = zed.permission(), 0
    for _ in range(3):
        question = zed.permission(since)
        since = after(zed, question)
        zed.permit(question, "yes")
    assert settled(zed, question)["status"] == "failed"
    assert house.get("/mcp")["items"] == [] and processes_with(PEARS) == []


def test_orders_and_hidden_characters_of_a_server_are_shown_as_its_words(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    server = pears("orders")
    server["args"].append("a\u202eb")
    opened(zed, project, server)
    first = asked(zed)
    assert "\\u202e" in shown(first) and "\u202e" not in shown(first)
    zed.permit(first, "yes")
    second = zed.permission(after(zed, first))
    assert "in its own words" in shown(second) and "\\u200b" in shown(second) and "\u200b" not in shown(second)
    assert home_events(house, "mcp.tools_approved") == []


def test_what_cannot_be_used_is_said_with_the_way_out(house: LivingHome, zed: Editor, project: Path) -> None:
    clear = {"type": "http", "name": "clear", "url": "http://127.0.0.1:9/mcp", "headers": []}
    old = {"type": "sse", "name": "old", "url": "https://pears.example.com/sse", "headers": []}
    long = {"name": "long", "command": "python3", "args": ["x" * 30_000], "env": []}
    odd = {"type": "acp", "name": "odd", "id": "1"}
    opened(zed, project, old, odd, long, clear)
    zed.permit(asked(zed), "yes")
    told = json.dumps(zed.updates())
    for words in ("'old' is not used", "'odd' is not used", "long is too long to be shown"):
        assert words in told
    zed.until(lambda one: "--private for your own" in str(one.get("update", "")), "the way out")
    assert house.get("/mcp")["items"] == []


def test_servers_that_are_none_open_no_session(house: LivingHome, zed: Editor, project: Path) -> None:
    begun(zed, project)
    none: tuple[object, ...] = ({}, "x", [1], [{"command": "x"}], [pears(name=f"p{at}") for at in range(21)])
    for servers in none:
        assert refused(zed, "session/new", {"cwd": str(project), "mcpServers": servers}) == -32602
    assert len(house.get("/sessions")["items"]) == 1


def test_a_session_that_is_closed_takes_its_questions_along(house: LivingHome, zed: Editor, project: Path) -> None:
    session = opened(zed, project, pears())
    question = asked(zed)
    zed.request("session/close", {"sessionId": session})
    zed.until(lambda one: one.get("withdrawn") == question["tag"], "it to be taken back")
    zed.permit(question, "yes")
    begun(zed, project)
    assert house.get("/mcp")["items"] == [] and processes_with(PEARS) == []
