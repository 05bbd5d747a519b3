"""Parsers whose errors are ours, and the options that every command takes.

Layer: cli.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from typing import Any, NoReturn

from stead.cli.invocation import CommandError


class Parser(ArgumentParser):
    """A parser with the options that are taken everywhere, before the command's name and after it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        group = self.add_argument_group("everywhere")
        group.add_argument("--home", metavar="DIR", default=SUPPRESS, help="Stead's folder ($STEAD_HOME, ~/.stead)")
        group.add_argument("--json", action="store_true", default=SUPPRESS, help="results as JSON, one object a line")
        group.add_argument("--plain", action="store_true", default=SUPPRESS, help="no colour (also NO_COLOR=1)")
        group.add_argument("--debug", action="store_true", default=SUPPRESS, help="show the traceback of an error")

    def error(self, message: str) -> NoReturn:
        """Name the mistake and where to look. A stray word is not repeated: it may be a key, and logs keep errors."""
        unknown = message.partition("unrecognized arguments: ")[2].split()
        if unknown:
            options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            message = f"unknown options: {' '.join(options)}" if options else "more words than this command takes"
        raise CommandError(message, f"{self.prog} --help")


def command_parser(name: str, summary: str) -> Parser:
    """The parser of a command, without its own arguments yet."""
    return Parser(prog=f"stead {name}", description=f"{summary[0].upper()}{summary[1:]}.")
