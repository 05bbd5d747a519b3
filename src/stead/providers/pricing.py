"""What a model costs and takes in, from the price list that ships with genai-prices; never from the network.

Layer: providers. The list is large and is loaded at first use, so ``models.py`` calls in here from a thread first.
Money is counted in millionths of a dollar and always rounded up.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from stead.domain.events import Spend
from stead.domain.messages import Usage
from stead.domain.providers import UNSET, ModelSettings
from stead.providers.presets import Preset

if TYPE_CHECKING:
    from genai_prices import types

_INPUT_UNITS = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")


class Rates(msgspec.Struct, frozen=True):
    """The most that a model can cost, in millionths of a dollar for a million tokens.

    Cache writes and the dearer tiers of long prompts count in, so a reservation at these rates is an upper bound.
    ``window_tokens`` is 0 where the list does not say, ``cached_micros`` the input's rate.
    """

    input_micros: int
    output_micros: int
    known: bool
    window_tokens: int
    cached_micros: int = 0


FREE = Rates(0, 0, True, 0)
UNKNOWN = Rates(0, 0, False, 0)


@lru_cache(maxsize=64)
def is_loopback(url: str) -> bool:
    """Whether a URL points at this machine."""
    host = (urlsplit(url).hostname or "").lower()
    return host == "localhost" or host.endswith(".localhost") or host == "::1" or host.startswith("127.")


def rates(preset: Preset, base_url: str, model: str, settings: ModelSettings = UNSET) -> Rates:
    """The highest rates of a model, as of today; what the person says of its price goes first."""
    if settings.input_price is not None and settings.output_price is not None:
        cached = settings.input_price if settings.cached_price is None else settings.cached_price
        return Rates(max(settings.input_price, cached), settings.output_price, True, 0, cached)
    if preset.local:
        return FREE
    listed = _find(preset.prices, base_url, model)
    if listed is None:
        return FREE if is_loopback(base_url) else UNKNOWN
    prices = listed.get_prices(datetime.now(UTC))
    window = listed.context_window or 0
    input_rate = max((_most(getattr(prices, unit), window) for unit in _INPUT_UNITS), default=Decimal(0))
    output_rate = _most(prices.output_mtok, window)
    cached_rate = _most(prices.cache_read_mtok, window) or input_rate
    return Rates(_micros(input_rate), _micros(output_rate), True, window, _micros(cached_rate))


def spend(
    preset: Preset, base_url: str, model: str, usage: Usage, written_for_1h: int, settings: ModelSettings = UNSET
) -> Spend:
    """What a reply cost.

    Args:
        preset: the vendor.
        base_url: where the request went.
        model: the model that was asked for.
        usage: what the provider counted.
        written_for_1h: of ``usage.cache_written``, the tokens that are kept for an hour; they cost more.
        settings: what the person says of the model; its price goes first.
    """
    if settings.input_price is not None and settings.output_price is not None:
        own = rates(preset, base_url, model, settings)
        whole = (usage.input - usage.cached) * settings.input_price
        micros = whole + usage.cached * own.cached_micros + usage.output * own.output_micros
        return Spend(tokens=usage.total, usd_micros=-(-micros // 1_000_000))
    if preset.local:
        return Spend(tokens=usage.total)
    listed = _find(preset.prices, base_url, model)
    if listed is None:
        return Spend(tokens=usage.total, price_known=is_loopback(base_url))
    from genai_prices import Usage as Priced

    counted = Priced(
        input_tokens=usage.input,
        cache_read_tokens=usage.cached,
        cache_write_tokens=usage.cache_written,
        cache_write_1h_tokens=min(written_for_1h, usage.cache_written),
        output_tokens=usage.output,
    )
    price = listed.get_prices(datetime.now(UTC)).calc_price(counted)["total_price"]
    return Spend(tokens=usage.total, usd_micros=_micros(price))


def preload() -> None:
    """Load the price list; takes a third of a second of CPU once."""
    from genai_prices.data_snapshot import get_snapshot

    get_snapshot()


@lru_cache(maxsize=256)
def _find(vendor: str, base_url: str, model: str) -> types.ModelInfo | None:
    """The list's entry: by vendor, else by address, else by the model's name alone."""
    from genai_prices.data_snapshot import get_snapshot

    tries = [(vendor, None)] if vendor else [(None, base_url), (None, None)]
    for provider_id, api_url in tries:
        try:
            return get_snapshot().find_provider_model(model, None, provider_id, api_url)[1]
        except LookupError:
            continue
    return None


def _most(price: Decimal | types.TieredPrices | None, window: int) -> Decimal:
    """The dearest tier that a prompt within the window can reach."""
    if price is None:
        return Decimal(0)
    if isinstance(price, Decimal):
        return price
    reachable = [tier.price for tier in price.tiers if not window or tier.start < window]
    return max([price.base, *reachable])


def _micros(dollars: Decimal) -> int:
    return int((dollars * 1_000_000).to_integral_value(ROUND_CEILING))
