"""Money and tokens: budgets as people give and read them, ``cap`` and ``usage``.

Layer: cli. A figure that is not positive is refused before anything starts.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli import figures
from stead.cli.finding import named_one
from stead.cli.forms import Argument, Listing, arg, command, number
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.templates import fill, lines
from stead.client import Json

DEFAULT_BUDGET: Json = {"tokens": 400_000, "usd_micros": 5_000_000}
SESSION_BUDGET: Json = {"tokens": 20_000_000, "usd_micros": 5_000_000}
"""Both as in ``domain/commands.py``, which is not imported here for the time that takes; a test compares them."""


UNLIMITED: Json = {"tokens": "unlimited", "usd_micros": "unlimited"}


def tokens_option(name: str, help: str, least: int = 1) -> Argument:
    """An option with a number of tokens, positive unless ``least`` is 0, or "unlimited"; None where it is not given."""

    def tokens(typed: str) -> int | str:
        digits = typed.replace(",", "").replace("_", "")
        if typed == "unlimited":
            return typed
        if not digits.isascii() or not digits.isdecimal() or int(digits[:19]) < least or len(digits) > 18:
            way = f'{name} 100000, or "unlimited"'
            raise CommandError(f"{name} {typed!r} is not a positive number of tokens", way)
        return int(digits)

    return arg(f"{name} N", help, type=tokens, default=None)


def usd_option(name: str, help: str, least: int = 1) -> Argument:
    """An option with a sum of dollars, in millionths, positive unless ``least`` is 0; else as ``tokens_option``."""

    def usd_micros(typed: str) -> int | str:
        if typed == "unlimited":
            return typed
        try:
            figure = round(float(typed.removeprefix("$")) * 1_000_000)
        except (ValueError, OverflowError):
            figure = -1
        if not least <= figure < 10**15:
            way = f'{name} 2.50, or "unlimited"'
            raise CommandError(f"{name} {typed!r} is not a positive sum of dollars", way)
        return figure

    return arg(f"{name} X", help, type=usd_micros, default=None)


_STOP = 'a hard stop, or "unlimited"'
BUDGET = (tokens_option("--budget-tokens", _STOP), usd_option("--budget-usd", _STOP))


def budget_of(arguments: Namespace, default: Json = DEFAULT_BUDGET) -> Json:
    """The budget that the options of ``BUDGET`` ask for, as a request has it; empty when none does."""
    given = {"tokens": arguments.budget_tokens, "usd_micros": arguments.budget_usd}
    given = {name: figure for name, figure in given.items() if figure is not None}
    return {"budget": default | given} if given else {}


def _seconds(typed: str) -> int:
    """A time of work as people write it, such as 90s, 30m or 8h, in seconds."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    number, unit = (typed[:-1], typed[-1:]) if typed[-1:] in units else (typed, "s")
    if not number.isascii() or not number.isdecimal() or len(number) > 9 or not int(number):
        raise CommandError(f"--wall {typed!r} is not a time of work", "--wall 30m, 8h or 2d")
    return int(number) * units[unit]


LIMITS = (
    number("--iterations N", 0, "model requests at most, of a session in each turn (50)", most=1000),
    arg("--wall TIME", "time of work at most, such as 30m or 8h (4h)", type=_seconds, default=0),
)


def limits_of(arguments: Namespace) -> Json:
    """The limits that the options of ``LIMITS`` ask for, as a request has them; empty when none does."""
    given = {"iterations": arguments.iterations, "wall_s": arguments.wall}
    given = {name: figure for name, figure in given.items() if figure}
    return {"limits": given} if given else {}


def cost_line(row: Json) -> str:
    """What an objective used, and of how much, and the time from its opening to its end, pauses included."""
    took = figures.duration((row["ended_ms"] or row["updated_ms"]) - row["created_ms"])
    used = "{iterations:#model request}, {tokens_used:number} of {budget.tokens:number} tokens"
    return fill(f"{used}, {{:cost}} of {{budget.usd_micros:money}}, {took} in all", row)


