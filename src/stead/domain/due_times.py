"""When a schedule is due, and what is to be recorded for the times that have come.

Layer: domain. Pure but for the zone database, which is read when a zone is used first. Times are milliseconds since
1970 (UTC). ``cronsim`` does the calendar; changes of a zone's clocks are handled here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from itertools import dropwhile, islice, takewhile
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from stead.domain import schedules
from stead.domain.calendars import MOST_BEFORE_MIN, Calendar
from stead.domain.errors import InvalidRequest
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.triggers import Arrival, source_words

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

SHOWN = 5
LONGEST_CHARS = 200
_LEAST_S, _MOST_S = 60, 366 * 86_400
_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_EVERY = re.compile(r"every (\d{1,7}) ?(minutes?|min|m|hours?|h|days?|d|weeks?|w)", re.IGNORECASE)
_AT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_LONGEST_TWICE = timedelta(hours=3)
"""How much of a day can come twice."""
_DAYS = {
    "*": "day|tag|jour|dia",
    "1-5": "weekday|werktag|jour ouvrable|dia laborable",
    "1": "monday|montag|lundi|lunes",
    "2": "tuesday|dienstag|mardi|martes",
    "3": "wednesday|mittwoch|mercredi|miercoles",
    "4": "thursday|donnerstag|jeudi|jueves",
    "5": "friday|freitag|vendredi|viernes",
    "6": "saturday|samstag|samedi|sabado",
    "0": "sunday|sonntag|dimanche|domingo",
}
SPOKEN = (
    rf"(?:every|jeden?|chaque|cada) (?P<day>{'|'.join(_DAYS.values())})"
    r" (?:at|um|a|a las) (?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?: uhr)?"
)
"""A day and a time, in lower case and without accents; English, German, French and Spanish."""
_SPOKEN = lazy_pattern(SPOKEN)
_OF_CALENDAR = lazy_pattern(
    r"(?:(?P<count>\d{1,5}) ?(?P<unit>minutes?|min|m|hours?|h|days?|d) before )?events of (?P<file>.+?\.ics)"
    r"(?: matching (?P<matching>.+))?",
    re.IGNORECASE,
)
_WAYS = (
    "give a day and a time (every weekday at 7:30), five fields as of cron (0 7 * * 1-5), an interval (every 3h), a"
    " moment (2026-12-01 07:00), or a calendar (events of team.ics)"
)


def read_when(text: str, zone: str = "") -> schedules.When:
    """What a person or a model wrote: a day and a time, cron, ``every 3h``, a moment, or the events of a calendar.

    Raises:
        InvalidRequest: it is none of them; what it says may still be impossible, see ``settled``.
    """
    plain = " ".join(text.split())
    if every := _EVERY.fullmatch(plain):
        return schedules.Every(int(every[1]) * _UNITS[every[2][0].lower()])
    if moment := _AT.fullmatch(plain):
        return schedules.Once(f"{moment[1]}T{moment[2]}", zone)
    if spoken := _SPOKEN.fullmatch(plain_words(plain)):
        day = next(number for number, names in _DAYS.items() if spoken["day"] in names.split("|"))
        return schedules.Cron(f"{int(spoken['minute'])} {int(spoken['hour'])} * * {day}", zone)
    if events := _OF_CALENDAR.fullmatch(text.strip()):
        before_min = int(events["count"] or 0) * _UNITS[(events["unit"] or "m")[0].lower()] // 60
        return Calendar(events["file"], before_min, events["matching"] or "", zone)
    if plain.lower() in _NAMED or len(plain.split()) == 5:
        return schedules.Cron(plain, zone)
    raise InvalidRequest(f"{text[:80]!r} says no time; {_WAYS}")


def plain_words(text: str) -> str:
    """A text in lower case, without accents, with one space between words."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(character for character in folded if not unicodedata.combining(character)).split())


def words(when: schedules.When) -> str:
    """When it is, as people read it, and as ``read_when`` takes it but for the zone."""
    match when:
        case schedules.Cron(expression=expression, zone=zone):
            return f"{_spoken(expression)} ({zone})"
        case Calendar(file=file, before_min=before_min, matching=matching, zone=zone):
            before = f"{before_min} minutes before " if before_min else ""
            return f"{before}events of {file}{f' matching {matching}' if matching else ''} ({zone})"
        case schedules.Once(at=at, zone=zone):
            return f"{at.replace('T', ' ')} ({zone})"
        case schedules.Every(seconds=seconds):
            unit = next(name for name in "wdhm" if seconds % _UNITS[name] == 0 or name == "m")
            return f"every {seconds // _UNITS[unit]}{unit}"
        case Arrival(source=source):
            return f"when {source_words(source)}"
        case _:
            assert_never(when)


def _spoken(expression: str) -> str:
    """A cron expression in words where it is one time of a day; else as it is."""
    minute, hour, *date, day = expression.split()
    name = _DAYS.get(day, "").partition("|")[0]
    if name and date == ["*", "*"] and minute.isdecimal() and hour.isdecimal():
        return f"every {name.capitalize() if day.isdecimal() else name} at {int(hour):02}:{int(minute):02}"
    return expression


