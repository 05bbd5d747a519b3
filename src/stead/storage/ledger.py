"""What the home has spent, by the person's day, and its caps; kept in one transaction with the events that say so.

Layer: storage. The rows follow from the journal. They stay when a session's payloads are erased, because what was
spent stays spent; they hold figures and names of models, no content. A request is of the day on which it was reserved,
in the zone of then: no later change of the zone moves it, so that nothing is lost and nothing counted twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from stead.domain.errors import BudgetRefused, Conflict
from stead.domain.events import (
    Budget,
    CapSet,
    Draft,
    ModelFailed,
    ModelRef,
    ModelReplied,
    ModelRequested,
    ReadingFailed,
    ReadingReplied,
    ReadingRequested,
    SessionOpened,
    Spend,
)
from stead.domain.messages import Usage
from stead.domain.objectives import NO_CAP
from stead.domain.rows import UsageBy, UsagePer, UsageRow
from stead.storage.database import IntegrityError

if TYPE_CHECKING:
    from sqlite3 import Connection

_CAPS = ("cap", "cap_month")
"""Where the caps of a day and of a month stand."""
_PERIODS = (("daily", "on", "day"), ("monthly", "in", "month"))
_INSERT = """
    INSERT INTO ledger (session, number, day, state, provider, model, tokens, usd_micros, price_known,
                        tokens_in, tokens_out, tokens_cached, duration_ms, hour)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_OR_SETTLE = """
    ON CONFLICT (session, number) DO UPDATE SET
        state = excluded.state, provider = excluded.provider, model = excluded.model, tokens = excluded.tokens,
        usd_micros = excluded.usd_micros, price_known = excluded.price_known, tokens_in = excluded.tokens_in,
        tokens_out = excluded.tokens_out, tokens_cached = excluded.tokens_cached, duration_ms = excluded.duration_ms
"""
_SPENT = """
    SELECT coalesce(sum(tokens), 0), coalesce(sum(usd_micros), 0), coalesce(min(price_known), 1)
    FROM ledger WHERE day BETWEEN ? AND ? AND state <> ?
"""
_USAGE = """
    SELECT max({time}), provider, model, count(*), sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), sum(tokens_in),
           sum(tokens_out), sum(tokens_cached), sum(usd_micros), min(price_known), {key} AS whose,
           sum(duration_ms > 0), sum(duration_ms)
    FROM ledger l LEFT JOIN openings o ON o.session = l.session
    WHERE day BETWEEN :since AND :until AND state <> 'reserved'
    GROUP BY {period}, whose, provider, model
    ORDER BY max({time}) DESC, whose, provider, model
"""
_TIMES: dict[UsagePer, str] = {
    "hour": "day || CASE hour WHEN '' THEN '' ELSE ' ' || hour || ':00' END",
    "day": "day",
    "month": "substr(day, 1, 7)",
    "all": "day",
}
_DOOR = "coalesce(o.door, '')"
_KEYS: dict[UsageBy, str] = {
    "model": "''",
    "session": "l.session",
    "objective": "coalesce(o.root, l.session)",
    "schedule": f"CASE WHEN {_DOOR} LIKE 'schedule:%' THEN substr({_DOOR}, 10) ELSE '' END",
    "door": _DOOR,
}
_OPENED = "INSERT INTO openings VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


def day_of(ts_ms: int) -> str:
    """The person's day (``YYYY-MM-DD``) of a time in milliseconds since 1970."""
    return datetime.fromtimestamp(ts_ms / 1000, UTC).astimezone().date().isoformat()


def _hour_of(ts_ms: int) -> str:
    """The hour of that day, "00" to "23"; one that comes twice when clocks are put back is one."""
    return f"{datetime.fromtimestamp(ts_ms / 1000, UTC).astimezone().hour:02}"


def record(connection: Connection, draft: Draft) -> None:
    """Let the ledger follow one event, inside the transaction that writes it.

    Raises:
        BudgetRefused: a reservation would pass the cap of the day or the month.
        Conflict: the request is in the ledger already.
    """
    match draft.body:
        case SessionOpened() as body:
            root = body.parent.root if body.parent else draft.session
            known = connection.execute("SELECT door FROM openings WHERE session = ?", (root,)).fetchone()
            connection.execute(_OPENED, (draft.session, root, known[0] if known else body.door))
        case ModelRequested() | ReadingRequested() as body:
            _reserve(connection, draft, body)
        case (ModelReplied(model=model, usage=used) | ReadingReplied(model=model, usage=used)) as reply:
            _settle(connection, draft, reply, model, used)
        case ModelFailed() | ReadingFailed() as failure:
            _settle(connection, draft, failure, ModelRef(provider="", model=""), Usage())
        case CapSet(daily=daily, monthly=monthly):
            for name, budget in zip(_CAPS, (daily, monthly), strict=True):
                connection.execute("DELETE FROM meta WHERE name = ?", (name,))
                connection.execute("INSERT INTO meta VALUES (?, ?)", (name, msgspec.json.encode(budget).decode()))
        case _:
            pass


