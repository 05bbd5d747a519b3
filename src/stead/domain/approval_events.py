"""Facts about what a person is asked, answers and allows ahead.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.ids import ApprovalId, CallDigest, CallKey
from stead.domain.policies import GrantScope, Origin, Reason, Risk


class ApprovalRequested(msgspec.Struct, frozen=True, tag="approval.requested"):
    """A question to the person; the session waits and holds nothing."""

    id: ApprovalId
    key: CallKey
    tool: str
    arguments: str
    """Canonical JSON of what would run."""
    digest: CallDigest
    level: Literal["session", "each", "confirm"]
    reason: Reason
    risk: Risk
    expires_at_ms: int
    shape: str = ""
    """Which calls a lasting yes covers; "" when only this one can be allowed."""
    sources: tuple[str, ...] = ()
    """The untrusted sources behind the call; the answer "trust" trusts these for the rest of the objective."""
    origins: tuple[Origin, ...] = ()
    bound: str = ""
    """What a lasting yes is bound to: this session and the files that the call runs; "" for nothing."""


class ApprovalGiven(msgspec.Struct, frozen=True, tag="approval.given"):
    """A person said yes to exactly the digest; good for one run, judged again when it comes."""

    id: ApprovalId
    key: CallKey
    digest: CallDigest
    door: str


class ApprovalDenied(msgspec.Struct, frozen=True, tag="approval.denied"):
    """A person said no; ``reason`` may be empty and is read by the model."""

    id: ApprovalId
    key: CallKey
    door: str
    reason: str


class ApprovalLapsed(msgspec.Struct, frozen=True, tag="approval.lapsed"):
    """The question is void: it expired, the session ended, or what it was about changed."""

    id: ApprovalId
    key: CallKey
    why: Literal["expired", "ended", "changed", "interrupted"]


class GrantMade(msgspec.Struct, frozen=True, tag="grant.made"):
    """A person allowed a shape of call ahead of time.

    ``shape`` is "any" (every call of the tool) or the canonical arguments of the one call that it repeats. A grant for
    a project stands in the home's stream with its ``directory``; one for a session stands in that session's ("" there).
    """

    tool: str
    shape: str
    scope: GrantScope
    directory: str
    expires_at_ms: int
    door: str
    sources: tuple[str, ...] = ()
    """Kinds of untrusted sources that the session had read when it was made. It does not cover a session that has read
    another kind; the workspace's own files count for every grant."""
    bound: str = ""
    """What it is bound to, as the question said. Without that it covers no call that runs code from files."""


class SourcesTrusted(msgspec.Struct, frozen=True, tag="sources.trusted"):
    """A person said that what these sources hold may say whom or what calls of a tool act on, for this objective."""

    sources: tuple[str, ...]
    tool: str
    door: str


class GrantRevoked(msgspec.Struct, frozen=True, tag="grant.revoked"):
    """The person took a grant back: every grant of the tool ends, in this session, or in this directory."""

    tool: str
    directory: str
    door: str


ApprovalBody = (
    ApprovalRequested | ApprovalGiven | ApprovalDenied | ApprovalLapsed | GrantMade | GrantRevoked | SourcesTrusted
)
"""In the order in which docs/generated lists them."""
