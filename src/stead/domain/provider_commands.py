"""Requests about providers and their models: a part of ``domain.commands``, whose rules hold here too.

Layer: domain.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from stead.domain.bounds import Text, bounds
from stead.domain.ids import SessionId
from stead.domain.objectives import ModelRef
from stead.domain.policies import Clearance
from stead.domain.providers import KEY_PLACE, Effort, Header, Price, Role
from stead.domain.trust import Tier


class ConfigureProvider(msgspec.Struct, frozen=True, tag="provider.configure", forbid_unknown_fields=True):
    """Add or change a provider.

    Args:
        name: ``[a-z0-9-]{1,32}``, unique.
        preset: one of ``stead providers presets``.
        base_url: "" uses the preset's.
        model: "" uses the preset's.
        key: "none", "env:NAME", "vault" or "keychain:SERVICE/NAME"; never the key itself.
        clearance: "public" keeps from it every session that has read something private.
        account_of: a provider that this is a further account of: it is reached at the same place, serves the same
            models, and is asked when that one is out of quota.
    """

    name: Annotated[str, bounds(pattern="^(?!rehearsal$)[a-z0-9-]{1,32}$")]
    preset: str
    base_url: str = ""
    model: str = ""
    key: Annotated[str, bounds(pattern=KEY_PLACE)] = "none"
    clearance: Clearance = "private"
    account_of: str = ""


class ConfigureModel(msgspec.Struct, frozen=True, tag="model.configure", forbid_unknown_fields=True):
    """Say what a model costs, takes and is to be sent; what is left out stays as it was.

    Args:
        name: of the provider.
        model: "" for every model of the provider.
        input_price: of tokens in, in millionths of a dollar for a million; 0 is free.
        output_price: of tokens out.
        cached_price: of tokens in that the vendor's cache had; the input's where it is not given.
        window_tokens: input and output together.
        max_output_tokens: of one reply.
        headers: by name: ``${NAME}`` of the environment, ``keychain:SERVICE/NAME``, or the value itself, which goes
            into the vault and is shown nowhere; "" takes the header away.
        params: JSON by name, put into the body of each request; null takes one away.
        effort: "low", "medium" or "high".
        trust: "strict", "normal" or "trusted", in place of what is measured; "" measures again.
        reset: forget first what was said of it before.
    """

    name: str
    model: Annotated[str, bounds(maxLength=200)] = ""
    input_price: Price | None = None
    output_price: Price | None = None
    cached_price: Price | None = None
    window_tokens: Annotated[int, bounds(minimum=1024, maximum=100_000_000)] | None = None
    max_output_tokens: Annotated[int, bounds(minimum=16, maximum=10_000_000)] | None = None
    headers: dict[Header, Annotated[str, bounds(maxLength=8000)]] | None = None
    params: dict[str, Any] | None = None
    effort: Effort | None = None
    trust: Tier | Literal[""] | None = None
    reset: bool = False

    def __repr__(self) -> str:
        return f"ConfigureModel({self.name!r}, {self.model!r})"  # a header's value stays out of every trace


class SetRole(msgspec.Struct, frozen=True, tag="role.set", forbid_unknown_fields=True):
    """Choose the models of a role; an empty chain gives it back to the session's own models, or the default."""

    role: Role
    chain: Annotated[tuple[ModelRef, ...], bounds(maxItems=20)]


class SetProviderKey(msgspec.Struct, frozen=True, tag="provider.set_key", forbid_unknown_fields=True):
    """Put a provider's key into the vault. It goes nowhere else; no answer, no event and no log has it."""

    name: str
    key: Annotated[Text, bounds(maxLength=10_000)]


class RemoveProvider(msgspec.Struct, frozen=True, tag="provider.remove", forbid_unknown_fields=True):
    """Forget a provider and its key."""

    name: str


class SetChain(msgspec.Struct, frozen=True, tag="chain.set", forbid_unknown_fields=True):
    """Choose the default model and its fallbacks."""

    chain: tuple[ModelRef, ...]


class SwitchModel(msgspec.Struct, frozen=True, tag="model.switch", forbid_unknown_fields=True):
    """Let other models serve a session or objective from its next request on.

    Args:
        session: whose.
        chain: the model, then its fallbacks; empty keeps those that it has.
        effort: how hard they are to think; None keeps what it is, "" leaves it to each model's own setting.
    """

    session: SessionId
    chain: Annotated[tuple[ModelRef, ...], bounds(maxItems=20)] = ()
    effort: Effort | None = None
