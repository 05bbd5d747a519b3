"""What is found again: by words, by meaning, as of then, counted, and in the prompt. Real daemon, real wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import sit_down
from tests.flows.test_memory_files import until
from tests.promises import promise

DAY_MS = 86_400_000
THEN_MS = 1_700_000_000_000
LONG_S = 90
SMALL = {"tokens": 1000, "usd_micros": "unlimited"}


@pytest.fixture
def meaning(tmp_path: Path) -> Iterator[LivingHome]:
    """A home that finds by meaning, with the model that was built for this run."""
    living = LivingHome(tmp_path / "home", forked=True)
    living.root.mkdir()
    living.home.settings.write_text('discover = "off"\n', "utf-8")
    try:
        living.start()
        yield living
    finally:
        living.stop()


def remember(house: LivingHome, *items: Json) -> list[str]:
    """Have them remembered everywhere; gives their ids."""
    said = house.post("/memories", {"items": list(items)})["text"]
    return [one.split()[1] for one in said.split("; ")]


def recalled(house: LivingHome, query: str, **wanted: int) -> Json:
    found: Json = house.get("/memories/recall", query=query, **wanted)
    return found


def texts(found: Json) -> list[str]:
    return [hit["text"] for hit in found["hits"]]


@pytest.mark.long
@promise("MEM-3.hybrid")
def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(meaning: LivingHome) -> None:
    remember(
        meaning,
        {"text": "Ada's dog Rufus barks at the postman."},
        {"text": "The invoices of the print shop are sent in March."},
        {"text": "The greenhouse is heated with wood."},
    )

    def embedded() -> bool:
        return all(place["embedded"] == place["memories"] for place in meaning.get("/memories/places")["items"])

    until(embedded, LONG_S)
    found = recalled(meaning, "a hound makes noise at the mailman")
    assert all(leg["alive"] for leg in found["legs"])
    assert texts(found)[0] == "Ada's dog Rufus barks at the postman."
    assert [why["by"] for why in found["hits"][0]["why"]] == ["meaning"]
    both = recalled(meaning, "a dog that barks")
    assert {why["by"] for why in both["hits"][0]["why"]} >= {"words", "meaning"}


@promise("MEM-3.hybrid")
def test_without_an_embedder_words_carry_the_search_and_that_is_said(house: LivingHome) -> None:
    remember(house, {"text": "Ada's dog Rufus barks at the postman."})
    found = recalled(house, "the dog")
    assert texts(found) == ["Ada's dog Rufus barks at the postman."]
    (dead,) = [leg for leg in found["legs"] if not leg["alive"]]
    assert (dead["leg"], bool(dead["text"])) == ("meaning", True)
    assert texts(recalled(house, "which pets live there")) == []


@promise("MEM-2.past")
def test_asking_about_the_past_gives_the_pasts_answer(house: LivingHome, project: Path) -> None:
    (old,) = remember(
        house,
        {
            "text": "Grace runs the bakery.",
            "key": "bakery.owner",
            "value": "Grace",
            "valid_from_ms": THEN_MS - 900 * DAY_MS,
        },
    )
    house.client().put(
        f"/memories/{old}", {"text": "Henry runs the bakery.", "value": "Henry", "valid_from_ms": THEN_MS - 90 * DAY_MS}
    )
    asked = "who runs the bakery?"
    assert texts(recalled(house, asked)) == ["Henry runs the bakery."]
    assert texts(recalled(house, asked, as_of_ms=THEN_MS - 400 * DAY_MS)) == ["Grace runs the bakery."]
    assert texts(recalled(house, asked, as_of_ms=THEN_MS - 1000 * DAY_MS)) == []
    chain = house.get(f"/memories/{old}/versions")["items"]
    assert [row["memory"]["value"] for row in chain] == ["Grace", "Henry"]


@promise("MEM-3.prompt", "MEM-3.counts")
def test_a_prompt_has_the_pinned_and_the_ten_best_and_each_telling_is_counted(house: LivingHome, project: Path) -> None:
    told = [{"text": f"Lamp number {number} hangs in hall {number}."} for number in range(30)]
    remember(house, *told, {"text": "Answer in whole sentences.", "pinned": True})
    with served(by_turn(Turn("One."), Turn("Two."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("which lamp hangs in the hall?")
        sitting.turn("and which lamp hangs in the other hall?")
        first, second = (json.dumps(seen.body["messages"]) for seen in model.requests())
    (opening, more) = sitting.bodies("memory.recalled")
    lamps = [[one for one in body["told"] if "Lamp number" in one["text"]] for body in (opening, more)]
    assert [len(one) for one in lamps] == [10, 10]
    assert not {one["ref"] for one in lamps[0]} & {one["ref"] for one in lamps[1]}, "what is told is told once"
    assert "Answer in whole sentences." in first
    assert second.startswith(first.removesuffix("]")), "what was told stays where it was told"
    counted = {row["memory"]["id"]: row["uses"] for row in house.get("/memories", limit=100)["items"]}
    assert all(counted[one["ref"]] == 1 for each in lamps for one in each)
    assert sum(counted.values()) >= 20


@promise("MEM-3.quiet")
def test_a_run_is_told_neither_of_failed_runs_nor_what_a_model_says_when_it_calls_a_tool(
    house: LivingHome, project: Path
) -> None:
    step = Turn("Survey the lighthouse folder.", (Call("plan", {"steps": [{"title": "look"}]}),))
    script = by_turn(step, Turn("The lighthouse is painted white."), then=Turn("Nothing is known of it."))
    with served(script) as model:
        use_model(house, model.openai)
        failed = house.finish(house.give("Mail the harbour office about the lighthouse", project, budget=SMALL))
        assert failed["status"] == "incomplete"
        assert house.finish(house.give("Which colour has the lighthouse?", project))["status"] in WELL
        house.finish(house.give("What do you know of the lighthouse?", project))
        seen = [request.body["messages"] for request in model.requests()]
        (first,) = [json.dumps(one) for one in seen if "What do you know" in str(one) and len(one) == 2]
    assert "Which colour has the lighthouse?" in first and "painted white" in first
    assert "Survey" not in first
    assert "harbour office" not in first and "Stopped" not in first
    found = house.get("/memories/recall", query="lighthouse", directory=str(project))
    assert "The lighthouse is painted white." in texts(found)
    assert not [text for text in texts(found) if "Survey" in text or "harbour" in text]


def test_a_run_is_told_neither_of_cancelled_runs_nor_twice_of_the_same(house: LivingHome, project: Path) -> None:
    def script(seen: Seen) -> Turn:
        asked = str(seen.body["messages"][-1])
        return Turn("", (Call("shell", {"command": "sleep 60"}),)) if asked.endswith("quay'}") else Turn("Hello there.")

    with served(script) as model:
        use_model(house, model.openai)
        cut_off = house.give("Paint the quay", project)
        house.until(lambda: house.bodies(cut_off, "tool.started") != [], "the command to run")
        house.post(f"/objectives/{cut_off}/cancel")
        house.wait(cut_off, "cancelled")
        for _ in range(2):
            assert house.finish(house.give("Greet the harbour", project))["status"] in WELL
        house.finish(house.give("And now?", project))
        last = json.dumps(model.requests()[-1].body["messages"])
    assert last.count("Greet the harbour: Hello there.") == 1
    assert "quay" not in last
