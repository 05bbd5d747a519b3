"""Exports of everything that is remembered: as signed lines of JSON that are imported as they were, or as Markdown.

Layer: memory. The lines end with a signature of the home, by which it knows its own export again. A long export has
several such parts, one after the other, each of which can be imported by itself and in any order.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from stead.brain.memory_files import file_of, folder_of
from stead.brain.remembering import clean
from stead.domain.errors import NotFound
from stead.domain.memory import MemoryRow, PlaceId, Scope
from stead.domain.memory_ports import MemoryReports, Remembered
from stead.memory.files.codec import Bullet, Document
from stead.memory.files.merge import section_of, title_of
from stead.memory.files.rows import EVERY, rows_of

FORMAT = "memory export 1"
PART_BYTES = 8_000_000
"""Of the lines of one part, which is as much as one import takes in."""
_decode_row = msgspec.json.Decoder(MemoryRow).decode


class Head(msgspec.Struct, frozen=True):
    """The first line. ``stead`` is the format, ``part`` counts from 1."""

    stead: str
    made_ms: int
    part: int = 1


class Foot(msgspec.Struct, frozen=True):
    """The last line: HMAC-SHA256 (hex) of all lines before it, with their line feeds."""

    memories: int
    signature: str


class MemoryExport:
    """Makes exports, and knows its own. Every method blocks.

    Args:
        remembered: the memories.
        reports: their places.
        key: 32 bytes of the home, for this alone.
        part_bytes: of one part of an export.
    """

    def __init__(
        self, remembered: Remembered, reports: MemoryReports, key: bytes, part_bytes: int = PART_BYTES
    ) -> None:
        self._remembered = remembered
        self._reports = reports
        self._key = key
        self.part_bytes = part_bytes

    def lines(self, form: Literal["jsonl", "markdown"], place: PlaceId | Literal[""], now_ms: int) -> Iterator[bytes]:
        """An export of one place, or of all, piece by piece.

        Args:
            form: "jsonl" has everything but what was forgotten; "markdown" what holds now.
            place: "" for every place.
            now_ms: for its head.

        Raises:
            NotFound: there is no such place; raised before the first piece.
        """
        places = [one for one in self._reports.places() if place in ("", one.id)]
        if place and not places:
            raise NotFound(f"there is no place {place!r}; `stead memory places` lists them")
        names = [(one.id, one.title) for one in places]
        return self._jsonl(names, now_ms) if form == "jsonl" else self._markdown(names)

    def own(self, text: str) -> tuple[MemoryRow, ...] | None:
        """The rows of a part of an export, if this home made it and it was not changed; None otherwise."""
        head, _, last = text.rstrip("\n").rpartition("\n")
        signed = f"{head}\n".encode()
        try:
            foot = msgspec.json.decode(last, type=Foot)
            if not hmac.compare_digest(foot.signature, self._signature(signed)):
                return None
            return tuple(_decode_row(line) for line in head.split("\n")[1:])
        except msgspec.DecodeError:
            return None

    def foreign(self, text: str) -> Iterator[MemoryRow | None]:
        """The rows of another home's export, or of a changed one; nothing for a line that is none."""
        for line in text.split("\n")[1:]:
            if line.strip() and not line.startswith('{"memories":'):
                try:
                    yield _decode_row(line)
                except msgspec.DecodeError:
                    yield None

    def _jsonl(self, places: list[tuple[PlaceId, str]], now_ms: int) -> Iterator[bytes]:
        rows = (row for place, _ in places for row in rows_of(self._remembered, place, EVERY))
        for number, lines in enumerate(self._parts(map(msgspec.json.encode, rows)), start=1):
            signed = b"\n".join((msgspec.json.encode(Head(FORMAT, now_ms, number)), *lines, b""))
            yield signed
            yield msgspec.json.encode(Foot(len(lines), self._signature(signed))) + b"\n"

    def _parts(self, lines: Iterable[bytes]) -> Iterator[list[bytes]]:
        part, size = list[bytes](), 0
        for line in lines:
            if part and size + len(line) >= self.part_bytes:
                yield part
                part, size = [], 0
            part.append(line)
            size += len(line) + 1
        yield part

    def _markdown(self, places: list[tuple[PlaceId, str]]) -> Iterator[bytes]:
        for place, title in places:
            files: dict[tuple[Scope, str], Document] = {}
            for row in reversed(list(rows_of(self._remembered, place))):
                memory = row.memory
                path = file_of(memory)
                start = [f"# {folder_of(memory.scope, title)}/{path}", "", title_of(path), ""]
                document = files.setdefault((memory.scope, path), Document([*start]))
                document.add(section_of(memory), [Bullet(clean(memory.text))])
            for _, document in sorted(files.items(), key=lambda one: one[0]):
                yield (document.text(0).partition("\n")[2] + "\n").encode()

    def _signature(self, lines: bytes) -> str:
        return hmac.digest(self._key, b"stead memory export\n" + lines, "sha256").hex()
