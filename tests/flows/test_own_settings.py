"""What a model reads and proposes of Stead's own settings, and what it cannot touch: real daemon, real gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from stead.domain.commands import Command
from stead.domain.ends import WELL
from stead.domain.errors import InvalidRequest
from stead.runtime.preferences import HomePreferences
from stead.tools.configuring import ConfigSetArguments, ConfigSetTool
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

COMMANDS = sorted(str(kind.__struct_config__.tag) for kind in get_args(Command))


def used(name: str, **arguments: object) -> Call:
    """A tool that stands in no request."""
    return Call("use_tool", {"name": name, "arguments": arguments})


@promise("TOOL-1.config")
def test_a_model_reads_the_settings_and_each_change_is_confirmed_although_it_was_planned(
    house: LivingHome, project: Path
) -> None:
    changes = [
        {"setting": "daily_tokens", "value": "900000"},
        {"setting": "daily_usd", "value": "7.5"},
        {"setting": "monthly_usd", "value": "90"},
        {"setting": "models", "value": "acme/other, acme/scripted"},
        {"setting": "models", "value": "nobody/other"},
        {"setting": "daily_usd", "value": "-1"},
    ]
    plan = {"steps": [{"title": "set"}], "calls": [{"tool": "config_set", "arguments": change} for change in changes]}
    first = Turn("", calls=(Call("plan", plan), Call("find_tools", {"query": "settings cap"}), used("config")))
    second = Turn("", calls=tuple(used("config_set", **change) for change in changes))
    with served(by_turn(first, second, then=Turn("Those are the settings."))) as model:
        use_model(house, model.openai)
        goal = "set daily_tokens to 900000, daily_usd to 7.5, monthly_usd to 90 and models to acme/other, acme/scripted"
        id = house.give(goal, project, allow=["config_set"])
        assert house.finish(id, answer="session")["status"] in WELL
    said = [body["text"] for body in house.bodies(id, "tool.finished")]
    caps = "".join(f"{name}: unlimited\n" for name in ("daily_tokens", "daily_usd", "monthly_tokens", "monthly_usd"))
    assert f"models: acme/scripted\n{caps}approval_ttl_s: 604800" in said[2]
    asked = house.bodies(id, "approval.requested")
    assert [json.loads(body["arguments"]) for body in asked] == changes
    assert {(body["level"], body["shape"]) for body in asked} == {("confirm", "")}
    assert [text.partition(".")[0] for text in said[3:7]] == ["Done"] * 4
    assert "'nobody'" in said[7] and "was not changed" in said[7] and "above 0" in said[8]
    assert house.get("/cap")["daily"] == {"tokens": 900_000, "usd_micros": 7_500_000}
    assert house.get("/cap")["monthly"] == {"tokens": "unlimited", "usd_micros": 90_000_000}
    assert [ref["model"] for ref in house.get("/chain")["chain"]] == ["other", "scripted"]


def test_a_change_that_the_person_refuses_is_not_made(house: LivingHome, project: Path) -> None:
    change = used("config_set", setting="daily_usd", value="1000")
    with served(by_turn(Turn("", calls=(change,)), then=Turn("It was refused."))) as model:
        use_model(house, model.openai)
        id = house.give("look", project)
        house.finish(id, answer="deny")
    assert house.bodies("home", "cap.set") == []


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=[pytest.mark.long, pytest.mark.timeout(400)])])
def test_no_command_but_two_is_reached_whatever_a_model_asks_for_and_the_person_confirms(
    house: LivingHome, project: Path, every: int
) -> None:
    """Each command by its name, as a setting and as a value, whole, and with all that it could take."""
    calls: list[Call] = []
    for tag in COMMANDS[::every]:
        whole = json.dumps({"type": tag, "name": "acme", "host": "example.com", "directory": str(project)})
        calls += [used("config_set", setting=tag, value=whole), used("config", command=tag)]
        calls += [used("config_set", setting="models", value=value) for value in (tag, whole, f"{tag}/{tag}")]
        calls += [used("config_set", **{"setting": "daily_usd", "value": "1", "type": tag, "command": tag})]
        calls += [used("config_set", setting="daily_tokens", value=whole)]
    turns = [Turn("", calls=tuple(calls[start : start + 20])) for start in range(0, len(calls), 20)]
    with served(by_turn(*turns, then=Turn("I tried."))) as model:
        use_model(house, model.openai)
        before = _facts(house)
        limits = {"iterations": 500, "stall": 100, "repetition": 100}
        id = house.give("try everything", project, limits=limits)
        assert house.finish(id, answer="once", timeout_s=300)["status"] in WELL
        finished = house.bodies(id, "tool.finished")
        assert len(finished) == len(calls)
        assert [body for body in finished if body["outcome"] == "ok"] == []
        assert _facts(house) == before
        assert house.get("/rules")["items"] == [] and house.get("/secrets")["items"] == []


def _facts(house: LivingHome) -> list[Json]:
    return [event["body"] for event in house.events("home")]


@pytest.mark.parametrize("tag", COMMANDS)
def test_a_commands_name_is_no_setting(tag: str) -> None:
    tool = ConfigSetTool(_unreachable())
    for arguments in ({"setting": tag, "value": "x"}, {"setting": "models", "value": "a/b", tag: {}}, {"type": tag}):
        with pytest.raises(InvalidRequest):
            tool.parse(json.dumps(arguments))


def test_what_tools_can_set_has_no_more_than_two_ways_in() -> None:
    ways = {name for name in vars(HomePreferences) if not name.startswith("_")}
    assert ways == {"now", "set_chain", "set_cap"}
    fields = {field.name for field in msgspec.structs.fields(ConfigSetArguments)}
    assert fields == {"setting", "value"}


def _unreachable() -> HomePreferences:
    def nothing() -> object:
        raise AssertionError("a refused call reaches nothing")

    return HomePreferences(nothing, nothing, 60, nothing)  # type: ignore[arg-type]  # none of them is called
