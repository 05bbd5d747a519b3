"""Ids in paths, told apart from the words that stand where an id could: ``/memories/state`` is no memory.

Layer: a door.
"""

from __future__ import annotations

from typing import ClassVar

from starlette.convertors import Convertor, register_url_convertor


class _Id(Convertor[str]):
    """An id of one kind, as it stands."""

    def convert(self, value: str) -> str:
        """See ``Convertor``."""
        return value

    def to_string(self, value: str) -> str:
        """See ``Convertor``."""
        return value


class _MemoryIds(_Id):
    regex: ClassVar[str] = "m_[0-9a-f]{16}"


class _DirectiveIds(_Id):
    regex: ClassVar[str] = "d_[0-9a-f]{16}"


def know_ids() -> None:
    """Have routes understand ``{id:memory}`` and ``{id:directive}``; again, it changes nothing."""
    register_url_convertor("memory", _MemoryIds())
    register_url_convertor("directive", _DirectiveIds())
