"""The soul as a file: ``soul.md`` says what the soul directive says, and a person's edit of it is their word.

Layer: memory. No model reaches this: what one would have the soul say is a proposal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

from stead.brain.memory_files import SOUL
from stead.domain.directive_commands import SetDirective
from stead.domain.directives import Directive, Directives
from stead.domain.errors import CallerError, Conflict
from stead.memory.files.folder import Kept, MemoryFolder, Written


async def merge_soul(files: MemoryFolder, souls: DirectiveSouls, kept: Kept, folder: str, directory: str) -> str:
    """Make the file and the directive the same.

    Args:
        files: the folder of all.
        souls: the directives.
        kept: what was written before, and is written now.
        folder: of the scope.
        directory: whose soul, "" for everywhere.

    Returns:
        What a person should know, "" for nothing.

    Raises:
        StorageFault: nothing could be read or written.
    """
    path = f"{folder}/{SOUL}"
    read = await asyncio.to_thread(files.read, path)
    if read is not None and read.why:
        return read.notice
    before = souls.soul(directory)
    said = before.text.strip() if before else ""
    known = kept.files.get(path, Written())
    text = read.text.removeprefix("\ufeff").replace("\r\n", "\n").strip() if read else ""
    notice = ""
    if text and text != said and _digest(text) != known.digest:
        try:
            await souls.write(directory, text, before)
        except CallerError as refused:
            return f"{path} was not taken in: {refused}"
        if before is not None and _digest(said) not in ("", known.digest):
            versions = f"`stead directives versions {before.id}`"
            notice = f"{path} and the soul were changed at once; the file's words hold, {versions}"
        said = text
    elif text != said:
        seen = read.stamp if read else None
        if not await asyncio.to_thread(files.write, path, f"{said}\n" if said else "", seen):
            return ""
    if said or path in kept.files:
        kept.files[path] = Written(known.generation, digest=_digest(said))
    return notice


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


class DirectiveSouls:
    """The person's soul directives.

    Args:
        directives: the home's, as they are now.
        change: carries a directive's change out as the person's.
    """

    def __init__(
        self, directives: Callable[[], Directives], change: Callable[[SetDirective], Awaitable[object]]
    ) -> None:
        self._directives = directives
        self._change = change

    def soul(self, directory: str) -> Directive | None:
        """Of a folder, "" for everywhere; None when there is none."""
        every = (kept.directive for kept in self._directives().in_order())
        return next((one for one in every if one.kind == "soul" and one.directory == directory), None)

    async def accept(self, text: str, proposed_ms: int) -> None:
        """Make a proposed text the soul for everywhere; nothing changes where it is the soul already.

        Raises:
            Conflict: the soul was changed after that was proposed, and would be lost.
        """
        before = self.soul("")
        if before is not None and before.text == text:
            return
        changed_ms = max(
            (kept.changed_ms for kept in self._directives().in_order() if kept.directive == before), default=0
        )
        if changed_ms > proposed_ms:
            raise Conflict(
                "the soul was changed after this was proposed; refuse it, or write what you want of it yourself"
            )
        await self.write("", text, before, why="proposed, and accepted")

    async def write(
        self, directory: str, text: str, before: Directive | None, *, why: str = "changed in its file"
    ) -> None:
        """Put the person's text in its place, or make a new one of it.

        Raises:
            CallerError: it cannot be; says why.
            StorageFault: it was not recorded.
        """
        command = SetDirective(
            kind="soul",
            title=before.title if before else "Soul",
            text=text,
            directory=directory,
            enabled=before.enabled if before else True,
            id=before.id if before else "",
            version=before.version if before else 0,
            why=why,
        )
        await self._change(command)
