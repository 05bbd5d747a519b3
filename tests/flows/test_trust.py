"""Trust tiers of models: measured by what is on record, set by the person, and what each tier asks of a model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import sit_down
from tests.promises import promise

ROOM: Json = {"profile": "work", "limits": {"stall": 100, "repetition": 100}}
BAD_CALLS = 32
PLAN = Turn("", calls=(Call("plan", {"steps": [{"title": "write it", "status": "doing"}]}),))
WRITE = Turn("", calls=(Call("write", {"path": "out.txt", "text": "hello\n"}),))
READ = Turn("", calls=(Call("read", {"path": "out.txt"}),))
DONE = Turn("It is written.")
BAD = [Turn("", calls=(Call("read", {"file": f"{number}.md"}),)) for number in range(BAD_CALLS)]


class Model:
    """A served model whose replies are changed from session to session."""

    def __init__(self, server: ServedModel) -> None:
        self.server = server
        self.script: Callable[[Seen], Turn] = by_turn()

    def prompts(self) -> list[bytes]:
        """Of the last session's requests."""
        return [seen.prompt for seen in self.server.requests()]


@pytest.fixture
def model(house: LivingHome) -> Iterator[Model]:
    holder: list[Model] = []
    with served(lambda seen: holder[0].script(seen), strict=False) as server:
        holder.append(Model(server))
        use_model(house, server.openai)
        yield holder[0]


def run(house: LivingHome, project: Path, model: Model, *turns: Turn, **fields: object) -> Json:
    """The row of an objective of a model with these replies, after its end."""
    model.script = by_turn(*turns, then=DONE)
    model.server.seen.clear()
    return house.finish(house.give("write hello into out.txt", project, **(ROOM | fields)))


def tier(house: LivingHome) -> Json:
    """What is shown of the model's tier."""
    rows: list[Json] = house.get("/tiers")["items"]
    (row,) = rows
    return row


def texts(house: LivingHome, id: str, tool: str) -> list[str]:
    """What a tool's calls gave back in a session."""
    return [body["text"] for body in house.bodies(id, "tool.finished") if body["tool"] == tool]


@promise("OBJ-9.trust")
def test_a_model_that_writes_bad_calls_is_led_strictly_from_its_next_session_on_also_after_a_restart(
    house: LivingHome, project: Path, model: Model
) -> None:
    first = run(house, project, model, *BAD)
    assert house.bodies(str(first["id"]), "tier.set") == []
    row = tier(house)
    assert (row["tier"], row["by"]) == ("strict", "measured")
    assert (row["record"]["calls"], row["record"]["malformed"]) == (BAD_CALLS, BAD_CALLS)

    led = run(house, project, model, WRITE, PLAN, WRITE, DONE, READ, DONE)
    id = str(led["id"])
    assert [body["tier"] for body in house.bodies(id, "tier.set")] == ["strict"]
    assert [body["tier"] for body in house.bodies("home", "tier.measured")] == ["strict"]
    refused, written = texts(house, id, "write")
    assert "make a plan first" in refused and "make a plan" not in written
    (notice,) = house.bodies(id, "notice.given")
    assert (notice["why"], led["status"]) == ("claim", "unverified")
    prompts = model.prompts()
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(prompts)), "an exact prefix"

    house.stop()
    house.start()
    assert tier(house)["tier"] == "strict"
    again = run(house, project, model, PLAN, WRITE, READ)
    assert [body["tier"] for body in house.bodies(str(again["id"]), "tier.set")] == ["strict"]
    assert len(house.bodies("home", "tier.measured")) == 1, "recorded once"
    shown = house.cli("providers", "trust").stdout
    assert "acme/scripted" in shown and "strict" in shown and "measured" in shown
    (used,) = [json.loads(line) for line in house.cli("usage", "--json").stdout.splitlines()]
    assert used["tier"] == "strict"


@pytest.mark.long
@promise("OBJ-9.trust")
def test_a_tier_that_the_person_set_wins_over_what_is_measured_until_it_is_taken_back(
    house: LivingHome, project: Path, model: Model
) -> None:
    run(house, project, model, *BAD)
    assert house.cli("providers", "set", "acme/scripted", "--trust", "normal").returncode == 0
    assert (tier(house)["tier"], tier(house)["by"]) == ("normal", "person")
    free = run(house, project, model, WRITE)
    assert house.bodies(str(free["id"]), "tier.set") == house.bodies(str(free["id"]), "notice.given") == []
    assert len(texts(house, str(free["id"]), "write")) == 1
    house.cli("providers", "set", "acme/scripted", "--trust", "measured")
    assert (tier(house)["tier"], tier(house)["by"]) == ("strict", "measured")
    refused = house.cli("providers", "set", "acme/scripted", "--trust", "blind")
    assert refused.returncode == 2 and "strict" in refused.stderr


@pytest.mark.long
@promise("OBJ-9.trust")
def test_how_often_a_run_is_sent_back_follows_the_tier(house: LivingHome, project: Path, model: Model) -> None:
    check = {"kind": "exists", "subject": "never.txt"}
    for set_tier, times in (("strict", 6), ("normal", 3), ("trusted", 1)):
        house.post("/providers/acme/models", {"model": "scripted", "trust": set_tier})
        row = run(house, project, model, checks=[check])
        assert len(house.bodies(str(row["id"]), "notice.given")) == times, set_tier
        assert (row["status"], row["reason"]) == ("incomplete", "checks")


@promise("OBJ-9.trust")
def test_a_running_session_keeps_its_prompt_whatever_becomes_of_the_tier_and_takes_it_up_when_it_is_compacted(
    house: LivingHome, project: Path, model: Model
) -> None:
    model.script = lambda seen: Turn(f"Heard {len(seen.body['messages'])}.")
    sitting = sit_down(house, project)
    sitting.turn("one")
    house.post("/providers/acme/models", {"model": "scripted", "trust": "strict"})
    sitting.turn("two")
    assert sitting.bodies("tier.set") == []
    prompts = model.prompts()
    assert len(prompts) == 2 and prompts[1].startswith(prompts[0])
    house.post(f"{sitting.path}/compact")
    house.until(lambda: bool(sitting.bodies("context.compacted")), "the summary")
    sitting.turn("three")
    assert [body["tier"] for body in sitting.bodies("tier.set")] == ["strict"]


@promise("OBJ-9.trust")
def test_a_model_that_the_person_switches_to_is_led_by_its_own_tier_at_once_and_the_prompt_goes_on(
    house: LivingHome, project: Path, model: Model
) -> None:
    model.script = by_turn(Turn("Hello."), WRITE, then=DONE)
    sitting = sit_down(house, project, profile="work")
    sitting.turn("one")
    house.post("/providers/acme/models", {"model": "other", "trust": "strict"})
    house.post(f"{sitting.path}/model", {"chain": [{"provider": "acme", "model": "other"}]})
    sitting.turn("write it")
    assert [(body["model"]["model"], body["tier"]) for body in sitting.bodies("tier.set")] == [("other", "strict")]
    assert "make a plan first" in texts(house, sitting.id, "write")[0]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(model.prompts()))
    sitting.turn("and now?")
    assert len(sitting.bodies("tier.set")) == 1
