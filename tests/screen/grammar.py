"""Sample texts of a small regular language: character classes, groups, alternatives, repeats.

Secrets in the tests are made from the published shape of each key, so that no real-looking key is ever committed.
"""

from __future__ import annotations

import random
import re
import string
from functools import cache

_CLASSES = {"d": string.digits, "w": string.ascii_letters + string.digits + "_", "s": " "}
_PRINTABLE = string.ascii_letters + string.digits + "+/"


def sample(pattern: str, rng: random.Random) -> str:
    """One text that the pattern matches; an open-ended repeat is made at most ten longer than its least."""
    text, rest = _alternatives(pattern, 0, rng, re.IGNORECASE if pattern.startswith("(?i)") else 0)
    assert rest == len(pattern), pattern[rest:]
    return text


def _alternatives(pattern: str, at: int, rng: random.Random, flags: int) -> tuple[str, int]:
    choices: list[str] = [""]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            choices.append("")
            at += 1
            continue
        start = at
        piece, at = _atom(pattern, at, rng, flags)
        low, high, end = _repeat(pattern, at)
        again = piece
        pieces = []
        for _ in range(rng.randint(low, high)):
            pieces.append(again)
            again, _ = _atom(pattern, start, rng, flags)
        choices[-1] += "".join(pieces)
        at = end
    return rng.choice(choices), at


def _repeat(pattern: str, at: int) -> tuple[int, int, int]:
    found = re.compile(r"(\?|\*|\+|\{(\d+)(,?)(\d*)\})\??").match(pattern, at)
    if not found:
        return 1, 1, at
    if found[2] is None:
        low, high = {"?": (0, 1), "*": (0, 10), "+": (1, 10)}[found[1]]
    else:
        low = int(found[2])
        high = int(found[4]) if found[4] else low + (10 if found[3] else 0)
    return low, high, found.end()


def _atom(pattern: str, at: int, rng: random.Random, flags: int) -> tuple[str, int]:
    character = pattern[at]
    if character == "(":
        head = re.compile(r"\((\?P?<\w+>|\?[a-z-]*:|\?[a-z]+\))?").match(pattern, at)
        assert head
        if head[0].endswith(")"):
            return "", head.end()
        text, end = _alternatives(pattern, head.end(), rng, flags)
        return text, end + 1
    if character == "[":
        return _class(pattern, at, rng)
    if character == "\\":
        letter = pattern[at + 1]
        if letter == "x":
            return chr(int(pattern[at + 2 : at + 4], 16)), at + 4
        if letter in "bBzA":
            return "", at + 2
        return (rng.choice(_CLASSES[letter]) if letter in _CLASSES else letter), at + 2
    if character in "^$":
        return "", at + 1
    return (rng.choice(_PRINTABLE) if character == "." else character), at + 1


def _class(pattern: str, at: int, rng: random.Random) -> tuple[str, int]:
    end = at + 1 + (pattern[at + 1] == "^")
    while pattern[end] != "]" or end == at + 1:
        end += 9 if pattern.startswith("[:alnum:]", end) else 2 if pattern[end] == "\\" else 1
    return rng.choice(_members(pattern[at : end + 1])), end + 1


@cache
def _members(written: str) -> str:
    inside = re.compile(written.replace("[:alnum:]", "A-Za-z0-9"))
    return "".join(chr(point) for point in range(32, 127) if inside.fullmatch(chr(point)))
