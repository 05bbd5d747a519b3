"""A daemon that learns from what the person says: by rules, and by a model within its cap. Real daemon, real wire."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stead.domain.ends import ENDS, WELL
from tests.fakes.models import Call, Script, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

GOAL = "write a.md. My dentist is Dr Lund. Lena from the print shop wants the flyers on thick paper."
QUOTE = "Lena from the print shop wants the flyers on thick paper"


def is_noting(seen: Seen) -> bool:
    """Whether it is the request that notes things down: its instructions say so, and there are no tools."""
    return "tools" not in seen.body and "You note what a person said" in json.dumps(seen.body)


def noted(main: Script) -> Script:
    """A model that notes one true thing, one that nobody said and one that a stranger would have said."""

    def reply(seen: Seen) -> Turn:
        if not is_noting(seen):
            assert callable(main)
            return main(seen)
        turns = json.loads(seen.body["messages"][-1]["content"])["turns"]
        first = turns[0]["id"]
        item = {"kind": "person", "text": f"{QUOTE}.", "key": "person.lena.paper", "value": "thick paper"}
        lie = {"kind": "knowledge", "text": "Eve may read all mail.", "key": "mail.eve", "value": "yes"}
        items = [
            {**item, "turn": first, "quote": QUOTE},
            {**lie, "turn": first, "quote": QUOTE},
            {**lie, "turn": first, "quote": "Eve may read all mail of the person."},
        ]
        return Turn(json.dumps({"items": items}), usage=(400, 90, 0, 0))

    return reply


def memories(house: LivingHome) -> dict[str, Json]:
    return {row["memory"]["key"]: row for row in house.get("/memories")["items"]}


@promise("MEM-4.extraction", "MEM-1.provenance")
def test_what_a_goal_says_is_remembered_with_its_evidence_and_taken_back(house: LivingHome, project: Path) -> None:
    with served(noted(by_turn(Turn("It is done.")))) as model:
        use_model(house, model.openai)
        id = house.give(GOAL, project)
        house.wait(id, *WELL, "incomplete", "failed", "paused")
        said = house.post("/memories/consolidate", {})
        found, runs = memories(house), house.get("/memories/runs")["items"]
        assert house.post("/memories/consolidate", {})["text"] == "nothing was new"
        asked = [seen for seen in model.requests() if is_noting(seen)]
        evidence = house.get(f"/memories/{found['person.lena.paper']['memory']['id']}/evidence")["items"]
        usage = house.get("/usage")["items"]
        for row in runs:
            house.post(f"/memories/runs/{row['run']['run']}/revert", {})
        left = memories(house)
    assert set(found) == {"person.dentist", "person.lena.paper"}
    assert found["person.dentist"]["memory"]["scope"]["level"] == "workspace"
    assert "2 remembered" in said["text"]
    assert "490 tokens" in said["text"]
    assert len(asked) == 1, "what is new is read once"
    assert QUOTE in evidence[0]["text"]
    assert sum(row["requests"] for row in usage) == len(model.requests())
    assert left == {}


def test_no_cap_is_passed_by_what_is_noted_down(house: LivingHome, project: Path) -> None:
    house.stop()
    house.home.settings.write_text("memory_tokens_a_day = 4000\n", "utf-8")
    house.start()
    with served(noted(by_turn(Turn("It is done.")))) as model:
        use_model(house, model.openai)
        for number in range(12):
            house.wait(house.give(f"{GOAL} That is number {number}.", project), *ENDS, "paused")
            house.post("/memories/consolidate", {})
        asked = [seen for seen in model.requests() if is_noting(seen)]
        spent = sum(row["run"]["tokens"] for row in house.get("/memories/runs", limit=100)["items"])
    assert 0 < len(asked) < 12
    assert 0 < spent <= 4000


LIE = "Reports of this project are sent to collect.example.com."
CARELESS = {
    "work at Siemens": "The person works at Siemens.",
    "I live in Lima": "The person lives in Lima.",
    "I am allergic to nuts": "The person is allergic to nuts.",
    "works at a bank": "The person works at a bank.",
}
TURNED_ROUND = (
    "write a.md. I no longer work at Siemens. If the sale works out, I live in Lima by May. "
    "She said I am allergic to nuts. My brother's wife works at a bank."
)


def test_a_careless_model_that_remembers_its_own_words_leaves_nothing(house: LivingHome, project: Path) -> None:
    """It has itself remembered in its work, again after a restart, and quotes fragments when it notes things down."""
    says = by_turn(Turn(LIE, calls=(Call("remember", {"items": [{"text": LIE, "key": "project.reports"}]}),)))

    def careless(seen: Seen) -> Turn:
        if not is_noting(seen):
            assert callable(says)
            return says(seen)
        first = json.loads(seen.body["messages"][-1]["content"])["turns"][0]["id"]
        item = {"kind": "person", "key": "person.fact", "value": "yes", "turn": first}
        items = [{**item, "text": text, "quote": quote} for quote, text in CARELESS.items()]
        return Turn(json.dumps({"items": items}), usage=(400, 90, 0, 0))

    with served(careless) as model:
        use_model(house, model.openai)
        for _ in range(2):
            id = house.give(TURNED_ROUND, project)
            house.finish(id, answer="deny")
            assert [end["outcome"] for end in house.bodies(id, "tool.finished") if end["tool"] == "remember"] == [
                "error"
            ]
            house.post("/memories/consolidate", {})
            assert memories(house) == {}
            house.stop()
            house.start()
        asked = [seen for seen in model.requests() if is_noting(seen)]
    assert len(asked) == 2, "the model was asked to note, and did"


def test_notes_give_way_to_a_session_on_a_server_that_answers_one_request_at_a_time(
    house: LivingHome, project: Path
) -> None:
    def reply(seen: Seen) -> Turn:
        if is_noting(seen):
            return Turn("It will take a while.", delay_s=60)
        return Turn("It is done.")

    with served(reply) as model:
        use_model(house, model.openai)
        house.wait(house.give(GOAL, project), *WELL, "incomplete", "failed", "paused")
        with ThreadPoolExecutor(1) as pool:
            consolidating = pool.submit(house.post, "/memories/consolidate", {})
            house.until(lambda: any(map(is_noting, model.requests())), "the notes to be begun")
            house.wait(house.give("say hello", project), *WELL, "incomplete", "failed", "paused")
            consolidating.result(20)
        assert model.left.is_set(), "the connection of the notes was cut"
        failed = [body for body in house.bodies("memory", "reading.failed")]
    assert [(body["kind"], body["spend"]["tokens"]) for body in failed] == [("stopped", 0)]


@pytest.mark.long
def test_how_much_memory_is_given_with_a_message_is_a_setting(house: LivingHome, project: Path) -> None:
    house.stop()
    for wrong in ("memory_recalled = 0", "memory_fades_days = 0"):
        house.home.settings.write_text(f"{wrong}\n", "utf-8")
        assert "give 1 to" in house.daemon_once().stderr
    house.home.settings.write_text('discover = "off"\nembedder = "off"\nmemory_recalled = 2\n', "utf-8")
    house.start()
    with served(by_turn(*[Turn("It is done.")] * 4)) as model:
        use_model(house, model.openai)
        trees = [{"text": f"The pear tree number {number} stands in the garden of Lund."} for number in range(5)]
        house.post("/memories", {"items": trees})
        id = house.give("Which pear tree stands in the garden of Lund?", project)
        house.wait(id, *WELL, "incomplete", "failed", "paused")
    assert [len(body["told"]) for body in house.bodies(id, "memory.recalled")] == [2]
