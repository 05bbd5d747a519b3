"""What the person tells models always reaches the next request of every session, and nothing else of it changes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import sit_down
from tests.promises import promise

BOTH = pytest.mark.parametrize("preset", ["compatible", "anthropic"])
SOUL = "d_0000000000000001"
RULES = "Write every date as 2031-05-04."


def write(house: LivingHome, title: str, text: str, **fields: object) -> str:
    """Write a directive; gives its id."""
    body: Json = {"kind": "custom", "title": title, "text": text, **fields}
    return str(house.post("/directives", body)["text"]).rpartition(" ")[2]


def told(seen: Seen) -> str:
    """The instructions of a request, as they were sent."""
    if seen.wire == "anthropic":
        return "\n".join(block["text"] for block in seen.body["system"])
    return str(seen.body["messages"][0]["content"])


@BOTH
@promise("MEM-9.directives")
def test_a_directive_reaches_the_next_turn_and_with_no_change_each_request_goes_on_from_the_one_before(
    house: LivingHome, project: Path, preset: str
) -> None:
    look = Turn("", calls=(Call("read", {"path": "README.md"}),))
    with served(by_turn(look, Turn("One."), look, Turn("Two."), look, Turn("Three."))) as model:
        use_model(house, getattr(model, "openai" if preset == "compatible" else "anthropic"), preset=preset)
        sitting = sit_down(house, project)
        sitting.turn("first")
        sitting.turn("second")
        id = write(house, "Dates", RULES)
        sitting.turn("third")
        requests = model.requests()
        house.post(f"/directives/{id}/switch", {"enabled": False})
        sitting.turn("fourth")
        off = model.requests()[-1]
        changes = sitting.bodies("instructions.set")
    assert len(requests) == 6
    assert [RULES in told(seen) for seen in requests] == [False] * 4 + [True] * 2
    assert all(later.prompt.startswith(earlier.prompt) for earlier, later in pairwise(requests[:4]))
    assert requests[5].prompt.startswith(requests[4].prompt)
    assert requests[4].body["messages"][1:4] == requests[3].body["messages"][1:4], "what was said stays as it was"
    assert len(changes) == 2 and RULES in changes[0]["text"]
    assert told(off) == told(requests[0])