def forecast_line(forecast: Json) -> str:
    """What a run is likely to cost, and how often such forecasts held."""
    if not forecast["basis"]:
        return "no forecast of its cost: too few runs like it have ended"
    said = "{low:money} to {high:money}" if forecast["unit"] == "usd_micros" else "{low:number} to {high:number} tokens"
    held = "; {within} of the last {of} fell within their forecasts" if forecast["of"] else ""
    said = f"likely {said}, from {{runs:#run}} {{basis}}{held}"
    return fill(said, {**forecast, "basis": _SIMILAR[forecast["basis"]]})


_SIMILAR = {"schedule": "of this schedule", "folder": "in this folder with this model", "model": "with this model"}
_UNPRICED = "No price is known for {unpriced:400}: of these the limit of tokens alone counts what is used."


def _shares(typed: str) -> list[int]:
    """Percents as people write them; 0 is none at all."""
    words = typed.replace("%", "").split(",")
    if not all(word.strip().isdecimal() and len(word) < 4 for word in words):
        raise CommandError(f"--warn {typed!r} is no list of percents", "--warn 50,80,95")
    return [share for share in map(int, words) if share]


def warned_line(warned: Json) -> str:
    """How much of a cap is spent, as it was noticed."""
    figure = "money" if warned["unit"] == "usd_micros" else "number"
    tokens = "" if warned["unit"] == "usd_micros" else " tokens"
    said = f"{{share}} % of the cap of {{period}} was reached: {{spent:{figure}}} of {{most:{figure}}}{tokens}"
    return fill(said, warned)


def _channel(invocation: Invocation, typed: str, caps: Json) -> str:
    """What a cap calls the channel, or the chat as CHANNEL/CHAT, that a person named."""
    names: dict[str, str] = {row["channel"]: row["channel"] for row in caps["channels"]}
    for row in invocation.client.items("/channels"):
        name = row["channel"]["name"]
        chats = [one["chat"] for one in row["chats"]]
        names |= {name: name, **{f"{name}/{chat['name']}": f"{name}/{chat['id']}" for chat in chats}}
    return named_one(names, typed, f"there is no channel and no chat {typed!r}", "stead channel list")


def _cap_lines(whose: str, caps: Json) -> list[str]:
    """A line for the day and one for the month, of those that are capped."""
    return [
        fill(f"A {period}, {{}}: ", whose)
        + fill("at most {tokens:number} tokens, {usd_micros:money}; ", caps[cap])
        + fill("{tokens:number} tokens, {:cost} are spent or reserved.", caps[f"spent_{spent}"])
        for period, cap, spent in (("day", "daily", "today"), ("month", "monthly", "month"))
        if caps[cap] != UNLIMITED
    ]


def _cap(invocation: Invocation, arguments: Namespace) -> int:
    wanted = {"tokens": arguments.tokens, "usd_micros": arguments.usd}
    wanted = {name: figure for name, figure in wanted.items() if figure is not None}
    if arguments.none and wanted:
        raise CommandError("--none excludes --tokens and --usd", "stead cap --help")
    caps, which = invocation.client.get("/cap"), "monthly" if arguments.month else "daily"
    channel = _channel(invocation, arguments.channel, caps) if arguments.channel else ""
    if arguments.warn is not None:
        invocation.client.post("/cap", {"warn_at": arguments.warn})
    if arguments.none or wanted:
        older = next((one for one in caps["channels"] if one["channel"] == channel), {}) if channel else caps
        budget = UNLIMITED if arguments.none else older.get(which, UNLIMITED) | wanted
        invocation.client.post("/cap", {which: budget, "channel": channel})
    caps = invocation.client.get("/cap")
    said = _cap_lines("all together", caps)
    for one in caps["channels"]:
        chat = "/" in one["channel"] and one["name"]
        said += _cap_lines(f"the chat {one['name']}" if chat else one["channel"], one)
    said += [warned_line(one) for one in caps["warned"]]
    said += ["A cap is 0: nothing may run."] if 0 in {*caps["daily"].values(), *caps["monthly"].values()} else []
    none = "No cap; each objective still has its own budget. Set one: stead cap --usd 10"
    rows = invocation.client.items("/usage", days=30)
    unpriced = sorted({f"{row['provider']}/{row['model']}" for row in rows if not row["price_known"] and row["model"]})
    shown: Json = {**caps, "unpriced": unpriced}
    return invocation.report(shown, *(said or [none]), *lines(_UNPRICED if unpriced else "", shown))


