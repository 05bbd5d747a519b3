"""What a holder of the key sees in a database's file or in its log, freed and half-used pages included."""

from __future__ import annotations

from pathlib import Path

from stead.storage.residue import pages


def raw(path: Path, key: bytes) -> bytes:
    with path.open("rb") as file:
        return b"".join(pages(file, key, in_log=path.name.endswith("-wal")))
