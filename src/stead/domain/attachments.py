"""Pictures and PDF documents: what they are by their bytes, what they may be, and their bytes without metadata.

Layer: domain. Pure. Nothing is decoded here: PNG and JPEG are walked by their own lengths, in linear time,
and no pixel and no compressed stream is opened, which is the work of a machine (``machines/pictures.py``). A format is
known by its first bytes, never by a name. SVG is a program and no picture here.

Sources: PNG 3rd edition (W3C) §5; ITU T.81 annex B (JPEG); RFC 9649 (WebP); ISO 32000-2 §7.5.2 (PDF).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from stead.domain.errors import InvalidRequest
from stead.domain.messages import PDF, Attachment

MOST_UPLOAD_BYTES = 20_000_000
"""Of a file as it is given. A request that carries a PDF of this size in Base64 stays below 32 MB, Anthropic's limit
for requests."""
MOST_PICTURE_BYTES = 3_700_000
"""Of a picture as models get it: in Base64 it stays below 5 MB, the smallest of the vendors' limits."""
LONGEST_EDGE = 1568
"""Pixels; vendors scale down what is larger."""
MOST_PIXELS = 50_000_000
"""Of a PNG or JPEG as it is given; a larger one is not even decoded. Others are bounded by the machine's memory."""
MOST_PAGES = 100
MOST_NAME = 120
"""Characters."""

_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS = {
    _PNG: "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": PDF,
}
_PNG_KEPT = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_SCAN_ENDS = re.compile(rb"\xff[^\0\xd0-\xd7]")
_TURNED = re.compile(rb"\x12\x01\x03\0\x01\0{3}[\x02-\x08]|\x01\x12\0\x03\0{3}\x01\0[\x02-\x08]")
"""EXIF's orientation (tag 0x0112, one SHORT; TIFF 6.0 §2) in either byte order, where it is not 1, upright."""


class Picture(NamedTuple):
    """A PNG or JPEG picture.

    Args:
        data: without what programs wrote into it: EXIF, ICC, XMP, comments, and whatever follows its end.
        width: in pixels.
        height: in pixels.
        decode: it has several frames, or lies on its side by its EXIF: only a decoder makes one upright picture.
    """

    data: bytes
    width: int
    height: int
    decode: bool = False

    @property
    def fits(self) -> bool:
        """Whether models can be shown it as it is."""
        return max(self.width, self.height) <= LONGEST_EDGE and len(self.data) <= MOST_PICTURE_BYTES and not self.decode


class Pictures(Protocol):
    """Decoding pictures and documents, in a machine."""

    async def scaled(self, data: bytes) -> bytes:
        """The first frame of a picture as PNG or JPEG, within the limits, upright and without metadata.

        Raises:
            InvalidRequest: it cannot be decoded.
            MachineUnavailable, MachineDied: there is no machine, or no decoder in it.
        """

    async def pages(self, data: bytes) -> int:
        """How many pages a PDF has, at least; as ``scaled``, and an encrypted one is refused."""


class Attachments(Protocol):
    """What models and people can be shown with a text."""

    async def take(self, name: str, data: bytes) -> Attachment:
        """Check a file, bring it within the limits, store it once.

        Raises:
            InvalidRequest: it is no picture and no PDF, damaged, or larger than what is taken; says what it may be.
            MachineError: as ``Pictures``.
            StorageFault: the disk is full.
        """


def media_type(head: bytes) -> str:
    """What a file is, of what models can be shown, by its first bytes; "" for anything else."""
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begins, kind in _KINDS.items() if head.startswith(begins)), "")


def read_picture(data: bytes) -> Picture:
    """Walk a PNG or JPEG picture to its end.

    Raises:
        InvalidRequest: it is not whole, has no size, or more pixels than are decoded.
    """
    try:
        found = _png(data) if data.startswith(_PNG) else _jpeg(data)
    except (IndexError, ValueError) as error:
        raise InvalidRequest(f"the picture is damaged or cut off ({error}); save it again as PNG or JPEG") from error
    if not 0 < found.width * found.height <= MOST_PIXELS:
        limit = f"1 to {MOST_PIXELS // 1_000_000} million pixels"
        raise InvalidRequest(f"the picture says {found.width}x{found.height}; it may have {limit}")
    return found


def _png(data: bytes) -> Picture:
    kept, names = bytearray(_PNG), set[bytes]()
    for name, at, end in _png_chunks(data):
        names.add(name)
        if name in _PNG_KEPT:
            kept += data[at:end]
    if data[12:16] != b"IHDR" or b"IDAT" not in names:
        raise ValueError("no header or no content")
    return Picture(bytes(kept), _number(data, 16, 4), _number(data, 20, 4), b"acTL" in names)


def _jpeg(data: bytes) -> Picture:
    kept, frames, turned = bytearray(b"\xff\xd8"), list[int](), False
    for marker, at, end in _segments(data):
        if marker in _JPEG_FRAMES:
            frames.append(at)
        turned |= marker == 0xE1 and _TURNED.search(data, at, end) is not None
        # Comments and what applications wrote go; JFIF's mark and Adobe's say how the colours are stored.
        if marker != 0xFE and (not 0xE0 <= marker <= 0xEF or marker in (0xE0, 0xEE)):
            kept += data[at:end]
    if len(frames) != 1:
        raise ValueError("not one frame")
    return Picture(bytes(kept), _number(data, frames[0] + 7, 2), _number(data, frames[0] + 5, 2), turned)


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("it ends too soon")
    return int.from_bytes(data[at : at + size], "big")


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name, beginning and end of each chunk, up to the last one's."""
    at, name = len(_PNG), b""
    while name != b"IEND":
        end = at + 12 + _number(data, at, 4)
        if end > len(data):
            raise ValueError("it ends too soon")
        name = data[at + 4 : at + 8]
        yield name, at, end
        at = end


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, beginning and end of each segment of a JPEG after its first two bytes; a scan with its content."""
    at, marker = 2, 0
    while marker != 0xD9:
        if data[at] != 0xFF:
            raise ValueError("no segment where one must begin")
        marker, end = data[at + 1], at + 2
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        if marker not in (0xD8, 0xD9, 0x01) and not 0xD0 <= marker <= 0xD7:
            end += max(2, _number(data, at + 2, 2))
        if marker == 0xDA:
            scan = _SCAN_ENDS.search(data, end)
            end = scan.start() if scan else len(data) + 1
        if end > len(data):
            raise ValueError("it ends too soon")
        yield marker, at, end
        at = end
