"""Keys and other secrets from the person: a hidden prompt, or standard input.

Layer: cli. Never from the command line, where every process of the machine could read them; and no error repeats one.
"""

from __future__ import annotations

import sys

from stead.cli.invocation import CommandError
from stead.cli.output import stream_is_terminal


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
