"""What the API's document says of a field beyond its type.

Layer: domain. A field that is annotated so still takes every value of its type: what is out of bounds is refused where
it is used, in words for people. Keys are those of JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec


def bounds(**schema: Any) -> msgspec.Meta:
    """An annotation with these keys of JSON Schema."""
    return msgspec.Meta(extra_json_schema=schema)


Text = Annotated[str, bounds(minLength=1, pattern=r"\S")]
Folder = Annotated[str, bounds(pattern="^/")]
AnyFolder = Annotated[str, bounds(pattern="^(/.*)?$")]
"""A folder, or "" for none."""
Figure = Annotated[int, bounds(minimum=0)]
Share = Annotated[int, bounds(minimum=1, maximum=99)]
"""In percent."""
