"""What the home has spent, by the person's day, and its caps; kept in one transaction with the events that say so.

Layer: storage. The rows follow from the journal. They stay when a session's payloads are erased, because what was
spent stays spent; they hold figures and names of models, no content. A request is of the day on which it was reserved,
in the zone of then: no later change of the zone moves it, so that nothing is lost and nothing counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from stead.domain.channels import DOOR, ChatSet
from stead.domain.errors import BudgetRefused, Conflict
from stead.domain.events import (
    Budget,
    CapSet,
    Draft,
    Event,
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
from stead.domain.ids import HOME, SessionId
from stead.domain.messages import Usage
from stead.domain.notices import plain
from stead.domain.objectives import NO_CAP, PeriodCaps
from stead.domain.rows import UsageBy, UsagePer, UsageRow
from stead.storage.database import IntegrityError
from stead.storage.event_rows import read

if TYPE_CHECKING:
    from sqlite3 import Connection

_CAPS = ("cap", "cap_month")
"""Where the caps of a day and of a month stand."""
_CHANNEL_CAPS = "cap_channels"
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
    FROM ledger l WHERE day BETWEEN :since AND :until AND state <> :but
"""
_OF_CHANNEL = """ AND EXISTS (
    SELECT 1 FROM openings o WHERE o.session = l.session AND (o.door = :of OR substr(o.door, 1, :n) = :of || '/')
)"""
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
    "channel": f"CASE WHEN {_DOOR} LIKE '{DOOR}%' THEN substr({_DOOR}, 6, instr({_DOOR}, '/') - 6) ELSE '' END",
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
        case CapSet(daily=daily, monthly=monthly, channels=channels):
            for name, value in zip((*_CAPS, _CHANNEL_CAPS), (daily, monthly, channels), strict=True):
                connection.execute("DELETE FROM meta WHERE name = ?", (name,))
                connection.execute("INSERT INTO meta VALUES (?, ?)", (name, msgspec.json.encode(value).decode()))
        case _:
            pass


def caps(connection: Connection) -> tuple[Budget, Budget]:
    """What the home may spend in a day, and in a month."""
    rows = dict(connection.execute("SELECT name, value FROM meta WHERE name IN (?, ?)", _CAPS).fetchall())
    day, month = (msgspec.json.decode(rows[name], type=Budget) if name in rows else NO_CAP for name in _CAPS)
    return day, month


def spent(connection: Connection, period: str, channel: str = "", *, settled: bool = False) -> Spend:
    """What was spent on a day (``YYYY-MM-DD``) or in a month (``YYYY-MM``).

    Open reservations count, unless only what is ``settled`` is asked for. ``channel``: as of ``SetCap``.
    """
    asked: dict[str, str | int] = {"since": period, "until": f"{period}-31"[:10], "but": "reserved" if settled else ""}
    asked |= {"of": f"{DOOR}{channel}", "n": len(DOOR) + len(channel) + 1} if channel else {}
    found = connection.execute(_SPENT + (_OF_CHANNEL if channel else ""), asked).fetchone()
    tokens, usd_micros, price_known = found
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
    rows = [
        msgspec.convert(dict(zip(fields, row, strict=False)), UsageRow, strict=False)
        for row in connection.execute(asked, {"since": since, "until": until})
    ]
    titles = _titles(connection) if by == "door" else {}
    return [replace(row, title=titles.get(row.key, "")) for row in rows]


def _reserve(connection: Connection, draft: Draft, body: ModelRequested | ReadingRequested) -> None:
    day = day_of(draft.ts_ms)
    for channel, both in _caps_of(connection, draft.session):
        for allowed, period, named in zip((both.daily, both.monthly), (day, day[:7]), _PERIODS, strict=True):
            if allowed != NO_CAP:
                _require(connection, allowed, body.reserved, named, period, channel)
    spend = msgspec.structs.astuple(body.reserved)
    row = (draft.session, body.number, day, "reserved", "", "", *spend, 0, 0, 0, 0, _hour_of(draft.ts_ms))
    try:
        connection.execute(_INSERT, row)
    except IntegrityError as error:
        raise Conflict(
            f"request {body.number} of {draft.session!r} was reserved before; read the session again"
        ) from error


def _caps_of(connection: Connection, session: SessionId) -> Iterator[tuple[str, PeriodCaps]]:
    """The caps that a session is under: the home's, and those of the chat that it, or its root, was begun in."""
    yield "", PeriodCaps(*caps(connection))
    (text,) = connection.execute("SELECT value FROM meta WHERE name = ?", (_CHANNEL_CAPS,)).fetchone() or ("{}",)
    if channels := msgspec.json.decode(text, type=dict[str, PeriodCaps]):
        (door,) = connection.execute("SELECT door FROM openings WHERE session = ?", (session,)).fetchone() or ("",)
        chat = door.removeprefix(DOOR) if door.startswith(DOOR) else ""
        yield from ((one, channels[one]) for one in (chat.partition("/")[0], chat) if one in channels)


def _called(connection: Connection, channel: str) -> str:
    """What people call the home, a channel, or a chat."""
    if "/" not in channel:
        return f"channel {channel}" if channel else "home"
    return f"chat {_titles(connection).get(f'{DOOR}{channel}', channel)}"


def _titles(connection: Connection) -> dict[str, str]:
    """What chats were called when they were set last, those that are gone too, by their doors."""
    rows = read(connection, "e.session = ? AND e.tag = 'chat.set' ORDER BY e.session_seq", (HOME,))
    chats = [
        event.body.chat for row in rows if isinstance(event := row.event(), Event) and isinstance(event.body, ChatSet)
    ]
    return {chat.door: plain(chat.title) or chat.name for chat in chats}


def _require(
    connection: Connection, allowed: Budget, wanted: Spend, named: tuple[str, str, str], period: str, channel: str
) -> None:
    often, at, later = named
    used = spent(connection, period, channel)
    for unit, most, so_far, more in (
        ("tokens", allowed.tokens, used.tokens, wanted.tokens),
        ("millionths of a dollar", allowed.usd_micros, used.usd_micros, wanted.usd_micros),
    ):
        if most == 0:
            whose = _called(connection, channel)
            raise BudgetRefused(f"the {whose}'s {often} cap is 0 {unit}, so that nothing may run; raise it: stead cap")
        if isinstance(most, int) and so_far + more > most:
            whose = _called(connection, channel)
            raise BudgetRefused(
                f"the {whose}'s {often} cap of {most:,} {unit} would be passed: {so_far:,} are spent or reserved {at} "
                f"{period} and this request reserves {more:,}; raise the cap, or go on the next {later}: "
                f"{_after(period)}"
            )


def _after(period: str) -> date:
    """The first day after a day or a month."""
    if len(period) == len("2026-11-30"):
        return date.fromisoformat(period) + timedelta(1)
    return (date.fromisoformat(f"{period}-01") + timedelta(31)).replace(day=1)


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
