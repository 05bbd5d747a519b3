"""The signed heads' second place: a file outside the journal's, one head a line.

Layer: storage. Knows nothing of what a head says. Whoever keeps a line of this file can tell a journal that was cut.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from stead.domain.audit import Head
from stead.domain.errors import StorageFault

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Head)


def encode_head(head: Head) -> bytes:
    """A head as a line, without the line feed."""
    return _encoder.encode(head)


def decode_head(line: bytes | str) -> Head:
    """A head from its line.

    Raises:
        StorageFault: it is none.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, TypeError, UnicodeEncodeError) as error:
        raise StorageFault(f"this is no signed head ({error}); put back a good copy") from error


class HeadCopy:
    """The file. It is made when the first head is added, for the owner alone.

    Args:
        path: its folder exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> Iterator[bytes]:
        """Every whole line; one that a power cut left unfinished is none. Nothing where there is no file.

        Raises:
            StorageFault: it cannot be read.
        """
        return (line for line in self._content().splitlines(keepends=True) if line.endswith(b"\n"))

    def last(self) -> Head | None:
        """The head added last.

        Raises:
            StorageFault: the file cannot be read, or its last line is no head.
        """
        whole = self._content().rpartition(b"\n")[0]
        return decode_head(whole.rpartition(b"\n")[2]) if whole else None

    def add(self, head: Head) -> None:
        """One more line, on the disk when this returns; nothing if it is the last one already.

        Raises:
            StorageFault: the file cannot be written, or its last line is no head.
        """
        try:
            with open(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self.last() != head:
                    file.truncate(file.seek(file.readall().rfind(b"\n") + 1))
                    file.write(encode_head(head) + b"\n")
                    os.fsync(file.fileno())
        except OSError as error:
            raise self._unusable(error) from error

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StorageFault:
        return StorageFault(
            f"the copy of the signed heads, {str(self.path)!r}, cannot be used: {error.strerror}; fix it, or set "
            "audit_heads in config.toml to another file"
        )
