"""When schedules are due: cron in zones against brute force, and what is settled of the times that came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.due_times import due_times, next_due, read_when, settle, settled, upcoming, words
from stead.domain.errors import InvalidRequest
from stead.domain.opening import OpenSession
from stead.domain.schedules import (
    MOST_RUNS,
    OVER,
    Cron,
    Every,
    Once,
    Schedule,
    ScheduleDue,
    ScheduleFact,
    ScheduleRemoved,
    ScheduleRunEnded,
    ScheduleRunStarted,
    ScheduleSet,
    ScheduleSkipped,
    ScheduleSwitched,
    Standing,
    fold_schedules,
)
from tests.domain.cron_oracle import EXPRESSIONS, ZONES, Oracle

YEARS = {"Pacific/Apia": 2011, "Asia/Tehran": 2022, "America/Sao_Paulo": 2018}
"""In which a zone's clocks changed, where they do not in 2026."""
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
NOW_MS = 1_796_000_400_000  # 2026-11-30T01:00:00Z, a Monday
JOB = OpenSession("/home/ada/notes", goal="Read the inbox")


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def changes(zone: str) -> list[datetime]:
    """The days on which a zone's clocks change in its year, in UTC."""
    there, start = ZoneInfo(zone), datetime.fromisoformat(f"{YEARS.get(zone, 2026)}-01-01")
    days = [start + timedelta(days=day) for day in range(370)]
    offsets = [day.replace(tzinfo=UTC).astimezone(there).utcoffset() for day in days]
    return [days[at] for at in range(369) if offsets[at] != offsets[at + 1]]


@pytest.mark.parametrize("zone", ZONES)
def test_cron_is_what_brute_force_over_every_minute_finds_around_each_change_of_the_clock(zone: str) -> None:
    for change in changes(zone)[:2] or [datetime.fromisoformat("2026-02-28")]:
        start = change - timedelta(hours=12)
        oracle, first_ms, end_ms = Oracle(zone, start, 2), ms(start.isoformat()), ms(start.isoformat()) + 2 * DAY_MS
        for expression in EXPRESSIONS:
            wanted = [at for at in oracle.times(expression) if at > first_ms]
            found = [*takewhile(lambda at: at < end_ms, due_times(Cron(expression, zone), first_ms))]  # noqa: B023
            assert found == wanted, (zone, expression)


def test_the_same_times_come_from_wherever_one_starts() -> None:
    for zone, expression in (("Europe/Berlin", "*/20 * * * *"), ("Australia/Lord_Howe", "15,45 1-2 * * *")):
        when = Cron(expression, zone)
        for day in changes(zone)[:2]:
            start_ms = ms((day - timedelta(hours=6)).isoformat())
            whole = [*islice(due_times(when, start_ms), 200)]
            for at, due_ms in enumerate(whole[:60]):
                assert next(due_times(when, due_ms)) == whole[at + 1]
                assert next(due_times(when, due_ms - 1)) == due_ms


