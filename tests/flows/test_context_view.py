"""What a session's context holds and costs, as it is shown, against what really goes over the wire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.models import Call, Seen, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.counting import PATIENT, UNLIMITED, WINDOWS, Counting, counting, ledger, reads, wants_summary
from tests.flows.house import Json, LivingHome
from tests.flows.sitting import Sitting, sit_down

__all__ = ["house"]

SPEECH = "so we went on with the ledger of the harbour, page by page, as it was said before; "
NEAR = 0.15
"""How far a figure may be from what the server counts."""


def near(figure: float, truth: float) -> bool:
    """Whether a figure is about right."""
    return abs(figure - truth) <= NEAR * truth


def shown(sitting: Sitting) -> Json:
    """The context as the door gives it; what it says twice agrees."""
    row = sitting.house.get(f"{sitting.path}/context")
    assert row["tokens"] == sum(part["tokens"] for part in row["parts"])
    assert [part["tokens"] for part in row["parts"]] == sorted((part["tokens"] for part in row["parts"]), reverse=True)
    return row


def kinds(row: Json, **wanted: object) -> set[str]:
    """The kinds of the parts that are so."""
    return {part["kind"] for part in row["parts"] if all(part[name] == value for name, value in wanted.items())}


def counted_next(script: Counting, sitting: Sitting) -> tuple[int, int]:
    """Send one more word and give (input, cached) of the request that it causes."""
    place = len(script.counted)
    sitting.turn("go on")
    return script.counted[place]


@pytest.mark.parametrize("preset", ["compatible", "anthropic"])
def test_the_context_is_shown_as_the_next_request_carries_it(house: LivingHome, project: Path, preset: str) -> None:
    ledger(project)
    window, made = WINDOWS[preset], 0

    def reply(seen: Seen) -> Turn:
        nonlocal made
        made += 1
        return reads(made, 230 if window > 100_000 else 50) if made < 16 else Turn("Read.")

    with counting(house, reply, preset) as (_, script):
        sitting = sit_down(house, project, budget=UNLIMITED, limits=PATIENT)
        first = shown(sitting)
        assert kinds(first) == {"instructions", "tools"}
        assert not first["counted"] and not kinds(first, cached=True)
        sitting.turn("read the ledger")
        row = shown(sitting)
        taken, cached = counted_next(script, sitting)
    assert row["counted"]
    assert row["window_tokens"] == window
    assert near(row["tokens"], taken), (row["tokens"], taken)
    assert near(row["used_percent"], 100 * taken / window)
    held = sum(part["tokens"] for part in row["parts"] if part["cached"])
    assert near(held, cached), (held, cached)
    assert kinds(row) == {"instructions", "tools", "words", "replies", "calls", "results"}
    [results] = [part for part in row["parts"] if part["kind"] == "results"]
    assert (results["name"], results["count"], results["trimmed"]) == ("read", 15, False)
    assert row["trimmed_messages"] == 0


def test_what_is_trimmed_is_shown_at_what_its_placeholder_takes(house: LivingHome, project: Path) -> None:
    ledger(project)
    made = 0

    def reply(seen: Seen) -> Turn:
        nonlocal made
        made += 1
        return reads(made, 50) if made < 26 else Turn("Read.")

    with counting(house, reply, "compatible") as (_, script):
        sitting = sit_down(house, project, budget=UNLIMITED, limits=PATIENT)
        sitting.turn("read the ledger")
        row = shown(sitting)
        [trim] = sitting.bodies("context.trimmed")
        said = house.cli("session", "context", sitting.id)
        same = house.cli("session", "context", sitting.id, "--json")
        taken, _ = counted_next(script, sitting)
    assert row["trimmed_messages"] == trim["upto"]
    assert near(row["tokens"], taken), (row["tokens"], taken)
    assert near(trim["tokens_before"], 0.6 * row["window_tokens"])
    placeholders, whole = (
        next(part for part in row["parts"] if part["kind"] == "results" and part["trimmed"] is trimmed)
        for trimmed in (True, False)
    )
    assert placeholders["tokens"] / placeholders["count"] < 60 < 800 < whole["tokens"] / whole["count"]
    assert json.loads(same.stdout) == row
    assert said.returncode == 0, said.stderr
    assert f"{row['used_percent']:.1f} %" in said.stdout
    assert "as the provider counted" in said.stdout
    assert f"{row['trimmed_messages']} of {row['messages']} messages" in said.stdout


def test_a_summary_and_stead_own_words_are_parts_of_their_own(house: LivingHome, project: Path) -> None:
    def reply(seen: Seen) -> Turn:
        return Turn("SUMMARY: the pears.") if wants_summary(seen) else Turn(f"{len(script.prompts)}. {SPEECH * 60}")

    with counting(house, reply, "compatible") as (_, script):
        sitting = sit_down(house, project, budget=UNLIMITED, limits=PATIENT)
        for number in range(12):
            sitting.turn(f"{number}. {SPEECH * 80}")
            if sitting.bodies("context.compacted"):
                break
        row = shown(sitting)
        taken, _ = counted_next(script, sitting)
    assert {"summary", "notices"} <= kinds(row)
    assert near(row["tokens"], taken), (row["tokens"], taken)


def test_what_the_next_request_costs_follows_the_models_price(house: LivingHome, project: Path) -> None:
    ledger(project)
    turns = iter([Turn("", calls=(Call("read", {"path": "ledger.txt", "lines": 200}),)), Turn("Read."), Turn("Yes.")])
    with counting(house, lambda _: next(turns), "anthropic") as (model, script):
        place = {"provider": "acme", "model": "claude-sonnet-4-5"}
        house.post("/chain", {"chain": [place]})
        sitting = sit_down(house, project)
        sitting.turn("read the ledger")
        row = shown(sitting)
        said = house.cli("session", "context", sitting.id)
        taken, cached = counted_next(script, sitting)
    assert model.requests()[-1].body["model"] == "claude-sonnet-4-5"
    assert (row["model"], row["price_known"]) == (place, True)
    assert near(row["usd_micros"], 6 * taken), "at most: what is kept in the cache for an hour is 6 dollars a million"
    assert near(row["cached_usd_micros"], 6 * (taken - cached) + 0.3 * cached), "30 cents for what is there"
    assert f"${row['usd_micros'] / 1e6:.4f}" in said.stdout
    assert "from the provider's cache, with acme/claude-sonnet-4-5" in said.stdout
