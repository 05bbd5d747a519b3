"""What binds the journal's rows together: commitments to payloads, and a chain over headers and commitments.

Layer: storage. The format, so that anybody can check it with a hash function:

    commitment = HMAC-SHA256(key=salt, payload)
    chain      = SHA-256(chain of the row before ‖ header ‖ commitment), 32 zero bytes before the first row
    header     = JSON array [seq, session, session_seq, ts_ms, actor, cause, tag, version] without spaces, UTF-8

The chain covers commitments and not payloads, so forgetting a payload and its salt leaves the chain whole; and without
the salt, a commitment tells nothing even of a payload that could be guessed. A payload may be gone because its session
was deleted, or because a later ``content.redacted`` of its stream says so; ``replacements`` has what is read then.
Rows cut off at the end are not found here: that takes a head that is kept elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from stead.domain.events import SessionDeleted
from stead.domain.memory_events import ContentRedacted
from stead.storage.codec import tag_of

GENESIS = bytes(32)
SALT_BYTES = 16
FAULTS_SHOWN = 100

_encoder = msgspec.json.Encoder()
_DELETED = tag_of(SessionDeleted)
_REDACTED = tag_of(ContentRedacted)
_redacted = msgspec.json.Decoder(ContentRedacted)


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
    """What a check found.

    Args:
        rows: how many there are.
        head: the last seq.
        chain: the last chain hash.
        faults: what is wrong, at most the first 100.
        redacted: events whose words were forgotten, with the commitment to what is read instead, "" for nothing.
    """

    rows: int
    head: int
    chain: bytes
    faults: tuple[str, ...]
    redacted: Mapping[int, str] = MappingProxyType({})


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
    streams: dict[str, _Stream] = {}
    for row in rows:
        where = f"event {row.seq}"
        if flaw := _strange(row):
            return ChainReport(count, head, chain, (*faults, f"{where} {flaw}; nothing after it was checked"))
        if row.seq != head + 1:
            faults.append(f"{where} follows {head}: rows are missing or out of order")
        stream = streams.setdefault(row.session, _Stream())
        if row.session_seq != stream.places + 1:
            faults.append(f"{where} is number {row.session_seq} of {row.session!r}, which has a gap before it")
        if row.payload is None and row.salt is None:
            stream.erased.append(row.seq)
        elif row.payload is None or row.salt is None:
            faults.append(f"{where} has lost its payload or its salt")
        elif hmac.digest(row.salt, row.payload, hashlib.sha256) != row.commitment:
            faults.append(f"{where} has another payload or salt than was committed to")
        elif row.tag == _REDACTED:
            stream.redacted |= redactions(row.payload)
        if link(chain, row[:8], row.commitment) != row.chain:
            faults.append(f"{where} does not continue the chain")
        count, head, chain = count + 1, row.seq, row.chain
        stream.places, stream.last_tag, stream.last_seq = row.session_seq, row.tag, row.seq
        if len(faults) >= FAULTS_SHOWN:
            break
    else:
        faults += [
            f"event {seq} of {session!r} was erased, but no deletion is recorded"
            for session, stream in streams.items()
            for seq in stream.unexplained()
        ]
    redacted = {seq: commitment for stream in streams.values() for seq, commitment in stream.redacted.items()}
    return ChainReport(count, head, chain, tuple(faults), redacted)


def redactions(payload: bytes) -> dict[int, str]:
    """What a ``content.redacted`` says; nothing if it does not parse, which its commitment has told already."""
    try:
        return {event.seq: event.commitment for event in _redacted.decode(payload).events}
    except msgspec.DecodeError:
        return {}


@dataclass
class _Stream:
    """What a check knows of one stream."""

    places: int = 0
    last_tag: str = ""
    last_seq: int = 0
    erased: list[int] = field(default_factory=list)
    redacted: dict[int, str] = field(default_factory=dict)

    def unexplained(self) -> list[int]:
        """Events whose payload is gone, and nothing says why; the last one stands for all of a stream."""
        if self.last_tag == _DELETED:
            return [self.last_seq] if self.erased[-1:] == [self.last_seq] else []
        return [seq for seq in self.erased if seq not in self.redacted][-1:]


_TYPES = (int, str, int, int, str, str, str, int, bytes, bytes, bytes, bytes)
_MAY_BE_ERASED = ("payload", "salt")


def _strange(row: Row) -> str:
    """What of a row is not of its type: the file's format itself would let anything stand anywhere."""
    for name, value, kind in zip(Row._fields, row, _TYPES, strict=True):
        if type(value) is not kind and not (value is None and name in _MAY_BE_ERASED):
            return f"has a {name} that is no {kind.__name__}"
    return ""
