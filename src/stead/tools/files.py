"""Reading, writing and searching files of the workspace.

Layer: tools. Knows the machine only as the ``Files`` port, and opens no file itself. What a file hides is shown spelled
out, ``<U+202E>``, where other tools' output loses it: only what is seen can be edited. ``edit`` takes the spelling for
the character where the file has that; ``write`` writes what it is given, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from stead.domain.attachments import MOST_UPLOAD_BYTES, Attachments, media_type
from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality
from stead.domain.ports import Edits, Files, FileText, Found, RawFiles, Written
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.screen.visible import SPELLING, spell_out, spelled_back
from stead.tools.landing import landing_notes
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
Text = Annotated[str, msgspec.Meta(max_length=8_000_000)]
_SHOWN_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
"""Of names of files that are looked at as pictures first; a PDF can also be text."""
_ROOM = OUTPUT_CAP - 200
"""What is left for content once a note has been added."""


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, its first line wanted (from 1) and how many."""

    path: Path
    line: Annotated[int, msgspec.Meta(ge=1)] = 1
    lines: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 2000


class WriteArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file and its whole new content."""

    path: Path
    text: Text


class EditArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, text that it has, and what takes its place; once, or everywhere."""

    path: Path
    old: Annotated[Text, msgspec.Meta(min_length=1)]
    new: Text
    every: bool = False


class GlobArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of paths; ``ignored``: also what git ignores and what tools make."""

    pattern: Path
    ignored: bool = False


class GrepArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression, where to look, and in files of which names; ``ignored`` as for ``glob``."""

    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    path: Path = "."
    include: Annotated[str, msgspec.Meta(max_length=4096)] = ""
    ignored: bool = False


class ReadTool(StructTool[ReadArguments]):
    """``read``: whole lines, as many as fit; a picture or a PDF document as what it is."""

    def __init__(self, files: Files, raw: RawFiles, attachments: Attachments) -> None:
        declaration = Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True)
        super().__init__("read", "Read text (by lines), pictures or PDFs.", ReadArguments, declaration)
        self._files = files
        self._raw = raw
        self._attachments = attachments

    async def work(self, permit: Permit, arguments: ReadArguments, context: ToolContext) -> ToolOutcome:
        """Read; a note says which lines these are unless they are all. The content decides what a file is."""
        likely = arguments.path.lower().endswith(_SHOWN_ENDINGS)
        if likely and (shown := await self._picture(permit, arguments.path)) is not None:
            return shown
        try:
            return await self._text(permit, arguments)
        except ToolFault:
            if likely or (shown := await self._picture(permit, arguments.path)) is None:
                raise
            return shown

    async def _picture(self, permit: Permit, path: str) -> ToolOutcome | None:
        """The file for the model to see; None when it is neither a picture nor a PDF."""
        try:
            data, size = await self._raw.chunk(permit, path, 0)
        except ToolFault:
            return None  # reading it as text says why
        if not media_type(data):
            return None
        if size > MOST_UPLOAD_BYTES:
            raise ToolFault(
                "{!r} has {} bytes, more than {} MB; make it smaller", path, size, MOST_UPLOAD_BYTES // 10**6
            )
        whole = bytearray(data)
        while len(whole) < size and data:
            data, _ = await self._raw.chunk(permit, path, len(whole))
            whole += data
        try:
            shown = await self._attachments.take(path, bytes(whole))
        except InvalidRequest as error:
            raise ToolFault("{!r}: {}", path, error) from error
        return ToolOutcome("ok", f"[{shown.described}]", size_bytes=size, attachments=(shown,))

    async def _text(self, permit: Permit, arguments: ReadArguments) -> ToolOutcome:
        found = await self._files.read(permit, arguments.path, first_line=arguments.line, lines=arguments.lines)
        seen = spell_out(found.text + "\n")  # the line feed after the last line, so that its carriage return is no sign
        text = _shown(msgspec.structs.replace(found, text=seen.text[:-1]), arguments.line)
        return ToolOutcome("ok", text, size_bytes=found.size_bytes, warnings=seen.warnings)


class WriteTool(StructTool[WriteArguments]):
    """``write``: the whole file, atomically."""

    def __init__(self, files: Edits) -> None:
        # Its answer repeats what the model has written, so there is nothing private in it.
        public = Confidentiality.PUBLIC
        declaration = Declaration(ToolEffect.WRITE, ("path",), ("path",), ("text",), sensitivity=public)
        super().__init__("write", "Create or replace a file.", WriteArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: WriteArguments, context: ToolContext) -> ToolOutcome:
        """Write; watchers see the difference."""
        written = await self._files.write(permit, arguments.path, arguments.text)
        context.progress(written.diff)
        verb = "created" if written.created else "replaced"
        return _changed(f"{verb} {arguments.path!r}", written, arguments.text)


