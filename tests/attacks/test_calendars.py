"""Calendar files that would keep Stead busy, fill it up or lead it elsewhere. They come from whoever invites."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from stead.domain.calendars import Calendar, CalendarTimes
from stead.runtime import calendar_worker
from stead.runtime.calendars import CalendarReader
from tests.ics import calendar, event

NOW_MS = 1_796_000_000_000  # 2026-11-30T00:53:20Z
GOOD = event("good", "20261201T090000Z", "SUMMARY:Good")
BOMBS = {
    "every second": event("bad", "20100101T000000Z", "RRULE:FREQ=SECONDLY"),
    "every minute since 1970": event("bad", "19700101T000000Z", "RRULE:FREQ=MINUTELY"),
    "a rule that never comes": event("bad", "20260101T000000Z", "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"),
    "an interval of nothing": event("bad", "20260101T000000Z", "RRULE:FREQ=DAILY;INTERVAL=0"),
    "30 February": event("bad", "20270230T090000Z"),
    "no start": event("bad", "20261201T090000Z").replace("DTSTART", "X-START"),
    "a start that is a word": event("bad", "tomorrow"),
    "a negative duration": event("bad", "20261201T080000Z", "DURATION:-PT1H"),
    "an end before its start": event("bad", "20261201T080000Z", "DTEND:20261130T080000Z"),
    "a zone of nowhere": event("bad", ";TZID=Nowhere/Land:20261201T080000"),
    "a zone that is a path": event("bad", ";TZID=../../../etc/passwd:20261201T080000"),
    "a year that is none": event("bad", "99991231T235959Z", "RRULE:FREQ=YEARLY"),
    "a count of millions of dates": event("bad", "20261201T080000Z", f"RDATE:{','.join(['20261201T080000Z'] * 9)}x"),
}


async def read(folder: Path, text: str | bytes, name: str = "team.ics") -> CalendarTimes:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    found = await CalendarReader().read(Calendar(name, zone="UTC"), str(folder), NOW_MS, NOW_MS)
    assert found is not None
    return found


async def test_an_event_that_cannot_be_read_is_left_out_and_counted_and_the_others_hold(tmp_path: Path) -> None:
    bombs = "".join(bomb.replace("UID:bad", f"UID:bad-{at}") for at, bomb in enumerate(BOMBS.values()))
    found = await read(tmp_path, calendar(bombs, GOOD))
    said = [found.texts[at] for _, at in found.times]
    assert "Good" in said and found.problem.startswith("an event was left out: ")
    # One far year is no flaw: it is a date, and not within the days that are looked at.
    assert found.left_out == len(BOMBS) - 1 and said == ["Good"], found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\xff\xfe" * 1000,
        b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VTIMEZONE\r\n" * 30_000,
        b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\nEND:VEVENT\r\n" * 20_000 + b"END:VCALENDAR\r\n",
        b"BEGIN:VCALENDAR\r\nX-LONG:" + b"a" * 6_000_000 + b"\r\nEND:VCALENDAR\r\n",
        b"x" * 10_000_000,
    ],
    ids=["empty", "a word", "binary", "nested zones", "too many events", "one long line", "10 MB"],
)
async def test_what_is_no_calendar_or_too_much_of_one_is_refused_with_the_reason(tmp_path: Path, data: bytes) -> None:
    found = await read(tmp_path, data)
    assert found.sha256 == "" and "team.ics can't be read: " in found.problem and found.times == ()


async def test_a_zone_of_a_file_that_unfolds_without_end_costs_a_bounded_time(tmp_path: Path) -> None:
    rule = (
        "BEGIN:STANDARD\r\nDTSTART:19000101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0000\r\nRRULE:FREQ=SECONDLY\r\n"
    )
    zone = f"BEGIN:VTIMEZONE\r\nTZID:Odd\r\n{rule}END:STANDARD\r\nEND:VTIMEZONE\r\n"
    found = await read(tmp_path, calendar(zone, event("1", ";TZID=Odd:20261201T090000"), GOOD))
    assert found.problem or [found.texts[at] for _, at in found.times] == ["Good"], "it ended, whatever it says"


async def test_a_file_that_is_no_file_or_leads_out_of_the_folder_is_not_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside.ics"
    outside.write_text(calendar(GOOD))
    (folder := tmp_path / "folder").mkdir()
    (folder / "link.ics").symlink_to(outside)
    os.mkfifo(folder / "pipe.ics")
    (folder / "dir.ics").mkdir()
    (folder / "device.ics").symlink_to("/dev/zero")
    for name in ("../outside.ics", str(outside), "link.ics", "pipe.ics", "dir.ics", "device.ics", "\0.ics", "a" * 400):
        found = await CalendarReader().read(Calendar(name, zone="UTC"), str(folder), NOW_MS, NOW_MS)
        assert found is not None and found.sha256 == "" and found.problem, name


async def test_a_dense_calendar_gives_a_bounded_number_of_times_and_of_words(tmp_path: Path) -> None:
    many = "".join(
        event(str(at), f"202612{at % 28 + 1:02}T{at % 24:02}{at % 60:02}00Z", f"SUMMARY:{'s' * 2000}", "DESCRIPTION:x")
        for at in range(1500)
    )
    found = await read(tmp_path, calendar(many))
    assert len(found.times) == calendar_worker.MOST_TO_COME and max(map(len, found.texts)) <= 1000
    assert [due for due, _ in found.times] == sorted({due for due, _ in found.times})
    assert found.again_ms in [due for due, _ in found.times], "the rest is read when these run out"


def own_readers() -> list[bytes]:
    """The environments of the readers that this process has started and that run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"calendar_worker" in (process / "cmdline").read_bytes():
                found.append((process / "environ").read_bytes())
        except (OSError, IndexError):
            continue  # it has ended
    return found


async def test_the_reader_starts_with_nothing_of_the_daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "sk-test-secret")
    many = "".join(event(str(at), f"202612{at % 28 + 1:02}T100000Z", "RRULE:FREQ=DAILY") for at in range(4))
    reading = asyncio.create_task(read(tmp_path, calendar(many)))
    async with asyncio.timeout(60):
        while not (seen := own_readers()):
            await asyncio.sleep(0)
    assert all(set(one.rstrip(b"\0").split(b"\0")) <= {b"LANG=C.UTF-8", b""} for one in seen), seen
    assert (await reading).times


async def test_a_secret_of_the_vault_in_an_event_is_not_recorded(tmp_path: Path) -> None:
    reader = CalendarReader()
    reader.clean = lambda text: text.replace("violet-harbour-77", "[secret]")
    text = "SUMMARY:The word is violet-harbour-77"
    (tmp_path / "team.ics").write_text(calendar(event("a", "20261201T080000Z", text)))
    found = await reader.read(Calendar("team.ics", zone="UTC"), str(tmp_path), NOW_MS, NOW_MS)
    assert found and found.texts == ("The word is [secret]",)
