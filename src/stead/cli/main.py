"""The entry point ``stead``: find the command, load its module alone, run it, say what went wrong.

Layer: cli. Nothing heavy is imported here or on the way to a command: bar P8 counts it.
"""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER, SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence

from stead.cli.catalogue import AS_IT_IS, LISTING, SUMMARIES
from stead.cli.commands import load
from stead.cli.invocation import BAD_REQUEST, FAILED, INTERRUPTED, OK, UNREACHABLE, CommandError, Invocation
from stead.cli.output import clean, stream_is_terminal
from stead.cli.parsing import Parser, command_parser

_STRANGE = ("not_found", "invalid", "method", "peer", "bug")
"""Codes of errors that come of a daemon and a command line that do not know the same things."""
_EPILOG = """exit codes
  0 done   1 failed or cancelled   2 bad request   3 waits for a person   4 no daemon   130 interrupted

Without a command, at a terminal: work in this folder, as stead chat does.
Help on a command: stead COMMAND --help"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code: see the epilog of ``stead --help``."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader closed the pipe. What is left must not raise again when Python closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _run(words: list[str]) -> int:
    options = Namespace(home="", json="--json" in words, plain=False, debug="--debug" in words)
    invocation = Invocation(options, parser_of)
    try:
        name = _parse_globals(words or _alone(), options)
        if not name:
            return OK
        arguments = parser_of(name).parse_args(options.rest, options)
        invocation = Invocation(arguments, parser_of, None if name in AS_IT_IS else _start_daemon)
        return load(name).run(invocation, arguments)
    except KeyboardInterrupt:
        invocation.out.note("")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the door of the command line: every fault becomes two readable lines
        if invocation.debug:
            import traceback

            invocation.out.note(clean("".join(traceback.format_exception(error))))
        known = _explained(error)
        cause = known.cause + (_of_old_code(invocation) if known.code in _STRANGE else "")
        invocation.out.error(cause, known.next_step, known.code)
        return known.exit_code


def parser_of(name: str) -> ArgumentParser:
    """The whole parser of a command."""
    parser = command_parser(name, SUMMARIES[name])
    load(name).configure(parser)
    return parser


def _parse_globals(words: list[str], options: Namespace) -> str:
    """Take the options before the command; gives the command's name, "" when help or the version was shown."""
    parser = Parser(
        prog="stead",
        usage="stead [options] [COMMAND ...]",
        description="An agent that acts in your stead, and that you can trust to.",
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this and leave")
    parser.add_argument("--version", action="store_true", help="show the version and leave")
    parser.add_argument("--continue", action="store_true", dest="goes_on", help="go on with this folder's last session")
    parser.add_argument("command", nargs="?", default="", help=SUPPRESS)
    parser.add_argument("rest", nargs=REMAINDER, help=SUPPRESS)
    parser.parse_args(words, options)
    if options.version:
        from stead import __version__

        print(f"stead {__version__}")
        return ""
    if options.goes_on:
        if options.command:
            raise CommandError("--continue takes no command", "stead --continue")
        options.rest = ["--continue"]
        return "chat"
    if options.command == "help" and options.rest:
        options.command, options.rest = options.rest[0], ["--help"]
    if options.help or options.command in ("", "help"):
        parser.description = f"{parser.description}\n\n{LISTING}"
        parser.print_help()
        return ""
    return _known(options.command)


def _alone() -> list[str]:
    """What ``stead`` without a command means: at a terminal, a chat in this folder; else its help."""
    return ["chat"] if stream_is_terminal(sys.stdin) and stream_is_terminal(sys.stdout) else []


def _known(name: str) -> str:
    if name in SUMMARIES:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, SUMMARIES, n=1)
    raise CommandError(f"there is no command {name!r}", f"stead {near[0]} --help" if near else "stead --help")


def _explained(error: Exception) -> CommandError:
    """Any error as cause, next step and exit code."""
    if isinstance(error, CommandError):
        return error
    from stead.client import ApiError
    from stead.domain.errors import CallerError, SteadError

    if isinstance(error, ApiError | SteadError):
        cause, next_step = split_advice(str(error))
        exit_code = BAD_REQUEST if isinstance(error, CallerError) else FAILED
        if isinstance(error, ApiError):
            exit_code = UNREACHABLE if error.status == 0 else BAD_REQUEST if error.status < 429 else FAILED
        return CommandError(cause, next_step or "stead doctor", exit_code=exit_code, code=error.code)
    if isinstance(error, OSError):
        cause = f"{error.filename!r}: {error.strerror}" if error.filename else str(error)
        return CommandError(
            cause, "give a file that can be read and written, or see: stead doctor", exit_code=FAILED, code="os"
        )
    cause = f"this should not have happened: {type(error).__name__}: {error}"
    return CommandError(cause, "run it again with --debug and report what it shows", exit_code=FAILED, code="bug")


def _start_daemon(invocation: Invocation) -> None:
    from stead.cli.starting import start

    start(invocation)
    if (invocation.home.run / "recovery.txt").exists():
        invocation.out.note("Stead is started. Its recovery key is shown once, by: stead up")


def _of_old_code(invocation: Invocation) -> str:
    """What to add to an error where the daemon and this command do not know the same things; "" where they do."""
    from stead.client import NoDaemon

    try:
        outdated = invocation.client.outdated
    except NoDaemon:
        return ""
    return (
        ". The daemon runs other code than this command, from before an update; renew it: stead up" if outdated else ""
    )


def split_advice(message: str) -> tuple[str, str]:
    """Cause and next step of a message of ``domain/errors.py``, which puts the way out last, after a semicolon."""
    cause, separator, advice = message.rpartition("; ")
    return (cause, advice) if separator else (message, "")
