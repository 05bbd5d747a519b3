"""Checking a journal against everything that binds it: page seals, commitments, chain, streams, tree, signed heads.

Layer: storage. It reads, and signs a head when it is told to. A check may run beside a daemon that writes: heads are
read before rows, so a head never seems to be ahead of the rows that it covers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from stead.domain.audit import AuditReport, Head
from stead.domain.errors import NotFound, StorageFault
from stead.domain.events import SessionDeleted
from stead.storage.archives import flaws
from stead.storage.chain import FAULTS_SHOWN, ChainReport, Row, covered, verify
from stead.storage.codec import tag_of
from stead.storage.database import Connect, Database, connect
from stead.storage.event_rows import CHUNK_ROWS, stored_rows
from stead.storage.head_copy import HeadCopy, decode_head
from stead.storage.heads import HeadTable, has_heads, is_signed
from stead.storage.keys import Keys
from stead.storage.merkle import Edge, leaf_hash
from stead.storage.replacement_audit import wrong_replacements
from stead.storage.writer import Writer

_TRIES = 3
_ERASED_AND_BACK = """
    SELECT DISTINCT e.session FROM events d
    CROSS JOIN events e ON e.session = d.session AND e.session_seq < d.session_seq
    WHERE d.tag = ? AND e.payload IS NOT NULL AND e.session NOT IN (SELECT session FROM erasures_due)
"""  # CROSS says that deletions, which are few, come first; the other way round it takes hours

Progress = Callable[[int, int], None]
"""Told now and then: (events done, events in all)."""


class _Claim(NamedTuple):
    """A head, and where it stands."""

    head: Head
    place: str
    outside: bool


def quiet(done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


class Audit:
    """One journal under audit.

    Args:
        table: its heads, and the key that signs them.
        copy: the heads' second place.
    """

    def __init__(self, table: HeadTable, copy: HeadCopy) -> None:
        self.table = table
        self.copy = copy

    async def sign(self) -> Head:
        """Sign a head over all events that there are now, and keep it in both places.

        Raises:
            NotFound, StorageFault: as ``HeadTable.sign``.
        """
        return await self.table.sign(time.time_ns() // 1_000_000, self.copy)

    def last(self) -> Head:
        """The newest head.

        Raises:
            NotFound: none has been signed.
            StorageFault: it cannot be read.
        """
        claims = list(self._stored([]))
        if not claims:
            raise NotFound("no head has been signed yet; run 'stead audit head'")
        return max((claim.head for claim in claims), key=lambda head: head.size)

    def verify(self, given: Path | None = None, progress: Progress = quiet) -> AuditReport:
        """Check everything that can be checked.

        Args:
            given: a file of heads that was kept elsewhere, looked at beside the copy.
            progress: told after each chunk of rows.

        Raises:
            StorageFault: ``given`` cannot be read. All that is wrong with the journal is in the report instead.
        """
        faults: list[str] = []
        claims = [*self._outside(given, faults), *self._stored(faults)]
        agreed = _Agreed(self._authentic(claims, faults))
        erased = 0
        total = self._count(faults)

        def watched() -> Iterator[Row]:
            nonlocal erased
            try:
                for row in stored_rows(self.table.database):
                    erased += row.payload is None
                    yield row
                    agreed.take(row, faults)
                    if row.seq % CHUNK_ROWS == 0:
                        progress(row.seq, total)
                agreed.whole = True
            except StorageFault as error:
                faults.append(f"the events after {agreed.edge.size} cannot be read: {error}")

        faults += self._damaged_pages()
        report = verify(watched())
        faults += report.faults
        faults += self._come_back()
        faults += flaws(self.table.database, self.table.public_key())
        faults += self._replaced(report)
        if agreed.whole and agreed.edge.size == report.head:
            faults += agreed.ahead()
        outside = [claim.head for claim in agreed.claims if claim.outside]
        return AuditReport(
            events=report.rows,
            erased=erased,
            heads=len({claim.head for claim in agreed.claims}),
            outside=len(set(outside)),
            covered=max((head.size for head in outside), default=0),
            faults=tuple(faults[:FAULTS_SHOWN]),
            doubts=self._doubts(report.rows, claims),
        )

    def _outside(self, given: Path | None, faults: list[str]) -> Iterator[_Claim]:
        for copy, required in ((HeadCopy(given or self.copy.path), bool(given)), (self.copy, False)):
            if required and not copy.path.is_file():
                raise NotFound(f"there is no file {str(copy.path)!r}; give one that 'stead audit head --out' wrote")
            lines = _lines(copy, faults)
            yield from _decoded(((f"line {n} of {str(copy.path)!r}", line) for n, line in lines), faults, outside=True)
            if copy.path == self.copy.path:
                return

    def _stored(self, faults: list[str]) -> Iterator[_Claim]:
        try:
            with self.table.database.reading() as connection:
                if not has_heads(connection):
                    return
                rows = connection.execute("SELECT size, head FROM heads ORDER BY size").fetchall()
        except StorageFault as error:
            faults.append(f"the heads in the journal's file cannot be read: {error}")
            return
        yield from _decoded(((f"the head at event {size}", line) for size, line in rows), faults, outside=False)

    def _authentic(self, claims: Iterable[_Claim], faults: list[str]) -> Iterator[_Claim]:
        """Those that this home's key has signed; the others are faults."""
        key = self.table.public_key()
        signed: dict[Head, bool] = {}
        for claim in claims:
            if claim.head not in signed:
                signed[claim.head] = is_signed(claim.head)
            if claim.head.key != key:
                faults.append(f"{claim.place} was signed with another key than this home's: it is forged or foreign")
            elif not signed[claim.head]:
                faults.append(f"{claim.place} does not have a valid signature: it was changed or forged")
            else:
                yield claim

    def _count(self, faults: list[str]) -> int:
        try:
            with self.table.database.reading() as connection:
                return int(connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])
        except StorageFault as error:
            faults.append(str(error))
            return 0

    def _come_back(self) -> list[str]:
        """Deleted sessions whose erased payloads are there again, out of an older copy for instance."""
        try:
            with self.table.database.reading() as connection:
                rows = connection.execute(_ERASED_AND_BACK, (tag_of(SessionDeleted),)).fetchall()
        except StorageFault as error:
            return [str(error)]
        return [
            f"{session!r} was deleted, and payloads of it are there: erased ones were put back" for (session,) in rows
        ]

    def _replaced(self, report: ChainReport) -> list[str]:
        """Where forgotten words are there again, or what is read instead was changed."""
        try:
            return wrong_replacements(self.table.database, report.redacted, report.head)
        except StorageFault as error:
            return [str(error)]

    def _damaged_pages(self) -> list[str]:
        """Pages whose seal is broken, whatever is in them, and indexes that do not fit their tables.

        A page may be caught half-written, so it is looked at again.

        The seals are of the main file; what is in the write-ahead log has checksums, and shows in rows and heads.
        """
        found: set[str] = set()
        for attempt in range(_TRIES):
            try:
                with self.table.database.reading() as connection:
                    rows = connection.execute("PRAGMA cipher_integrity_check").fetchall()
                    rows += connection.execute("PRAGMA integrity_check").fetchall()
                now = {str(row[0]) for row in rows} - {"ok"}
            except StorageFault as error:
                return [str(error)]
            found = now & found if attempt else now
            if not found:
                break
        return [f"the journal's file is damaged: {line}" for line in sorted(found)]

    def _doubts(self, events: int, claims: list[_Claim]) -> tuple[str, ...]:
        if not events or any(claim.outside for claim in claims):
            return ()
        if claims:
            return (
                f"the copy of the signed heads, {str(self.copy.path)!r}, has none: events cut off at the end would not "
                "show; put the copy back, give one with --head FILE, or begin a new one: stead audit head",
            )
        return (
            "no head has been signed yet: events cut off at the end would not show; sign one now: stead audit head",
        )


