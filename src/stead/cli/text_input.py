"""Texts that a person gives: typed, on standard input, in a file; and texts that are written to a new file for them.

Layer: cli.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stead.cli import figures
from stead.cli.invocation import CommandError

LIMIT_BYTES = 1_000_000


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
