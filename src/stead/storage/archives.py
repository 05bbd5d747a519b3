"""Payloads of old sessions in files of their own; the journal keeps headers, commitments and chain.

Layer: storage. A reader hardly notices: where a payload is in an archive, it is read from there (``event_rows``). So
the check of the chain covers archives and journal as one, and what was forgotten or deleted is taken out of both.

    file = magic "STEADAR1" ‖ signature (Ed25519, 64 bytes) over magic ‖ the rest ‖ nonce (12) ‖ AES-256-GCM(key, text)
    text = zlib(JSON: [[seq, payload, salt in hex], ...])

The key is random and stands in the encrypted journal alone. An archive is never changed: taking words out writes
another file under another key, and the old key goes in the same transaction; so a copy of the old file is of no use.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from stead.storage.database import Database, sync

if TYPE_CHECKING:
    from sqlite3 import Connection

MAGIC = b"STEADAR1"
_SIGNATURE_BYTES, _NONCE_BYTES = 64, 12
_MOVE = "SELECT seq, payload, salt FROM events WHERE session = ? AND payload IS NOT NULL ORDER BY seq"

Kept = dict[int, tuple[bytes, bytes]]
"""By seq, payload and salt."""


class _Packed(msgspec.Struct, array_like=True):
    seq: int
    payload: str
    salt: str


_packed = msgspec.json.Decoder(list[_Packed])


class Archive(NamedTuple):
    """A row of the table."""

    id: int
    session: str
    first: int
    last: int
    events: int
    size_bytes: int
    key: bytes


def folder_of(journal: Path) -> Path:
    """Where the archives of a journal are."""
    return journal.parent / "archives"


def file_of(folder: Path, id: int) -> Path:
    """The file of an archive."""
    return folder / f"{id:08d}.stead"


def has_archives(connection: Connection) -> bool:
    """Whether the file has a place for archives; that of an older Stead, not upgraded yet, has none."""
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'archives'").fetchall())


def listed(connection: Connection, session: str = "") -> list[Archive]:
    """The archives, of one session if it is named, oldest first."""
    if not has_archives(connection):
        return []
    rows = connection.execute("SELECT * FROM archives WHERE ? IN ('', session) ORDER BY id", (session,))
    return [Archive(*row) for row in rows]


def move(connection: Connection, folder: Path, seed: bytes, session: str) -> int:
    """Put the payloads of a session into an archive, and take them out of the journal; gives how many.

    It runs in a transaction. The file is on the disk before that ends, so a kill leaves the payloads in the journal, or
    in the archive; a file without its row is removed by ``sweep``.

    Raises:
        OSError: the disk is full or refuses; the transaction is to be undone.
    """
    content = {seq: (payload, salt) for seq, payload, salt in connection.execute(_MOVE, (session,))}
    if content:
        _seal(connection, folder, seed, session, content)
        connection.execute("UPDATE events SET payload = NULL, salt = NULL WHERE session = ?", (session,))
        connection.execute("DELETE FROM snapshots WHERE session = ?", (session,))
    return len(content)


def take_out(connection: Connection, folder: Path, seed: bytes, seqs: Collection[int]) -> None:
    """Have the archives without these events, in the caller's transaction; ``sweep`` removes the files of before."""
    for archive in listed(connection):
        if not any(archive.first <= seq <= archive.last for seq in seqs):
            continue
        before = opened(folder, archive)
        content = {seq: kept for seq, kept in before.items() if seq not in seqs}
        if len(content) == len(before):
            continue
        connection.execute("DELETE FROM archives WHERE id = ?", (archive.id,))
        if content:
            _seal(connection, folder, seed, archive.session, content)


def drop(connection: Connection, session: str) -> None:
    """Forget the archives of a deleted session with their keys; ``sweep`` removes the files."""
    if has_archives(connection):
        connection.execute("DELETE FROM archives WHERE session = ?", (session,))


