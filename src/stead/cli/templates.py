"""Templates of ``domain.templates``, filled for a terminal: lines, pairs, tables.

Layer: cli. Nearly everything that is shown was written by a model, a tool or a file, so a value is cleaned unless its
place says how else it is shown; styles other than a number of characters are in ``_STYLES`` and ``_WHOLE``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stead.cli import figures
from stead.cli.output import Output, clean, clean_line, reveal_line
from stead.domain import templates
from stead.domain.event_words import Words
from stead.domain.shown import reveal

Line = tuple[str, str]
"""A line, ready to be shown, and its style; "" for none."""
_SPENT = "usd_micros_used"
_STYLES: dict[str, Callable[[Any], str]] = {
    "number": figures.tokens,
    "money": figures.money,
    "cost": lambda row: figures.money(row[_SPENT if _SPENT in row else "usd_micros"], known=row["price_known"]),
    "count": lambda items: f"{len(items):,}",
    "paths": lambda files: clean_line(", ".join(file["path"] for file in files), 400),
    "percent": lambda share: f"{share:.1f} %",
    "share": lambda share: f"{share:.2f}",
    "size": figures.size,
    "duration": figures.duration,
    "moment": figures.moment,
    "age": lambda ms: figures.age(ms, time.time() * 1000),
    "then": lambda names: clean_line(", then ".join(names)),
}
_WHOLE: dict[str, Callable[[str], str]] = {
    "text": lambda text: clean(text).strip("\n"),
    "revealed": reveal,
    "path": reveal_line,
    "raw": str,
}
"""Styles whose result is shown as it is; ``raw`` is for what this program styled itself."""


def fill(template: str, value: Any) -> str:
    """The template with the value's fields in their places, for a terminal; raises as ``templates.fill``."""
    return templates.fill(template, value, _styled)


def filled(words: Iterable[Words]) -> Iterator[Line]:
    """Words of ``domain.event_words`` as lines."""
    return ((fill(template, values), style) for template, values, style in words)


def lines(template: str, value: Mapping[str, Any]) -> list[str]:
    """The lines of a template, without those that have nothing to say."""
    return [line for line in map(lambda line: fill(line, value), template.split("\n")) if line.strip()]


def some(template: str, rows: Sequence[Any], most: int, total: int = 0) -> list[str]:
    """The first rows, each by a template, and how many more there are: of the rows, or of a larger total."""
    more = max(total, len(rows)) - min(most, len(rows))
    return [fill(template, row) for row in rows[:most]] + ([f"  … and {more:,} more"] if more > 0 else [])


def pairs(template: str, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of a template such as ``"id: {id} | turns: {turns}"``, without those that are empty."""
    found = ((heading, fill(cell, value)) for heading, cell in columns(template))
    return [(heading, text) for heading, text in found if text]


def columns(template: str) -> Iterator[tuple[str, str]]:
    """The headings of a template, and the pattern of each column or line."""
    for part in template.split(" | "):
        heading, _, cell = part.partition(": ")
        yield heading, cell


def table(out: Output, template: str, rows: list[Any]) -> None:
    """Aligned columns, of a template such as ``"ID: {id} | >TOKENS: {tokens:number}"``; ">" aligns to the right."""
    every = list(columns(template))
    out.table([heading for heading, _ in every], [[fill(cell, row) for _, cell in every] for row in rows])


def _styled(field: Any, style: str) -> str:
    if style.startswith("#"):
        count = field if isinstance(field, int) else len(field)
        return figures.counted(count, *style.removeprefix("#").split("/"))
    if style in _WHOLE:
        return _WHOLE[style](field)
    if style and not style.isdecimal():
        return clean_line(_STYLES[style](field))
    if isinstance(field, list):
        field = ", ".join(map(str, field))
    return clean_line(field if isinstance(field, str) else json.dumps(field, ensure_ascii=False), int(style or 0))
