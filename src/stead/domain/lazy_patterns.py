"""Regular expressions that are compiled when they are first used.

Layer: domain. Pure. Python's own take 60 ms of the daemon's start together, and most of them are for a text that comes
later. This is for those of modules that need a millisecond or more; elsewhere ``re.compile`` serves.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import AnyStr, cast


class _LazyPattern:
    """A pattern that is compiled when one of its attributes is first used."""

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str] | re.Pattern[bytes]:
        return re.compile(self._expression, self._flags)

    def __getattr__(self, name: str) -> object:
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern for a module's constant.

    Args:
        expression: as ``re.compile`` takes it. One that makes no sense is an error at its first use, not here.
        flags: of ``re``.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(expression, flags))
