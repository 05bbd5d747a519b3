"""Changing a file by a unified diff.

Layer: tools. Knows the machine only as the ``Edits`` port; where the hunks go is found out in there. Hidden characters
are spelled as ``files`` has it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.errors import ToolFault
from stead.domain.permits import Permit
from stead.domain.ports import Edits, Written
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.screen.visible import spell_out, spelled_back
from stead.tools.files import Path, Text, changed
from stead.tools.tool import StructTool


class PatchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and hunks of a unified diff for it."""

    path: Path
    diff: Annotated[Text, msgspec.Meta(min_length=1)]


class PatchTool(StructTool[PatchArguments]):
    """``patch``: several places of one file at once, or a new file; all hunks or none."""

    def __init__(self, files: Edits) -> None:
        declaration = Declaration(ToolEffect.WRITE, ("path",), ("path",), ("diff",))
        description = "Apply unified-diff hunks to one file. Context must match exactly."
        super().__init__("patch", description, PatchArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: PatchArguments, context: ToolContext) -> ToolOutcome:
        """Patch; whoever watches sees the difference."""
        try:
            written, diff = await self._patched(permit, arguments)
        except ToolFault as fault:  # it shows lines of the file
            raise ToolFault("{}", spell_out(str(fault)).text) from fault
        context.progress(written.diff)
        places = "1 place" if written.replaced == 1 else f"{written.replaced} places"
        what = f"created {arguments.path!r}" if written.created else f"patched {arguments.path!r} in {places}"
        return changed(what, written, _lines(diff, "+"))

    async def _patched(self, permit: Permit, arguments: PatchArguments) -> tuple[Written, str]:
        """Look for the lines as ``read`` shows them, then for the very lines; gives what was applied too."""
        path, diff = arguments.path, arguments.diff
        hidden = ""
        if spelled_back(shown := _lines(diff, " -")) != shown:
            meant = spelled_back(diff)
            try:
                return await self._files.patch(permit, path, meant), meant
            except ToolFault as fault:
                hidden = f"\nWith the hidden characters that it spells: {fault}"
        try:
            return await self._files.patch(permit, path, diff), diff
        except ToolFault as fault:
            raise ToolFault("{}{}", fault, hidden) from fault


def _lines(diff: str, signs: str) -> str:
    """The lines of a diff that begin with one of the signs."""
    return "\n".join(line[1:] for line in diff.split("\n") if line[:1] and line[0] in signs)
