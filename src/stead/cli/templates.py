"""Templates: text with places for values, which are cleaned before they are shown.

Layer: cli. Pure but for the clock. Nearly everything that is shown was written by a model, a tool or a file, so a value
is cleaned unless its place says how else it is shown, and nothing in a value is ever read as a template.

    {id}                    the field of that name; {run.by} the field of a field; {0} an item; {} the whole
    {title:48}              in one line of 48 characters at most; other styles are in ``_STYLES``
    {uses:#time}            with its noun, "3 times"; {count:#memory/memories}; a list is counted
    {directory|everywhere}  these words where it is empty
    {enabled?on:off}        the one or the other, of which the first has no colon; {undone?undone} or nothing
    [, last {used:moment}]  left out where a value in it is empty: "", 0, false, no items
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stead.cli import figures
from stead.cli.output import Output, clean, clean_line, reveal_line
from stead.domain.shown import reveal

Line = tuple[str, str]
"""A line, ready to be shown, and its style; "" for none."""
_PLACE = re.compile(
    r"\[(?P<group>[^\[\]]+)\]"
    r"|\{(?P<path>[\w.]*)(?:\?(?P<yes>[^:}]*)(?::(?P<no>[^}]*))?"
    r"|(?::(?P<style>#?[\w/ ]+))?(?:\|(?P<otherwise>[^}]*))?)\}"
)
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
    """The template with the value's fields in their places.

    Raises:
        KeyError: the value has no such field, or there is no such style.
    """
    return _PLACE.sub(lambda found: _filled(found, value), template)


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
    """The headings of a template, and what stands below or behind each."""
    for part in template.split(" | "):
        heading, _, cell = part.partition(": ")
        yield heading, cell


def table(out: Output, template: str, rows: list[Any]) -> None:
    """Aligned columns, of a template such as ``"ID: {id} | >TOKENS: {tokens:number}"``; ">" aligns to the right."""
    every = list(columns(template))
    out.table([heading for heading, _ in every], [[fill(cell, row) for _, cell in every] for row in rows])


def _filled(found: re.Match[str], value: Any) -> str:
    if (group := found["group"]) is not None:
        named = [place["path"] for place in _PLACE.finditer(group)]
        return fill(group, value) if all(_field(value, path) for path in named) else ""
    field = _field(value, found["path"])
    if found["yes"] is not None:
        return found["yes"] if field else found["no"] or ""
    if not field and found["otherwise"] is not None:
        return found["otherwise"]
    return _styled(field, found["style"] or "")


def _field(value: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        value = value[int(name) if name.isdecimal() else name]
    return value


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
