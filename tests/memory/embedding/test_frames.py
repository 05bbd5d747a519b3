"""The frames of the pipe: what is packed is read again, and anything else is refused before it costs anything."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.memory.embedding import frames
from stead.memory.embedding.frames import FrameError


class Dripping(io.BytesIO):
    """A pipe that gives a byte or two at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(2, size) if size is not None and size >= 0 else 2)


@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), max_size=4))
def test_what_is_packed_is_read_again_however_it_comes(sent: list[list[bytes]]) -> None:
    for pipe in (io.BytesIO, Dripping):
        stream = pipe(b"".join(map(frames.pack, sent)))

        assert [frames.read(stream) for _ in sent] == sent
        assert frames.read(stream) is None


@given(st.binary(max_size=60))
def test_any_bytes_are_frames_or_a_fault(data: bytes) -> None:
    stream = io.BytesIO(data)
    try:
        while (fields := frames.read(stream)) is not None:
            assert fields
    except FrameError:
        pass


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        (frames.LARGEST_FRAME + 1).to_bytes(4, "big"),
        b"\0\0",
        b"\0\0\0\x05ab",
        b"\0\0\0\0",
        b"\0\0\0\x05\0\0\0\x02a",
        (4 * 257).to_bytes(4, "big") + bytes(4 * 257),
    ],
    ids=["huge", "too large", "half a head", "half a body", "no field", "half a field", "too many fields"],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        frames.read(io.BytesIO(data))


def test_too_large_a_frame_is_not_made() -> None:
    with pytest.raises(FrameError, match="are the most"):
        frames.pack([bytes(frames.LARGEST_FRAME)])
