"""Reading a person's answer while events go on coming.

Layer: cli. Whole lines, by the terminal's own editing: a key that was pressed before the question stood there, or Enter
alone, must never count as an answer.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.client import Json, Stream

_TICK_S = 5.0
_RECONNECT_S = 0.5


class Superseded(Exception):
    """The question was answered elsewhere, or is void, while the person was thinking."""


def forget_typed() -> None:
    """Drop what was typed before now."""
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def read_line(stream: Stream, take: Callable[[list[Json]], bool]) -> str | None:
    """The next line that the person types, without its end; None at the end of input (Ctrl-D).

    Args:
        stream: read meanwhile, so that nothing is lost and a question answered elsewhere closes here.
        take: is given what came, and says whether the question still stands.

    Raises:
        Superseded: it does not.
    """
    keyboard = sys.stdin.fileno()
    while True:
        if (batch := stream.next(0.0)) and not take(batch):
            raise Superseded
        watched = [keyboard] + ([stream.fileno()] if stream.connected else [])
        ready, _, _ = select.select(watched, [], [], _TICK_S if stream.connected else _RECONNECT_S)
        if keyboard in ready:
            typed = os.read(keyboard, 4096)
            return typed.decode("utf-8", "replace").strip() if typed else None
