"""Texts that a person gives: typed, on standard input, in a file, or hidden; and texts that are written to a new file.

Layer: cli. A key or another secret is never taken from the command line, where every process of the machine could read
it; and no error repeats one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stead.cli import figures
from stead.cli.invocation import CommandError
from stead.cli.output import stream_is_terminal

LIMIT_BYTES = 1_000_000


def program_words(line: str) -> list[str]:
    """A program and its arguments from one line, quoted as for a shell; no words for an empty line.

    Raises:
        CommandError: a quote is not closed.
    """
    import shlex

    try:
        return shlex.split(line)
    except ValueError as error:
        raise CommandError(f"the command cannot be read: {error}", "--command 'PROGRAM ARGUMENTS'") from error


def named_values(option: str, words: list[str]) -> dict[str, str]:
    """The values of an option that is given as NAME=VALUE, by name.

    Raises:
        CommandError: one is not.
    """
    if odd := next((word for word in words if "=" not in word), ""):
        raise CommandError(f"{odd!r} is not NAME=VALUE", f"{option} NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


def read_text(typed: str, what: str) -> str:
    """What was typed, or for "-" what standard input has: not empty, under 1 MB.

    Raises:
        CommandError: it is not, or no UTF-8; ``what`` names it.
    """
    if typed == "-":
        content = sys.stdin.buffer.read(LIMIT_BYTES + 1)
        try:
            typed = content.decode("utf-8", "replace" if len(content) > LIMIT_BYTES else "strict")
        except UnicodeDecodeError as error:
            raise CommandError(f"the {what} on standard input is not UTF-8: {error}", "convert it first") from error
    if not typed.strip():
        raise CommandError(f"the {what} is empty", "say what there is to say")
    if len(typed.encode("utf-8", "surrogateescape")) >= LIMIT_BYTES:
        raise CommandError(f"the {what} has 1 MB or more", "put long material into a file of the folder and name it")
    return typed


def read_file(name: str, limit_bytes: int) -> str:
    """The text of a file.

    Raises:
        CommandError: it is larger, or no UTF-8.
    """
    with Path(name).open("rb") as file:
        return decoded(name, file.read(limit_bytes + 1), limit_bytes)


def decoded(name: str, content: bytes, limit_bytes: int) -> str:
    """The text of a file's content, without a byte order mark; see ``read_file``."""
    if len(content) > limit_bytes:
        raise CommandError(f"{name!r} has more than {figures.size(limit_bytes)}", "split it, and give the parts")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name!r} is not UTF-8 text", "save it as UTF-8") from error


def write_new(name: str, text: str) -> None:
    """Write a file that only this account can read.

    Raises:
        CommandError: there is one of that name already.
    """
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise CommandError(f"there is a file {name!r} already", "give a new one") from error
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def read_hidden(what: str, command: str, limit_bytes: int) -> str:
    """What is typed at a prompt that does not show it, else what standard input has; without the line break at its end.

    Args:
        what: it is, such as "key of acme".
        command: that reads it, for what is said when there is nothing.
        limit_bytes: how long it may be, in UTF-8.

    Raises:
        CommandError: it is empty, too long or no UTF-8.
    """
    if stream_is_terminal(sys.stdin):
        from getpass import getpass

        return checked(
            getpass(f"{what} (it is not shown): ").encode("utf-8", "surrogateescape"), what, command, limit_bytes
        )
    return checked(sys.stdin.buffer.read(limit_bytes + 3), what, command, limit_bytes)


def checked(content: bytes, what: str, command: str, limit_bytes: int) -> str:
    """Such a value that was read from elsewhere; see ``read_hidden``."""
    try:
        text = content.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise CommandError(f"the {what} is not UTF-8 text", "encode it first, for example with base64") from None
    if not text.strip():
        raise CommandError(f"no {what} was given", f"type it at the prompt, or: {command} < FILE")
    if len(text.encode()) > limit_bytes:
        raise CommandError(f"the {what} has more than {limit_bytes} bytes", "give a key or a password, not a file")
    return text
