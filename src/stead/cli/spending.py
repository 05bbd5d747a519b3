"""``cap`` and ``usage``: what may be spent, and what was.

Layer: cli.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli import figures
from stead.cli.budgets import parse_tokens, parse_usd
from stead.cli.invocation import OK, Command, CommandError, Invocation
from stead.client import Json

UNLIMITED: Json = {"tokens": "unlimited", "usd_micros": "unlimited"}


def _configure_cap(parser: ArgumentParser) -> None:
    parser.add_argument("--tokens", metavar="N", help='tokens a UTC day, all objectives together, or "unlimited"')
    parser.add_argument("--usd", metavar="X", help='dollars a UTC day, all objectives together, or "unlimited"')
    parser.add_argument("--none", action="store_true", help="no cap")


def _cap(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    asks_for_cap = arguments.tokens is not None or arguments.usd is not None
    if arguments.none and asks_for_cap:
        raise CommandError("--none excludes --tokens and --usd", "stead cap --help")
    cap: Json = client.get("/cap").get("daily") or UNLIMITED
    if arguments.none or asks_for_cap:
        cap = dict(UNLIMITED if arguments.none else cap)
        if arguments.tokens is not None:
            cap["tokens"] = parse_tokens(arguments.tokens, "--tokens")
        if arguments.usd is not None:
            cap["usd_micros"] = parse_usd(arguments.usd, "--usd")
        client.post("/cap", {"daily": cap})
    if out.as_json:
        out.json({"daily": cap})
    elif cap == UNLIMITED:
        out.line("No daily cap; each objective still has its own budget. Set one: stead cap --usd 10")
    else:
        out.line(
            f"Per UTC day, all together: {figures.tokens(cap['tokens'])} tokens, {figures.money(cap['usd_micros'])}."
        )
    return OK


def _configure_usage(parser: ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=30, metavar="N", help="how far back (30)")


def _usage(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.days < 1:
        raise CommandError(f"--days {arguments.days} is not positive", "stead usage --days 7")
    rows = list(invocation.client.items("/usage", days=arguments.days))
    cells = [
        [
            *(row["day"], f"{row['provider']}/{row['model']}", figures.tokens(row["requests"])),
            *(figures.tokens(row[name]) for name in ("failed", "tokens_in", "tokens_out")),
            _cached(row),
            figures.money(row["usd_micros"], known=row["price_known"]),
        ]
        for row in rows
    ]
    headings = ["DAY (UTC)", "MODEL", ">REQUESTS", ">FAILED", ">TOKENS IN", ">OUT", ">CACHED", ">COST"]
    invocation.out.rows(rows, headings, cells, "Nothing was spent in that time.")
    if cells and not invocation.as_json:
        total_tokens = sum(row["tokens_in"] + row["tokens_out"] for row in rows)
        known = all(row["price_known"] for row in rows)
        total = figures.money(sum(row["usd_micros"] for row in rows), known=known)
        invocation.out.line(f"\n{figures.tokens(total_tokens)} tokens, {total} in all")
    return OK


def _cached(row: Json) -> str:
    """How many of the tokens in came from the provider's cache, and which share of them that is."""
    share = f" ({100 * row['tokens_cached'] // row['tokens_in']}%)" if row["tokens_in"] else ""
    return figures.tokens(row["tokens_cached"]) + share


COMMANDS = {"cap": Command(_configure_cap, _cap), "usage": Command(_configure_usage, _usage)}
