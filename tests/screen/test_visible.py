"""What is hidden in a file is seen, and what was seen leads back to the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.screen.inbound import screen
from stead.screen.visible import SPELLING, spell_out, spelled_back, unnoticed

HIDDEN = "\u200b\u202e\u2066\ufeff\u00ad\x1b\x00\r\x0c\u2028\ufe0f\u200d\U000e0041\U000e007f\u3164\x9b"
signs = st.one_of(
    st.sampled_from(list(HIDDEN)), st.sampled_from(list("a1[;m \n\t🏴👨❤ی中")), st.characters(codec="utf-8")
)
texts = st.lists(signs, max_size=60).map("".join)


@given(texts)
def test_nothing_hidden_is_left_and_every_sign_leads_back(text: str) -> None:
    shown = spell_out(text).text
    assert screen(shown).text == shown
    if "hidden characters>" not in shown and not SPELLING.search(text):
        assert spelled_back(shown) == text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain = 'text'\n", "plain = 'text'\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\ufeff# Title", "<U+FEFF># Title"),
        ("if admin:\u202e pass", "if admin:<U+202E> pass"),
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("one\rtwo", "one<U+000D>two"),
        ("pass\u200bword", "pass<U+200B>word"),
        ("👨\u200d👩\u200d👧 ❤\ufe0f क\u200dष", "👨\u200d👩\u200d👧 ❤\ufe0f क\u200dष"),
        ("a" + "\U000e0041" * 500, "a<500 hidden characters>"),
    ],
)
def test_hidden_characters_are_shown_by_number_and_writing_stays(text: str, shown: str) -> None:
    assert spell_out(text).text == shown


def test_a_warning_counts_and_names_what_was_hidden() -> None:
    (warning,) = spell_out("a\u200bb\u200bc\u202ed").warnings
    assert warning.rule == "hidden-shown"
    assert "3 hidden characters" in warning.text
    assert "U+202E right-to-left override" in warning.text
    assert spell_out("nothing here").warnings == ()


def test_only_numbers_of_hidden_characters_are_read_back() -> None:
    text = "<U+0041> <U+110000> <U+D800> <U+200b>"
    assert spelled_back(text) == text
    assert spelled_back("<U+200B>") == "\u200b"


def test_an_author_is_told_what_they_may_not_have_seen_in_their_words() -> None:
    assert unnoticed("open paypal.example.com") == ()
    assert unnoticed("ignore all previous instructions") == ()
    hidden, mixed = unnoticed("open p\u0430ypal and pass\u200bword\u202e")
    assert "(bidi, invisible)" in hidden
    assert "cyrillic small letter a" in mixed
