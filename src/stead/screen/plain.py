"""One plain spelling for text that was written to be read differently by programs and people.

Layer: screen. Knows no rule. Characters that are not seen go away, and characters that stand for an ASCII one (full
width, mathematical, circled) become it. Per character, so that no text takes more than linear time: Unicode's own
normalisation sorts runs of combining marks, and a hostile run of them makes that slow.

Source: Unicode Standard Annex 15 (compatibility decomposition), Technical Standard 39 (confusables).
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

from stead.domain.shown import UNSEEN

_COMPATIBLE_BLOCKS = ((0xA0, 0x3400), (0xFB00, 0x10000), (0x1D400, 0x1D800), (0x1F100, 0x1F200))
_DOTS = dict.fromkeys((0x3002, 0xFF0E, 0xFF61), ".")  # what a browser takes for the dot in a host name (UTS 46)
_UNSEEN = re.compile(f"[{UNSEEN}]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ENTITY = re.compile(r"&(?:#0*[0-9]{1,7}|#[xX]0*[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")


def plain(text: str) -> str:
    """The text without unseen characters and with ASCII in place of its look-alikes by decomposition."""
    if not text.isascii():
        text = _UNSEEN.sub("", text).translate(_ascii_for())
    return _CONTROLS.sub("", text)


def entities(text: str) -> str:
    """HTML's character references resolved. Any number of leading zeros, as browsers allow."""
    return _ENTITY.sub(_resolved, text) if "&" in text else text


def _resolved(found: re.Match[str]) -> str:
    name = found[0]
    if name[1] != "#":
        return html.unescape(name)
    digits = name[2:].rstrip(";")
    number = int(digits[1:].lstrip("0") or "0", 16) if digits[0] in "xX" else int(digits.lstrip("0") or "0")
    return html.unescape(f"&#{number};")


@cache
def _ascii_for() -> dict[int, str]:
    """The ASCII spelling of each character whose compatibility decomposition is ASCII."""
    table: dict[int, str] = {}
    for first, end in _COMPATIBLE_BLOCKS:
        for point in range(first, end):
            plainly = unicodedata.normalize("NFKC", chr(point))
            if plainly.isascii() and plainly:
                table[point] = plainly
    return table | _DOTS
