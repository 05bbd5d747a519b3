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
from collections.abc import Callable
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
    return _PLACE.sub(lambda found: _filled(found, value, show), template)


def _filled(found: re.Match[str], value: Any, show: Show) -> str:
    if (group := found["group"]) is not None:
        named = [place["path"] for place in _PLACE.finditer(group)]
        return fill(group, value, show) if all(_field(value, path) for path in named) else ""
    field = _field(value, found["path"])
    if found["yes"] is not None:
        return found["yes"] if field else found["no"] or ""
    if not field and found["otherwise"] is not None:
        return found["otherwise"]
    return show(field, found["style"] or "")


def _field(value: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        value = value[int(name) if name.isdecimal() else name]
    return value
