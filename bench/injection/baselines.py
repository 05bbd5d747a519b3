"""Policies to compare with: they show that the replay agrees with what is known, and what asking simply would cost."""

from __future__ import annotations

from collections.abc import Mapping

from stead.domain.policies import Integrity
from stead.domain.tools import ToolEffect
from tests.attacks.injection_suite.replay import Judged, Start
from tests.attacks.injection_suite.suite import Call

_CHANGES = (ToolEffect.WRITE, ToolEffect.EXECUTE, ToolEffect.SEND)
_ASK = Judged("ask", "baseline")
_ALLOW = Judged("allow")


class Nothing:
    """Lets everything through."""

    def __init__(self, start: Start) -> None:
        self.tools = start.tools

    def judge(self, tool: str, arguments: Mapping[str, object]) -> Judged:
        """See ``Guard``."""
        return _ALLOW

    def yes(self, tool: str, arguments: Mapping[str, object]) -> None:
        """See ``Guard``."""

    def ran(self, call: Call) -> None:
        """See ``Guard``."""


class EveryConsequence(Nothing):
    """Asks about every call that changes something."""

    def judge(self, tool: str, arguments: Mapping[str, object]) -> Judged:
        """See ``Guard``."""
        return _ASK if self.tools[tool].effect in _CHANGES else _ALLOW


class TaintedContext(Nothing):
    """Asks about every call that changes something or goes out, once something untrusted has been read."""

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.tainted = False

    def judge(self, tool: str, arguments: Mapping[str, object]) -> Judged:
        """See ``Guard``."""
        risky = self.tools[tool].effect in (*_CHANGES, ToolEffect.FETCH)
        return _ASK if self.tainted and risky else _ALLOW

    def ran(self, call: Call) -> None:
        """See ``Guard``."""
        self.tainted |= self.tools[call.tool].output_trust is Integrity.UNTRUSTED