@pytest.mark.parametrize(
    ("text", "zone", "said"),
    [
        ("0 0 30 2 *", "", "none that ever comes"),
        ("0 0 31 4,6 *", "", "none that ever comes"),
        ("61 * * * *", "", "bad minute"),
        ("0 7 * * 1-5 2026", "", "says no time"),
        ("tomorrow", "", "says no time"),
        ("every 10s", "", "says no time"),
        ("every 0m", "", "1 minute to 366 days"),
        ("every 9999d", "", "1 minute to 366 days"),
        ("2026-11-30 00:59", "", "is past"),
        ("2026-02-30 07:00", "", "no date and time"),
        ("0 7 * * *", "Europe/Atlantis", "no time zone"),
        ("0 7 * * *", "../../etc/passwd", "no time zone"),
        ("0 7 * * *", "America", "no time zone"),
    ],
)
def test_a_time_that_cannot_be_is_refused_in_words(text: str, zone: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        settled(read_when(text, zone), "UTC", NOW_MS)


@given(st.text(alphabet="0123456789*/-,#LWlwSUNMON \u00b2\u0661", max_size=30))
def test_no_text_of_a_cron_expression_is_more_than_refused(text: str) -> None:
    try:
        when = settled(Cron(text, "Europe/Berlin"), "UTC", NOW_MS)
    except InvalidRequest:
        return
    assert next(due_times(when, NOW_MS)) > NOW_MS


def test_what_was_set_says_its_times_and_its_zone() -> None:
    at_seven = settled(read_when("@daily"), "Europe/Berlin", NOW_MS)
    assert at_seven == Cron("0 0 * * *", "Europe/Berlin") and words(at_seven) == "every day at 00:00 (Europe/Berlin)"
    assert words(settled(read_when("every 36 hours"), "UTC", NOW_MS)) == "every 36h"
    assert words(settled(read_when("2026-12-01 07:00"), "UTC", NOW_MS)) == "2026-12-01 07:00 (UTC)"
    assert [*islice(due_times(Every(3600, NOW_MS), NOW_MS), 2)] == [NOW_MS + HOUR_MS, NOW_MS + 2 * HOUR_MS]
    assert [*due_times(Once("2026-03-29T02:30", "Europe/Berlin"), 0)] == [ms("2026-03-29T01:00")]


def standing(**given: object) -> Standing:
    schedule = Schedule(**{"name": "inbox", "when": Every(3600, NOW_MS), "job": JOB, **given})  # type: ignore[arg-type]
    return Standing(schedule, since_ms=NOW_MS)


def later(known: Standing, facts: tuple[ScheduleFact, ...], ts_ms: int) -> Standing:
    all_ = {known.schedule.name: known}
    for fact in facts:
        all_ = {**fold_schedules(all_, fact, ts_ms)}
    return all_[known.schedule.name]


def due(facts: tuple[ScheduleFact, ...]) -> list[int]:
    return [(fact.due_ms - NOW_MS) // HOUR_MS for fact in facts if isinstance(fact, ScheduleDue)]


def skipped(facts: tuple[ScheduleFact, ...]) -> list[tuple[int, int, int, str]]:
    return [
        ((fact.first_ms - NOW_MS) // HOUR_MS, (fact.last_ms - NOW_MS) // HOUR_MS, fact.times, fact.why)
        for fact in facts
        if isinstance(fact, ScheduleSkipped)
    ]


@pytest.mark.parametrize(
    ("missed", "runs", "skips"),
    [
        ("skip", [], [(1, 9, 9, "missed")]),
        ("once", [9], [(1, 8, 8, "missed")]),
        ("all", [6, 7, 8, 9], [(1, 5, 5, "missed")]),
    ],
)
def test_after_nine_hours_asleep_the_policy_says_what_runs(
    missed: str, runs: list[int], skips: list[tuple[int, int, int, str]]
) -> None:
    facts = settle(standing(missed=missed, most=4), NOW_MS + 9 * HOUR_MS + 20 * MINUTE_MS)
    assert (due(facts), skipped(facts)) == (runs, skips)


def test_a_time_that_has_just_come_is_the_one_run_for_all_that_were_missed() -> None:
    facts = settle(standing(), NOW_MS + 9 * HOUR_MS + 1000)
    assert (due(facts), skipped(facts)) == ([9], [(1, 8, 8, "missed")])


def test_while_a_run_goes_on_the_next_one_is_skipped_or_waits() -> None:
    for overlap, runs, skips in (("skip", [], [(2, 2, 1, "overlap")]), ("queue", [2], [])):
        one = standing(overlap=overlap)
        one = later(one, settle(one, NOW_MS + HOUR_MS), NOW_MS + HOUR_MS)
        facts = settle(one, NOW_MS + 2 * HOUR_MS)
        assert (due(facts), skipped(facts)) == (runs, skips)


def test_a_job_that_never_ends_fills_no_queue_without_end() -> None:
    one = standing(overlap="queue")
    for hour in range(1, 40):
        one = later(one, settle(one, NOW_MS + hour * HOUR_MS), NOW_MS + hour * HOUR_MS)
        if hour == 1:
            one = later(one, (ScheduleRunStarted("inbox", NOW_MS + HOUR_MS, "s_1"),), NOW_MS)  # type: ignore[arg-type]
    assert len(one.open_runs) == 11
    (spell,) = [run for run in one.runs if run.end == "skipped"]
    assert (spell.text, spell.times) == ("queue", 28), "what is skipped for one reason is told once"


def test_a_clock_that_goes_back_repeats_nothing_and_one_that_goes_ahead_loses_nothing() -> None:
    one = standing()
    ahead_ms = NOW_MS + 5 * HOUR_MS
    one = later(one, settle(one, ahead_ms), ahead_ms)
    assert settle(one, NOW_MS + HOUR_MS) == () == settle(one, ahead_ms)
    assert upcoming(one, NOW_MS, 1) == (NOW_MS + 6 * HOUR_MS,) and next_due(one) == NOW_MS + 6 * HOUR_MS


def test_an_edit_moves_no_due_time_unless_the_times_are_edited() -> None:
    one = later(standing(), (ScheduleSet(standing(overlap="queue").schedule, "cli"),), NOW_MS + 59 * MINUTE_MS)
    assert one.since_ms == NOW_MS and next_due(one) == NOW_MS + HOUR_MS
    other = standing(when=Every(7200, NOW_MS)).schedule
    one = later(one, (ScheduleSet(other, "cli"),), NOW_MS + 3 * HOUR_MS)
    assert next_due(one) == NOW_MS + 4 * HOUR_MS


def test_it_is_off_after_its_last_time_and_what_came_while_it_was_off_was_not_missed() -> None:
    one = standing(until_ms=NOW_MS + 2 * HOUR_MS + 1)
    facts = settle(one, NOW_MS + 2 * HOUR_MS)
    assert facts[-1] == ScheduleSwitched("inbox", on=False, door="stead", why=OVER)
    one = later(one, facts, NOW_MS + 2 * HOUR_MS)
    assert settle(one, NOW_MS + DAY_MS) == () == upcoming(one, NOW_MS) and next_due(one) is None
    once = standing(when=Once("2026-11-30T02:00", "UTC"))
    assert [type(fact).__name__ for fact in settle(once, NOW_MS + DAY_MS)] == ["ScheduleDue", "ScheduleSwitched"]
    on = ScheduleSwitched("inbox", on=True, door="cli")
    again = later(later(standing(), (replace_off(),), NOW_MS), (on,), NOW_MS + DAY_MS)
    assert settle(again, NOW_MS + DAY_MS) == () and next_due(again) == NOW_MS + DAY_MS + HOUR_MS


def replace_off() -> ScheduleSwitched:
    return ScheduleSwitched("inbox", on=False, door="cli")


def test_switching_it_off_drops_what_waits_and_leaves_what_runs() -> None:
    one = standing(missed="all")
    one = later(one, settle(one, NOW_MS + 3 * HOUR_MS), NOW_MS + 3 * HOUR_MS)
    first = one.runs[0].due_ms
    one = later(one, (ScheduleRunStarted("inbox", first, "s_1"), replace_off()), NOW_MS + 3 * HOUR_MS)  # type: ignore[arg-type]
    assert [(run.session, run.end) for run in one.runs] == [("s_1", ""), ("", "skipped"), ("", "skipped")]


def test_the_history_keeps_the_last_runs_and_every_open_one() -> None:
    one = standing()
    for hour in range(1, MOST_RUNS + 50):
        now_ms = NOW_MS + hour * HOUR_MS
        one = later(one, settle(one, now_ms), now_ms)
        one = later(one, (ScheduleRunEnded("inbox", now_ms, "verified"),), now_ms)
    assert len(one.runs) == MOST_RUNS and one.runs[-1].end == "verified"
    assert fold_schedules({"inbox": one}, ScheduleRemoved("inbox", "cli"), NOW_MS) == {}


@given(
    st.sampled_from(["skip", "once", "all"]),
    st.sampled_from(["skip", "queue"]),
    st.sampled_from(["*/30 * * * *", "30 2 * * *", "0 */6 * * *"]),
    st.lists(st.tuples(st.integers(-40, 200), st.sampled_from(["run", "end", "restart"])), max_size=30),
)
def test_whatever_the_clock_does_each_due_time_has_one_record(
    missed: str, overlap: str, expression: str, steps: list[tuple[int, str]]
) -> None:
    start_ms = ms("2026-10-24T12:00")  # the night before Berlin's clocks go back
    when = Cron(expression, "Europe/Berlin")
    one = Standing(Schedule("night", when, JOB, missed, 3, overlap), since_ms=start_ms)  # type: ignore[arg-type]
    now_ms = furthest_ms = start_ms
    covered: list[int] = []
    for step_minutes, what in steps:
        now_ms = max(start_ms, now_ms + step_minutes * MINUTE_MS)
        facts = settle(one, now_ms)
        one = later(one, facts, now_ms)
        furthest_ms = max(furthest_ms, now_ms)
        for fact in facts:
            if isinstance(fact, ScheduleDue):
                covered.append(fact.due_ms)
            elif isinstance(fact, ScheduleSkipped):
                inside = [*takewhile(lambda at: at <= fact.last_ms, due_times(when, fact.first_ms - 1))]  # noqa: B023
                assert len(inside) == fact.times
                covered += inside
        if what != "restart" and one.open_runs:
            run = one.open_runs[0]
            one = later(one, (ScheduleRunStarted("night", run.due_ms, "s_1"),), now_ms)  # type: ignore[arg-type]
            if what == "end":
                one = later(one, (ScheduleRunEnded("night", run.due_ms, "answered"),), now_ms)
    assert covered == [*takewhile(lambda at: at <= furthest_ms, due_times(when, start_ms))]
