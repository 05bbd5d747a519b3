"""Budgets as people give and read them.

Layer: cli. A figure that is not positive is refused before anything starts.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli import figures
from stead.cli.invocation import CommandError
from stead.client import Json

DEFAULT_BUDGET: Json = {"tokens": 400_000, "usd_micros": 5_000_000}
SESSION_BUDGET: Json = {"tokens": 20_000_000, "usd_micros": 5_000_000}
"""Both as in ``domain/commands.py``, which is not imported here for the time that takes; a test compares them."""


def add_budget_options(parser: ArgumentParser) -> None:
    """The two figures of a budget."""
    parser.add_argument("--budget-tokens", metavar="N", help='a hard stop, or "unlimited"')
    parser.add_argument("--budget-usd", metavar="X", help='a hard stop, or "unlimited"')


def budget_of(arguments: Namespace, default: Json = DEFAULT_BUDGET) -> Json:
    """The budget that was asked for; empty when none was.

    Raises:
        CommandError: a figure is not positive.
    """
    if arguments.budget_tokens is None and arguments.budget_usd is None:
        return {}
    tokens, usd = arguments.budget_tokens, arguments.budget_usd
    return {
        "tokens": default["tokens"] if tokens is None else parse_tokens(tokens, "--budget-tokens"),
        "usd_micros": default["usd_micros"] if usd is None else parse_usd(usd, "--budget-usd"),
    }


def parse_tokens(text: str, option: str) -> int | str:
    """A positive number of tokens, or "unlimited"."""
    if text == "unlimited":
        return text
    digits = text.replace(",", "").replace("_", "")
    if not digits.isascii() or not digits.isdecimal() or int(digits[:19]) == 0 or len(digits) > 18:
        raise CommandError(f"{option} {text!r} is not a positive number of tokens", f'{option} 100000, or "unlimited"')
    return int(digits)


def parse_usd(text: str, option: str) -> int | str:
    """A positive sum of dollars in millionths, or "unlimited"."""
    if text == "unlimited":
        return text
    try:
        usd_micros = round(float(text.removeprefix("$")) * 1_000_000)
    except (ValueError, OverflowError):
        usd_micros = 0
    if not 0 < usd_micros < 10**15:
        raise CommandError(f"{option} {text!r} is not a positive sum of dollars", f'{option} 2.50, or "unlimited"')
    return usd_micros


def cost_line(row: Json) -> str:
    """What an objective used, and of how much."""
    budget, known = row["budget"], row["price_known"]
    of_tokens, of_money = figures.tokens(budget["tokens"]), figures.money(budget["usd_micros"])
    end_ms = row["ended_ms"] or row["updated_ms"]
    parts = [
        figures.counted(row["iterations"], "model request"),
        f"{figures.tokens(row['tokens_used'])} of {of_tokens} tokens",
        f"{figures.money(row['usd_micros_used'], known=known)} of {of_money}",
        figures.duration(end_ms - row["created_ms"]),
    ]
    return ", ".join(parts)
