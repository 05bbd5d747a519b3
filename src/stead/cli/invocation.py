"""One call of the command line: its home, its output, its client; and how commands describe themselves.

Layer: cli.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from stead.cli.output import Output, stream_is_terminal

if TYPE_CHECKING:
    from stead.client import Client
    from stead.config import Home

OK = 0
FAILED = 1
BAD_REQUEST = 2
NEEDS_PERSON = 3
UNREACHABLE = 4
INTERRUPTED = 130
_NOUNS = ("memory", "directive", "rule", "proposal", "run", "objective", "session")


class CommandError(Exception):
    """A command cannot go on.

    Args:
        cause: what is wrong, naming the thing.
        next_step: what to do about it.
        exit_code: see ``docs/``: 1 failed, 2 bad request, 3 needs a person, 4 daemon not reachable.
    """

    def __init__(self, cause: str, next_step: str = "", *, exit_code: int = BAD_REQUEST, code: str = "usage") -> None:
        super().__init__(cause)
        self.cause = cause
        self.next_step = next_step
        self.exit_code = exit_code
        self.code = code


class Invocation:
    """What every command gets in addition to its own arguments: client, output, global options.

    Args:
        options: the global ones.
        parser_of: the whole parser of a command, by its name.
        start: starts the daemon at the first request, where none runs.
    """

    def __init__(
        self,
        options: Namespace,
        parser_of: Callable[[str], ArgumentParser],
        start: Callable[[Invocation], None] | None = None,
    ) -> None:
        self._start = start
        self.parser_of = parser_of
        self.debug: bool = options.debug
        self.as_json: bool = options.json
        self.verbose: bool = getattr(options, "verbose", False)
        colourless, dumb = bool(os.environ.get("NO_COLOR")), os.environ.get("TERM", "dumb") == "dumb"
        self.out = Output(plain=options.plain, as_json=options.json, colourless=colourless, dumb=dumb)
        self._home_option: str = options.home
        self._client: Client | None = None

    @property
    def home(self) -> Home:
        """The home that is meant: ``--home``, else ``$STEAD_HOME``, else ``~/.stead``."""
        from pathlib import Path

        from stead.config import Home, find_home

        return Home(Path(self._home_option).expanduser().absolute()) if self._home_option else find_home()

    @property
    def client(self) -> Client:
        """The client of the home's daemon; connects at its first request, and starts the daemon if the command may."""
        if self._client is None:
            from stead.client import Client

            start = self._start
            self._client = Client(self.home, None if start is None else lambda: start(self))
        return self._client

    @property
    def interactive(self) -> bool:
        """Whether a person sits at this terminal and may be asked."""
        return not self.as_json and stream_is_terminal(sys.stdin) and stream_is_terminal(sys.stdout)

    def report(self, value: object, *lines: str) -> int:
        """Say what came of the command: a JSON value, or else lines, already clean. Gives the exit code of success."""
        if self.as_json:
            self.out.json(with_id(value))
        else:
            self.out.lines(lines)
        return OK

    def confirm(self, word: str, loss: str, *, yes: bool) -> None:
        """Have the person type a word before something is lost; ``yes`` says that they did with the command.

        Raises:
            CommandError: they did not, or there is no terminal to ask at. Nothing may be done then.
        """
        if yes:
            return
        if not self.interactive:
            raise CommandError(
                f"{loss.removesuffix('.')}, and there is no terminal to ask at",
                "the same command with --yes",
                exit_code=NEEDS_PERSON,
            )
        self.out.line(loss)
        if input(f"type {word} to go on: ").strip() != word:
            raise CommandError("nothing was changed", "")


def with_id(value: object) -> object:
    """A JSON object with the ``id`` of what it is about at its top, also where that has a row of its own in it."""
    if isinstance(value, dict) and "id" not in value:
        for name in _NOUNS:
            inner = value.get(name)
            if isinstance(inner, dict) and (found := inner.get("id", inner.get(name))):
                return {"id": found, **value}
    return value


class Command(NamedTuple):
    """One command of the command line: how its arguments are declared, and what it does (giving the exit code)."""

    configure: Callable[[ArgumentParser], None]
    run: Callable[[Invocation, Namespace], int]
