"""What is taken from a person's words by rules, held against a corpus of what people say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.consolidating import memory_of, scope_of
from stead.brain.extracting import extracted
from stead.brain.remembering import canonical, require_valid
from stead.brain.stating import Stated
from stead.domain.ids import SessionId
from stead.domain.memory import Episode, MemoryId, PlaceId
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON, STEAD
from tests.brain.sayings import NOTHING, STATED
from tests.build import START_MS

PLACE = PlaceId("w_0123456789abcdef")
STRANGER = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)


def said(text: str, who: str = "user", label: Label = PERSON) -> Episode:
    return Episode(7, SessionId("s_1"), "chat", who, text, START_MS, private=True, label=label)


def taken(text: str) -> list[tuple[str, str]]:
    return [(one.key, one.value) for one in extracted(said(text))]


@pytest.mark.parametrize("sentence", STATED)
def test_a_sentence_that_states_something_gives_its_key_and_value(sentence: str) -> None:
    assert taken(sentence) == [STATED[sentence]]


@pytest.mark.parametrize("sentence", NOTHING)
def test_a_sentence_that_states_nothing_gives_nothing(sentence: str) -> None:
    assert taken(sentence) == []


def test_the_corpus_is_large_and_half_of_it_states_nothing() -> None:
    assert len(STATED) + len(NOTHING) >= 240
    assert len(NOTHING) >= len(STATED)


@pytest.mark.parametrize("sentence", STATED)
def test_what_is_taken_rests_on_the_very_words_and_can_be_saved(sentence: str) -> None:
    turn = said(f"Thanks for that.\n\n{sentence}\nNow run the tests.")
    (one,) = extracted(turn)
    assert sentence.endswith(turn.text[one.start : one.end])
    assert one.end - one.start > len(sentence) / 2
    kept = require_valid(memory_of(one, turn, scope_of(turn, PLACE, everywhere=False), MemoryId("m_1")))
    assert kept.key == canonical(one.key)
    assert kept.evidence[0].seq == turn.seq


@pytest.mark.parametrize(
    ("who", "label"), [("assistant", STEAD), ("shell", STEAD), ("user", STRANGER), ("mail", PERSON)]
)
def test_nobody_but_the_person_states_anything(who: str, label: Label) -> None:
    assert extracted(said("My name is Ada Lund.", who, label)) == ()


def test_a_turn_may_state_several_things_and_the_last_word_on_one_counts() -> None:
    text = "Hi, I'm new here. My name is Ada. I prefer tabs. My name is Ada Lund, please. Never push to main."
    assert taken(text) == [
        ("person.name", "Ada"),
        ("preference.indentation", "tabs"),
        ("person.name", "Ada Lund"),
        ("instruction.push_to_main", "never"),
    ]


def test_a_document_that_was_pasted_states_nothing_beyond_its_first_lines() -> None:
    lines = "\n".join(f"Line {number} is long." for number in range(60))
    assert taken(f"I prefer tabs.\n{lines}\nMy name is Mallory.") == [("preference.indentation", "tabs")]


def test_everywhere_is_everywhere_only_when_the_person_says_so() -> None:
    (wide,) = extracted(said("Always use metric units in all my projects."))
    (narrow,) = extracted(said("Always use metric units."))
    assert (wide.everywhere, narrow.everywhere) == (True, False)
    assert wide.key == narrow.key


@given(st.text(max_size=400), st.integers(-(2**62), 2**62))
def test_no_text_and_no_clock_makes_it_fail(text: str, ts_ms: int) -> None:
    turn = Episode(7, SessionId("s_1"), "chat", "user", text, ts_ms, private=True, label=PERSON)
    for one in extracted(turn):
        assert isinstance(one, Stated)
        assert 0 <= one.start < one.end <= len(text)


@given(st.lists(st.sampled_from([*STATED, *NOTHING]), max_size=8))
def test_the_same_turn_states_the_same_twice(sentences: list[str]) -> None:
    turn = said(" ".join(sentences))
    assert extracted(turn) == extracted(turn)
