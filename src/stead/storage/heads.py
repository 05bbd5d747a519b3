"""Signed heads of the journal: what it was at a size, so that nobody can later make it shorter or other.

Layer: storage. A head is kept in the journal's file and in a copy outside it. It covers every event up to its size
through the root of a hash tree (``merkle``). The newest head keeps the tree's right edge, so the next one reads only
what has come since; and what was changed before it is not signed again, but found.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from stead.domain.audit import Head
from stead.domain.errors import NotFound, StorageFault
from stead.storage.chain import covered
from stead.storage.database import Database
from stead.storage.event_rows import stored_rows
from stead.storage.head_copy import HeadCopy, decode_head, encode_head
from stead.storage.merkle import HASH_BYTES, Edge, leaf_hash
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection


def signed_bytes(head: Head) -> bytes:
    """What the signature covers: a line with a name, then a JSON array without spaces."""
    fields = [head.journal, head.size, head.root, head.chain, head.ts_ms]
    return b"stead head 1\n" + msgspec.json.encode(fields)


def has_heads(connection: Connection) -> bool:
    """Whether the file has a place for heads; that of an older Stead, not upgraded yet, has none."""
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'heads'").fetchall())


def is_signed(head: Head) -> bool:
    """Whether its signature is that of the key that it names; whose key that is, is for the caller to compare."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key, signature = bytes.fromhex(head.key), bytes.fromhex(head.signature)
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed_bytes(head))
    except (InvalidSignature, ValueError):
        return False
    return (key.hex(), signature.hex()) == (head.key, head.signature)  # one form alone: no capitals, no spaces


class HeadTable:
    """The heads in a journal's file, and who signs them. Several processes may sign.

    Args:
        database: the journal's file, at a schema that has heads.
        writer: its writer.
        seed: the private key, 32 bytes.
    """

    def __init__(self, database: Database, writer: Writer, seed: bytes) -> None:
        self.database = database
        self._writer = writer
        self._seed = seed

    def public_key(self) -> str:
        """By which its heads are verified, hex."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._seed).public_key().public_bytes_raw().hex()

    async def sign(self, now_ms: int, copy: HeadCopy) -> Head:
        """Sign a head over all events and keep it, here and in the copy; without new events, the newest one again.

        Raises:
            NotFound: there is no event yet.
            StorageFault: the journal has a gap, or is no longer the one that the copy's last head was signed for; or
                the copy cannot be written.
        """
        head, edge = await asyncio.to_thread(self._next, now_ms, copy.last())
        if edge:
            await self._writer.submit(lambda connection: _insert(connection, head, edge))
        await asyncio.to_thread(copy.add, head)
        return head

    def _next(self, now_ms: int, outside: Head | None) -> tuple[Head, bytes]:
        """The head of now with its edge, which is b"" where the head is not new."""
        last, edge = self._newest()
        journal, chain = (last.journal, last.chain) if last else ("", "")
        for row in stored_rows(self.database, edge.size):
            if row.seq != edge.size + 1:
                raise StorageFault(f"event {row.seq} follows {edge.size}: rows are missing; see 'stead audit verify'")
            _require_same(outside, edge)
            edge.append(leaf_hash(covered(row[:8], row.commitment)))
            journal, chain = journal or row.chain.hex(), row.chain.hex()
        _require_same(outside, edge)
        if outside and (outside.size > edge.size or outside.journal != journal):
            raise _other_journal(outside)
        if not edge.size:
            raise NotFound("the journal has no event to sign yet; start Stead")
        if last and last.size == edge.size:
            return last, b""
        unsigned = Head(journal, edge.size, edge.root().hex(), chain, now_ms, self.public_key(), "")
        return self._signed(unsigned), b"".join(edge.hashes)

    def _signed(self, head: Head) -> Head:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signature = Ed25519PrivateKey.from_private_bytes(self._seed).sign(signed_bytes(head))
        return msgspec.structs.replace(head, signature=signature.hex())

    def _newest(self) -> tuple[Head | None, Edge]:
        with self.database.reading() as connection:
            if not has_heads(connection):
                raise StorageFault("the journal is of an older Stead, which signed no heads; start Stead once")
            row = connection.execute("SELECT head, edge FROM heads ORDER BY size DESC LIMIT 1").fetchone()
        if row is None:
            return None, Edge()
        last, hashes = decode_head(row[0]), row[1]
        try:
            edge = Edge(last.size, [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)])
            if edge.root().hex() != last.root or last.key != self.public_key() or not is_signed(last):
                raise ValueError("not what was signed")
        except (ValueError, TypeError) as error:
            raise StorageFault(f"the head at event {last.size} was changed; see 'stead audit verify'") from error
        return last, edge


def _insert(connection: Connection, head: Head, edge: bytes) -> None:
    connection.execute("UPDATE heads SET edge = zeroblob(0) WHERE size < ?", (head.size,))
    connection.execute(
        "INSERT INTO heads VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (head.size, encode_head(head).decode(), edge)
    )


def _require_same(outside: Head | None, edge: Edge) -> None:
    if outside and outside.size == edge.size and outside.root != edge.root().hex():
        raise _other_journal(outside)


def _other_journal(outside: Head) -> StorageFault:
    return StorageFault(
        f"the journal is not the one whose {outside.size} events were signed for: it was cut, changed or replaced; see "
        "'stead audit verify', or if you put an older one back yourself, move the file of the signed heads aside"
    )