def sweep(database: Database) -> None:
    """Remove files that no row speaks of: of what was deleted, forgotten, or cut off by a kill."""
    folder = folder_of(database.path)
    if folder.is_dir():
        with database.reading() as connection:
            known = {file_of(folder, archive.id) for archive in listed(connection)}
        for path in folder.iterdir():
            if path not in known:
                path.unlink(missing_ok=True)


def find(connection: Connection, events: Iterable[tuple[int, str]]) -> Kept:
    """Of events (seq, session) without a payload, those that are in archives; a lost file has nothing.

    Args:
        connection: of the journal's file.
        events: any.
    """
    wanted = list(events)
    found: Kept = {}
    if not wanted or not has_archives(connection):
        return found
    (path,) = (path for _, name, path in connection.execute("PRAGMA database_list") if name == "main")
    for session in dict.fromkeys(session for _, session in wanted):
        for archive in listed(connection, session):
            content = opened(folder_of(Path(path)), archive)
            found |= {seq: content[seq] for seq, of in wanted if of == session and seq in content}
    return found


def opened(folder: Path, archive: Archive) -> Kept:
    """What is in an archive; nothing where its file is gone or was changed, which the check of the chain tells."""
    try:
        content = file_of(folder, archive.id).read_bytes()
    except OSError:
        return {}
    return _opened(content, archive.key)


def flaws(database: Database, key: str) -> Iterator[str]:
    """What is wrong with the archives' files and their signatures.

    Args:
        database: the journal's file.
        key: the public key that signs, hex.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    folder = folder_of(database.path)
    with database.reading() as connection:
        archives = listed(connection)
    for archive in archives:
        path = file_of(folder, archive.id)
        try:
            content = path.read_bytes()
            signature, body = content[len(MAGIC) :][:_SIGNATURE_BYTES], content[len(MAGIC) + _SIGNATURE_BYTES :]
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, content[: len(MAGIC)] + body)
        except OSError as error:
            yield f"the archive {str(path)!r} of {archive.session!r} cannot be read: {error.strerror}; put it back"
        except InvalidSignature:
            yield f"the archive {str(path)!r} of {archive.session!r} was changed: its signature is not this home's"
        else:
            if len(_opened(content, archive.key)) != archive.events:
                yield f"the archive {str(path)!r} of {archive.session!r} is not the one that was made"


@functools.lru_cache(maxsize=4)
def _opened(content: bytes, key: bytes) -> Kept:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    start = len(MAGIC) + _SIGNATURE_BYTES
    nonce, sealed = content[start:][:_NONCE_BYTES], content[start + _NONCE_BYTES :]
    try:
        text = zlib.decompress(AESGCM(key).decrypt(nonce, sealed, MAGIC))
    except (InvalidTag, ValueError):
        return {}
    return {row.seq: (row.payload.encode(), bytes.fromhex(row.salt)) for row in _packed.decode(text)}


def _seal(connection: Connection, folder: Path, seed: bytes, session: str, content: Kept) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key, nonce = AESGCM.generate_key(256), os.urandom(_NONCE_BYTES)
    rows = [_Packed(seq, payload.decode(), salt.hex()) for seq, (payload, salt) in content.items()]
    body = nonce + AESGCM(key).encrypt(nonce, zlib.compress(msgspec.json.encode(rows), 6), MAGIC)
    signed = MAGIC + Ed25519PrivateKey.from_private_bytes(seed).sign(MAGIC + body) + body
    (id,) = connection.execute(
        "INSERT INTO archives (session, first, last, events, size_bytes, key) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        (session, min(content), max(content), len(content), len(signed), key),
    ).fetchone()
    folder.mkdir(mode=0o700, exist_ok=True)
    path = file_of(folder, id)
    path.unlink(missing_ok=True)  # of a transaction that was undone
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(signed)
        file.flush()
        os.fsync(file.fileno())
    sync(folder)
