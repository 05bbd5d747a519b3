"""The vocabulary of trust: labels, risk, levels of asking, and the guardian's verdicts.

Layer: domain. Says what the words are; ``guardian`` says what follows from them.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from stead.domain.ids import CallDigest
from stead.domain.permits import Permit


class Integrity(StrEnum):
    """Where a value came from, best first."""

    PERSON = "person"
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Confidentiality(StrEnum):
    """Who may read a value, least restricted first."""

    PUBLIC = "public"
    PRIVATE = "private"
    SECRET = "secret"  # noqa: S105 - a label, not a password


class Label(msgspec.Struct, frozen=True):
    """What is known about a value's origin and readers. It is stored with the event that carries the value."""

    integrity: Integrity = Integrity.UNTRUSTED
    confidentiality: Confidentiality = Confidentiality.PRIVATE


class Risk(StrEnum):
    """How bad a call could be. What channels call risky is high and up."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Level(StrEnum):
    """How often the person is asked."""

    AUTO = "auto"
    """Never."""
    SESSION = "session"
    """Once per session and tool."""
    EACH = "each"
    """Every call."""
    CONFIRM = "confirm"
    """Every call, with its parameters shown; a grant never covers it."""


class GrantScope(StrEnum):
    """How far a grant reaches."""

    SESSION = "session"
    PROJECT = "project"


class Profile(StrEnum):
    """A named strictness that a person chooses for a session."""

    DEFAULT = "default"
    READONLY = "readonly"


class Reason(msgspec.Struct, frozen=True):
    """Why a verdict was reached.

    Args:
        rule: the stable name of the rule that decided, as docs/security-model.md lists it; never empty.
        text: one sentence for the person and the model, naming the thing and the way out.
    """

    rule: str
    text: str


class Allow(msgspec.Struct, frozen=True):
    """The call may run now, once, with this permit. The permit exists only in this process and is never encoded."""

    permit: Permit
    reason: Reason
    risk: Risk


class Ask(msgspec.Struct, frozen=True):
    """A person must answer first."""

    digest: CallDigest
    level: Level
    reason: Reason
    risk: Risk


class Deny(msgspec.Struct, frozen=True):
    """The call does not run, and asking would not help."""

    reason: Reason
    risk: Risk


Verdict = Allow | Ask | Deny
