"""Front matter: the fields between two lines of ``---`` at the head of a Markdown file.

Layer: domain. Pure. The part of YAML that such heads use: ``name: value`` with plain or quoted text, a number, or a
list as ``[a, b]`` or as lines of ``- a``. Whatever else YAML has is refused with its line, so that nothing is misread.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stead.domain.errors import InvalidRequest

MOST_CHARS = 100_000
"""Of a file, head and text together."""
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63}):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_NOT_PLAIN = re.compile(r"[&*!|>%@`{}\[\]]")
Value = str | tuple[str, ...]


class Field(NamedTuple):
    """A value and the line that it stands in, from 1."""

    value: Value
    line: int


class Head(NamedTuple):
    """The fields by name, and the text below them."""

    fields: dict[str, Field]
    text: str


def fault(line: int, what: str) -> InvalidRequest:
    """What is wrong in a line, as an error to raise."""
    return InvalidRequest(f"line {line}: {what}")


def parse_head(source: str) -> Head:
    """Take a file apart.

    Raises:
        InvalidRequest: it has no front matter, or a line that is none of its forms; the text begins with the line.
    """
    if len(source) > MOST_CHARS:
        raise InvalidRequest(f"line 1: the file has more than {MOST_CHARS:,} characters")
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise fault(1, "the file begins with a line of ---, the fields, and another line of ---")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    if not end:
        raise fault(1, "the front matter has no end: a line of ---")
    fields: dict[str, Field] = {}
    open_list = ""
    for number, line in enumerate(lines[1:end], 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if open_list and (item := _ITEM.fullmatch(line)):
            items, at = fields[open_list]
            fields[open_list] = Field((*(items if isinstance(items, tuple) else ()), _scalar(item[1], number)), at)
            continue
        found = _FIELD.fullmatch(line.rstrip())
        if found is None:
            raise fault(number, f"{line.strip()[:60]!r} is no `name: value`")
        name, value = found[1], (found[2] or "").strip()
        if name in fields:
            raise fault(number, f"{name!r} stands there twice")
        open_list = "" if value else name
        fields[name] = Field(_value(value, number) if value else (), number)
    return Head(fields, "\n".join(lines[end + 1 :]).strip())


def _value(text: str, line: int) -> Value:
    if text.startswith("["):
        if not text.endswith("]"):
            raise fault(line, "a list in brackets ends in the same line")
        inner = text[1:-1].strip()
        return tuple(_scalar(item, line) for item in inner.split(",")) if inner else ()
    return _scalar(text, line)


def _scalar(text: str, line: int) -> str:
    text = text.strip()
    if text[:1] in ("'", '"'):
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1] or "\\" in text:
            raise fault(line, "a quoted text ends in the same line, and has no quote or backslash in it")
        return text[1:-1]
    text = text.partition(" #")[0].rstrip()
    if not text or _NOT_PLAIN.match(text) or ": " in text:
        raise fault(line, f"{text[:60]!r} is not plain; put it in quotes")
    return text
