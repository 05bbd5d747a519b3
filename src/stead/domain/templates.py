"""Templates: text with places for values.

Layer: domain. Pure. The caller says how a value is shown, because different texts harm a terminal and Markdown; nothing
in a value is ever read as a template.

    {id}                    the field of that name; {run.by} the field of a field; {0} an item; {} the whole
    {title:48}              in one line of 48 characters at most; other styles are the caller's
    {uses:#time}            with its noun, "3 times"; {count:#memory/memories}; a list is counted
    {directory|everywhere}  these words where it is empty
    {enabled?on:off}        the one or the other, of which the first has no colon; {undone?undone} or nothing
    [, last {used:moment}]  left out where a value in it is empty: "", 0, false, no items
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[Any, str], str]
"""Gives a value as text, in a style; "" for none."""
_PLACE = re.compile(
    r"\[(?P<group>[^\[\]]+)\]"
    r"|\{(?P<path>[\w.]*)(?:\?(?P<yes>[^:}]*)(?::(?P<no>[^}]*))?"
    r"|(?::(?P<style>#?[\w/ ]+))?(?:\|(?P<otherwise>[^}]*))?)\}"
)


def fill(template: str, value: Any, show: Show) -> str:
    """The template with the value's fields in their places.

    Raises:
        KeyError: the value has no such field, or there is no such style.
    """
    return "".join(piece if isinstance(piece, str) else show(*piece) for piece in pieces(template, value))


def pieces(template: str, value: Any) -> Iterator[str | tuple[Any, str]]:
    """The template's own texts, and between them the fields that are to be shown, each with its style.

    Raises:
        KeyError: the value has no such field.
    """
    at = 0
    for found in _PLACE.finditer(template):
        yield template[at : found.start()]
        yield from _placed(found, value)
        at = found.end()
    yield template[at:]


def _placed(found: re.Match[str], value: Any) -> Iterator[str | tuple[Any, str]]:
    if (group := found["group"]) is not None:
        if all(_field(value, place["path"]) for place in _PLACE.finditer(group)):
            yield from pieces(group, value)
        return
    field = _field(value, found["path"])
    if found["yes"] is not None:
        yield found["yes"] if field else found["no"] or ""
    elif not field and found["otherwise"] is not None:
        yield found["otherwise"]
    else:
        yield field, found["style"] or ""


def _field(value: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        value = value[int(name) if name.isdecimal() else name]
    return value
