"""What is learned of talk at work: little of it, and nothing that was not meant."""

from __future__ import annotations

import time

import pytest

from stead.brain.extracting import extracted
from tests.brain.talk import IN_PASSING, LEARNED
from tests.brain.test_extracting import said, taken


@pytest.mark.parametrize("sentence", LEARNED)
def test_what_is_meant_to_be_known_is_learned(sentence: str) -> None:
    assert taken(sentence) == [LEARNED[sentence]]


@pytest.mark.parametrize("turn", IN_PASSING)
def test_what_is_said_in_passing_is_not_learned(turn: str) -> None:
    assert taken(turn) == []


@pytest.mark.parametrize("lead", ["By the way, ", "And ", "Note that ", ""])
def test_what_comes_behind_a_request_is_the_persons_when_they_say_so(lead: str) -> None:
    stated = extracted(said(f"Run the tests, please.\n\n{lead}my dentist is Dr Lund."))
    assert len(stated) == bool(lead)


@pytest.mark.parametrize(
    "mark",
    [
        "Translate into German",
        "Can you fix the grammar?",
        "Improve this paragraph.",
        "Use this as test data.",
        "Persona 1.",
        "This is from my friend's page.",
        "# The manual",
        "Dear Ms Holt,",
        "Eva 10:32",
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_behind_the_marks_of_what_is_handed_over_nothing_is_the_persons_own(mark: str, gap: str) -> None:
    assert extracted(said(f"I prefer tabs.\n{mark}{gap}My name is Alice. I live in Paris."))[1:] == ()
    assert extracted(said(f"{mark}{gap}My name is Alice. I live in Paris.")) == ()


def test_of_a_diff_neither_side_is_the_persons_word() -> None:
    assert extracted(said("-We use Memcached\n+We use Redis")) == ()
    assert len(extracted(said("- I prefer tabs.\n- My name is Ada."))) == 2


@pytest.mark.parametrize(
    "long",
    ["\n" * 20_000, "-x\n" * 7_000, "this " * 4_000, "dear " * 4_000, "Best,\n" * 4_000, "my boss is Aa " * 1_500],
)
def test_a_long_and_odd_turn_is_read_at_once(long: str) -> None:
    before = time.perf_counter()
    assert extracted(said(long)) == ()
    assert time.perf_counter() - before < 5
