"""What ``doctor --fix`` does: each cure says what it will do, and does it by this account's own means alone.

Layer: cli. Nothing here touches what a person has said or made: rights of the home's files, the log's size, what a dead
daemon left over, and the daemon's start. Everything else stays advice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stead.cli.invocation import Invocation


class Cure(NamedTuple):
    """A fault's cure.

    ``what`` completes "doctor will …"; ``do`` raises ``OSError``, ``CommandError`` or an error of the client where it
    cannot.
    """

    what: str
    do: Callable[[Invocation], None]


def private(path: Path) -> Cure:
    """Take the rights of every other account away, and keep the owner's."""

    def do(_: Invocation) -> None:
        # Opened without following a link: another account may have put one in the place of a folder that it can write.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.fchmod(opened, os.fstat(opened).st_mode & 0o700)
        finally:
            os.close(opened)

    return Cure(f"make {str(path)!r} private: chmod go-rwx", do)


def shorter(path: Path, keep_bytes: int) -> Cure:
    """Cut a file that is only added to down to the lines at its end."""

    def do(_: Invocation) -> None:
        with open(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "r+b") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - keep_bytes))
            kept = file.read().partition(b"\n")[2]
            file.seek(0)
            file.write(kept)
            file.truncate()

    return Cure(f"cut {str(path)!r} down to its last {keep_bytes // 1_000_000} MB", do)


def removed(path: Path) -> Cure:
    """Remove a file that a daemon which no longer runs left over."""
    return Cure(f"remove {str(path)!r}, which a daemon that is gone left over", lambda _: path.unlink(missing_ok=True))


def started() -> Cure:
    """Start the daemon, or renew it where it runs the code of before an update and rests."""

    def do(invocation: Invocation) -> None:
        from stead.cli.daemon_control import ensure_current

        ensure_current(invocation)

    return Cure("start the daemon with the code of now", do)


def service() -> Cure:
    """Write the service's file as this version does; what it passes on of an environment stays."""

    def do(invocation: Invocation) -> None:
        from stead.cli.own_service import installed
        from stead.cli.service_commands import renew

        if found := installed(invocation.home):
            renew(invocation.home, found)

    return Cure("write the service's file as this version does, for its next start", do)
