"""How a run ends.

Layer: domain. Imports nothing heavy: the command line has it at each start.
"""

from __future__ import annotations

from typing import Literal, get_args

End = Literal["answered", "verified", "unverified", "incomplete", "failed", "cancelled"]
"""How a run ends: a text and no effect; its checks hold; effects that no check shows to be the goal; a check fails or a
limit was reached; it could not go on; the person ended it."""
ENDS: tuple[End, ...] = get_args(End)


WELL: tuple[End, ...] = ("answered", "verified", "unverified")
"""Ends that are no fault."""
