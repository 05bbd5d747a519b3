"""What the API's document says of a field beyond its type.

Layer: domain. A field that is annotated so still takes every value of its type: what is out of bounds is refused where
it is used, in words for people. Keys are those of JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any

import msgspec

from stead.domain.errors import InvalidRequest


def bounds(**schema: Any) -> msgspec.Meta:
    """An annotation with these keys of JSON Schema."""
    return msgspec.Meta(extra_json_schema=schema)


NAME = "[a-z][a-z0-9-]{0,30}"
Name = Annotated[str, bounds(pattern=f"^{NAME}$")]
"""The person's own choice, of what they set up."""
Text = Annotated[str, bounds(minLength=1, pattern=r"\S")]
Folder = Annotated[str, bounds(pattern="^/")]
AnyFolder = Annotated[str, bounds(pattern="^(/.*)?$")]
"""A folder, or "" for none."""
Figure = Annotated[int, bounds(minimum=0)]
Share = Annotated[int, bounds(minimum=1, maximum=99)]
"""In percent."""


def require_name(name: str) -> None:
    """Raise ``InvalidRequest`` for what is no ``Name``."""
    if not re.fullmatch(NAME, name):
        raise InvalidRequest(f"the name {name[:80]!r} cannot be; take a small letter, then up to 30 of a-z, 0-9, -")


def require_room(known: Collection[str], name: str, most: int, what: str, family: str) -> None:
    """Raise ``InvalidRequest`` where a name is new and there are as many as there may be.

    Args:
        known: the names that there are.
        name: the one that is set.
        most: how many there may be.
        what: what they are called.
        family: the command that removes one.
    """
    if name not in known and len(known) >= most:
        raise InvalidRequest(f"{most} {what} are the most; remove one first: stead {family} remove NAME")
