"""``providers set``: what a model costs, takes and is to be sent, given and shown.

Layer: cli.
"""

from __future__ import annotations

import json
from argparse import Namespace
from decimal import Decimal, InvalidOperation
from typing import Any

from stead.cli.forms import Argument, arg, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.templates import fill
from stead.cli.text_input import read_hidden
from stead.client import Json

MOST_USD = 10_000
EFFORTS = ("low", "medium", "high")
TIERS = ("strict", "normal", "trusted")


def _price(name: str, help: str) -> Argument:
    """An option with a price in dollars for a million tokens, in millionths; None where it is not given."""

    def usd_micros(typed: str) -> int:
        try:
            figure = Decimal(typed.removeprefix("$"))
        except InvalidOperation:
            figure = Decimal("NaN")
        if not figure.is_finite() or not 0 <= figure <= MOST_USD:
            raise CommandError(f"{name} {typed!r} is no price of 0 to {MOST_USD:,} dollars", f"{name} 2.50")
        return int(figure * 1_000_000)

    return arg(f"{name} X", help, type=usd_micros, default=None)


SETTINGS = (
    _price("--price-in", "dollars for a million tokens in; 0 is free"),
    _price("--price-out", "dollars for a million tokens out; 0 is free"),
    _price("--price-cached", "dollars for a million tokens in that the vendor's cache had (else as those in)"),
    number("--window N", 0, "its context window in tokens, in and out together", most=100_000_000),
    number("--max-output N", 0, "tokens of one reply at most", most=10_000_000),
    arg(
        "--header NAME=VALUE...",
        "sent with each request: ${VAR}, keychain:SERVICE/NAME, - to type it unseen, or the value",
    ),
    arg("--param NAME=JSON...", "put into the body of each request; =null takes it away"),
    arg("--effort EFFORT", "how hard it is to think", choices=(*EFFORTS, "none"), default=""),
    arg("--trust TIER", "how strictly it is led; measured: by its record", choices=(*TIERS, "measured"), default=""),
)
RESET = arg("--reset", "forget first what was said of it before")


def settings_fields(arguments: Namespace) -> Json:
    """The fields of a request that the options of ``SETTINGS`` fill in; empty where none is given."""
    figures = {
        "input_price": arguments.price_in,
        "output_price": arguments.price_out,
        "cached_price": arguments.price_cached,
        "window_tokens": arguments.window or None,
        "max_output_tokens": arguments.max_output or None,
        "effort": {"": None, "none": ""}.get(arguments.effort, arguments.effort),
        "trust": {"": None, "measured": ""}.get(arguments.trust, arguments.trust),
    }
    fields: Json = {name: value for name, value in figures.items() if value is not None}
    if arguments.header:
        pairs = [_pair(typed, "--header") for typed in arguments.header]
        fields["headers"] = {name: _unseen(name) if value == "-" else value for name, value in pairs}
    if arguments.param:
        given = (_pair(typed, "--param") for typed in arguments.param)
        fields["params"] = {name: _json(value) for name, value in given}
    return fields


def set_model(invocation: Invocation, arguments: Namespace) -> int:
    """Change what is said of a model, and show what holds then; with no option, only show it."""
    provider, _, model = arguments.of.partition("/")
    fields = settings_fields(arguments) | ({"reset": True} if arguments.reset else {})
    if fields:
        invocation.client.post(f"/providers/{provider}/models", {"model": model, **fields})
    rows = [row for row in invocation.client.items("/providers") if row["name"] == provider]
    if not rows:
        raise CommandError(f"there is no provider {provider!r}", "stead providers list")
    said: Json = next((row["settings"] for row in rows[0]["settings"] if row["model"] == model), {})
    return invocation.report({"provider": provider, "model": model, "settings": said}, *_shown(arguments.of, said))


def _shown(name: str, said: Json) -> list[str]:
    if not said:
        return [fill("Nothing is set for {name}; Stead uses what it knows of it.", {"name": name})]
    prices = [said.get(f"{part}_price") for part in ("input", "output")]
    values = {
        "name": name,
        "price": "free" if prices == [0, 0] else "",
        "input": prices[0],
        "output": prices[1],
        "cached": said.get("cached_price"),
        "window": said.get("window_tokens", 0),
        "most": said.get("max_output_tokens", 0),
        "headers": [f"{header} (from {place})" for header, place in said.get("headers", {}).items()],
        "params": json.dumps(said["params"]) if said.get("params") else "",
        "effort": said.get("effort", ""),
        "trust": said.get("trust", ""),
    }
    lines = ["{name}:"]
    if values["price"]:
        lines.append("  price: free")
    elif prices[0] is not None:
        lines.append("  price for a million tokens: {input:money} in, {output:money} out")
    if values["cached"] is not None:
        lines.append("  from the vendor's cache: {cached:money} in")
    lines += [line for name, line in _LINES if values[name]]
    return [fill(line, values) for line in lines]


_LINES = (
    ("window", "  window: {window:number} tokens"),
    ("most", "  reply: at most {most:number} tokens"),
    ("headers", "  headers: {headers}"),
    ("params", "  parameters: {params:400}"),
    ("effort", "  effort: {effort}"),
    ("trust", "  trust: {trust}"),
)


def _pair(typed: str, option: str) -> tuple[str, str]:
    name, separator, value = typed.partition("=")
    if not name or not separator:
        raise CommandError(f"{option} takes NAME=VALUE", f"{option} NAME=VALUE")  # the value is not repeated
    return name.strip(), value


def _unseen(name: str) -> str:
    """The value of a header from a hidden prompt or standard input, so that no list of processes shows it."""
    return read_hidden(f"value of {name}", "stead providers set", 8000).strip()


def _json(text: str) -> Any:
    """The value of a parameter: JSON, or else the text itself."""
    try:
        return json.loads(text, parse_constant=lambda _: text)
    except ValueError:
        return text
