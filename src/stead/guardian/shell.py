"""How bad a command line could be. Placeholder of the contract: nothing is understood yet, so everything is asked.

Layer: guardian. Pure.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Reason, Risk


class ShellRisk(msgspec.Struct, frozen=True):
    """What a command line was understood as."""

    risk: Risk
    shape: str
    reasons: tuple[Reason, ...]
    paths: tuple[str, ...]
    changes: bool
    programs: tuple[str, ...] = ()


def assess(command: str) -> ShellRisk:
    """Understand a command line; never raises."""
    return ShellRisk(Risk.HIGH, "", (Reason("level-each", "It runs a program in the sandbox."),), (), changes=True)
