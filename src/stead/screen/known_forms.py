r"""Every spelling of a value that is known to be secret, as patterns.

Layer: screen. A value is a row of characters; each form is a row of elements, one for a character or a byte, each
with the ways it may be written. Because an element allows every way at every place, mixed and partial encodings match
too, and nothing depends on what stands around the value.

Forms: as it is; with escapes of URLs (``%2F``, also nested, ``+`` for a space), of JSON and programs (``\u002f``,
``\x2f``, a backslash before any sign), of HTML (``&#47;``, ``&sol;``), of quoted-printable (``=2F``) and of shells;
in base64 of either alphabet at each of the three places it can take in a longer text; in hex, also with separators;
base64 and hex also with line breaks. Not covered: compression, encryption, other encodings of the characters
(UTF-16), a value cut into pieces or spelled backwards.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from html.entities import html5
from itertools import pairwise

import msgspec

SHORTEST = 4
"""Characters of the shortest value that is looked for: shorter ones would blacken ordinary text."""

LONGEST = 200
"""Characters of the longest text that is looked for in one piece: patterns grow with it, and their library gives up."""

LONGEST_LINES = 8_000
"""Characters of the longest text with several lines, looked for as it is; its lines are looked for by themselves."""

_TELLING_SIGNS = 5

SHORTEST_ENCODED = 8
"""Bytes of the shortest value, or line of a value, that is looked for in every form; shorter ones as they are."""

_WRAP = r"[\s\\rn]{0,4}"
"""Between two signs of base64: a line break, real or as an escape, with what indents the next line."""

_HEX_GAP = r"[\s:,;\\rn-]{0,4}(?:0x|\\{1,2}x|[%=])?"
_ENTITY_NAMES: dict[str, list[str]] = {}
for _name, _characters in html5.items():
    if _name.endswith(";"):
        _ENTITY_NAMES.setdefault(_characters, []).append(_name[:-1])


class Form(msgspec.Struct, frozen=True):
    """One spelling.

    Args:
        pattern: matches it.
        most_bytes: the most bytes that a match has.
    """

    pattern: str
    most_bytes: int


_Element = tuple[str, int]
_LINE_BREAK_BYTES, _SIGN_BYTES, _DIGITS_BYTES = 60, 13, 9
"""The most that a line break, a sign of base64, and a byte in hex take."""


def forms(value: str) -> tuple[Form, ...]:
    """All forms of all texts of a value."""
    found = {form.pattern: form for text in texts(value) for form in forms_of_text(text)}
    return tuple(found.values())


def texts(value: str) -> list[str]:
    """The value, or its parts, as they are looked for by themselves; none of a value that is too short.

    Of a value with several lines these are the whole and each line that is long enough; of a JSON object (a service
    account's key file) also its longer strings; of what is very long, pieces of it.
    """
    whole = value.strip()
    found = [piece for text in (whole, *_parts(whole)) for piece in _pieces(text)]
    return [text for text in dict.fromkeys(found) if len(text) >= SHORTEST]


def _pieces(text: str) -> list[str]:
    if len(text.splitlines()) > 1:
        return [text] if len(text) <= LONGEST_LINES else []
    count = -(-len(text) // LONGEST)
    if count < 2:
        return [text]
    cuts = [len(text) * number // count for number in range(count + 1)]
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    # Half a page of blanks or dashes is no secret, wherever it was taken from.
    return [piece for piece in pieces if len(set(piece)) >= _TELLING_SIGNS] or pieces


def _parts(whole: str) -> list[str]:
    lines = [line.strip() for line in whole.splitlines()]
    parts = [line for line in lines if len(lines) > 1 and _is_telling(line)]
    if whole.startswith("{"):
        try:
            fields = json.loads(whole)
        except (ValueError, RecursionError):
            return parts
        for leaf in fields.values():
            if isinstance(leaf, str) and len(leaf) >= 16 and "://" not in leaf:
                parts += [leaf.strip(), *_parts(leaf.strip())]
    return parts


def _is_telling(line: str) -> bool:
    """Whether a line of a longer value is secret by itself: no short rest, no ``-----BEGIN`` that all keys have."""
    return len(line.encode("utf-8", "surrogatepass")) >= SHORTEST_ENCODED and not line.startswith("-----")


def most_bytes(text: str) -> int:
    """The most bytes that any form of one text has, computed without making the forms."""
    content = text.encode("utf-8", "surrogatepass")
    if breaks := len(text.splitlines()) - 1:
        return len(content) + breaks * _LINE_BREAK_BYTES
    if len(content) < SHORTEST_ENCODED:
        return len(content)
    signs = -(-8 * (len(content) + 2) // 6)
    return max(sum(map(_character_bytes, text)), signs * _SIGN_BYTES, len(content) * _DIGITS_BYTES)


def common_spellings(value: str) -> list[bytes]:
    """The ways in which a whole value most often stands somewhere, as bytes to search for."""
    content = value.encode("utf-8", "surrogatepass")
    packed = [base64.b64encode(content), base64.b64encode(content + b"\n"), base64.urlsafe_b64encode(content)]
    quoted = [json.dumps(value)[1:-1].encode(), json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "replace")]
    return list(dict.fromkeys([content, *quoted, *packed, content.hex().encode()]))


def forms_of_text(text: str) -> list[Form]:
    """All forms of one of ``texts``."""
    content = text.encode("utf-8", "surrogatepass")
    if len(text.splitlines()) > 1:
        return [_form([_line_break() if c == "\n" else _plain(c) for c in "\n".join(text.splitlines())])]
    if len(content) < SHORTEST_ENCODED:
        return [_form([_plain(character) for character in text])]
    rows = [[_character(character) for character in text], _hex(content)]
    rows += [_base64(content, offset) for offset in range(3)]
    return [_form(row) for row in rows]


def _form(row: list[_Element]) -> Form:
    return Form("".join(pattern for pattern, _ in row), sum(most for _, most in row))


def _plain(character: str) -> _Element:
    content = character.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in content), len(content)


def _line_break() -> _Element:
    return r"(?:\s|\\{1,4}[rn]|%0[adAD]){1,12}", _LINE_BREAK_BYTES


def _digits(hexadecimal: str) -> str:
    """Hex digits in either case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in hexadecimal)


