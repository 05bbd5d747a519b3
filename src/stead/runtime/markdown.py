"""Markdown in which what others wrote stays what it is: words, in a place that they cannot leave.

Layer: runtime. Knows nothing of sessions. A fence is longer than any run of backticks in it, a span of code likewise,
so neither can be closed from within (CommonMark 0.31, sections 4.5 and 6.1); only words without any mark are quoted as
running text. Characters that nobody sees are spelled out, so that a page shows what is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stead.domain import figures, templates
from stead.screen.visible import spell_out

TEXT_CHARS = 6000
"""Of one text that is shown; the journal has the rest."""
LINE_CHARS = 300
_RUNS = re.compile("`+")
_FIGURES: dict[str, Callable[[Any], str]] = {
    "number": figures.tokens,
    "money": figures.money,
    "size": figures.size,
    "duration": figures.duration,
}
_PLAIN = re.compile(r"[\w \n.,:;?!'\"()%+-]*")


def fenced(text: str, language: str = "text") -> str:
    """A text as it is, in a block of its own.

    Args:
        text: anybody's.
        language: one of ours, for colours.
    """
    shown = spell_out(text[:TEXT_CHARS]).text.rstrip("\n")
    fence = "`" * max(3, _longest_run(shown) + 1)
    left = len(text) - TEXT_CHARS
    more = f"*{left} more characters are in the journal.*\n\n" if left > 0 else ""
    return f"{fence}{language}\n{shown}\n{fence}\n\n{more}"


def said(text: str) -> str:
    """Words of a person or a model: quoted where they have no marks, else as they are."""
    text = text.strip()
    if not text:
        return "*(nothing)*\n\n"
    if len(text) > TEXT_CHARS or not _PLAIN.fullmatch(text) or spell_out(text).text != text:
        return fenced(text)
    return "".join(f"> {line}".rstrip() + "\n" for line in text.split("\n")) + "\n"


def span(text: str) -> str:
    """A short text within a line, such as a path or a title."""
    shown = " ".join(spell_out(text[:LINE_CHARS]).text.split())
    if not shown:
        return '""'
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{ticks}{pad}{shown}{'…' if len(text) > LINE_CHARS else ''}{pad}{ticks}"


def fill(template: str, values: dict[str, Any]) -> str:
    """A template of ``domain.templates``; every text in it becomes a span."""
    return templates.fill(template, values, _shown)


def _shown(field: Any, style: str) -> str:
    if style.startswith("#"):
        return figures.counted(field if isinstance(field, int) else len(field), *style[1:].split("/"))
    if style in _FIGURES:
        return _FIGURES[style](field)
    if style == "paths":
        return ", ".join(span(file["path"]) for file in field)
    if isinstance(field, list | tuple):
        return ", ".join(span(str(one)) for one in field)
    return str(field) if isinstance(field, int) else span(field)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUNS.findall(text)), default=0)
