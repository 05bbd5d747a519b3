"""What people say when something is to be forgotten for good.

Layer: domain. A part of ``domain.commands``, whose rules hold here too.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.bounds import bounds
from stead.domain.memory_commands import Memories

Seqs = tuple[Annotated[int, bounds(minimum=1, maximum=2**53)], ...]
Needle = Annotated[str, bounds(minLength=3, maxLength=20_000, pattern=r"^\w{3}")]
Needles = Annotated[tuple[Needle, ...], bounds(maxItems=1000)]


class Forget(msgspec.Struct, frozen=True, tag="memory.forget", forbid_unknown_fields=True):
    """Forget for good, wherever it stands, 1,000 things at most; answered once it is proven. This can't be undone.

    Args:
        memories: with every version of what they say, the words that they rest on, and what rests on these words alone.
        events: their seqs; every word of them.
        words: in every event, memory and file of the home; each 3 characters or more.
        match: whether large and small letters differ. What a fuzzy preview has found is given as words.
    """

    memories: Memories = ()
    events: Seqs = ()
    words: Needles = ()
    match: Literal["exact", "any_case"] = "any_case"

    def __repr__(self) -> str:
        return f"Forget({self.memories!r}, {self.events!r}, {len(self.words)} words)"  # they stay out of every trace
