"""Exports of everything that is remembered: as signed lines of JSON that are imported as they were, or as Markdown.

Layer: memory. The lines end with a signature of the home, by which it knows its own export again. A long export has
several such parts, one after the other, each of which can be imported by itself and in any order.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from itertools import chain
from typing import Literal

import msgspec

from stead.brain.memory_files import file_of, folder_of
from stead.brain.remembering import clean
from stead.domain.errors import NotFound
from stead.domain.memory import MemoryRow, PlaceId, Scope, Standing
from stead.domain.memory_ports import MemoryReports, Remembered, RowsWanted
from stead.memory.files.codec import Bullet, Document
from stead.memory.files.merge import section_of, title_of

FORMAT = "memory export 1"
PART_BYTES = 8_000_000
"""Of the lines of one part, which is as much as one import takes in."""
_PAGE = 1_000
_EVERY: tuple[Standing, ...] = ("live", "superseded", "expired", "retired")
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
        """The rows of a part of an export, if this home made it and nobody changed it; otherwise nothing."""
        head, _, last = text.rstrip("\n").rpartition("\n")
        signed = f"{head}\n".encode()
        try:
            foot = msgspec.json.decode(last, type=Foot)
            if not hmac.compare_digest(foot.signature, self._sign().copy_of(signed)):
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
        rows = (row for place, _ in places for row in self._rows(place, _EVERY))
        lines = chain(map(msgspec.json.encode, rows), [b""])
        part, line = 0, next(lines)
        while line or not part:
            part += 1
            signing, count, size = self._sign(), 0, 0
            yield signing.add(msgspec.json.encode(Head(FORMAT, now_ms, part)))
            while line and (not count or size + len(line) < self.part_bytes):
                count, size = count + 1, size + len(line) + 1
                yield signing.add(line)
                line = next(lines)
            yield msgspec.json.encode(Foot(count, signing.signature())) + b"\n"

    def _markdown(self, places: list[tuple[PlaceId, str]]) -> Iterator[bytes]:
        for place, title in places:
            files: dict[tuple[Scope, str], Document] = {}
            for row in reversed(list(self._rows(place, ("live",)))):
                memory = row.memory
                path = file_of(memory)
                start = [f"# {folder_of(memory.scope, title)}/{path}", "", title_of(path), ""]
                document = files.setdefault((memory.scope, path), Document([*start]))
                document.add(section_of(memory), [Bullet(clean(memory.text))])
            for _, document in sorted(files.items(), key=lambda one: one[0]):
                yield (document.text(0).partition("\n")[2] + "\n").encode()

    def _rows(self, place: PlaceId, status: tuple[Standing, ...]) -> Iterator[MemoryRow]:
        after = ""
        while True:
            rows, after = self._remembered.rows(RowsWanted(place=place, status=status, after=after, limit=_PAGE))
            yield from rows
            if not after:
                return

    def _sign(self) -> _Signing:
        return _Signing(self._key)


class _Signing:
    """A signature that grows with its lines."""

    def __init__(self, key: bytes) -> None:
        self._digest = hmac.new(key, b"stead memory export\n", hashlib.sha256)

    def add(self, line: bytes) -> bytes:
        """The line with its line feed, as it is signed."""
        self._digest.update(line + b"\n")
        return line + b"\n"

    def signature(self) -> str:
        """Of all lines so far."""
        return self._digest.hexdigest()

    def copy_of(self, lines: bytes) -> str:
        """What the signature of these lines would be."""
        digest = self._digest.copy()
        digest.update(lines)
        return digest.hexdigest()
