"""Days of the ledger are those of the person's zone, also where clocks change and where the person moves."""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.config import Settings, use_time_zone
from stead.domain import events as ev
from stead.domain.errors import BudgetRefused
from stead.domain.ids import HOME
from stead.runtime import loading
from stead.storage.journal import JournalFile, open_journal
from stead.storage.ledger import day_of
from stead.storage.views import Views
from tests.storage.drafts import KEYS, draft, replied, requested, session, spent

ZONES = (
    "Europe/Vienna",
    "America/New_York",
    "Australia/Lord_Howe",  # clocks change by half an hour
    "America/Santiago",  # they change at midnight, so that there is no 00:00
    "Asia/Kolkata",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "UTC",
)
HOUR_MS = 3_600_000
NEAR = [date(2026, 3, 8), date(2026, 3, 29), date(2026, 4, 5), date(2026, 9, 6), date(2026, 10, 25), date(2026, 11, 1)]
"""Days on which clocks change in one of the zones."""
moments = st.builds(
    lambda day, off_ms: int(datetime.combine(day, clock(12), UTC).timestamp() * 1000) + off_ms,
    st.sampled_from(NEAR),
    st.integers(-40 * HOUR_MS, 40 * HOUR_MS),
)


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """The process in a zone, as the daemon puts itself there."""
    before = os.environ["TZ"]
    use_time_zone(Settings(time_zone=name))
    try:
        yield
    finally:
        os.environ["TZ"] = before
        time.tzset()


@contextmanager
def _journal() -> Iterator[JournalFile]:
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "journal.db", KEYS)
        yield journal
        journal.close()


def _first_ms(day: date, zone: ZoneInfo) -> int:
    """The first moment that a zone's calendar gives to a day, by search and not by arithmetic."""
    low = int(datetime.combine(day, clock(), UTC).timestamp() * 1000) - 16 * HOUR_MS
    high = low + 32 * HOUR_MS
    while low < high:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle / 1000, zone).date() < day:
            low = middle + 1
        else:
            high = middle
    return low


@given(st.sampled_from(ZONES), moments)
def test_a_moment_is_of_the_day_between_whose_ends_it_lies(name: str, ts_ms: int) -> None:
    with in_zone(name):
        day = date.fromisoformat(day_of(ts_ms))
        memory = loading.day_of(ts_ms)
    zone = ZoneInfo(name)
    since_ms, until_ms = _first_ms(day, zone), _first_ms(day + timedelta(days=1), zone)
    assert since_ms <= ts_ms < until_ms
    assert (memory.name, memory.since_ms, memory.until_ms) == (day.isoformat(), since_ms, until_ms)


@pytest.mark.parametrize(
    ("name", "day", "hours"),
    [
        ("Europe/Vienna", "2026-03-29", 23),
        ("Europe/Vienna", "2026-10-25", 25),
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("America/Santiago", "2026-09-06", 23),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
    ],
)
async def test_a_cap_lasts_a_day_of_23_or_25_hours(journal: JournalFile, name: str, day: str, hours: float) -> None:
    first_ms = _first_ms(date.fromisoformat(day), ZoneInfo(name))
    last_ms = first_ms + int(hours * HOUR_MS) - 1
    with in_zone(name):
        await journal.append([draft(HOME, 1, ev.CapSet(ev.Budget(100, "unlimited")))])
        await journal.append([draft(session(1), 1, requested(tokens=100), ts_ms=first_ms)])
        with pytest.raises(BudgetRefused, match=f"reserved on {day} and"):
            await journal.append([draft(session(2), 1, requested(tokens=1), ts_ms=last_ms)])
        for outside_ms in (first_ms - 1, last_ms + 1):
            await journal.append([draft(session(outside_ms), 1, requested(tokens=100), ts_ms=outside_ms)])
    assert spent(journal, day).tokens == 100


@given(st.lists(st.tuples(st.sampled_from(ZONES), moments, st.integers(1, 900)), min_size=1, max_size=12))
async def test_a_change_of_the_zone_loses_nothing_and_counts_nothing_twice(
    requests: list[tuple[str, int, int]],
) -> None:
    """Each request in a zone of its own, and settled in another: it stays on the day that it was reserved on."""
    expected: dict[str, int] = defaultdict(int)
    with _journal() as journal:
        for number, (name, ts_ms, tokens) in enumerate(requests):
            with in_zone(name):
                await journal.append([draft(session(number), 1, requested(tokens=1000), ts_ms=ts_ms)])
            with in_zone(ZONES[number % len(ZONES)]):
                settled = draft(session(number), 2, replied(tokens=tokens + 10), ts_ms=ts_ms + 30 * HOUR_MS)
                await journal.append([settled])
            expected[datetime.fromtimestamp(ts_ms / 1000, ZoneInfo(name)).date().isoformat()] += tokens + 10
        for name in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
            with in_zone(name):
                assert {day: spent(journal, day).tokens for day in expected} == expected
                rows = journal.usage("2000-01-01")
                assert sum(row.tokens_in + row.tokens_out for row in rows) == sum(expected.values())
                assert sum(row.requests for row in rows) == len(requests)


@pytest.mark.parametrize(
    ("today", "hour", "days"),
    [
        ("2026-10-26", 23.5, ["2026-10-26", "2026-10-25", "2026-10-24"]),  # 48 hours before it is 2026-10-25, 00:30
        ("2026-03-30", 0.5, ["2026-03-30", "2026-03-29"]),  # 24 hours before it is 2026-03-28, 23:30
    ],
)
async def test_the_last_days_are_counted_on_the_calendar(
    journal: JournalFile, tmp_path: Path, today: str, hour: float, days: list[str]
) -> None:
    zone = ZoneInfo("Europe/Vienna")
    now_ms = _first_ms(date.fromisoformat(today), zone) + int(hour * HOUR_MS)
    views = Views(tmp_path / "views.db", KEYS, journal, now_ms=lambda: now_ms)
    with in_zone("Europe/Vienna"):
        for back in range(5):
            ts_ms = _first_ms(date.fromisoformat(today) - timedelta(days=back), zone)
            await journal.append([draft(session(back), 1, requested(), ts_ms=ts_ms)])
            await journal.append([draft(session(back), 2, replied(), ts_ms=ts_ms)])
        assert [row.day for row in views.usage(len(days))] == days
    views.close()
