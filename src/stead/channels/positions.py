"""How far each chat was read, in the text of a cursor.

Layer: channels. Chats and messages are numbers; what a platform calls them is made one by it.
"""

from __future__ import annotations

_MOST = 140
"""Chats of which a cursor speaks: 28 characters each."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def read_positions(cursor: str) -> dict[int, int]:
    """The last message of each chat."""
    pairs = (pair.split(":") for pair in cursor.split())
    return {int(chat, 36): int(message, 36) for chat, message in pairs}


def cursor_of(positions: dict[int, int]) -> str:
    """The last message of each chat, of those that were written in last."""
    kept = sorted(positions.items(), key=lambda pair: pair[1], reverse=True)[:_MOST]
    return " ".join(f"{base36(chat)}:{base36(last)}" for chat, last in kept)


def base36(number: int) -> str:
    """A number with digits and small letters."""
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text or "0"
