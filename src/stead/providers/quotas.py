"""What an account may still ask for, as vendors say it in the headers of their answers.

Layer: providers. Sources: Anthropic, "Rate limits", response headers; OpenAI, "Rate limits in headers".
"""

from __future__ import annotations

from collections.abc import Mapping

from stead.domain.providers import Quota

_LEFT = ("anthropic-ratelimit-{}-remaining", "x-ratelimit-remaining-{}")


def quota_in(headers: Mapping[str, str]) -> Quota | None:
    """The requests and tokens that are left; None where the headers say nothing of them. Names are lower case."""
    requests, tokens = (_left(headers, what) for what in ("requests", "tokens"))
    return Quota(requests, tokens) if max(requests, tokens) >= 0 else None


def _left(headers: Mapping[str, str], what: str) -> int:
    for name in _LEFT:
        said = headers.get(name.format(what), "")
        if said.isascii() and said.isdecimal() and len(said) <= 15:
            return int(said)
    return -1
