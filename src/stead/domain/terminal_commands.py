"""What a person does with terminals of their own in a session's folder.

Layer: domain. A part of ``domain.commands``.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import bounds
from stead.domain.ids import SessionId
from stead.domain.terminals import MOST_COLUMNS, MOST_ROWS

__all__ = ["LINE_CHARS", "CloseTerminal", "OpenTerminal", "RunLine", "TerminalCommand"]

LINE_CHARS = 10_000
"""Of a line that the person runs themselves."""


class OpenTerminal(msgspec.Struct, frozen=True, tag="terminal.open", forbid_unknown_fields=True):
    """Open a terminal in the session's folder, in a sandbox like the session's. The answer's text is its id."""

    session: SessionId
    rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    columns: Annotated[int, msgspec.Meta(ge=1, le=MOST_COLUMNS)]


class RunLine(msgspec.Struct, frozen=True, tag="terminal.run", forbid_unknown_fields=True):
    """Run one line of the person's own in the session's folder, in a terminal of its own that nobody types in.

    The answer's text is the id of that terminal, and comes before the line has ended. What it prints is recorded when
    it has, and the model reads it before the person's next words. It begins no turn.
    """

    session: SessionId
    line: Annotated[str, bounds(minLength=1, maxLength=LINE_CHARS, pattern=r"\S")]


class CloseTerminal(msgspec.Struct, frozen=True, tag="terminal.close", forbid_unknown_fields=True):
    """End a terminal, with everything that runs in it."""

    session: SessionId
    terminal: str


TerminalCommand = OpenTerminal | RunLine | CloseTerminal
