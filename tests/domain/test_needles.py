"""Words are found however they were written down, and nothing else is."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from stead.domain.errors import InvalidRequest
from stead.domain.forgetting import FORGOTTEN
from stead.domain.needles import Needles

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=3, max_size=30)


def findable(text: str) -> bool:
    try:
        return bool(Needles([text]))
    except InvalidRequest:
        return False


@given(TEXT.filter(findable), st.text(max_size=20), st.integers(0, 3), st.booleans())
@example('Zoë\'s "x"/y\\z', "", 3, True)
@example("a b\u2028c \U0001d54f\U0001f99c", "", 2, True)
@example("Straße", "", 0, False)
@example("cafe\u0301", "", 1, False)
@example("00\ufa15", "", 0, False)
def test_words_are_found_in_json_within_json_and_nothing_of_them_is_left(
    words: str, around: str, depth: int, ascii_only: bool
) -> None:
    needles, text = Needles([words]), f"{around} {words} {around}"
    for _ in range(depth):
        text = json.dumps({"said": text}, ensure_ascii=ascii_only)
    assert needles.touches(text.encode())
    assert needles.touches(msgspec.json.encode({"text": text}))
    cleaned = needles.cleaned(text)
    assert FORGOTTEN in cleaned
    assert not needles.touches(cleaned.encode())


@pytest.mark.parametrize(
    "text",
    [
        "ada_lund.phone",
        "people/ada-lund.md",
        "ada LUND",
        "Ada\n  Lund",
        "Ada\\nLund",
        "Ada\\\\u0020Lund",
        "xAda Lundx",
        "\\u0041da Lund",
        "ADA\u00a0LUND",
    ],
)
def test_case_lines_and_escapes_make_no_other_words(text: str) -> None:
    assert Needles(["Ada Lund"]).touches(text.encode())


@pytest.mark.parametrize("text", ["AdaLund", "Ada, Lund", "Ada L", ""])
def test_other_words_stay(text: str) -> None:
    needles = Needles(["Ada Lund"])
    assert not needles.touches(text.encode())
    assert needles.cleaned(text) == text


def test_exact_words_have_one_case() -> None:
    assert Needles(["Lund"], exact=True).cleaned("Lund, LUND") == f"{FORGOTTEN}, LUND"


def test_both_spellings_of_an_accent_are_one() -> None:
    for form in ("NFC", "NFD"):
        assert Needles(["Zoë Åström"]).touches(unicodedata.normalize(form, "zoë åström").encode())


@given(TEXT.filter(findable), st.sampled_from(("NFC", "NFD")), st.sampled_from(("NFC", "NFD")))
@example("café", "NFD", "NFC")
@example("Straße", "NFC", "NFC")
@example("İstanbul", "NFC", "NFC")
@example("İĒA", "NFC", "NFD")
@example("\u212aelvin", "NFC", "NFC")
@example("\u00c0\u0345", "NFD", "NFC")
def test_what_is_typed_in_one_form_is_found_in_any_other(text: str, typed: str, written: str) -> None:
    form, forms = unicodedata.normalize(typed, text), {text, text.lower(), text.casefold()}  # type: ignore[arg-type]
    assume(findable(form))  # composed, it may be a sign too short
    for said in forms:
        assert Needles([form]).touches(unicodedata.normalize(written, said).encode()), said  # type: ignore[arg-type]


def test_letters_that_are_signs_of_ascii_in_another_case_are_found() -> None:
    for said in ("\u212aelvin", "KELVIN", "la\u017fer kelvin"):
        assert Needles(["kelvin"]).touches(said.encode())
    assert Needles(["laser"]).touches("la\u017fer".encode())
    for words in ("Hauptstraße", "HAUPTSTRASSE"):
        for said in ("Hauptstraße 5", "HAUPTSTRASSE 5", r"Hauptstra\u00dfe 5", "hauptstra\u017f\u017fe"):
            assert Needles([words]).touches(said.encode()), said
    assert not Needles(["HAUPTSTRASSE"], exact=True).touches("Hauptstraße".encode())
    assert not Needles(["Masse"]).touches(b"Mase")


@pytest.mark.parametrize("words", ["ab", "...", "x" * 20_001, "forgotten", "[forgotten]"])
def test_what_cannot_be_found_or_would_never_end_is_refused(words: str) -> None:
    with pytest.raises(InvalidRequest):
        Needles([words])


def test_no_words_touch_nothing() -> None:
    assert not Needles([]).touches(b"anything")
    assert Needles([" "]).cleaned("any thing") == "any thing"