@cache
def _character(character: str) -> _Element:
    """One character in each of its escapes."""
    content, point = character.encode("utf-8", "surrogatepass"), ord(character)
    plain, _ = _plain(character)
    ways = [
        plain,
        "".join(f"[%=](?:25){{0,3}}{_digits(f'{byte:02x}')}" for byte in content),
        "".join(rf"\\{{1,4}}x{_digits(f'{byte:02x}')}" for byte in content),
        rf"\\{{1,4}}[uU]\{{?0{{0,6}}{_digits(f'{point:x}')}\}}?",
        rf"&#0{{0,6}}{point};?",
        rf"&#[xX]0{{0,6}}{_digits(f'{point:x}')};?",
    ]
    ways += [f"&{name};" for name in _ENTITY_NAMES.get(character, ())]
    if 127 < point < 256:
        ways.append(rf"\\{{1,4}}x{_digits(f'{point:02x}')}")
    if point > 0xFFFF:
        pair = ((point - 0x10000) >> 10 | 0xD800, (point - 0x10000) & 0x3FF | 0xDC00)
        ways.append("".join(rf"\\{{1,4}}u{_digits(f'{half:x}')}" for half in pair))
    if point < 128 and not character.isalnum():
        ways.append(rf"\\{{1,8}}{plain}")
    ways += _OTHER_WAYS.get(character, ())
    return f"(?:{'|'.join(ways)})", _character_bytes(character)


def _character_bytes(character: str) -> int:
    return max(24, 12 * len(character.encode("utf-8", "surrogatepass")))


_OTHER_WAYS: dict[str, tuple[str, ...]] = {
    " ": (r"\+",),
    "'": (r"'\\{1,4}''", "'\"'\"'", "''"),
    '"': ('""',),
    "\\": (r"\\{1,8}",),
    "\t": (r"\\{1,4}t",),
}


def _hex(content: bytes) -> list[_Element]:
    row = [(f"{_HEX_GAP}{_digits(f'{byte:02x}')}", _DIGITS_BYTES) for byte in content]
    return [(_digits(f"{content[0]:02x}"), 2), *row[1:]]


def _base64(content: bytes, offset: int) -> list[_Element]:
    return [
        (f"{_WRAP if place else ''}{_one_of(signs)}", _SIGN_BYTES)
        for place, signs in enumerate(base64_signs(content, offset))
    ]


_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64_signs(content: bytes, offset: int) -> list[list[str]]:
    """The signs that the value has in base64 of a text in which it begins ``offset`` bytes after a group of three.

    The first and the last sign may share their bits with a neighbour: any sign fits there that has the value's bits.
    """
    zeros = base64.b64encode(b"\0" * offset + content + b"\0" * 3).decode()
    ones = base64.b64encode(b"\xff" * offset + content + b"\xff" * 3).decode()
    first, last = 8 * offset // 6, (8 * (offset + len(content)) - 1) // 6
    row: list[list[str]] = []
    for place in range(first, last + 1):
        low, high = _SIGNS.index(zeros[place]), _SIGNS.index(ones[place])
        if low == high:
            row.append([zeros[place]])
            continue
        shared = low ^ high
        row.append([sign for index, sign in enumerate(_SIGNS) if (index ^ low) & ~shared & 0x3F == 0])
    return row


def _one_of(signs: list[str]) -> str:
    """One of these signs of base64, in either alphabet and in the escapes of URLs and JSON."""
    ordinary = "".join(sign for sign in signs if sign.isalnum())
    ways = [f"[{ordinary}]" if len(ordinary) > 1 else ordinary] if ordinary else []
    if "+" in signs:
        ways.append(r"[+-]|%(?:25){0,3}2[bB]|\\{1,4}u002[bB]")
    if "/" in signs:
        ways.append(r"\\{0,4}/|_|%(?:25){0,3}2[fF]|\\{1,4}u002[fF]")
    return f"(?:{'|'.join(ways)})" if len(ways) > 1 or "|" in ways[0] else ways[0]