def _usage(invocation: Invocation, arguments: Namespace) -> int:
    by = arguments.by
    arguments.per = arguments.per or ("day" if by == "model" else "all")
    arguments.days = arguments.days or (365 if arguments.per == "month" else 30)
    rows = _USAGE[by].rows(invocation.client, arguments)
    tiers = {(row["provider"], row["model"]): row["tier"] for row in invocation.client.items("/tiers")}
    rows = [{**row, "tier": tiers.get((row["provider"], row["model"]), "")} for row in rows]
    _USAGE[by].show(invocation, rows, arguments)
    if rows and not invocation.as_json:
        total: Json = {name: sum(row[name] for row in rows) for name in ("tokens_in", "tokens_out", "usd_micros")}
        total |= {"tokens": total["tokens_in"] + total["tokens_out"]}
        total["price_known"] = all(row["price_known"] for row in rows)
        invocation.out.line(fill("\n{tokens:number} tokens, {:cost} in all", total))
    return OK


def _cached(row: Json) -> Json:
    """With the share of the tokens in that came from the provider's cache, and what people call its key."""
    share = f"{100 * row['tokens_cached'] // row['tokens_in']}%" if row["tokens_in"] else ""
    return {**row, "share": share, "called": row["title"] or row["key"]}


_COLUMNS = (
    "TIME: {day} | MODEL: {provider}/{model} | TRUST: {tier} | >REQUESTS: {requests:number} | >FAILED: {failed:number}"
    " | >TOKENS IN: {tokens_in:number} | >OUT: {tokens_out:number} | >CACHED: {tokens_cached:number}[ ({share})]"
    " | >COST: {:cost}"
)
_BY = ("model", "session", "objective", "schedule", "channel", "door")
_USAGE = {
    by: Listing(
        "/usage",
        _COLUMNS if by == "model" else f"{by.upper()}: {{called|none}} | {_COLUMNS}",
        "Nothing was spent in that time.",
        query=("days", "by", "per", "since", "until"),
        view=_cached,
    )
    for by in _BY
}
_PER_DAY = 'a day, all objectives together, or "unlimited"'
COMMANDS = {
    "cap": command(
        _cap,
        tokens_option("--tokens", f"tokens {_PER_DAY}; 0: nothing may run", least=0),
        usd_option("--usd", f"dollars {_PER_DAY}; 0: nothing may run", least=0),
        arg("--warn SHARES", "percents of a cap that are noticed, as 50,80,95; 0 for none", type=_shares, default=None),
        arg("--month", "of a month of the calendar, not of a day"),
        arg("--none", "no cap"),
        arg("--channel NAME", "of what was begun in a channel's chats, or in one chat: CHANNEL/CHAT"),
    ),
    "usage": command(
        _usage,
        number("--days N", 0, "how far back (30; per month 365)", most=3660),
        arg("--by WHAT", "besides models; an objective is counted with its subagents", choices=_BY, default="model"),
        arg("--per TIME", "add up each (day; by something else all)", choices=("hour", "day", "month", "all")),
        arg("--since DAY", "from this day on, as 2026-11-01"),
        arg("--until DAY", "up to this day, which is included"),
    ),
}