class EditTool(StructTool[EditArguments]):
    """``edit``: exact text for exact text."""

    def __init__(self, files: Edits) -> None:
        declaration = Declaration(ToolEffect.WRITE, ("path",), ("path",), ("old", "new"))
        description = "Replace exact text in a file. It must occur once, unless every."
        super().__init__("edit", description, EditArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: EditArguments, context: ToolContext) -> ToolOutcome:
        """Edit; watchers see the difference."""
        try:
            written, new = await self._edited(permit, arguments)
        except ToolFault as fault:  # it shows lines of the file
            raise ToolFault("{}", spell_out(str(fault)).text) from fault
        context.progress(written.diff)
        places = "1 place" if written.replaced == 1 else f"{written.replaced} places"
        return _changed(f"edited {arguments.path!r} in {places}", written, new)

    async def _edited(self, permit: Permit, arguments: EditArguments) -> tuple[Written, str]:
        """Look for the text as ``read`` shows it, then for the very text; gives what was written for it too."""
        path, old, new = arguments.path, arguments.old, arguments.new
        meant = spelled_back(old)
        hidden = ""
        if meant != old:
            new_meant = spelled_back(new)
            try:
                return await self._files.edit(permit, path, meant, new_meant, every=arguments.every), new_meant
            except ToolFault as fault:
                hidden = f"\nWith the hidden characters that it spells: {fault}"
        try:
            return await self._files.edit(permit, path, old, new, every=arguments.every), new
        except ToolFault as fault:
            raise ToolFault("{}{}", fault, hidden) from fault


class GlobTool(StructTool[GlobArguments]):
    """``glob``: paths by pattern."""

    def __init__(self, files: Files) -> None:
        declaration = Declaration(ToolEffect.READ, ("pattern",), ("pattern",), idempotent=True)
        super().__init__("glob", "List paths that match, like **/*.py.", GlobArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: GlobArguments, context: ToolContext) -> ToolOutcome:
        """List."""
        found = await self._files.glob(permit, arguments.pattern, ignored=arguments.ignored)
        return _listed(found, "match", "matches")


class GrepTool(StructTool[GrepArguments]):
    """``grep``: lines by regular expression."""

    def __init__(self, files: Files) -> None:
        declaration = Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True)
        description = "Find lines that match a regex. include: file names, like *.py."
        super().__init__("grep", description, GrepArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: GrepArguments, context: ToolContext) -> ToolOutcome:
        """Search."""
        wanted = (arguments.pattern, arguments.path, arguments.include)
        found = await self._files.grep(permit, *wanted, ignored=arguments.ignored)
        return _listed(found, "file", "files")


def _changed(what: str, written: Written, text: str) -> ToolOutcome:
    """The outcome of a change; a model that wrote the sign for a hidden character reads that the file has the sign.

    Args:
        what: was done to which file.
        written: as the machine has it.
        text: that was written.
    """
    said = f"{what}, {written.size_bytes} bytes"
    if sign := next((found[0] for found in SPELLING.finditer(text) if spelled_back(found[0]) != found[0]), ""):
        said += f"; {sign} stands there as {len(sign)} visible characters: for the hidden one write its JSON escape"
    text = "\n".join((said, *landing_notes(written.landing)))
    return ToolOutcome("ok", text, size_bytes=written.size_bytes, landing=written.landing)


def _shown(found: FileText, first: int) -> str:
    """Whole lines as far as there is room, and where to go on."""
    if first > max(found.lines, 1):
        return f"[the file has {found.lines} lines]"
    lines = found.text.split("\n") if found.text else []
    if found.truncated:
        del lines[-1:]
    fitting, used = 0, 0
    while fitting < len(lines) and (used := used + len(lines[fitting]) + 1) <= _ROOM:
        fitting += 1
    if not fitting and found.lines:
        return clip(found.text, _ROOM) + f"\n[line {first} of {found.lines}, in part; use shell (cut) for more]"
    last = first + fitting - 1
    text = "\n".join(lines[:fitting])
    if first == 1 and last >= found.lines:
        return text or "(empty)"
    more = f"; go on at line {last + 1}" if last < found.lines else ""
    return f"{text}\n[lines {first}-{last} of {found.lines}{more}]"


def _listed(found: Found, one: str, many: str) -> ToolOutcome:
    """Rows as far as there is room, how many there are, and how many ignored ones, by their names, are left out."""
    seen = spell_out("\n".join(found.rows))
    shown = seen.text.split("\n") if found.rows else []
    fitting = _fitting(shown)
    notes = []
    if found.total > fitting:
        notes.append(f"{fitting} of {found.total} shown; narrow the search")
    if found.timed_out:
        notes.append("stopped at the time limit; there may be more")
    if found.left_out:
        unit = one if found.left_out == 1 else many
        notes.append(f"{found.left_out} ignored {unit} left out; set ignored to include them")
    if found.unsure:
        notes.append("git did not say in time what it ignores; such files are among these")
    rows = shown[:fitting] or ["no match"]
    size = sum(len(row.encode()) + 1 for row in found.rows)
    text = "\n".join([*rows, *(f"[{note}]" for note in notes)])
    return ToolOutcome("ok", text, size_bytes=size, warnings=seen.warnings)


def _fitting(rows: Sequence[str]) -> int:
    used = 0
    for index, row in enumerate(rows):
        used += len(row) + 1
        if used > _ROOM:
            return index
    return len(rows)
