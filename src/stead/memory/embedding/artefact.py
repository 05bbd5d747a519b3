"""The built model as a file: written once, whole or not at all, and known to be undamaged when it is read.

Layer: memory, both sides. Standard library only; does not know what is in it.

One file, named by the build, so that two builders write the same and the later one wins. Its first line is a mark and
the SHA-256 of the rest; the rest is the tokenizer and the model, each with its length before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from stead.memory.embedding.frames import FrameError, unpack

MODEL_ID = "all-MiniLM-L6-v2/int8/1"
"""Model, quantisation, build. The last number goes up with every change of what a text's vector is."""
_MARK = b"stead-embedder "
_BUILDING = ".building-"
_ABANDONED_S = 3600
_HEAD = len(_MARK) + 64 + 1


class Damaged(Exception):
    """The file is not what a builder wrote."""


def path_in(cache: Path) -> Path:
    """Where the model of this build is, or will be."""
    return cache / f"{MODEL_ID.replace('/', '-')}.model"


def write(cache: Path, tokenizer: bytes, model: bytes) -> None:
    """Put it there, in place of any other of its name.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
    """
    rest = b"".join(len(part).to_bytes(4, "big") + part for part in (tokenizer, model))
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    _tidy(cache)
    handle, name = tempfile.mkstemp(dir=cache, prefix=_BUILDING)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MARK + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path_in(cache))
    except BaseException:
        os.unlink(name)
        raise


def _tidy(cache: Path) -> None:
    """Remove what builders left that were ended in the middle, not what another one is writing."""
    for path in cache.glob(f"{_BUILDING}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                path.unlink()


def read(cache: Path) -> tuple[bytes, bytes]:
    """The tokenizer and the model.

    Raises:
        FileNotFoundError: nobody built it yet.
        OSError: it cannot be read.
        Damaged: see there.
    """
    data = path_in(cache).read_bytes()
    head, rest = data[:_HEAD], data[_HEAD:]
    if head != _MARK + hashlib.sha256(rest).hexdigest().encode() + b"\n":
        raise Damaged(f"{path_in(cache).name} has not the bytes that were written")
    try:
        tokenizer, model = unpack(rest)
    except (FrameError, ValueError) as error:
        raise Damaged(f"{path_in(cache).name} has another form: {error}") from error
    return tokenizer, model
