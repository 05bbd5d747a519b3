"""Handing the record to somebody who has none of our keys: rows, proofs, a signed head, and nothing else.

Layer: storage. One JSON object a line, as ``docs/audit.md`` tells and ``scripts/verify_export.py`` verifies. Payloads
are left out unless they are asked for; without their salts, commitments tell nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from stead.domain.audit import Head
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import SessionId
from stead.storage.audit import Audit, Progress, quiet
from stead.storage.chain import Row, covered
from stead.storage.event_rows import stored_rows
from stead.storage.merkle import Tree, leaf_hash

FORMAT = "stead audit export 1"


class Wanted(NamedTuple):
    """Which rows are exported, and how.

    Args:
        session: of this one alone; none for all.
        since_ms: not older than this; 0 for all.
        payloads: with what was said and done, and the salts that prove it.
        older: a head that was kept elsewhere: with the proof that the journal has grown from it.
    """

    session: SessionId | None = None
    since_ms: int = 0
    payloads: bool = False
    older: Head | None = None

    @property
    def all_rows(self) -> bool:
        """Nothing is left out, so no row needs a proof of its own."""
        return self.session is None and not self.since_ms

    def has(self, row: Row) -> bool:
        """Whether the row is among them."""
        return (self.session is None or row.session == self.session) and row.ts_ms >= self.since_ms


async def export(audit: Audit, wanted: Wanted, progress: Progress = quiet) -> Iterator[bytes]:
    """Sign a head and give the export's lines, each with its line feed.

    Raises:
        NotFound: no event is among those wanted.
        InvalidRequest: the older head is not of this journal's past.
        StorageFault: as ``Audit.sign``, or the file cannot be read.
    """
    head = await audit.sign()
    leaves: list[bytes] = []
    count = 0
    for row in _rows(audit, head):
        leaves.append(leaf_hash(covered(row[:8], row.commitment)))
        count += wanted.has(row)
        progress(row.seq, 2 * head.size)
    if not count:
        raise NotFound("no event is among those that were asked for; leave --session or --since out")
    tree = Tree(leaves)
    asked = {"session": wanted.session or "", "since_ms": wanted.since_ms}
    about: dict[str, Any] = {"format": FORMAT, "head": head, "rows": count, **asked, "verify": "docs/audit.md"}
    if wanted.older:
        about["consistency"] = _consistency(tree, wanted.older, head)
    return _lines(audit, head, wanted, tree, about, progress)


def _lines(
    audit: Audit, head: Head, wanted: Wanted, tree: Tree, about: dict[str, Any], progress: Progress
) -> Iterator[bytes]:
    yield msgspec.json.encode(about) + b"\n"
    for row in _rows(audit, head):
        if wanted.has(row):
            line: dict[str, Any] = {"header": row[:8], "commitment": row.commitment.hex()}
            if not wanted.all_rows:
                line["proof"] = [step.hex() for step in tree.inclusion(row.seq - 1)]
            if wanted.payloads:
                line["payload"] = row.payload.decode() if row.payload is not None else None
                line["salt"] = row.salt.hex() if row.salt is not None else None
            yield msgspec.json.encode(line) + b"\n"
        progress(head.size + row.seq, 2 * head.size)


def _rows(audit: Audit, head: Head) -> Iterator[Row]:
    for row in stored_rows(audit.table.database):
        if row.seq > head.size:
            return
        yield row


def _consistency(tree: Tree, older: Head, head: Head) -> list[str]:
    if older.journal != head.journal or not 0 < older.size <= head.size:
        raise InvalidRequest(
            f"the head of {older.size} events is not of this journal's past; see what is wrong: stead audit verify "
            "--head FILE"
        )
    return [step.hex() for step in tree.consistency(older.size)]
