"""``stead chat`` at a real terminal, against the real daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Seen, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served

__all__ = ["house"]


def test_the_context_is_made_shorter_between_two_turns_and_that_is_no_turn(house: LivingHome, project: Path) -> None:
    def replies(seen: Seen) -> Turn:
        asked = json.dumps(seen.body["messages"][-1])
        return Turn("We spoke of quills.") if "summar" in asked.lower() else Turn("Yes.")

    with served(replies) as model:
        use_model(house, model.openai)
        session = house.post("/sessions", {"directory": str(project)})["session"]
        with pytest.raises(ApiError, match="nothing has been said"):
            house.post(f"/sessions/{session}/compact")
        for text in ("one quill", "two quills", "three quills"):
            house.post(f"/sessions/{session}/messages", {"text": text})
            house.wait(session, "idle")
        house.post(f"/sessions/{session}/compact")
        house.until(lambda: bool(house.bodies(session, "context.compacted")), "the summary to stand")
        row = house.wait(session, "idle")
        assert row["turns"] == 3
        requests = len(model.requests())
        house.post(f"/sessions/{session}/messages", {"text": "four quills"})
        house.wait(session, "idle")
        sent = json.dumps(model.requests()[requests].body)
    assert "We spoke of quills." in sent
    assert "four quills" in sent
