"""The view of a context: every part is in it, and its figures are the ones that decide."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.compaction import SUMMARY
from stead.brain.measuring import context
from stead.domain.context_rows import ContextRow
from stead.domain.messages import Message, UserMessage
from stead.domain.policies import Label
from stead.domain.sessions import PERSON, STEAD, Session
from tests.brain.conversations import conversation, session_of, weigh, work
from tests.build import TOOLS, info


def view(session: Session, *, window: int = 100_000, price: int = 0) -> ContextRow:
    model = msgspec.structs.replace(info(window=window, price=price), cached_usd_micros_per_mtok=price // 10)
    return context(session, TOOLS, (model, info(window=2 * window)))


def test_each_kind_of_part_is_named_and_counted() -> None:
    messages = [
        *work(3),
        UserMessage("and now?", PERSON),
        UserMessage("The plan is done.", STEAD, notice=True),
        UserMessage("AGENTS.md says", Label(), source="workspace"),
        UserMessage("All is well so far.", Label(), source=SUMMARY),
        UserMessage("Hello from Bo", Label(), source="message:mail"),
    ]
    row = view(session_of(messages))
    found = {(part.kind, part.name): part.count for part in row.parts}
    assert found == {
        ("instructions", ""): 1,
        ("tools", ""): 1,
        ("words", ""): 2,
        ("replies", ""): 3,
        ("calls", "read"): 3,
        ("results", "read"): 3,
        ("notices", ""): 1,
        ("rules", ""): 1,
        ("summary", ""): 1,
        ("others", "message:mail"): 1,
    }
    assert row.parts[0].kind == "results"
    assert (row.messages, row.trimmed_messages, row.window_tokens) == (12, 0, 100_000)


def test_trimmed_results_stand_apart_from_whole_ones() -> None:
    row = view(session_of(work(4), trimmed=5))
    trimmed, whole = (
        [part for part in row.parts if part.kind == "results" and part.trimmed is which] for which in (True, False)
    )
    assert [part.count for part in trimmed + whole] == [2, 2]
    assert trimmed[0].tokens * 5 < whole[0].tokens


def test_what_the_last_request_had_costs_what_is_cached() -> None:
    messages = work(10)
    fresh = view(session_of(messages), price=3_000_000)
    assert fresh.cached_usd_micros == fresh.usd_micros == fresh.tokens * 3
    again = msgspec.structs.replace(session_of(messages), sent=len(messages) - 2, requests=10)
    row = view(again, price=3_000_000)
    cached = sum(part.tokens for part in row.parts if part.cached)
    assert row.usd_micros == pytest.approx(fresh.usd_micros, abs=20)
    assert row.cached_usd_micros == pytest.approx((row.tokens - cached) * 3 + cached * 0.3, abs=2)
    assert row.cached_usd_micros < row.usd_micros / 3


def test_a_providers_count_sets_the_measure() -> None:
    messages = work(10)
    guessed = view(session_of(messages))
    counted = view(session_of(messages, measured=len(messages), measured_tokens=guessed.tokens // 2))
    assert not guessed.counted
    assert counted.counted
    assert counted.tokens == pytest.approx(guessed.tokens / 2, abs=10)


@given(conversation(), st.data())
def test_the_parts_add_up_to_what_trimming_goes_by(messages: list[Message], data: st.DataObject) -> None:
    session = session_of(messages, trimmed=data.draw(st.integers(0, len(messages))))
    row = view(session)
    assert row.tokens == sum(part.tokens for part in row.parts)
    assert abs(row.tokens - weigh(session, TOOLS).likely) <= 2 * len(messages) + 10
    assert row.used_percent == pytest.approx(row.tokens / 1000, abs=0.1)
