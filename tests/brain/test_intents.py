"""Which words need no model: a hundred that do not, a hundred that only look so, and whatever else a person types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.intents import LANGUAGES, LONGEST, intent, to_model
from tests.brain.intent_sayings import MISSES, SAID

HITS = [(kind, words) for kind, row in SAID.items() for words in row.split("|")]
NEAR = [words.strip() for words in MISSES]


def test_there_are_a_hundred_of_each_in_four_languages() -> None:
    assert len(HITS) >= 100 and len(set(NEAR)) == len(NEAR) >= 100
    assert sorted(LANGUAGES) == ["de", "en", "es", "fr"]
    assert all(set(grammar) == set(LANGUAGES["en"]) for grammar in LANGUAGES.values())


@pytest.mark.parametrize(("kind", "words"), HITS)
def test_it_needs_no_model(kind: str, words: str) -> None:
    found = intent(words)
    assert found is not None and found.kind == kind
    assert intent(f"  {words.upper()}  ") is not None or kind == "remember"


@pytest.mark.parametrize("words", NEAR)
def test_a_near_miss_is_for_the_model(words: str) -> None:
    assert intent(words) is None
    assert to_model("\\" + words) is None, "a backslash before other words is theirs"


@pytest.mark.parametrize(("kind", "words"), HITS)
def test_with_anything_more_it_is_for_the_model(kind: str, words: str) -> None:
    del kind
    for more in (f"{words}\nand run the tests", f"{words} the parser of the other module then", f"fix it, {words}"):
        assert intent(more) is None, more
    assert to_model("\\" + words) == words


@pytest.mark.parametrize(
    "words",
    [
        "appro\u200bve",
        "\u202eapprove",
        "\u0430pprove",
        "approve\u0000",
        "approve\tit\u2028deny",
        "\x1b[2Kapprove",
        "approve " * 40,
        "please " * 56 + "x",
        "",
        "  ",
        "?!",
        "please",
    ],
)
def test_hidden_characters_letters_that_only_look_so_and_floods_are_for_the_model(words: str) -> None:
    assert intent(words) is None


def test_what_is_remembered_is_the_clause_as_a_sentence() -> None:
    for words, text in (
        ("Remember that my dentist is Dr Lund!", "My dentist is Dr Lund."),
        ("Merk dir, dass meine Zahnärztin Frau Lund ist", "Meine Zahnärztin Frau Lund ist."),
    ):
        found = intent(words)
        assert found is not None and found.text == text


@given(st.text(max_size=LONGEST + 10))
def test_nothing_that_is_typed_breaks_it(text: str) -> None:
    found = intent(text)
    assert found is None or len(text.strip()) <= LONGEST


@given(st.sampled_from([words for _, words in HITS]), st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_one_unknown_word_at_either_end_is_enough_for_the_model(words: str, word: str) -> None:
    other = f"xq{word}"
    assert intent(f"{other} {words}") is None
    found = intent(f"{words} {other}")
    assert found is None or found.kind in ("remember", "schedule"), "both have free words at their end"
