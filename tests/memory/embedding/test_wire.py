"""The pipe: what is packed is read again, and half a message is an error."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.memory.embedding import wire

values = st.one_of(st.binary(max_size=40), st.text(max_size=20), st.integers(0, 2**63), st.none())


@given(st.lists(st.lists(values, max_size=5), max_size=4))
def test_what_is_packed_is_read_again(sent: list[wire.Message]) -> None:
    stream = io.BytesIO(b"".join(map(wire.packed, sent)))

    assert [wire.read(stream) for _ in sent] == sent
    assert wire.read(stream) is None


@pytest.mark.parametrize("data", [b"\0\0", b"\0\0\0\x05ab"], ids=["half a length", "half a message"])
def test_half_a_message_is_an_error(data: bytes) -> None:
    with pytest.raises(EOFError):
        wire.read(io.BytesIO(data))


def test_too_large_a_message_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST_REQUEST", 100 << 20)

    with pytest.raises(wire.Refused, match="100 MB are the most"):
        wire.packed(["load", "home", b"", bytes(101 << 20)])
