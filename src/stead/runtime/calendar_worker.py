"""The reader of calendar files: an iCalendar file on its standard input; its due times, or its events, on the output.

Layer: runtime, a process of its own; ``python -m stead.runtime.calendar_worker``. A calendar comes from anybody who may
send an invitation, so it is read where a rule that never ends or a file that unfolds without end costs a bounded time
and amount of memory, and nothing else. An event that cannot be read is left out and counted; the others hold.
"""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from stead.domain.calendars import CalendarTimes
from stead.domain.due_times import first_ms

MOST_BYTES, MOST_EVENTS, MOST_PARTS = 5_000_000, 10_000, 40_000
MOST_TO_COME = 100
"""How many due times after now are given."""
_NEAR, _FAR = timedelta(days=45), timedelta(days=400)
"""How far is looked for them, back too for the first; further where there are fewer than wanted."""
_TEXT_CHARS = 1000
_EVENT_CPU_S, _CPU_S, _MEMORY_BYTES, _NICE = 0.25, 60, 1 << 30, 10
_MINUTE_MS = 60_000
_RESTAMPED = {"DTSTAMP", "LAST-MODIFIED", "CREATED", "SEQUENCE", "BEGIN", "END"}
"""What a server writes again though nothing of the event is another; and what is no property."""


T = TypeVar("T")
Component: TypeAlias = Any
"""Of ``icalendar``, which types each property as whatever any property may be."""


class Ask(msgspec.Struct, frozen=True):
    """What is wanted of a file, as the first line of the input.

    Args:
        after_ms, now_ms: due times are given from the one, and so many after the other.
        before_min, matching, zone: as of ``domain.calendars.Calendar``.
    """

    after_ms: int
    now_ms: int
    before_min: int
    matching: str
    zone: str


class Unreadable(Exception):
    """A file, or an event, that cannot be read; the text says why."""


