"""Reading Stead's own settings, and proposing changes of them.

Layer: tools. Knows the settings only as the ``Preferences`` port, which has no more of them than a model may set. What
decides about permission and secrets (rules, hosts, grants, providers and their keys) is a person's alone to set, at a
door.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Literal

import msgspec

from stead.domain.errors import CallerError
from stead.domain.ids import CommandId
from stead.domain.objectives import Budget, ModelRef, Unlimited
from stead.domain.permits import Permit
from stead.domain.policies import Integrity
from stead.domain.preferences import Preferences, PreferencesNow
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool

_MOST_MODELS = 10
_MICROS = 1_000_000


class ConfigArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments: all settings are shown."""


class ConfigSetArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One setting and its new value: "PROVIDER/MODEL, …", a number of tokens or of dollars, or "unlimited"."""

    setting: Literal["models", "daily_tokens", "daily_usd", "monthly_tokens", "monthly_usd"]
    value: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class ConfigTool(StructTool[ConfigArguments]):
    """``config``: the settings as they are.

    Args:
        preferences: of the home.
    """

    def __init__(self, preferences: Preferences) -> None:
        declaration = Declaration(ToolEffect.READ, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "Show Stead's settings: default models, caps, how long approvals wait."
        super().__init__("config", description, ConfigArguments, declaration, deferred=True)
        self._preferences = preferences

    async def work(self, permit: Permit, arguments: ConfigArguments, context: ToolContext) -> ToolOutcome:
        """Show."""
        return ToolOutcome("ok", _shown(self._preferences.now()))


class ConfigSetTool(StructTool[ConfigSetArguments]):
    """``config_set``: one setting changed, if the person confirms it.

    Args:
        preferences: of the home.
    """

    def __init__(self, preferences: Preferences) -> None:
        declaration = Declaration(
            ToolEffect.SEND,
            authority_args=("setting", "value"),
            output_trust=Integrity.TRUSTED,
            unplanned=True,
            local=True,
        )
        description = "Propose a change of a default setting to the person: models, or a cap."
        super().__init__("config_set", description, ConfigSetArguments, declaration, deferred=True)
        self._preferences = preferences

    async def work(self, permit: Permit, arguments: ConfigSetArguments, context: ToolContext) -> ToolOutcome:
        """Set it, as the person has just confirmed."""
        id = CommandId(f"{permit.session}.{permit.call}.{permit.nonce.hex()}")
        value = arguments.value.strip()
        try:
            if arguments.setting == "models":
                await self._preferences.set_chain(_chain(value), id)
            else:
                which, _, unit = arguments.setting.partition("_")
                now = self._preferences.now()
                cap = now.daily if which == "daily" else now.monthly
                figure: dict[str, int | Unlimited] = (
                    {"tokens": _figure(value, 1)} if unit == "tokens" else {"usd_micros": _figure(value, _MICROS)}
                )
                await self._preferences.set_cap(id, **{which: msgspec.structs.replace(cap, **figure)})
        except (ValueError, CallerError) as refused:
            return ToolOutcome("error", f"{arguments.setting} was not changed: {refused}")
        return ToolOutcome("ok", f"Done. {_shown(self._preferences.now())}")


def _chain(value: str) -> tuple[ModelRef, ...]:
    """The models that a list names.

    Raises:
        ValueError: it is none, or too long.
    """
    names = [name.strip() for name in value.split(",") if name.strip()]
    pairs = [name.partition("/") for name in names]
    if not 0 < len(pairs) <= _MOST_MODELS or not all(provider and model for provider, _, model in pairs):
        raise ValueError(f"give 1 to {_MOST_MODELS} models as PROVIDER/MODEL, the default first")
    return tuple(ModelRef(provider, model) for provider, _, model in pairs)


def _figure(value: str, unit: int) -> int | Unlimited:
    """So many units, as a whole number.

    Raises:
        ValueError: it is no number that can be.
    """
    if value == "unlimited":
        return "unlimited"
    try:
        number = Decimal(value.replace("_", "").lstrip("$"))
    except InvalidOperation:
        number = Decimal(-1)
    if not (number.is_finite() and 0 < number * unit <= 10**15 and number * unit == int(number * unit)):
        raise ValueError(f'{value!r} cannot be; give a number above 0, or "unlimited"')
    return int(number * unit)


def _shown(now: PreferencesNow) -> str:
    chain = ", ".join(f"{ref.provider}/{ref.model}" for ref in now.chain)
    found = "" if now.chosen else " (found by itself)"
    return "\n".join(
        (
            f"models: {chain}{found}",
            f"daily_tokens: {now.daily.tokens}",
            f"daily_usd: {_dollars(now.daily)}",
            f"monthly_tokens: {now.monthly.tokens}",
            f"monthly_usd: {_dollars(now.monthly)}",
            f"approval_ttl_s: {now.approval_ttl_s} (only in config.toml)",
        )
    )


def _dollars(cap: Budget) -> str:
    return "unlimited" if cap.usd_micros == "unlimited" else f"{Decimal(cap.usd_micros) / _MICROS:f}"
