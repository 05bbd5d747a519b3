"""The tools that read for values alone: the text goes to a model in quarantine and never to the session's own.

Layer: tools. They fetch the text and say what is wanted of it; who reads it, what that costs and which values pass is
the runtime's and ``domain.readings``' business.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.permits import Permit
from stead.domain.ports import Files, Parser
from stead.domain.readings import TEXT_LIMIT, Field, Question
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.fetching import Fetcher
from stead.tools.files import Path
from stead.tools.tool import StructTool
from stead.tools.web import PUBLIC_PAGE, text_of

Fields = Annotated[tuple[Field, ...], msgspec.Meta(min_length=1, max_length=20)]
Wanted = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_ALL_LINES = 100_000


class _Sought(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for, and what it comes as."""

    question: Wanted
    fields: Fields

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"two fields are called {twice!r}; give each its own name")


class ExtractArguments(_Sought, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file, and what to read out of it."""

    path: Path


class ExtractPageArguments(_Sought, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A public page, and what to read out of it."""

    url: str


class ExtractTool(StructTool[ExtractArguments]):
    """``extract``: values out of a file of the workspace."""

    def __init__(self, files: Files) -> None:
        declaration = Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True)
        description = "Get values out of a file you should not trust. You see no text, only what fits `fields`."
        super().__init__("extract", description, ExtractArguments, declaration)
        self._files = files

    async def work(self, permit: Permit, arguments: ExtractArguments, context: ToolContext) -> ToolOutcome:
        """Read the file and put the question."""
        found = await self._files.read(permit, arguments.path, first_line=1, lines=_ALL_LINES)
        if found.truncated or found.lines > _ALL_LINES:
            return _too_long(f"{arguments.path!r} has {found.size_bytes:,} bytes")
        return _put(arguments, found.text, arguments.path, found.size_bytes)


class ExtractPageTool(StructTool[ExtractPageArguments]):
    """``extract_page``: values out of a page of the public Internet.

    Args:
        fetcher: gets the bytes.
        parser: makes text of HTML, inside the session's machine.
    """

    def __init__(self, fetcher: Fetcher, parser: Parser) -> None:
        super().__init__("extract_page", "As `extract`, from a public web page.", ExtractPageArguments, PUBLIC_PAGE)
        self._fetcher = fetcher
        self._parser = parser

    async def work(self, permit: Permit, arguments: ExtractPageArguments, context: ToolContext) -> ToolOutcome:
        """Fetch the page and put the question.

        Raises:
            FetchFault: as ``Fetcher.fetch``.
            MachineError: as ``Parser.html_text``.
        """
        page = await self._fetcher.fetch(arguments.url)
        if page.cut:
            outcome = _too_long(f"{arguments.url!r} has more than {len(page.body):,} bytes")
        else:
            outcome = _put(arguments, await text_of(page, self._parser, permit), arguments.url, len(page.body))
        return msgspec.structs.replace(outcome, reached=(page.host,))


def _put(sought: _Sought, text: str, where: str, size_bytes: int) -> ToolOutcome:
    if len(text) > TEXT_LIMIT:
        return _too_long(f"{where!r} has {len(text):,} characters")
    return ToolOutcome("ok", "", size_bytes, question=Question(sought.fields, sought.question, text))


def _too_long(what: str) -> ToolOutcome:
    text = f"{what}, and {TEXT_LIMIT:,} characters are read in one go; copy the part that matters to a file of its own"
    return ToolOutcome("error", f"{text}, with `shell`, and extract from that")
