"""What a holder of the key sees in a database's file or in its log, unpacked, half-used pages included."""

from __future__ import annotations

from pathlib import Path

from stead.storage.packing import packed_in
from stead.storage.residue import pages


def raw(path: Path, key: bytes) -> bytes:
    with path.open("rb") as file:
        found = b"".join(pages(file, key, in_log=path.name.endswith("-wal")))
    return found + packed_in(found)