def settled(when: schedules.When, zone: str, now_ms: int) -> schedules.When:
    """The same with nothing left open, as it is kept.

    Args:
        when: as it was asked for.
        zone: the person's own.
        now_ms: what time it is.

    Raises:
        InvalidRequest: there is no such zone, no such expression, or no time to come; the text says which.
    """
    match when:
        case schedules.Every(seconds=seconds, from_ms=from_ms):
            if not _LEAST_S <= seconds <= _MOST_S:
                raise InvalidRequest("an interval is 1 minute to 366 days")
            if not 0 <= from_ms < 2**53:
                raise InvalidRequest("from_ms is no moment")
            return replace(when, from_ms=from_ms or now_ms)
        case schedules.Once():
            _zone(when.zone or zone)
            whole = replace(when, zone=when.zone or zone)
            if next(due_times(whole, now_ms), None) is None:
                raise InvalidRequest(f"{words(whole)} is past")
            return whole
        case schedules.Cron(expression=expression):
            expression = _NAMED.get(expression.strip().lower(), " ".join(expression.split()))
            if len(expression.split()) != 5 or len(expression) > LONGEST_CHARS or not expression.isascii():
                raise InvalidRequest(f"{expression[:80]!r} has not the five fields of cron, such as 0 7 * * 1-5")
            _zone(when.zone or zone)
            each = schedules.Cron(expression, when.zone or zone)
            if next(due_times(each, now_ms), None) is None:
                raise InvalidRequest(f"{expression!r} never comes: there is no such day; {_WAYS}")
            return each
        case Calendar(file=file, before_min=before_min, zone=named):
            if not file.lower().endswith(".ics") or not 0 <= before_min <= MOST_BEFORE_MIN:
                raise InvalidRequest(
                    "a calendar is a file that ends in .ics, and runs come up to 7 days before its events"
                )
            _zone(named or zone)
            return replace(when, zone=named or zone)
        case Arrival():
            return when  # looked at where the secrets and folders are known
        case _:
            assert_never(when)


