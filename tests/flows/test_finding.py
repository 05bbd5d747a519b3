"""Tools that stand in no request: found, called as what they are, and judged as what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.counting import counting, offered
from tests.flows.house import Json, LivingHome
from tests.flows.sitting import Sitting, sit_down

__all__ = ["house"]  # one daemon for all: each test looks at sessions of its own

BOTH = pytest.mark.parametrize("preset", ["compatible", "anthropic"])
URL = "https://docs.example.com/pears"


def use(name: str, /, **arguments: object) -> Call:
    """A call of a tool that stands in no request."""
    return Call("use_tool", {"name": name, "arguments": arguments})


def ended(sitting: Sitting) -> list[tuple[str, str, str]]:
    """Tool, outcome and text of every call that has ended."""
    return [(body["tool"], body["outcome"], body["text"]) for body in sitting.bodies("tool.finished")]


@BOTH
def test_a_tool_that_is_found_is_called_as_itself_and_the_list_of_tools_never_changes(
    house: LivingHome, project: Path, preset: str
) -> None:
    turns = iter(
        [
            Turn("", calls=(Call("find_tools", {"query": "history of this session"}), Call("find_tools", {}))),
            Turn("", calls=(use("history", query="gooseberries"),)),
            Turn("Found."),
            Turn("", calls=(use("config"), use("read", path="README.md"))),
            Turn("Read."),
        ]
    )
    with counting(house, lambda _: next(turns), preset) as (model, _):
        sitting = sit_down(house, project)
        sitting.turn("what was said of gooseberries?")
        house.kill()
        house.start()
        sitting.turn("and the settings?")
        lists = {json.dumps(seen.body["tools"]) for seen in model.requests()}
    assert len(model.requests()) == 5
    assert len(lists) == 1
    assert not {"history", "config"} & set(offered(model.requests()[0]))
    found, listed, looked, config, read = ended(sitting)
    assert found[2].startswith("Call these by use_tool:\nhistory: ")
    assert '"query":{"type":"string"}' in found[2]
    assert "\nconfig: " in listed[2]
    assert looked[:2] == ("history", "ok") and "«gooseberries»" in looked[2]
    assert config[:2] == ("config", "ok") and "models: acme/scripted" in config[2]
    assert read[:2] == ("read", "ok")
    started = [(body["tool"], json.loads(body["arguments"])) for body in sitting.bodies("tool.started")]
    assert [tool for tool, _ in started][2:] == ["history", "config", "read"]
    assert started[2][1]["query"] == "gooseberries"
    steps = [(step["tool"], json.loads(step["input"])) for step in sitting.items("steps") if step["tool"]]
    assert [tool for tool, _ in steps] == [tool for tool, _ in started]
    assert steps[2][1]["query"] == "gooseberries"


def test_a_question_names_the_tool_that_is_meant_and_a_refusal_holds_for_it(house: LivingHome, project: Path) -> None:
    turns = iter([Turn("", calls=(use("api_read", url=URL),)), Turn("It was refused.")])
    with counting(house, lambda _: next(turns), "compatible"):
        sitting = sit_down(house, project)
        sitting.say("look at the pears")
        house.until(lambda: sitting.row()["status"] == "waiting", "the question")
        [question] = house.get("/approvals", session=sitting.id)["items"]
        [call] = sitting.items("calls")
        sitting.rest(answer="deny")
    assert question["tool"] == call["tool"] == "api_read"
    assert json.loads(question["arguments"])["url"] == URL
    assert json.loads(call["arguments"]) == {"url": URL}
    assert [(tool, outcome) for tool, outcome, _ in ended(sitting)] == [("api_read", "denied")]


@pytest.mark.parametrize(
    ("allow", "rule", "verdict"),
    [
        (["api_read"], "", ("allow", "granted")),
        (["use_tool", "find_tools"], "", ("ask", "level-each")),
        (["api_read"], "never use the network", ("deny", "rule-deny")),
        (["api_read"], "ask before fetching from docs.example.com", ("ask", "rule-ask")),
    ],
)
def test_what_the_person_allows_and_forbids_holds_for_the_tool_that_is_meant(
    own_house: LivingHome, project: Path, allow: list[str], rule: str, verdict: tuple[str, str]
) -> None:
    if rule:
        made = own_house.cli("rules", "add", rule, "--yes", "--json")
        assert made.returncode == 0, made.stderr
    turns = iter([Turn("", calls=(use("api_read", url=URL),)), Turn("Done.")])
    with counting(own_house, lambda _: next(turns), "compatible"):
        sitting = sit_down(own_house, project, allow=allow)
        sitting.turn("look at the pears", answer="deny")
    judged = [(body["tool"], body["verdict"], body["reason"]["rule"]) for body in sitting.bodies("call.judged")]
    assert judged == [("api_read", *verdict)]


MALFORMED = {
    "itself": (use("use_tool", name="history"), "use_tool", "calls other tools, not itself"),
    "arguments in a string": (
        Call("use_tool", {"name": "history", "arguments": "{}"}),
        "use_tool",
        "Expected `object`",
    ),
    "no name": (Call("use_tool", {"arguments": {}}), "use_tool", "missing required field `name`"),
    "half of it": (Call("use_tool", '{"name": "history", '), "use_tool", "truncated"),
    "arguments beside it": (Call("use_tool", {"name": "history", "query": "x"}), "use_tool", "unknown field `query`"),
    "a claim beside it": (
        Call("use_tool", {"name": "config_set", "arguments": {}, "approved": True}),
        "use_tool",
        "unknown field `approved`",
    ),
    "no such tool": (use("nothing"), "nothing", "There is no tool 'nothing'"),
    "arguments that do not fit": (use("history", words="x"), "history", "unknown field `words`"),
}


def test_what_is_no_call_of_another_tool_is_refused_with_what_is_wrong(house: LivingHome, project: Path) -> None:
    turns = iter([*(Turn("", calls=(call,)) for call, _, _ in MALFORMED.values()), Turn("I see.")])
    with counting(house, lambda _: next(turns), "compatible"):
        sitting = sit_down(house, project)
        sitting.turn("go")
        assert not sitting.bodies("approval.requested")
    for (case, (_, tool, text)), (called, outcome, said) in zip(MALFORMED.items(), ended(sitting), strict=True):
        assert (case, called) == (case, tool)
        assert outcome in ("denied", "error"), case
        assert text in said, case


@BOTH
def test_a_rarely_used_tool_that_is_chosen_by_name_stands_in_every_request(
    house: LivingHome, project: Path, preset: str
) -> None:
    chosen = ["read", "history", "use_tool"]
    calls = (Call("history", {"query": "gooseberries"}), use("history", query="gooseberries"), use("config"))
    turns = iter([Turn("", calls=calls), Turn("Found.")])
    with counting(house, lambda _: next(turns), preset) as (model, _):
        sitting = sit_down(house, project, tools=chosen)
        sitting.turn("what was said of gooseberries?")
        lists = {tuple(sorted(offered(seen))) for seen in model.requests()}
    assert lists == {tuple(sorted(chosen))}
    directly, by_name, other = ended(sitting)
    assert directly[:2] == by_name[:2] == ("history", "ok")
    assert other[:2] == ("config", "denied")


def test_a_person_edits_a_call_of_a_tool_that_was_found_as_what_it_means(house: LivingHome, project: Path) -> None:
    turns = iter([Turn("", calls=(use("config_set", setting="daily_usd", value="1000"),)), Turn("It is set.")])
    with counting(house, lambda _: next(turns), "compatible"):
        sitting = sit_down(house, project)
        sitting.say("set a cap")
        house.until(lambda: sitting.row()["status"] == "waiting", "the question")
        [call] = sitting.items("calls")
        edited: Json = {"setting": "daily_usd", "value": "5"}
        house.post(f"{sitting.path}/calls/{call['key']}/edit", {"arguments": json.dumps(edited)})
        sitting.rest(answer="once")
    assert house.get("/cap")["daily"]["usd_micros"] == 5_000_000
    assert [(tool, outcome) for tool, outcome, _ in ended(sitting)] == [("config_set", "ok")]
