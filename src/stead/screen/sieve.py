"""Tells in a few fast searches which known texts another might contain.

Layer: screen. Matching every form of a hundred values at once would be slow, and most texts contain none. So the text
is first brought into four plain views: as it is, with all escapes resolved, as one row of base64 signs, as one row of
hex digits. Each value leaves short pieces of itself, its seeds, in at least one of them whatever its form. Only
values whose seeds occur are then looked for in earnest. A value without sure seeds (made of signs that escapes
change) always is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from stead.screen.engine import Pattern, compiled
from stead.screen.known_forms import SHORTEST_ENCODED, base64_signs

T = TypeVar("T")

_PLAIN_SEED, _BASE64_SEED, _HEX_SEED = 5, 6, 8
_MOST_SEEDS = 64
"""Of one text, in one view."""

_STEADY = re.compile(rb"[A-Za-z0-9_.:@/!~,-]{5}", re.DOTALL)
"""Bytes that no view changes."""

_UNSTEADY = re.compile(rb"[\\%&=]")
_LONG_STEADY = re.compile(rb"[A-Za-z0-9_.:@/!~,-]{12}")
"""A value's own sign may look like the begin of an escape and take some of what follows; a longer row survives that."""

_HEX = r"[0-9A-Fa-f]"
_ESCAPE = re.compile(
    rf"%(?:25)*({_HEX}{{2}})|=({_HEX}{{2}})|\\+(?:u({_HEX}{{4}})|[uU]\{{?0*({_HEX}{{1,6}})\}}?|x({_HEX}{{2}})|([^A-Za-z0-9%&=])|[nrt])"
    rf"|&#0*([0-9]{{1,6}});?|&#[xX]0*({_HEX}{{1,5}});?|&([a-z]{{2,8}});".encode()
)
_NAMED = {
    b"colon": b":",
    b"sol": b"/",
    b"commat": b"@",
    b"period": b".",
    b"lowbar": b"_",
    b"excl": b"!",
    b"comma": b",",
}


class Sieve:
    """Seeds of texts.

    Args:
        texts: what is looked for by itself, each known by its place in the row.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        rows: tuple[dict[bytes, set[int]], ...] = ({}, {}, {})
        self._always: set[int] = set()
        self.signs_before_seed = 0
        for place, text in enumerate(texts):
            self.signs_before_seed = max(self.signs_before_seed, self._sow(text, place, rows))
        self._rows = [(_trie(row), row) for row in rows]
        self._all = len(texts)

    def _sow(self, text: str, place: int, rows: tuple[dict[bytes, set[int]], ...]) -> int:
        """Adds the seeds of one text; returns how many of its signs must be seen before the first seed is."""
        content = text.encode("utf-8", "surrogatepass")
        steady = [at for at in range(len(content) - _PLAIN_SEED + 1) if _STEADY.match(content, at)]
        if not steady or (_UNSTEADY.search(content) and not _LONG_STEADY.search(content)):
            self._always.add(place)
            return len(content)
        for at in _some(steady):
            rows[0].setdefault(content[at : at + _PLAIN_SEED], set()).add(place)
        if len(content) < SHORTEST_ENCODED or "\n" in text:
            return steady[0] + _PLAIN_SEED
        for offset in range(3):
            signs = base64_signs(content, offset)
            row = "".join(sign[0] if len(sign) == 1 else " " for sign in signs)
            seeds = [row[at : at + _BASE64_SEED].encode() for at in range(len(row) - _BASE64_SEED + 1)]
            for seed in _some([seed for seed in seeds if b" " not in seed]):
                rows[1].setdefault(seed, set()).add(place)
        for at in _some(range(len(content) - _HEX_SEED // 2 + 1)):
            rows[2].setdefault(content[at : at + _HEX_SEED // 2].hex().encode(), set()).add(place)
        return max(steady[0] + _PLAIN_SEED, _BASE64_SEED + 1)

    def candidates(self, content: bytes) -> set[int]:
        """Places of the texts that the content might contain; complete, not exact."""
        found = set(self._always)
        unescaped = _ESCAPE.sub(_literal, content)
        signs = unescaped.translate(_TO_BASE64, b" \t\r\n")
        digits = unescaped.translate(None, b" \t\r\n:,;-").lower().replace(b"0x", b"")
        for view, (pattern, row) in (
            (content, self._rows[0]),
            (unescaped, self._rows[0]),
            (signs, self._rows[1]),
            (digits, self._rows[2]),
        ):
            for seed in _seeds(pattern, view):
                found |= row[seed]
                if len(found) == self._all:
                    return found
        return found


def _some(seeds: Sequence[T]) -> Sequence[T]:
    """All of them, or of a long text's every second, third, …, beginning with the first."""
    return seeds[:: 1 + len(seeds) // _MOST_SEEDS]


_TO_BASE64 = bytes.maketrans(b"-_", b"+/")


def _seeds(pattern: Pattern | None, view: bytes) -> Iterator[bytes]:
    """Every seed in the view, also where two overlap."""
    at = 0
    while pattern and (match := pattern.search(view, at)):
        yield match.group()
        at = match.start() + 1


def _literal(escape: re.Match[bytes]) -> bytes:
    byte, quoted, unit, point, latin, sign, decimal, hexadecimal, name = escape.groups()
    if pair := byte or quoted or latin:
        return bytes((int(pair, 16),))
    if number := unit or point or hexadecimal:
        return _character(int(number, 16))
    if decimal:
        return _character(int(decimal))
    if name:
        return _NAMED.get(name, b"")
    return bytes(sign or b"\n")


def _character(point: int) -> bytes:
    return chr(point).encode("utf-8", "surrogatepass") if point < 0x110000 else b""


def _trie(row: dict[bytes, set[int]]) -> Pattern | None:
    """One pattern of all seeds. Sorted, so that common beginnings are shared."""
    return compiled("|".join("".join(f"\\x{byte:02x}" for byte in seed) for seed in sorted(row))) if row else None
