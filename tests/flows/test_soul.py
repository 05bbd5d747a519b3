"""A session proposes another soul, and only the person makes it one. Real daemon, real wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import Sitting, sit_down
from tests.flows.test_memory_files import edit, text, until
from tests.promises import promise

SOUL = "global/soul.md"
CALM = "Be as calm as a lighthouse.\nSay what you do not know."


def propose(*souls: str) -> Turn:
    calls = [Call("use_tool", {"name": "propose_soul", "arguments": {"text": soul, "why": "Asked."}}) for soul in souls]
    return Turn("", calls=tuple(calls))


def told(sitting: Sitting) -> list[tuple[str, str]]:
    """Outcome and text of every proposal."""
    finished = sitting.bodies("tool.finished")
    return [(body["outcome"], body["text"]) for body in finished if body["tool"] == "propose_soul"]


def proposed(house: LivingHome) -> list[Json]:
    return [row["proposal"] for row in house.get("/memories/proposals")["items"] if row["proposal"]["what"] == "soul"]


@promise("MEM-5.soul")
def test_a_proposed_soul_becomes_one_when_the_person_accepts_it_and_not_before(
    house: LivingHome, project: Path
) -> None:
    with served(by_turn(propose(CALM, CALM), Turn("Proposed."), propose(CALM), Turn("There."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("Be calmer, for good.")
        (row,) = proposed(house)
        before = text(house, SOUL)
        house.post(f"/memories/proposals/{row['id']}", {"accept": True})
        until(lambda: CALM in text(house, SOUL))
        sitting.turn("Is it so now?")
    assert "lighthouse" not in before
    assert row["text"] == CALM
    assert row["why"] == "A session would have it so: Asked."
    assert row["label"]["integrity"] == "trusted"
    (first, again, after) = told(sitting)
    assert first == ("ok", f"proposed as {row['id']}; the person decides, and until then the soul stays as it is")
    assert again == ("ok", f"proposed before as {row['id']}: it waits for the person's answer")
    assert after == ("ok", "it is the soul already")


@promise("MEM-5.soul")
def test_a_session_that_has_read_strangers_words_proposes_no_soul(house: LivingHome, project: Path) -> None:
    read = Turn("", calls=(Call("use_tool", {"name": "recall_all", "arguments": {"query": "lighthouse"}}),))
    with served(by_turn(read, propose(CALM), Turn("Refused."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("Be calmer, for good.")
    ((outcome, why),) = told(sitting)
    assert outcome == "error"
    assert "has read strangers' words" in why
    assert proposed(house) == []


@pytest.mark.long
def test_a_refused_soul_is_not_proposed_again_and_few_wait_at_once(house: LivingHome, project: Path) -> None:
    many = [f"Be calm in way number {number}." for number in range(4)]
    with served(by_turn(propose(CALM), Turn("One."), propose(CALM, *many), Turn("More."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("Be calmer.")
        (row,) = proposed(house)
        house.post(f"/memories/proposals/{row['id']}", {"accept": False})
        sitting.turn("Be calmer still.")
    _, refused, *waiting, last = told(sitting)
    assert refused == ("error", f"proposed before as {row['id']}: the person refused it")
    assert [outcome for outcome, _ in waiting] == ["ok"] * 3
    assert last == ("error", "not proposed: 3 souls wait for the person's answer already")


def test_no_accepted_soul_undoes_what_the_person_wrote_since(house: LivingHome, project: Path) -> None:
    with served(by_turn(propose(CALM), Turn("Proposed."))) as model:
        use_model(house, model.openai)
        sit_down(house, project).turn("Be calmer.")
        (row,) = proposed(house)
        until(lambda: bool(text(house, SOUL)))
        edit(house, SOUL, "Be brisk, and never late.\n")
        until(lambda: "brisk" in str(house.get("/directives")["items"]))
        with pytest.raises(ApiError, match="was changed after this was proposed"):
            house.post(f"/memories/proposals/{row['id']}", {"accept": True})
    assert "brisk" in text(house, SOUL)
    assert [one["id"] for one in proposed(house)] == [row["id"]], "it still waits"


def test_no_secret_is_proposed_as_a_part_of_the_soul(house: LivingHome, project: Path) -> None:
    assert house.cli("secret", "add", "shop-key", stdin="walnut-seventeen-lamps").returncode == 0
    with served(by_turn(propose("Say walnut-seventeen-lamps to each caller."), Turn("Proposed."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("Be calmer.")
    assert "walnut-seventeen" not in str(house.get("/memories/proposals"))
    assert "walnut-seventeen" not in str(told(sitting))
    (row,) = proposed(house)
    assert "{{secret:shop-key#" in row["text"], "its name is proposed in its place"
