"""Writing plain data as TOML 1.0, and finding where in a document something stands.

Layer: cli. Python reads TOML and writes none; what is needed is a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STARTS = re.compile(r"\s*(\[|[A-Za-z0-9_\"'.-][^=]*=)")
Path = tuple[str | int, ...]


def written(document: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """A document of values, tables and arrays of tables, as text.

    Args:
        document: by name: a table (``dict``), an array of tables, or any other value. None is nowhere in it.
        comments: by name: what stands above it, without ``#``.
    """
    parts: list[str] = []
    plain = [name for name, value in document.items() if not isinstance(value, dict) and not _is_tables(value)]
    for name in [*plain, *(name for name in document if name not in plain)]:
        value, said = document[name], comments.get(name, "")
        lines = [f"# {line}".rstrip() for line in said.splitlines()]
        if name in plain:
            parts.append("\n".join([*lines, f"{_key(name)} = {_value(value)}"]))
            continue
        tables = (
            [(f"[{_key(name)}]", value)] if isinstance(value, dict) else [(f"[[{_key(name)}]]", one) for one in value]
        )
        for at, (head, table) in enumerate(tables):
            parts.append("\n".join([*(lines if at == 0 else []), head, *_table(_key(name), table)]))
    return "\n\n".join(parts) + "\n"


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and len(one) > 0 for one in value)


def _table(name: str, table: Mapping[str, Any]) -> list[str]:
    """Its values, then the tables in it."""
    lines = [f"{_key(key)} = {_value(value, long=True)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += [
                "",
                f"[{name}.{_key(key)}]",
                *(f"{_key(of)} = {_value(one, long=True)}" for of, one in value.items()),
            ]
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: Any, *, long: bool = False) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _text(value) if long and "\n" in value else _string(value)
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}")


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _text(text: str) -> str:
    """A string of several lines. Line ends other than a newline, and all that is not seen, are spelled out."""
    return '"""\n' + "\n".join(_string(line)[1:-1] for line in text.split("\n")) + '"""'


class Lines:
    """Where the parts of a document stand that can be read.

    Python's reader does not say. What a place is at is there from some line on, so the shortest beginning of the text
    that has it is looked for: a dozen readings for each question.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._cuts = [at for at, line in enumerate(self._lines) if _STARTS.match(line)]
        self._cuts.append(len(self._lines))
        self._read = lru_cache(maxsize=32)(self._parsed)

    def of(self, path: Path) -> int:
        """The line, from 1, of the value at a path of keys and places; of what it is in, where it has none."""
        while path and not self._has(len(self._cuts) - 1, path):
            path = path[:-1]
        low, high = 0, len(self._cuts) - 1
        while path and low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._has(middle, path) else (middle + 1, high)
        before = next((at for at in range(low - 1, -1, -1) if self._read(at) is not None), 0)
        return self._cuts[before] + 1 if path else 1

    def _has(self, cut: int, path: Path) -> bool:
        found: Any = next((one for at in range(cut, len(self._cuts)) if (one := self._read(at)) is not None), {})
        for step in path:
            if isinstance(found, Mapping) and step in found:
                found = found[str(step)]
            elif isinstance(found, Sequence) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return False
        return True

    def _parsed(self, cut: int) -> Mapping[str, Any] | None:
        """The document up to a line; None where that is in the middle of something."""
        import tomllib

        try:
            return tomllib.loads("".join(self._lines[: self._cuts[cut]]))
        except (tomllib.TOMLDecodeError, RecursionError):
            return None
