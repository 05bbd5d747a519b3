"""The folder in which memory can be read and edited: how it is, and what it needs of directives.

Layer: domain.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from stead.domain.directives import Directive


class MirrorState(msgspec.Struct, frozen=True):
    """How the files of memory are.

    Args:
        alive: they are kept up.
        reason: why not, and what to do; "" when they are.
        folder: where they are.
        last_sync_ms: when they last were as memory is; 0 for never.
        notices: what a person should know, newest first: files that were not read, lines that were not taken in,
            changes on both sides. None has a word of a memory.
    """

    alive: bool
    reason: str
    folder: str
    last_sync_ms: int
    notices: tuple[str, ...] = ()


class Souls(Protocol):
    """The person's soul directives."""

    def soul(self, directory: str) -> Directive | None:
        """Of a folder, "" for everywhere; nothing when there is none."""

    async def write(self, directory: str, text: str, before: Directive | None) -> None:
        """Put the person's text in its place, or make a new one of it.

        Raises:
            CallerError: it cannot be; says why.
            StorageFault: it was not recorded.
        """
