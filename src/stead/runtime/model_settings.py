"""What the person says of models and of accounts, checked before it is recorded.

Layer: runtime. Values of headers go into the vault, or stay where they are; no event has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from stead.domain.commands import ConfigureModel
from stead.domain.errors import Conflict, InvalidRequest
from stead.domain.home_events import ProviderConfigured
from stead.domain.ports import Secrets
from stead.domain.providers import FIELDS_OF_OURS, HEADERS_OF_OURS, KEY_PLACE, ModelSettings, header_secret

MOST_PRICE = 10**10
MOST_PARAMS_BYTES = 16_384
MOST_HEADERS = 20
_FIGURES = ("input_price", "output_price", "cached_price", "window_tokens", "max_output_tokens")
_WINDOW = (1024, 100_000_000)
_OUTPUT = (16, 10_000_000)
_FROM_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")


async def changed_settings(command: ConfigureModel, before: ModelSettings, secrets: Secrets) -> ModelSettings:
    """The settings of a model after a change.

    Args:
        command: what is said.
        before: what was said until now.
        secrets: takes the values of headers.

    Raises:
        InvalidRequest: a figure, header or parameter that cannot be; then nothing was changed.
    """
    given = {name: value for name in (*_FIGURES, "effort", "trust") if (value := getattr(command, name)) is not None}
    params = {name: value for name, value in {**before.params, **(command.params or {})}.items() if value is not None}
    after = msgspec.structs.replace(before, **given, params=params)
    _check_figures(after)
    _check_params(params)
    wanted = command.headers or {}
    _check_headers(wanted, before.headers)
    headers = dict(before.headers)
    for name, value in wanted.items():
        headers.pop(name, None)
        if value:
            headers[name] = await _placed(header_secret(command.name, command.model, name), value, secrets)
    return msgspec.structs.replace(after, headers=headers)


def as_account(fact: ProviderConfigured, providers: Mapping[str, ProviderConfigured]) -> ProviderConfigured:
    """A provider as it is recorded: a further account is reached where its provider is, and may be sent the same.

    Raises:
        InvalidRequest: it is to be an account of what is no provider of its own.
        Conflict: it has further accounts itself.
    """
    if not fact.account_of:
        return fact
    lead = providers.get(fact.account_of)
    if lead is None or lead.account_of or fact.account_of == fact.name:
        raise InvalidRequest(f"{fact.account_of!r} is no provider that was added by itself; see `stead providers`")
    if lead.preset != fact.preset:
        raise InvalidRequest(f"an account of {fact.account_of!r} has its preset, which is {lead.preset!r}")
    require_no_account(fact.name, providers)
    return msgspec.structs.replace(fact, base_url=lead.base_url, model=lead.model, clearance=lead.clearance)


def require_no_account(name: str, providers: Mapping[str, ProviderConfigured]) -> None:
    """Refuse to change what further accounts stand on.

    Raises:
        Conflict: there are some; the text names them.
    """
    accounts = [one.name for one in providers.values() if one.account_of == name]
    if accounts:
        raise Conflict(f"{', '.join(accounts)} are further accounts of {name!r}; remove them first")


async def _placed(secret: str, value: str, secrets: Secrets) -> str:
    """Where the value of a header is; one that was given itself goes into the vault."""
    if named := _FROM_ENVIRONMENT.fullmatch(value):
        return f"env:{named[1]}"
    if value.startswith("keychain:"):
        return value
    await secrets.put(secret, value)
    return "vault"


def _check_figures(settings: ModelSettings) -> None:
    prices = (settings.input_price, settings.output_price, settings.cached_price)
    for price in prices:
        if price is not None and not 0 <= price <= MOST_PRICE:
            raise InvalidRequest("a price is 0 (free) to 10,000 dollars for a million tokens")
    if (settings.input_price is None) != (settings.output_price is None):
        raise InvalidRequest("give both prices, of tokens in and of tokens out; 0 is free")
    if settings.cached_price is not None and settings.input_price is None:
        raise InvalidRequest("a price of cached tokens needs the price of tokens in")
    for name, figure, (least, most) in (
        ("window", settings.window_tokens, _WINDOW),
        ("most output", settings.max_output_tokens, _OUTPUT),
    ):
        if figure and not least <= figure <= most:
            raise InvalidRequest(f"the {name} has {least:,} to {most:,} tokens")
    if settings.effort not in ("", "low", "medium", "high"):
        raise InvalidRequest("the effort is low, medium or high")


def _check_params(params: Mapping[str, object]) -> None:
    for name in params:
        if name.replace("_", "").lower() in FIELDS_OF_OURS:
            raise InvalidRequest(f"the parameter {name!r} is filled in by Stead and cannot be set")
    if len(msgspec.json.encode(params)) > MOST_PARAMS_BYTES:
        raise InvalidRequest(f"the parameters have more than {MOST_PARAMS_BYTES:,} bytes")


def _check_headers(given: Mapping[str, str], before: Mapping[str, str]) -> None:
    if len({**before, **given}) > MOST_HEADERS:
        raise InvalidRequest(f"a model has at most {MOST_HEADERS} headers of its own")
    for name, value in given.items():
        if not _HEADER.fullmatch(name):
            raise InvalidRequest(f"{name!r} is no header's name")
        if name.lower() in HEADERS_OF_OURS:
            raise InvalidRequest(f"the header {name!r} is filled in by Stead; a key is given with `providers set-key`")
        if value and not (value.isascii() and value.isprintable()):
            raise InvalidRequest(f"the value of {name!r} is not one line of ASCII")
        if value.startswith("keychain:") and not re.fullmatch(KEY_PLACE, value):
            raise InvalidRequest(f"the value of {name!r}: an entry is named as keychain:SERVICE/NAME")
