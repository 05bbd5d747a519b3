"""Words of queries and names, as they are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.memory import words


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("typscript", "typescript"),
        ("typsecript", "typescript"),
        ("eror", "error"),
        ("reedis", "redis"),
        ("kubernets", "kubernetes"),
    ],
)
def test_one_wrong_letter_is_a_slip(word: str, meant: str) -> None:
    assert words.slip(word, meant)
    assert words.slip(meant, word)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("redis", "redis"),
        ("mango", "mongo"),
        ("k9s", "k8s"),
        ("tpyescritp", "typescript"),
        ("heron", "heroines"),
        ("", "a"),
    ],
)
def test_another_word_is_no_slip(word: str, meant: str) -> None:
    assert not words.slip(word, meant)


@given(st.text(alphabet="abcde", min_size=5, max_size=9), st.data())
def test_leaving_out_doubling_and_swapping_a_letter_are_slips(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(word) - 1))
    swapped = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
    for other in (word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], swapped):
        assert other == word or words.slip(other, word)


def test_a_query_is_asked_by_the_words_that_say_something_each_once() -> None:
    assert words.asked("When did Ada move to Utrecht, and when did she move out?") == ("ada", "move", "utrecht")


def test_a_query_of_nothing_but_small_words_is_asked_by_them() -> None:
    assert words.asked("who are you?") == ("who", "are", "you")


def test_a_query_is_cut() -> None:
    assert len(words.asked(" ".join(f"word{number}" for number in range(1_000_000)))) == words.QUERY_WORDS


@given(st.text())
def test_whatever_is_asked_is_quoted_for_the_index(text: str) -> None:
    terms = words.asked(text)
    assert not any('"' in term or " " in term for term in terms)
    assert words.matching(terms).count('"') == 2 * len(terms)


def test_names_are_compared_in_the_singular_without_case_and_accents() -> None:
    assert words.spoken("Class Hierarchies") == words.spoken("class hierarchy")
    assert words.spoken("Zoë's @typescript-eslint") == ("zoe", "s", "typescript", "eslint")
    assert words.spoken("auth_depends_on_redis") == ("auth", "depend", "on", "redis")


def test_a_phrase_has_one_slip_at_most() -> None:
    found = {phrase for _, _, phrase in words.phrases(("eror", "handlng"), [["error"], ["handling"]])}
    assert "error handlng" in found
    assert "error handling" not in found


def test_a_moment_that_no_calendar_has_has_no_day() -> None:
    assert words.day(0) == "1 January 1970 1970-01-01"
    assert words.day(10**18) == ""
