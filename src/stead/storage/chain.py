"""What binds the journal's rows together: commitments to payloads, and a chain over headers and commitments.

Layer: storage. The format, so that anybody can check it with a hash function:

    commitment = HMAC-SHA256(key=salt, payload)
    chain      = SHA-256(chain of the row before ‖ header ‖ commitment), 32 zero bytes before the first row
    header     = JSON array [seq, session, session_seq, ts_ms, actor, cause, tag, version] without spaces, UTF-8

The chain covers commitments and not payloads, so forgetting a payload and its salt leaves the chain whole; and without
the salt, a commitment tells nothing even of a payload that could be guessed. Rows cut off at the end are not found
here: that takes a head that is kept elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from stead.domain.events import SessionDeleted
from stead.storage.codec import tag_of

GENESIS = bytes(32)
SALT_BYTES = 16
FAULTS_SHOWN = 100

_encoder = msgspec.json.Encoder()
_DELETED = tag_of(SessionDeleted)


Header = tuple[int, str, int, int, str, str, str, int]
"""seq, session, session_seq, ts_ms, actor, cause, tag, version."""


class Row(NamedTuple):
    """A row of the journal, as it is stored."""

    seq: int
    session: str
    session_seq: int
    ts_ms: int
    actor: str
    cause: str
    tag: str
    version: int
    payload: bytes | None
    salt: bytes | None
    commitment: bytes
    chain: bytes


class ChainReport(NamedTuple):
    """What a check found: how many rows, the last seq and chain hash, and what is wrong (at most the first 100)."""

    rows: int
    head: int
    chain: bytes
    faults: tuple[str, ...]


def commit_to(payload: bytes) -> tuple[bytes, bytes]:
    """(salt, commitment) for a payload."""
    salt = os.urandom(SALT_BYTES)
    return salt, hmac.digest(salt, payload, hashlib.sha256)


def covered(header: Header, commitment: bytes) -> bytes:
    """What of a row is bound into the chain, and into the tree of ``merkle``."""
    return _encoder.encode(header) + commitment


def link(before: bytes, header: Header, commitment: bytes) -> bytes:
    """The chain hash of a row."""
    return hashlib.sha256(before + covered(header, commitment)).digest()


def verify(rows: Iterable[Row]) -> ChainReport:
    """Check all rows in order, from the first."""
    faults: list[str] = []
    count, head, chain = 0, 0, GENESIS
    streams: dict[str, int] = {}
    erased: dict[str, int] = {}
    last_tag: dict[str, str] = {}
    last_seq: dict[str, int] = {}
    for row in rows:
        where = f"event {row.seq}"
        if flaw := _strange(row):
            return ChainReport(count, head, chain, (*faults, f"{where} {flaw}; nothing after it was checked"))
        if row.seq != head + 1:
            faults.append(f"{where} follows {head}: rows are missing or out of order")
        if row.session_seq != streams.get(row.session, 0) + 1:
            faults.append(f"{where} is number {row.session_seq} of {row.session!r}, which has a gap before it")
        if row.payload is None and row.salt is None:
            erased[row.session] = row.seq
        elif row.payload is None or row.salt is None:
            faults.append(f"{where} has lost its payload or its salt")
        elif hmac.digest(row.salt, row.payload, hashlib.sha256) != row.commitment:
            faults.append(f"{where} has another payload or salt than was committed to")
        if link(chain, row[:8], row.commitment) != row.chain:
            faults.append(f"{where} does not continue the chain")
        count, head, chain = count + 1, row.seq, row.chain
        streams[row.session] = row.session_seq
        last_tag[row.session], last_seq[row.session] = row.tag, row.seq
        if len(faults) >= FAULTS_SHOWN:
            break
    else:
        faults += [
            f"event {seq} of {session!r} was erased, but no deletion is recorded"
            for session, seq in erased.items()
            if last_tag[session] != _DELETED or seq == last_seq[session]
        ]
    return ChainReport(count, head, chain, tuple(faults))


_TYPES = (int, str, int, int, str, str, str, int, bytes, bytes, bytes, bytes)
_MAY_BE_ERASED = ("payload", "salt")


def _strange(row: Row) -> str:
    """What of a row is not of its type: the file's format itself would let anything stand anywhere."""
    for name, value, kind in zip(Row._fields, row, _TYPES, strict=True):
        if type(value) is not kind and not (value is None and name in _MAY_BE_ERASED):
            return f"has a {name} that is no {kind.__name__}"
    return ""