def read(data: bytes, ask: Ask) -> CalendarTimes:
    """The due times of a file.

    Raises:
        Unreadable: it is no calendar, or too large for one.
    """
    found: dict[int, tuple[int, list[str]]] = {}
    left_out, problem = 0, ""
    for events in _series(data):
        dues, fault = _bounded_read(partial(_due, events, ask))
        if fault:
            left_out, problem = left_out + 1, problem or f"an event was left out: {fault}"[:300]
        for due_ms, text in dues:
            known = found.setdefault(due_ms // _MINUTE_MS, (due_ms, []))
            found[due_ms // _MINUTE_MS] = (min(known[0], due_ms), [*known[1], text])
    return _bounded(found, ask, left_out, problem)


def _bounded(found: Mapping[int, tuple[int, Sequence[str]]], ask: Ask, left_out: int, problem: str) -> CalendarTimes:
    known = sorted(found.values())
    past = sum(due_ms <= ask.now_ms for due_ms, _ in known)
    kept = known[: past + MOST_TO_COME]
    numbers: dict[str, int] = {}
    times = [
        (due_ms, numbers.setdefault("\n\n".join(filter(None, texts))[:_TEXT_CHARS], len(numbers)))
        for due_ms, texts in kept
    ]
    enough = kept[-MOST_TO_COME // 4][0] if len(kept) < len(known) else ask.now_ms + int(_NEAR.total_seconds()) * 1000
    return CalendarTimes("", tuple(times), tuple(numbers), enough, left_out, problem)


def events(data: bytes) -> dict[str, tuple[str, str]]:
    """Digests of a file's events, and what they say, by digests of their ids; those that cannot be read are left out.

    Raises:
        Unreadable: it is no calendar, or too large for one.
    """
    found: dict[str, tuple[str, str]] = {}
    for event in chain.from_iterable(_series(data)):
        read_, fault = _bounded_read(partial(_known, event))
        found |= dict(read_) or {
            _digest(repr(event)[:_TEXT_CHARS]): ("", f"an event that cannot be read: {fault}"[:300])
        }
    return found


def _known(event: Component) -> Iterator[tuple[str, tuple[str, str]]]:
    """An event by its id: a digest of what it says, and its words."""
    fields = [
        (name, value.to_ical(), repr(value.params)) for name, value in event.property_items() if name not in _RESTAMPED
    ]
    id = f"{event.get('UID', fields)} {event.get('RECURRENCE-ID') and event['RECURRENCE-ID'].to_ical()}"
    yield _digest(id), (_digest(repr(sorted(fields))), f"{event['DTSTART'].dt} {_text(event)}"[:_TEXT_CHARS])


def _bounded_read(work: Callable[[], Iterator[T]]) -> tuple[list[T], str]:
    """All that some work gives, or why it could not be done within its time."""
    try:
        with _CpuLimit():
            return list(work()), ""
    except Exception as error:  # noqa: BLE001 - a library may fail in any way over what a stranger wrote
        return [], str(error) or type(error).__name__


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _series(data: bytes) -> Iterator[Sequence[Component]]:
    """The events of a file, those of one series together."""
    from icalendar import Calendar

    if len(data) > MOST_BYTES:
        raise Unreadable(f"it has more than {MOST_BYTES // 1_000_000} MB")
    if data.count(b"BEGIN:VEVENT") > MOST_EVENTS or data.count(b"BEGIN:") > MOST_PARTS:
        raise Unreadable(f"it has more than {MOST_EVENTS} events")
    try:
        calendars = Calendar.from_ical(data, multiple=True)
    except Exception as error:  # the library parses what strangers wrote, and this process does nothing else
        raise Unreadable(f"it is no iCalendar file: {error}"[:300]) from error
    series: dict[object, list[Component]] = defaultdict(list)
    for number, event in enumerate(chain.from_iterable(calendar.walk("VEVENT") for calendar in calendars)):
        series[str(event.get("UID", number))].append(event)
    if not calendars:
        raise Unreadable("it is no iCalendar file")
    yield from series.values()


def _due(events: Sequence[Component], ask: Ask) -> Iterator[tuple[int, str]]:
    """The due times of one series, with what the event says of itself."""
    from icalendar import Calendar
    from recurring_ical_events import of  # type: ignore[import-untyped]

    for event in events:
        _require_sound(event)
    before = timedelta(minutes=ask.before_min)
    now = datetime.fromtimestamp(ask.now_ms / 1000, UTC)
    start = max(datetime.fromtimestamp(ask.after_ms / 1000, UTC), now - _NEAR) + before - timedelta(days=1)
    zone, to_come = ZoneInfo(ask.zone), 0
    alone = len(events) == 1 and not events[0].keys() & {"RRULE", "RDATE"}
    if alone and _start_ms(events[0]["DTSTART"].dt, zone) < start.timestamp() * 1000:
        return  # most of a file is past
    calendar = Calendar()
    for event in events:
        calendar.add_component(event)
    series = of(calendar)
    for first, last in ((start, start + _NEAR), (start + _NEAR, start + _FAR)):
        for event in series.between(first, last):
            if str(event.get("STATUS", "")).upper() == "CANCELLED" or not _matches(event, ask.matching):
                continue
            due_ms = _start_ms(event.start, zone) - ask.before_min * _MINUTE_MS
            if due_ms > ask.after_ms:
                to_come += due_ms > ask.now_ms
                yield due_ms, _text(event)
        if to_come >= MOST_TO_COME:
            return


def _require_sound(event: Component) -> None:
    start, end = event.get("DTSTART"), event.get("DTEND")
    if start is None:
        raise Unreadable("it has no start")
    if "TZID" in start.params and getattr(start.dt, "tzinfo", None) is None:
        raise Unreadable(f"there is no time zone {start.params['TZID']!s:.60}")
    if event.get("DURATION") is not None and event.get("DURATION").dt < timedelta():
        raise Unreadable("it ends before it starts")
    if end is not None and type(end.dt) is type(start.dt) and end.dt < start.dt:
        raise Unreadable("it ends before it starts")


def _start_ms(start: date, zone: ZoneInfo) -> int:
    """An all-day event starts with its day; it, and one without a zone, is by the clocks of ``zone``."""
    if not isinstance(start, datetime):
        start = datetime(start.year, start.month, start.day)  # noqa: DTZ001 - the zone is put on below
    if start.tzinfo is None:
        return first_ms(start, zone)
    return int(start.timestamp()) * 1000


def _matches(event: Component, matching: str) -> bool:
    wanted = matching.casefold()
    named = (str(category).casefold() for category in getattr(event, "categories", ()))
    return wanted in str(event.get("SUMMARY", "")).casefold() or wanted in named


def _text(event: Component) -> str:
    said = [" ".join(str(event.get(name, "")).split()) for name in ("SUMMARY", "LOCATION")]
    return "\n".join(filter(None, (*said, str(event.get("DESCRIPTION", "")).strip())))[:_TEXT_CHARS]


class _CpuLimit:
    """Ends what takes too long with a fault."""

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, _EVENT_CPU_S)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: object) -> None:
    raise Unreadable("it comes too often, or its rule takes too long")


def main() -> int:
    """Read one file; gives the exit code."""
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGPROF, _too_long)
    ask = msgspec.json.decode(sys.stdin.buffer.readline(), type=Ask | None)
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    found: CalendarTimes | dict[str, tuple[str, str]] | str
    try:
        found = read(data, ask) if ask else events(data)
    except Unreadable as fault:
        found = CalendarTimes(problem=str(fault)) if ask else str(fault)
    sys.stdout.buffer.write(msgspec.json.encode(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
