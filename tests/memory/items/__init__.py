"""What people say and what a model would note of it: items that are right, and items of a careless model.

Each line has a turn of the person's, the words of it that the model quotes, what it would have remembered, and the
value. Everything is invented. What ends in ``_tuned`` was looked at while the checks were written; what ends in
``_held`` was written before them and is only measured.
"""

from __future__ import annotations

from pathlib import Path

import msgspec


class Item(msgspec.Struct, frozen=True):
    """One item of a model's answer, with the turn that it is about."""

    turn: str
    quote: str
    text: str
    value: str


def items(name: str) -> tuple[Item, ...]:
    """Those of a list: ``good`` or ``careless``, with ``_tuned`` or ``_held``."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines()
    parts = (line.split(" | ") for line in lines if not line.startswith("#"))
    return tuple(Item(turn.replace("\\n", "\n"), *rest) for turn, *rest in parts)
