"""The one way in which a connection out of a machine ends without being made.

Layer: egress. Knows nothing of connections.
"""

from __future__ import annotations

from stead.domain.policies import Reason


class Refusal(Exception):
    """A connection that is not made, or not gone on with. ``status`` is what the client inside is answered with."""

    def __init__(self, status: int, rule: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.reason = Reason(rule, text)
