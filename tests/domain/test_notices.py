"""When things are told, and what goes together."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stead.domain.errors import StorageFault
from stead.domain.notices import (
    LISTED,
    MOST_MESSAGES,
    TAGS,
    TITLE_CHARS,
    WINDOW_MS,
    Notice,
    Subject,
    due_ms,
    grouped,
    message_of,
    plain,
)
from stead.domain.notifications import NotificationTarget
from stead.storage.keys import derive_keys
from stead.storage.outbox import Outbox

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, *, fold: int = 0) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()) * 1000


def target(**given: object) -> NotificationTarget:
    return msgspec.convert(
        {"name": "t", "via": {"type": "desktop"}, "zone": "Europe/Berlin", **given}, NotificationTarget
    )


@pytest.mark.parametrize(
    ("hours", "now", "due"),
    [
        ("22:00-07:00", at("2026-05-04T21:59"), at("2026-05-04T21:59")),
        ("22:00-07:00", at("2026-05-04T22:00"), at("2026-05-05T07:00")),
        ("22:00-07:00", at("2026-05-05T06:59"), at("2026-05-05T07:00")),
        ("22:00-07:00", at("2026-05-05T07:00"), at("2026-05-05T07:00")),
        ("13:00-14:00", at("2026-05-05T12:00"), at("2026-05-05T12:00")),
        ("13:00-14:00", at("2026-05-05T13:30"), at("2026-05-05T14:00")),
        # The night on which an hour is skipped is an hour shorter, and the one on which it comes twice longer.
        ("22:00-07:00", at("2026-03-28T22:30"), at("2026-03-28T22:30") + 7 * 3_600_000 + 1_800_000),
        ("22:00-07:00", at("2026-10-24T22:30"), at("2026-10-24T22:30") + 9 * 3_600_000 + 1_800_000),
        ("22:00-02:30", at("2026-03-29T01:30"), at("2026-03-29T03:00")),  # it ends in the hour that is skipped
        ("22:00-02:30", at("2026-10-25T02:10"), at("2026-10-25T02:30")),
        ("22:00-02:30", at("2026-10-25T02:10", fold=1), at("2026-10-25T02:10", fold=1)),  # it had ended the first time
    ],
)
def test_quiet_hours_end_by_the_zones_own_clocks(hours: str, now: int, due: int) -> None:
    begins, _, ends = hours.partition("-")
    quiet = target(quiet_from=begins, quiet_to=ends)
    assert due_ms(quiet, "ended", now) == due
    assert due_ms(msgspec.structs.replace(quiet, urgent=True), "question", now) == now


def test_a_digest_comes_at_its_time_of_day_and_questions_only_before_it_where_that_was_chosen() -> None:
    daily = target(digest="18:00")
    assert due_ms(daily, "question", at("2026-05-04T18:00")) == at("2026-05-05T18:00")
    assert due_ms(daily, "failed", at("2026-05-04T17:59")) == at("2026-05-04T18:00")


def test_what_the_open_page_shows_is_sent_elsewhere_too() -> None:
    page = Path(__file__).parents[2] / "frontend/src/app/shell/useNotifications.ts"
    shown = set(re.findall(r'body\.type === "([a-z._]+)"', page.read_text("utf-8")))
    settled = {"approval.given", "approval.denied", "approval.lapsed"}
    assert shown - settled and shown - settled <= set(TAGS)


def notices(count: int) -> list[Notice]:
    return [Notice(seq, "s_1", "ended", "answered", 1000 + seq) for seq in range(1, count + 1)]


@given(count=st.integers(0, 60), made=st.lists(st.integers(0, 2 * WINDOW_MS), max_size=12), waited=st.booleans())
def test_a_storm_becomes_a_few_messages_and_loses_nothing(count: int, made: list[int], waited: bool) -> None:
    now = 2 * WINDOW_MS
    due = [(one, waited) for one in notices(count)]
    groups = grouped(due, made, now)
    lately = sum(one > now - WINDOW_MS for one in made)
    assert len(groups) + lately <= max(MOST_MESSAGES, lately)
    told = [one for group in groups for one in group]
    assert told == ([one for one, _ in due] if groups else [])
    if waited and groups:
        assert len(groups) == 1


def test_of_many_a_few_are_listed_and_the_rest_is_counted() -> None:
    told = [(one, Subject(f"title {one.seq}", "/objectives/s_1")) for one in notices(LISTED + 12)]
    message = message_of("msg_1", told, "http://x.localhost:1")
    assert message.title == "22 things happened" and len(message.lines) == LISTED
    assert message.lines[-1] == "13 more" and message.link == "http://x.localhost:1/"


@given(st.text())
def test_a_title_is_one_short_line_that_hides_nothing(text: str) -> None:
    line = plain(text)
    assert len(line) <= TITLE_CHARS and "\n" not in line and "\r" not in line
    assert all(char.isprintable() for char in line if ord(char) < 0x2000)


def test_the_outbox_begins_again_where_the_journal_is_that_of_an_older_backup_and_goes_on_otherwise(
    tmp_path: Path,
) -> None:
    path, keys = tmp_path / "outbox.db", derive_keys(bytes(32))
    box = Outbox(path, keys, 10)
    box.add([("t", one, 0, False) for one in notices(3)], 12)
    box.add([("t", one, 0, False) for one in notices(3)], 12)  # found again by a mistake, they are there once
    first = box.head("t", 5, lambda due, made: grouped(due, made, 5))
    assert first is not None and first.notices == tuple(notices(1)) and box.figures("t").waiting == 3
    box.close()
    again = Outbox(path, keys, 12)
    assert again.reached == 12 and again.head("t", 5, lambda due, made: []) == first
    again.close()
    older = Outbox(path, keys, 7)
    assert older.reached == 7 and older.figures("t").waiting == 0
    older.close()


@pytest.mark.parametrize("kept_bytes", [0, 16])
def test_an_outbox_that_is_damaged_is_left_as_it_is(tmp_path: Path, kept_bytes: int) -> None:
    path, keys = tmp_path / "outbox.db", derive_keys(bytes(32))
    Outbox(path, keys, 10).close()
    path.write_bytes(path.read_bytes()[:kept_bytes] + b"damaged" * 900)
    before = path.read_bytes()
    with pytest.raises(StorageFault, match="is damaged; keep a copy of it, and stop Stead, move the file away"):
        Outbox(path, keys, 20)
    assert path.read_bytes() == before


def test_an_outbox_knows_what_waits_and_what_was_sent_by_its_event(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "outbox.db", derive_keys(bytes(32)), 0)
    first, second, third = notices(3)
    box.add([("t", first, 0, True), ("t", second, 0, True)], 2)
    assert [box.knows("t", one) for one in (first, second, third)] == [True, True, False]
    sent = box.head("t", 5, lambda due, made: grouped(due, made, 5))
    assert sent is not None
    box.settle(sent, "sent", 6)
    assert box.figures("t").waiting == 0
    assert [box.knows("t", one) for one in (first, second, third)] == [True, True, False]
    assert not box.knows("other", first) and not box.knows("t", replace(first, ts_ms=first.ts_ms + 1))
    box.close()
