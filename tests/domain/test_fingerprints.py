"""What was forgotten is known again without being kept."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.fingerprints import MOST_WORDS, Fingerprints, fingerprint, normalised


def digest(content: bytes) -> str:
    return hmac.digest(b"a key", content, hashlib.sha256).hex()


def known(*texts: str) -> Fingerprints:
    found = Fingerprints(digest)
    found.add(fingerprint(text, digest) for text in texts)
    return found


@given(st.lists(st.text("abcß é1", min_size=1), min_size=1), st.text("xyz \n"), st.text("xyz \n"))
def test_a_text_is_known_within_any_other(words: list[str], before: str, after: str) -> None:
    text = " ".join(words)
    if normalised(text):
        assert known(text).says(f"{before} {text.upper()}, {after}")


@pytest.mark.parametrize("text", ["Ada's cat", "ADA   cat", "Ada... S", "cats of Ada", ""])
def test_other_words_are_not(text: str) -> None:
    assert not known("Ada's cat Mira", "").says(text)


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("山田太郎", "山田太郎は東京に住んでいます。"),
        ("ヤマダ", "昨日ﾔﾏﾀﾞさんに会った"),
        ("Ada 山田", "これはAda山田です"),
        ("สมชาย", "ผมชื่อสมชายครับ"),
    ],
)
def test_what_stands_within_a_sentence_without_spaces_is_known(gone: str, said: str) -> None:
    assert known(gone).says(said)
    assert not known(gone).says(said[::-1])
    assert not known(gone + "x").says(said)


def test_a_fingerprint_from_before_signs_were_words_is_known_still() -> None:
    old = Fingerprints(digest)
    old.add([f"1:{digest('山田太郎'.encode())}"])
    assert old.says("はい、山田太郎。")
    assert not old.says("山田太郎は東京に住む")


def test_another_form_of_a_word_is_another_word() -> None:
    assert not known("otter").says("two otters")


def test_a_long_text_is_known_by_its_beginning() -> None:
    long = " ".join(f"word{at}" for at in range(500))
    assert known(long).says("well: " + long)
    assert fingerprint(long, digest).startswith(f"{MOST_WORDS}:")


def test_a_fingerprint_says_nothing_but_how_many_words_there_were() -> None:
    assert fingerprint("Ada Lund", digest) == f"2:{digest(b'ada lund')}"
    assert fingerprint("…", digest) == ""
