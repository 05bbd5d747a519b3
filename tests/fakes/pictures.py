"""Pictures and documents that are made here, byte by byte."""

from __future__ import annotations

import struct
import zlib

EXIF = b"Exif\0\0GPS 52.5200 13.4050"


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 40, height: int = 30, *extra: bytes) -> bytes:
    """A red picture; ``extra`` chunks stand before its content."""
    rows = (b"\0" + b"\xff\0\0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    content = (chunk(b"IHDR", header), *extra, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(content)


def jpeg(width: int = 40, height: int = 30, *extra: bytes) -> bytes:
    """The form of a JPEG; its content is no picture. ``extra`` segments stand before it."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\0\0\x3f\0" + b"\x12\xff\x00\x34"
    return b"\xff\xd8" + b"".join(extra) + frame + scan + b"\xff\xd9"


def segment(marker: int, data: bytes) -> bytes:
    """A segment of a JPEG."""
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def turned(orientation: int, order: str = ">") -> bytes:
    """EXIF that says how the camera was held: 1 is upright, 6 a quarter turn clockwise to be upright."""
    mark = b"MM" if order == ">" else b"II"
    head = struct.pack(f"{order}HI", 42, 8)
    entry = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + mark + head + struct.pack(f"{order}H", 1) + entry + bytes(4)


def pdf(pages: int, *, packed: bool = False) -> bytes:
    """The objects of a PDF with so many pages; ``packed`` into a compressed stream, as newer programs write them."""
    objects = b"".join(b"<</Type /Page /Parent 2 0 R>> " for _ in range(pages))
    if not packed:
        return b"%PDF-1.4\n1 0 obj " + objects + b"endobj\n2 0 obj <</Type /Pages /Count " + str(pages).encode() + b">>"
    held = zlib.compress(objects)
    head = f"<</Type /ObjStm /Filter /FlateDecode /Length {len(held)}>>".encode()
    return b"%PDF-1.5\n5 0 obj " + head + b"\nstream\n" + held + b"\nendstream endobj\n%%EOF"


def gif(width: int, height: int, *frames: int) -> bytes:
    """A GIF whose frames have one colour each, of a red (0) and a blue (1) one; no frames: its head alone."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF6, 0, 0) + b"\xff\0\0" + b"\0\0\xff" + bytes(3 * 126)
    return head + b"".join(_gif_frame(width, height, colour) for colour in frames) + b";"


def _gif_frame(width: int, height: int, colour: int) -> bytes:
    codes = bytearray()  # of eight bits each, as the table is cleared before it has more
    for at in range(0, width * height, 120):
        codes += b"\x80" + bytes([colour]) * min(120, width * height - at)
    codes += b"\x81"
    blocks = b"".join(bytes([len(codes[at : at + 255])]) + codes[at : at + 255] for at in range(0, len(codes), 255))
    delay = b"!\xf9\x04\0\x0a\0\0\0"
    return delay + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x07" + blocks + b"\0"


def webp(width: int, height: int, *, frames: int = 1) -> bytes:
    """A lossless WebP of one colour: as few bytes whatever its size (RFC 9649 §3.4)."""
    image = b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14 | 1 << 28) + bytes.fromhex("071011118888fe0700")
    still = _riff(b"VP8L", image)
    if frames == 1:
        return _riff(b"RIFF", b"WEBP" + still)
    edges = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    frame = _riff(b"ANMF", bytes(6) + edges + (100).to_bytes(3, "little") + b"\0" + still)
    head = _riff(b"VP8X", b"\x12\0\0\0" + edges) + _riff(b"ANIM", bytes(6))
    return _riff(b"RIFF", b"WEBP" + head + frame * frames)


def _riff(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
