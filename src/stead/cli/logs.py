"""``logs``: the end of the daemon's log, and what is added to it.

Layer: cli. Reads the file itself, so that it works best when nothing else does.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import BinaryIO

from stead.cli.forms import arg, command, number
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean

_BLOCK_BYTES = 65536
_TAIL_LIMIT_BYTES = 64 * 1024 * 1024
_POLL_S = 0.2


def logs(invocation: Invocation, arguments: Namespace) -> int:
    """Print the end of the daemon's log, and with ``follow`` what is added."""
    requests = vars(arguments).get("requests", False)  # the service's logs are the daemon's alone
    path = invocation.home.request_log if requests else invocation.home.log
    how = 'request_log = "on" in config.toml, then stead down && stead up' if requests else "stead up"
    try:
        log = path.open("rb")
    except FileNotFoundError:
        raise CommandError(f"there is no log yet at {str(path)!r}", how, code="not_found") from None
    try:
        _print(invocation, tail(log, arguments.lines))
        rest = b""
        while arguments.follow:
            piece = log.read(_BLOCK_BYTES)
            *lines, rest = (rest + piece).split(b"\n")
            _print(invocation, lines)
            if piece:
                continue
            time.sleep(_POLL_S)
            if _was_replaced(log, str(path)):
                log.close()
                log = path.open("rb")
    finally:
        log.close()
    return OK


def tail(file: BinaryIO, count: int) -> list[bytes]:
    """The last lines of a file, however large it is; leaves it at its end."""
    position = end = file.seek(0, os.SEEK_END)
    content = b""
    while position > 0 and content.count(b"\n") <= count and end - position < _TAIL_LIMIT_BYTES:
        step = min(_BLOCK_BYTES, position)
        position -= step
        file.seek(position)
        content = file.read(step) + content
    file.seek(end)
    lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines[-count:] if count else []


def _was_replaced(log: BinaryIO, path: str) -> bool:
    """Whether the file of that name is another one now, or was cut."""
    try:
        now = os.stat(path)
    except FileNotFoundError:
        return False
    held = os.fstat(log.fileno())
    return (now.st_ino, now.st_dev) != (held.st_ino, held.st_dev) or now.st_size < log.tell()


def _print(invocation: Invocation, lines: list[bytes]) -> None:
    for line in lines:
        text = line.decode("utf-8", "replace")
        invocation.report({"line": text}, clean(text))
    if lines:
        invocation.out.write("")


LINES = number("-n --lines N", 50, "how many lines to show (50)", least=0)
FOLLOW = arg("-f --follow", "go on showing what is added")
REQUESTS = arg("--requests", "the request log of the page and the API, if it is on")
COMMANDS = {"logs": command(logs, FOLLOW, LINES, REQUESTS)}
