"""``cap`` and ``usage``: what may be spent, and what was.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.budgets import UNLIMITED, tokens_option, usd_option
from stead.cli.forms import Listing, arg, command, number
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.templates import fill
from stead.client import Json


def _cap(invocation: Invocation, arguments: Namespace) -> int:
    wanted = {"tokens": arguments.tokens, "usd_micros": arguments.usd}
    wanted = {name: figure for name, figure in wanted.items() if figure is not None}
    if arguments.none and wanted:
        raise CommandError("--none excludes --tokens and --usd", "stead cap --help")
    cap: Json = invocation.client.get("/cap").get("daily") or UNLIMITED
    if arguments.none or wanted:
        cap = UNLIMITED if arguments.none else cap | wanted
        invocation.client.post("/cap", {"daily": cap})
    said = "Per UTC day, all together: {tokens:number} tokens, {usd_micros:money}."
    if cap == UNLIMITED:
        said = "No daily cap; each objective still has its own budget. Set one: stead cap --usd 10"
    return invocation.report({"daily": cap}, fill(said, cap))


def _usage(invocation: Invocation, arguments: Namespace) -> int:
    rows = _USAGE.rows(invocation.client, arguments)
    _USAGE.show(invocation, rows, arguments)
    if rows and not invocation.as_json:
        total: Json = {name: sum(row[name] for row in rows) for name in ("tokens_in", "tokens_out", "usd_micros")}
        total |= {"tokens": total["tokens_in"] + total["tokens_out"]}
        total["price_known"] = all(row["price_known"] for row in rows)
        invocation.out.line(fill("\n{tokens:number} tokens, {:cost} in all", total))
    return OK


def _cached(row: Json) -> Json:
    """With the share of the tokens in that came from the provider's cache."""
    share = f"{100 * row['tokens_cached'] // row['tokens_in']}%" if row["tokens_in"] else ""
    return {**row, "share": share}


_USAGE = Listing(
    "/usage",
    "DAY (UTC): {day} | MODEL: {provider}/{model} | >REQUESTS: {requests:number} | >FAILED: {failed:number}"
    " | >TOKENS IN: {tokens_in:number} | >OUT: {tokens_out:number} | >CACHED: {tokens_cached:number}[ ({share})]"
    " | >COST: {:cost}",
    "Nothing was spent in that time.",
    query=("days",),
    view=_cached,
)
_PER_DAY = 'a UTC day, all objectives together, or "unlimited"'
COMMANDS = {
    "cap": command(
        _cap,
        tokens_option("--tokens", f"tokens {_PER_DAY}"),
        usd_option("--usd", f"dollars {_PER_DAY}"),
        arg("--none", "no cap"),
    ),
    "usage": command(_usage, number("--days N", 30, "how far back (30)")),
}