class _Agreed:
    """The heads that the rows agree with, found out row by row."""

    def __init__(self, claims: Iterable[_Claim]) -> None:
        self.claims: list[_Claim] = []
        self.edge = Edge()
        self.whole = False
        self._journal = ""
        self._due: dict[int, list[_Claim]] = {}
        for claim in claims:
            self._due.setdefault(claim.head.size, []).append(claim)

    def take(self, row: Row, faults: list[str]) -> None:
        """One more row; it is of the right types."""
        self._journal = self._journal or row.chain.hex()
        self.edge.append(leaf_hash(covered(row[:8], row.commitment)))
        for head, place, outside in self._due.pop(self.edge.size, ()):
            if head.journal != self._journal:
                faults.append(f"{place} was signed for another journal")
            elif head.root != self.edge.root().hex() or head.chain != row.chain.hex():
                faults.append(f"{place} was signed for other events: up to {head.size} the journal was changed since")
            else:
                self.claims.append(_Claim(head, place, outside))

    def ahead(self) -> Iterator[str]:
        """What is left when all rows were seen: heads over more rows than there are."""
        for size, claims in sorted(self._due.items()):
            for head, place, _ in claims:
                when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(head.ts_ms / 1000))
                yield (
                    f"{place} was signed for {size} events on {when}, and the journal has {self.edge.size}: it was cut "
                    "off at the end, or an older one was put in its place"
                )


def _lines(copy: HeadCopy, faults: list[str]) -> list[tuple[int, bytes]]:
    try:
        return list(enumerate(copy.lines(), 1))
    except StorageFault as error:
        faults.append(str(error))
        return []


def _decoded(lines: Iterable[tuple[str, bytes | str]], faults: list[str], *, outside: bool) -> Iterator[_Claim]:
    for place, line in lines:
        try:
            yield _Claim(decode_head(line), place, outside)
        except StorageFault:
            faults.append(f"{place} is no signed head: it was changed")


@contextmanager
def open_audit(path: Path, keys: Keys, copy: Path, *, connect: Connect = connect) -> Iterator[Audit]:
    """A home's journal as it lies there, whether or not a daemon serves it; nothing is upgraded.

    Raises:
        WrongKey, StorageFault: as ``Database``.
    """
    database = Database(path, keys.database, connect)
    try:
        writer = Writer(database, "stead-audit")
        try:
            yield Audit(HeadTable(database, writer, keys.audit), HeadCopy(copy))
        finally:
            writer.close()
    finally:
        database.close()
