"""The master key, its subkeys, and its form on paper."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import InvalidRequest, StorageFault
from stead.storage.keys import derive_keys, from_recovery_key, new_master, recovery_key

masters = st.binary(min_size=32, max_size=32)


@given(master=masters)
def test_subkeys_are_those_of_the_standard(master: bytes) -> None:
    keys = derive_keys(master)
    for label in ("database", "views", "vault", "digests", "audit", "checkpoints"):
        expected = HKDF(SHA256(), length=32, salt=b"stead home key 1", info=label.encode()).derive(master)
        assert getattr(keys, label) == expected


def test_two_masters_differ_and_a_short_one_is_refused() -> None:
    assert new_master() != new_master()
    with pytest.raises(StorageFault, match="32 bytes"):
        derive_keys(b"short")


def test_keys_do_not_show_themselves() -> None:
    keys = derive_keys(b"\x41" * 32)
    assert repr(keys) == "Keys()"


@given(master=masters)
def test_a_recovery_key_brings_the_master_back_however_it_is_typed(master: bytes) -> None:
    keys = derive_keys(master)
    text = recovery_key(keys)
    assert len(text.split("-")) == 14
    typed = text.lower().replace("-", " ").replace("o", "0").replace("i", "1").replace("b", "8")
    assert from_recovery_key(text) == from_recovery_key(f"\n {typed} ") == keys


@given(master=masters, place=st.integers(0, 55), shift=st.integers(1, 31))
def test_one_wrong_letter_is_found(master: bytes, place: int, shift: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    letters = list(recovery_key(derive_keys(master)).replace("-", ""))
    letters[place] = alphabet[(alphabet.index(letters[place]) + shift) % 32]
    with pytest.raises(InvalidRequest, match="typing mistake"):
        from_recovery_key("".join(letters))


@pytest.mark.parametrize(("text", "why"), [("ABCD", "56"), ("!" * 56, "A to Z")])
def test_what_is_no_recovery_key_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        from_recovery_key(text)
