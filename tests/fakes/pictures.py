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


def pdf(pages: int, *, packed: bool = False) -> bytes:
    """The objects of a PDF with so many pages; ``packed`` into a compressed stream, as newer programs write them."""
    objects = b"".join(b"<</Type /Page /Parent 2 0 R>> " for _ in range(pages))
    if not packed:
        return b"%PDF-1.4\n1 0 obj " + objects + b"endobj\n2 0 obj <</Type /Pages /Count " + str(pages).encode() + b">>"
    held = zlib.compress(objects)
    head = f"<</Type /ObjStm /Filter /FlateDecode /Length {len(held)}>>".encode()
    return b"%PDF-1.5\n5 0 obj " + head + b"\nstream\n" + held + b"\nendstream endobj\n%%EOF"