def caps(connection: Connection) -> tuple[Budget, Budget]:
    """What the home may spend in a day, and in a month."""
    rows = dict(connection.execute("SELECT name, value FROM meta WHERE name IN (?, ?)", _CAPS).fetchall())
    day, month = (msgspec.json.decode(rows[name], type=Budget) if name in rows else NO_CAP for name in _CAPS)
    return day, month


def spent(connection: Connection, period: str, *, settled: bool = False) -> Spend:
    """What was spent on a day (``YYYY-MM-DD``) or in a month (``YYYY-MM``).

    Open reservations count, unless only what is ``settled`` is asked for.
    """
    but = "reserved" if settled else ""
    tokens, usd_micros, price_known = connection.execute(_SPENT, (period, f"{period}-31"[:10], but)).fetchone()
    return Spend(tokens, usd_micros, bool(price_known))


def usage(
    connection: Connection, since: str, until: str = "9", by: UsageBy = "model", per: UsagePer = "day"
) -> list[UsageRow]:
    """What each model used on the days from ``since`` to ``until``, both included, the newest first.

    Requests that no model answered stand in a row without provider and model. Open ones are not counted.
    """
    fields = UsageRow.__struct_fields__
    period = "''" if per == "all" else _TIMES[per]
    asked = _USAGE.format(time=_TIMES[per], key=_KEYS[by], period=period)
    return [
        msgspec.convert(dict(zip(fields, row, strict=True)), UsageRow, strict=False)
        for row in connection.execute(asked, {"since": since, "until": until})
    ]


def _reserve(connection: Connection, draft: Draft, body: ModelRequested | ReadingRequested) -> None:
    day = day_of(draft.ts_ms)
    for allowed, period, named in zip(caps(connection), (day, day[:7]), _PERIODS, strict=True):
        if allowed != NO_CAP:
            _require(allowed, spent(connection, period), body.reserved, named, period)
    spend = msgspec.structs.astuple(body.reserved)
    row = (draft.session, body.number, day, "reserved", "", "", *spend, 0, 0, 0, 0, _hour_of(draft.ts_ms))
    try:
        connection.execute(_INSERT, row)
    except IntegrityError as error:
        raise Conflict(
            f"request {body.number} of {draft.session!r} was reserved before; read the session again"
        ) from error


def _require(allowed: Budget, used: Spend, wanted: Spend, named: tuple[str, str, str], period: str) -> None:
    often, at, later = named
    for unit, most, so_far, more in (
        ("tokens", allowed.tokens, used.tokens, wanted.tokens),
        ("millionths of a dollar", allowed.usd_micros, used.usd_micros, wanted.usd_micros),
    ):
        if most == 0:
            raise BudgetRefused(f"the home's {often} cap is 0 {unit}, so that nothing may run; raise it: stead cap")
        if isinstance(most, int) and so_far + more > most:
            raise BudgetRefused(
                f"the home's {often} cap of {most:,} {unit} would be passed: {so_far:,} are spent or reserved {at} "
                f"{period} and this request reserves {more:,}; raise the cap, or go on the next {later}"
            )


def _settle(
    connection: Connection,
    draft: Draft,
    body: ModelReplied | ModelFailed | ReadingReplied | ReadingFailed,
    model: ModelRef,
    used: Usage,
) -> None:
    """Put what was spent in place of the reservation, on its day."""
    state, took_ms = ("failed", 0) if isinstance(body, ModelFailed | ReadingFailed) else ("replied", body.duration_ms)
    figures = (*msgspec.structs.astuple(body.spend), used.input, used.output, used.cached, took_ms)
    connection.execute(
        _INSERT + _OR_SETTLE,
        (
            *(draft.session, body.number, day_of(draft.ts_ms), state, model.provider, model.model),
            *(*figures, _hour_of(draft.ts_ms)),
        ),
    )