def due_times(when: schedules.When, after_ms: int) -> Iterator[int]:
    """Every due time after a moment, in order, without end where there is none.

    Raises:
        InvalidRequest: of what ``settled`` would refuse.
    """
    match when:
        case schedules.Every(seconds=seconds, from_ms=from_ms):
            step = seconds * 1000
            due_ms = from_ms + max(1, (after_ms - from_ms) // step + 1) * step
            while True:
                yield due_ms
                due_ms += step
        case schedules.Once(at=at, zone=zone):
            if (due_ms := first_ms(_local(at), _zone(zone))) > after_ms:
                yield due_ms
        case schedules.Cron():
            yield from _of_cron(when, after_ms)
        case Calendar() | Arrival():  # only its file knows, see ``times_of``; nobody knows
            return
        case _:
            assert_never(when)


def _of_cron(when: schedules.Cron, after_ms: int) -> Iterator[int]:
    """What ``cronsim`` gives for clocks that never change, at the moments at which the zone's clocks show it.

    Its own rules for zones lose times where clocks change by less than an hour (Lord Howe, Chatham).
    """
    from cronsim import CronSim, CronSimError  # a home without schedules has no use for it

    zone = _zone(when.zone)
    start = datetime.fromtimestamp(after_ms // 1000, zone).replace(tzinfo=None, fold=0) - _LONGEST_TWICE
    fields = when.expression.split()
    try:
        clock = CronSim(when.expression, start)
        days = CronSim(" ".join(("0 0", *fields[2:])), datetime.combine(start, time()) - timedelta(seconds=1))
    except (CronSimError, ValueError) as error:
        said = f"{str(error).lower()}, or none that ever comes"
        raise InvalidRequest(f"{when.expression[:80]!r} cannot be: {said}; {_WAYS}") from error
    hours, minutes = sorted(clock.hours), sorted(clock.minutes)  # CronSim would try a day's minutes one by one
    whole = (day.replace(hour=hour, minute=minute) for day in days for hour in hours for minute in minutes)
    found = dropwhile(lambda local: local <= start, whole)
    follows = any(field.startswith("*") for field in fields[:2])
    for due_ms in _followed(found, zone) if follows else (first_ms(local, zone) for local in found):
        if due_ms > after_ms:
            yield due_ms
            after_ms = due_ms


def _followed(found: Iterator[datetime], zone: ZoneInfo) -> Iterator[int]:
    """As often as the clocks show them: twice, or not at all."""
    second: deque[int] = deque()
    for local in found:
        shown_ms = _shown_ms(local, zone)
        while second and shown_ms and second[0] < shown_ms[0]:
            yield second.popleft()
        yield from shown_ms[:1]
        second.extend(shown_ms[1:])
    yield from second


def first_ms(local: datetime, zone: ZoneInfo) -> int:
    """When a zone's clocks show a time first; where they skip it, right after that."""
    while not (shown_ms := _shown_ms(local, zone)):
        local += timedelta(minutes=1)
    return shown_ms[0]


def _shown_ms(local: datetime, zone: ZoneInfo) -> tuple[int, ...]:
    """Each moment at which a zone's clocks show a time: two where they go back, none where they skip it (PEP 495)."""
    first = int(local.replace(tzinfo=zone, fold=0).timestamp()) * 1000
    last = int(local.replace(tzinfo=zone, fold=1).timestamp()) * 1000
    if first == last:
        return (first,)
    return (first, last) if first < last else ()


def _local(at: str) -> datetime:
    try:
        return datetime.fromisoformat(at)
    except ValueError as error:
        raise InvalidRequest(f"{at[:40]!r} is no date and time, such as 2026-12-01T07:00") from error


def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError) as error:
        raise InvalidRequest(f"there is no time zone {name[:60]!r}; give one such as Europe/Berlin") from error


def times_of(standing: schedules.Standing, after_ms: int) -> Iterator[int]:
    """Every due time of a schedule after a moment, in order."""
    if isinstance(standing.schedule.when, Calendar):
        return (due_ms for due_ms, _ in standing.calendar.times if due_ms > after_ms)
    return due_times(standing.schedule.when, after_ms)


def upcoming(standing: schedules.Standing, now_ms: int, most: int = SHOWN, end_ms: int = 2**53) -> tuple[int, ...]:
    """The next times at which it runs, up to a moment and as far as is known; none where it is off."""
    if not standing.on:
        return ()
    last_ms = min(end_ms, standing.schedule.until_ms or end_ms)
    times = times_of(standing, max(standing.since_ms, now_ms, standing.snoozed_ms))
    return tuple(islice(takewhile(lambda due_ms: due_ms <= last_ms, times), most))


def next_due(standing: schedules.Standing) -> int | None:
    """The first time that is not settled, past or to come; None where nothing is due any more."""
    if not standing.on:
        return None
    due_ms = next(times_of(standing, standing.since_ms), None)
    until_ms = standing.schedule.until_ms
    return None if due_ms is None or (until_ms and due_ms > until_ms) else due_ms


DueFact = schedules.ScheduleDue | schedules.ScheduleSkipped | schedules.ScheduleSwitched


def settle(standing: schedules.Standing, now_ms: int) -> tuple[DueFact, ...]:
    """The facts to be recorded for every due time that has come and is not settled, by the schedule's policies.

    A moment that the clock shows twice makes nothing due twice.
    """
    if not standing.on:
        return ()
    schedule = standing.schedule
    limit_ms = min(now_ms, schedule.until_ms or now_ms)
    known = {run.due_ms for run in standing.runs if run.end != "skipped"}
    times = list(takewhile(lambda due_ms: due_ms <= limit_ms, times_of(standing, standing.since_ms)))
    last_ms = max([standing.since_ms, *times])
    times = [due_ms for due_ms in times if due_ms not in known]
    snoozed = [due_ms for due_ms in times if due_ms <= standing.snoozed_ms]
    times = times[len(snoozed) :]
    late = [due_ms for due_ms in times if now_ms - due_ms > schedules.ON_TIME_MS]
    on_time = times[len(late) :]
    made_up = _made_up(schedule, late, on_time)
    facts: list[DueFact] = [*_skips(schedule.name, snoozed, "snoozed")]
    facts += _skips(schedule.name, late[: len(late) - len(made_up)], "missed")
    waiting = len([run for run in standing.open_runs if not run.session])
    busy = bool(standing.open_runs)
    for due_ms in made_up + on_time:
        again = schedule.missed == "all" and due_ms in made_up
        if busy and schedule.overlap == "skip" and not again:
            facts += _skips(schedule.name, [due_ms], "overlap")
        elif waiting >= schedules.MOST_QUEUED and not again:
            facts += _skips(schedule.name, [due_ms], "queue")
        else:
            by: schedules.By = "missed" if due_ms in made_up else "clock"
            facts.append(schedules.ScheduleDue(schedule.name, due_ms, by, standing.calendar.text_at(due_ms)))
            busy, waiting = True, waiting + 1
    waits = isinstance(schedule.when, Calendar | Arrival)
    over = not waits and next_due(replace(standing, since_ms=last_ms)) is None
    if over or 0 < schedule.until_ms < now_ms:
        facts.append(schedules.ScheduleSwitched(schedule.name, on=False, door="stead", why=schedules.OVER))
    return tuple(facts)


def _made_up(schedule: schedules.Schedule, late: Sequence[int], on_time: Sequence[int]) -> list[int]:
    """Which of the times that were missed run all the same."""
    match schedule.missed:
        case "skip":
            return []
        case "once":
            return [] if on_time else list(late[-1:])
        case "all":
            return list(late[-schedule.most :])
        case _:
            assert_never(schedule.missed)


def _skips(name: str, times: Sequence[int], why: schedules.Skip) -> list[schedules.ScheduleSkipped]:
    return [schedules.ScheduleSkipped(name, times[0], times[-1], len(times), why)] if times else []
