"""What is packed comes back to the byte; what is damaged is refused; what lies about in pages is found."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import StorageFault
from stead.storage.packing import MARK, pack, packed_in, unpack

LONG = b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() for n in range(1000))


@given(st.binary(max_size=20_000))
def test_whatever_is_packed_comes_back(plain: bytes) -> None:
    assert unpack(pack(plain)) == plain


@pytest.mark.parametrize("size", [0, 1, 8191, 8192, 8193, 16384, 64000])
def test_long_values_come_back_from_their_pieces(size: int) -> None:
    assert unpack(pack(LONG[:size])) == LONG[:size]
    assert pack(LONG[:size]).count(MARK) >= max(1, -(-size // 8192))


def test_what_was_never_packed_is_read_as_it_is() -> None:
    assert unpack(b'{"type":"machine.ended"}') == b'{"type":"machine.ended"}'


@pytest.mark.parametrize("cut", [3, 4, -1])
def test_a_cut_off_value_is_refused(cut: int) -> None:
    with pytest.raises(StorageFault, match="packed"):
        unpack(pack(LONG[:900])[:cut])


def test_what_follows_a_value_and_is_no_piece_is_refused() -> None:
    with pytest.raises(StorageFault, match="changed"):
        unpack(pack(b"words") + b"more")


def test_a_piece_that_would_grow_beyond_its_size_is_refused() -> None:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    with pytest.raises(StorageFault):
        unpack(MARK + packer.compress(bytes(10_000_000)) + packer.flush())


def test_packed_words_are_found_among_other_bytes_and_when_their_end_is_gone() -> None:
    packed = pack(LONG[:600])
    assert LONG[:600] in packed_in(b"\x00" * 50 + packed + b"\xff" * 50 + MARK + b"\xff")
    assert LONG[:100] in packed_in(packed[:200] + b"\xff" * 300)


def test_the_middle_of_a_long_value_is_found_in_a_page_by_itself() -> None:
    packed = pack(LONG)
    assert LONG[16384:17000] in packed_in(packed[packed.index(MARK, 9000) :][:4096])
