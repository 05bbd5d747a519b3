"""Providers of models as people are shown them: what is known of each, and what its last test said.

Layer: domain.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from stead.domain.bounds import bounds
from stead.domain.policies import Clearance
from stead.domain.trust import Tier

KEY_PLACE = r"^(none|vault|env:[A-Za-z_][A-Za-z0-9_]{0,127}|keychain:[^/\s]{1,100}/[^/\s]{1,100})$"
"""Where a key is, in the form of events and commands; never a key itself."""
Role = Literal["fast", "reading", "review"]
Effort = Literal["", "low", "medium", "high"]
"""How hard a model that reasons is to think; "" leaves it to the vendor."""
Header = Annotated[str, bounds(minLength=1, maxLength=64, pattern="^[A-Za-z0-9-]+$")]
Price = Annotated[int, bounds(minimum=0, maximum=10**10)]
"""Millionths of a dollar for a million tokens, up to 10,000 dollars; 0 is free."""


class ModelSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the person says of a model, in place of what Stead knows of it; what is not set says nothing.

    Args:
        input_price: of tokens in; None where it is not set.
        output_price: of tokens out, reasoning included.
        cached_price: of tokens in that the vendor's cache had.
        window_tokens: input and output together; 0 where it is not set.
        max_output_tokens: of one reply; 0 where it is not set.
        headers: sent with each request; where the value of each is: "vault", "env:NAME" or "keychain:SERVICE/NAME".
        params: put into the body of each request; they name no field that Stead fills in itself.
        effort: "" where it is not set.
        trust: how strictly it is led, in place of what is measured; "" where it is not set.
    """

    input_price: Price | None = None
    output_price: Price | None = None
    cached_price: Price | None = None
    window_tokens: int = 0
    max_output_tokens: int = 0
    headers: dict[Header, str] = {}
    params: dict[str, Any] = {}
    effort: Effort = ""
    trust: Tier | Literal[""] = ""

    def over(self, general: ModelSettings) -> ModelSettings:
        """These, and what they do not set from ``general``."""
        own = {
            name: value for name in self.__struct_fields__ if (value := getattr(self, name)) not in (None, 0, "", {})
        }
        own |= {name: 0 for name in ("input_price", "output_price", "cached_price") if getattr(self, name) == 0}
        own |= {"headers": {**general.headers, **self.headers}, "params": {**general.params, **self.params}}
        return msgspec.structs.replace(general, **own)


FIELDS_OF_OURS = frozenset(
    {
        *("model", "messages", "tools", "toolchoice", "toolconfig", "functions", "functioncall", "stream"),
        *("streamoptions", "maxtokens", "maxcompletiontokens", "system", "systeminstruction", "contents", "input"),
        *("instructions", "n", "promptcachekey", "mcpservers", "paralleltoolcalls", "cachedcontent"),
    }
)
"""Fields of a request that no parameter may name, in small letters without underscores."""
HEADERS_OF_OURS = frozenset(
    {
        *("host", "user-agent", "accept-encoding", "content-type", "content-length", "transfer-encoding"),
        *("connection", "authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "anthropic-version"),
        *("expect", "te", "trailer", "upgrade"),
    }
)
"""Headers that no setting may name."""


def header_secret(provider: str, model: str, header: str) -> str:
    """Under which name the vault has the value of a model's header."""
    return f"provider/{provider}/header/{model}/{header.lower()}"


UNSET = ModelSettings()
"""Nothing was said of a model."""


class ModelSettingsRow(msgspec.Struct, frozen=True):
    """The person's settings of a model as shown. ``model`` is "" for every model of the provider."""

    model: str
    settings: ModelSettings


class Quota(msgspec.Struct, frozen=True):
    """What an account may still ask for until its limits start over, as its last answer said; -1 for unsaid."""

    requests: int = -1
    tokens: int = -1


class ProviderHealth(msgspec.Struct, frozen=True):
    """How a provider stands, by its last requests and probes.

    Args:
        state: "unknown" before the first request; "resting" where it is out of quota for a while.
        text: what it said when it failed; "" while it is well.
        next_ms: when it is asked again, in milliseconds since 1970; 0 where nothing is planned.
    """

    state: Literal["unknown", "ok", "failed", "resting"] = "unknown"
    text: str = ""
    next_ms: int = 0


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
    account_of: str = ""
    """The provider whose further account it is; "" for one of its own."""
    settings: tuple[ModelSettingsRow, ...] = ()
    """What the person set of its models; header values are never in it."""
    health: ProviderHealth = ProviderHealth()
    quota: Quota = Quota()
