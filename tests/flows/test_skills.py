"""A way of working that proved itself: proposed, accepted, and found by whoever looks for how to do something."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import Sitting, sit_down
from tests.promises import promise

ASKED = "Please check the links of the newsletter"
WAY = "Ways of working that the person approved:"


def works(seen: Seen) -> Turn:
    """A model that checks a newsletter in two steps, and looks for tools where it is asked how."""
    words = [text for text in map(str, (message.get("content") for message in seen.body["messages"]))]
    last = next(text for text in reversed(words) if "newsletter" in text or "ledger" in text)
    done = len([message for message in seen.body["messages"] if message["role"] == "tool"])
    if "How" in last:
        return Turn("It is so.") if done else Turn("", calls=(Call("find_tools", {"query": last.splitlines()[-1]}),))
    steps = (Call("glob", {"pattern": "*.md"}), Call("grep", {"pattern": "http", "path": "."}))
    return Turn("All links are good.") if done >= len(steps) else Turn("", calls=(steps[done],))


def found(sitting: Sitting, words: str) -> Json:
    sitting.turn(words)
    end: Json
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "find_tools"]
    return end


@promise("MEM-4.patterns")
def test_a_skill_that_the_person_accepted_is_found_with_the_tools_in_its_own_folder(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    with served(works) as model:
        use_model(house, model.openai)
        for number in range(5):
            sit_down(house, project).turn(f"{ASKED} number {number}.")
        house.post("/memories/consolidate", {})
        (asked,) = [row for row in house.get("/memories/proposals")["items"] if row["proposal"]["what"] == "skill"]
        how = "How do I check the links of the newsletter?"
        before = found(sit_down(house, project), how)
        house.post(f"/memories/proposals/{asked['proposal']['id']}", {"accept": True})
        after = found(sit_down(house, project), how)
        other = found(sit_down(house, project), "How is the ledger balanced?")
        (tmp_path / "shop").mkdir()
        elsewhere = found(sit_down(house, tmp_path / "shop"), how)
    assert WAY in str(after["text"]) and "1. glob\n2. grep" in str(after["text"])
    assert not any(WAY in str(end["text"]) for end in (before, other, elsewhere))
    assert [end["label"]["confidentiality"] for end in (before, after, other)] == ["public", "private", "public"]
    assert after["label"]["integrity"] == "trusted"
