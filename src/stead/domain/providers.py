"""Providers of models as people are shown them: what is known of each, and what its last test said.

Layer: domain.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Clearance


class ProviderCheck(msgspec.Struct, frozen=True):
    """The result of a live test: one real, tiny request.

    Args:
        name: of the provider.
        ok: it answered.
        text: what it said, or what happened.
        duration_ms: of the whole test.
        models: what the provider lists, empty if it does not.
        kind: of the failure: "auth", "connection", "timeout", "rate_limit", "refused"; "" when it answered.
        fix: the next step at a command line; "" when it answered.
        at_ms: when, in milliseconds since 1970.
    """

    name: str
    ok: bool
    text: str
    duration_ms: int
    models: tuple[str, ...]
    kind: str = ""
    fix: str = ""
    at_ms: int = 0


class ProviderRow(msgspec.Struct, frozen=True):
    """A provider as shown to people. ``key``: "none", "env:NAME (set)", "env:NAME (not set)", "vault" or "missing"."""

    name: str
    preset: str
    base_url: str
    model: str
    key: str
    found: bool
    """Found by itself (environment, local server, rehearsal), not configured by a person."""
    clearance: Clearance = "private"
    """Up to what it may be sent."""
    checked: ProviderCheck | None = None
    """What its last test said, since Stead started and since it was last changed."""
