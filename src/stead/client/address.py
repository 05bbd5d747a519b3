"""Where the daemon is, and the errors of not reaching it or of being refused.

Layer: a door. Must not know HTTP.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from stead.config import Home

Json = dict[str, Any]
"""A JSON object as it came."""


class ApiError(Exception):
    """What the daemon refused or could not do.

    Args:
        code: stable, for programs; see ``domain/errors.py``.
        message: cause and next step, for people.
        status: the HTTP status; 0 when no answer came.
    """

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


class NoDaemon(ApiError):
    """No daemon serves this home, or it does not answer."""

    def __init__(self, message: str) -> None:
        super().__init__("no_daemon", message, 0)


class Address(NamedTuple):
    """Where the daemon listens, on 127.0.0.1, and the bearer that it takes there.

    Args:
        pid: its process.
        port: where it listens.
        name: the page's host name.
        bearer: what it lets in.
        version: its release.
        started_ms: when it was ready.
        code: as ``config.code_id`` gave it at its start; "" in a daemon that is older than this field.
        lock: the inode of the home's lock, which a copy of the home does not have; 0 where it is not recorded.
        service: the name of the service that runs it; "" where a person started it.
    """

    pid: int
    port: int
    name: str
    bearer: str
    version: str
    started_ms: int
    code: str = ""
    lock: int = 0
    service: str = ""


def find_address(home: Home) -> Address:
    """Read the running daemon's address.

    Raises:
        NoDaemon: there is none, the file is left over from one that died or came along with a copy of another home, or
            it belongs to another user.
    """
    try:
        values = json.loads(home.address.read_bytes())
        address = Address(**{name: values[name] for name in Address._fields if name in values})
    except FileNotFoundError:
        raise NoDaemon(f"no daemon runs for {str(home.root)!r}; start it with: stead up") from None
    except PermissionError:
        raise NoDaemon(f"{str(home.address)!r} is not yours to read; use your own home with --home DIR") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise NoDaemon(f"{str(home.address)!r} is damaged ({type(error).__name__}); restart with: stead up") from error
    if address.lock and address.lock != _inode(home.lock):
        raise NoDaemon(f"no daemon runs for {str(home.root)!r}, which is a copy of another home; start one: stead up")
    if not is_alive(address.pid):
        raise NoDaemon(f"the daemon of {str(home.root)!r} (process {address.pid}) is gone; start it with: stead up")
    return address


def _inode(path: Path) -> int:
    """The inode of a file; 0 where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def is_alive(pid: int) -> bool:
    """Whether a process of this id runs; one that has ended and waits for its parent does not."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return True  # a system without /proc, or it ended just now
