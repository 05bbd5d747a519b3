"""Facts of acceptance checks: which there are, what they came to, what the person says of one.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.checks import CheckItem, CheckResult


class ChecksSet(msgspec.Struct, frozen=True, tag="checks.set"):
    """The checks of an objective as they now stand, all of them."""

    items: tuple[CheckItem, ...]
    by: Literal["person", "model", "project"]
    """Whose word changed them: the person's, the model's plan, or a file of the project."""


class ChecksRun(msgspec.Struct, frozen=True, tag="checks.run"):
    """Stead judged checks: before the work that they are about, or at the end of it."""

    when: Literal["before", "end"]
    results: tuple[CheckResult, ...]
    duration_ms: int


class CheckAnswered(msgspec.Struct, frozen=True, tag="check.answered"):
    """The person answered a check of kind ``person``."""

    id: str
    holds: bool
    door: str


CheckBody = ChecksSet | ChecksRun | CheckAnswered
