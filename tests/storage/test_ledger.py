"""What the home spends in a day, and that nobody passes its cap."""

from __future__ import annotations

import asyncio
import re
from typing import get_args

import msgspec
import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.agents import Parent
from stead.domain.errors import BudgetRefused, Conflict
from stead.domain.ids import HOME, CallKey
from stead.domain.objectives import NO_CAP, PeriodCaps
from stead.domain.rows import UsageBy, UsagePer, UsageRow
from stead.domain.schedules import Scheduled
from stead.storage.journal import JournalFile, open_journal
from stead.storage.ledger import day_of
from tests.build import MODEL, START_MS, created, desk
from tests.storage.drafts import (
    DAY,
    DAY_MS,
    KEYS,
    caps,
    draft,
    failed,
    read,
    reading,
    replied,
    requested,
    session,
    spent,
    stream,
    unread,
)

ADA = session(1)


def _cap(place: int, tokens: int | ev.Unlimited, usd_micros: int | ev.Unlimited = "unlimited") -> ev.Draft:
    return draft(HOME, place, ev.CapSet(ev.Budget(tokens, usd_micros)))


async def _reserve(journal: JournalFile, number: int, tokens: int) -> bool:
    try:
        await journal.append([draft(session(number), 1, requested(tokens=tokens))])
    except BudgetRefused:
        return False
    return True


async def test_sixty_four_reservations_race_for_one_cap_and_never_pass_it(journal: JournalFile) -> None:
    await journal.append([_cap(1, 1000)])
    won = await asyncio.gather(*(_reserve(journal, number, 30) for number in range(64)))
    assert sum(won) == 33
    assert spent(journal, DAY) == ev.Spend(tokens=990)
    assert journal.head() == 1 + 33


async def test_two_daemons_race_for_one_cap_and_never_pass_it(journal: JournalFile, home: Home) -> None:
    await journal.append([_cap(1, 1000)])
    other = open_journal(home.journal, KEYS)
    won = await asyncio.gather(*(_reserve((journal, other)[number % 2], number, 30) for number in range(64)))
    assert sum(won) == 33
    assert spent(other, DAY) == ev.Spend(tokens=990)
    other.close()


@pytest.mark.parametrize(("tokens", "fits"), [(400, True), (401, False), (0, True)])
async def test_a_cap_may_be_reached_and_not_passed(journal: JournalFile, tokens: int, fits: bool) -> None:
    await journal.append([_cap(1, 1000), draft(ADA, 1, requested(tokens=600))])
    assert await _reserve(journal, 2, tokens) is fits


async def test_a_refusal_names_the_day_the_cap_and_the_way_out(journal: JournalFile) -> None:
    await journal.append([_cap(1, "unlimited", 1000)])
    with pytest.raises(BudgetRefused, match=rf"1,000 millionths of a dollar .* {DAY} .* raise the cap"):
        await journal.append([draft(ADA, 1, requested(usd_micros=1001))])
    assert journal.head() == 1
    assert spent(journal, DAY) == ev.Spend()


async def test_a_reply_gives_back_what_it_did_not_use(journal: JournalFile) -> None:
    await journal.append([_cap(1, 1000), draft(ADA, 1, requested(tokens=900))])
    assert not await _reserve(journal, 2, 500)
    await journal.append([draft(ADA, 2, replied(tokens=200))])
    assert spent(journal, DAY) == ev.Spend(tokens=200)
    assert await _reserve(journal, 2, 800)


async def test_a_request_that_was_surely_not_served_costs_nothing(journal: JournalFile) -> None:
    await journal.append([_cap(1, 1000), *stream(ADA, [requested(tokens=900), failed()])])
    assert spent(journal, DAY) == ev.Spend()


async def test_a_reservation_counts_within_its_own_transaction(journal: JournalFile) -> None:
    await journal.append([_cap(1, 1000)])
    with pytest.raises(BudgetRefused):
        await journal.append(stream(ADA, [requested(1, 600), requested(2, 600)]))
    assert spent(journal, DAY) == ev.Spend()
    await journal.append(stream(ADA, [requested(1, 600), replied(1, 300), requested(2, 600)]))
    assert spent(journal, DAY) == ev.Spend(tokens=900)


async def test_a_new_day_begins_at_midnight(journal: JournalFile) -> None:
    midnight = START_MS - START_MS % DAY_MS + DAY_MS
    await journal.append([_cap(1, 1000), draft(ADA, 1, requested(tokens=1000), ts_ms=midnight - 1)])
    with pytest.raises(BudgetRefused):
        await journal.append([draft(session(2), 1, requested(tokens=1), ts_ms=midnight - 1)])
    await journal.append([draft(session(2), 1, requested(tokens=1), ts_ms=midnight)])
    # What is settled after midnight is counted on the day of its reservation.
    await journal.append([draft(ADA, 2, replied(tokens=700), ts_ms=midnight + 5)])
    assert (spent(journal, DAY).tokens, spent(journal, day_of(midnight)).tokens) == (700, 1)


async def test_a_month_has_a_cap_of_its_own_which_a_new_day_does_not_begin_again(journal: JournalFile) -> None:
    month = ev.CapSet(NO_CAP, ev.Budget(1000, "unlimited"))
    await journal.append([draft(HOME, 1, month), draft(ADA, 1, requested(tokens=900))])
    tomorrow, next_month = START_MS + DAY_MS, START_MS + 31 * DAY_MS
    with pytest.raises(BudgetRefused, match=rf"monthly cap of 1,000 tokens .* in {DAY[:7]} .* the next month"):
        await journal.append([draft(session(2), 1, requested(tokens=101), ts_ms=tomorrow)])
    await journal.append([draft(session(2), 1, requested(tokens=100), ts_ms=tomorrow)])
    assert (spent(journal, DAY).tokens, spent(journal, DAY[:7]).tokens) == (900, 1000)
    await journal.append([draft(session(3), 1, requested(tokens=1000), ts_ms=next_month)])
    assert spent(journal, day_of(next_month)[:7]).tokens == 1000


async def test_the_cap_is_what_was_set_last(journal: JournalFile) -> None:
    assert caps(journal) == (NO_CAP, NO_CAP)
    assert await _reserve(journal, 1, 10**12)
    await journal.append([_cap(1, 5)])
    assert not await _reserve(journal, 2, 1)
    await journal.append([_cap(2, "unlimited")])
    assert await _reserve(journal, 3, 10**12)
    assert caps(journal) == (NO_CAP, NO_CAP)


async def test_a_request_number_is_reserved_once(journal: JournalFile) -> None:
    await journal.append([draft(ADA, 1, requested(1))])
    with pytest.raises(Conflict, match="reserved before"):
        await journal.append([draft(ADA, 2, requested(1))])


async def test_a_reading_is_reserved_settled_and_capped_as_a_request_is(journal: JournalFile) -> None:
    await journal.append([_cap(1, 1000), *stream(ADA, [requested(1, 100), replied(1, 100), reading(2, 600)])])
    assert spent(journal, DAY) == ev.Spend(tokens=700)
    with pytest.raises(BudgetRefused):
        await journal.append([draft(session(2), 1, reading(1, 301))])
    assert journal.head() == 4
    await journal.append([draft(ADA, 4, read(2, 50))])
    assert spent(journal, DAY) == ev.Spend(tokens=150)
    await journal.append(stream(ADA, [reading(3, 600), unread(3, 600), reading(4, 250), unread(4)], first=5))
    assert spent(journal, DAY) == ev.Spend(tokens=750)
    assert journal.usage("2000-01-01") == [
        UsageRow(DAY, "", "", 2, 2, 0, 0, 0, 0, True),
        UsageRow(DAY, MODEL.provider, MODEL.model, 2, 0, 130, 20, 10, 0, True, timed=2, duration_ms=2000),
    ]


async def test_a_reading_and_a_request_never_share_a_number(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [requested(1), replied(1), reading(2)]))
    for again in (requested(2), reading(2), reading(1)):
        with pytest.raises(Conflict, match="reserved before"):
            await journal.append([draft(ADA, 4, again)])


async def test_usage_adds_up_by_day_and_model_and_stays_when_a_session_is_forgotten(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [requested(1), replied(1, 60), requested(2), failed(2, 100), requested(3)]))
    await journal.append([draft(session(2), 1, requested(1)), draft(session(2), 2, replied(1, 40))])
    await journal.append(
        [draft(session(3), 1, requested(1), ts_ms=START_MS + DAY_MS), draft(session(3), 2, replied(1, 20))]
    )
    expected = [
        UsageRow(
            day_of(START_MS + DAY_MS), MODEL.provider, MODEL.model, 1, 0, 10, 10, 5, 0, True, timed=1, duration_ms=1000
        ),
        UsageRow(DAY, "", "", 1, 1, 0, 0, 0, 0, True),
        UsageRow(DAY, MODEL.provider, MODEL.model, 2, 0, 80, 20, 10, 0, True, timed=2, duration_ms=2000),
    ]
    assert journal.usage("2000-01-01") == expected
    assert journal.usage(day_of(START_MS + DAY_MS)) == expected[:1]
    whole = journal.usage("2000-01-01", by="session", per="all")
    assert sum(row.tokens_in for row in whole) == sum(row.tokens_in for row in expected)
    assert all(row.key for row in whole)
    await journal.append([draft(ADA, 6, ev.SessionDeleted())])
    await journal.erase(ADA)
    assert journal.usage("2000-01-01") == expected


async def test_usage_is_added_up_by_hour_and_month_and_by_whose_it_is_and_every_way_comes_to_the_same(
    journal: JournalFile,
) -> None:
    """A session of the page's, a schedule's run with a subagent and one of that, and a session of an unknown door."""
    run, child, grandchild = session(2), session(3), session(4)
    page = msgspec.structs.replace(desk(), door="web")
    scheduled = msgspec.structs.replace(created(), door="schedule:night", scheduled=Scheduled("night"))
    below = [
        msgspec.structs.replace(created(), parent=Parent(above, CallKey("call_1_0"), depth, root=run))
        for depth, above in enumerate((run, child), 1)
    ]
    for at, (id, body) in enumerate(((ADA, page), (run, scheduled), (child, below[0]), (grandchild, below[1]))):
        ts_ms = START_MS + at * 3_600_000
        await journal.append([draft(id, 1, body), draft(id, 2, requested(1), ts_ms=ts_ms), draft(id, 3, replied(1))])
    later = draft(session(5), 1, requested(1), ts_ms=START_MS + 40 * DAY_MS)
    await journal.append([later, draft(session(5), 2, replied(1))])

    def keys(by: UsageBy) -> dict[str, int]:
        rows = journal.usage("2000-01-01", by=by, per="all")
        return {row.key: row.requests for row in rows}

    assert keys("session") == dict.fromkeys([ADA, run, child, grandchild, session(5)], 1)
    assert keys("objective") == {ADA: 1, run: 3, session(5): 1}
    assert keys("schedule") == {"night": 3, "": 2}
    assert keys("door") == {"web": 1, "schedule:night": 3, "": 1}
    by_hour = [row.day for row in journal.usage("2000-01-01", per="hour")]
    assert len(by_hour) == 5 and all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:00", hour) for hour in by_hour)
    assert [row.day for row in journal.usage("2000-01-01", per="month")] == sorted(
        {day_of(START_MS)[:7], day_of(START_MS + 40 * DAY_MS)[:7]}, reverse=True
    )
    assert [row.requests for row in journal.usage("2000-01-01", DAY, per="all")] == [4]
    totals = {
        sum(row.tokens_in + row.tokens_out for row in journal.usage("2000-01-01", by=by, per=per))
        for by in get_args(UsageBy)
        for per in get_args(UsagePer)
    }
    assert len(totals) == 1 and totals != {0}
    await journal.append([draft(run, 4, ev.SessionDeleted())])
    await journal.erase(run)
    assert keys("objective")[run] == 3 and keys("schedule")["night"] == 3


async def test_the_chats_of_a_channel_have_a_cap_together_and_one_chat_a_further_one(journal: JournalFile) -> None:
    """With a subagent, and a channel whose name begins as the other's does."""
    doors = ("chat:phone/42", "chat:phone/7", "chat:phone-two/42", "web")
    for at, door in enumerate(doors, 2):
        await journal.append([draft(session(at), 1, msgspec.structs.replace(desk(), door=door))])
    below = msgspec.structs.replace(created(), parent=Parent(session(2), CallKey("call_1_0"), 1, root=session(2)))
    await journal.append([draft(session(6), 1, below)])
    tokens = [ev.Budget(figure, "unlimited") for figure in (1000, 300)]
    channels = {"phone": PeriodCaps(monthly=tokens[0]), "phone/42": PeriodCaps(daily=tokens[1])}
    await journal.append([draft(HOME, 1, ev.CapSet(NO_CAP, channels=channels))])

    async def fits(number: int, place: int, tokens: int, ts_ms: int = START_MS) -> bool:
        try:
            await journal.append([draft(session(number), place, requested(place, tokens=tokens), ts_ms=ts_ms)])
        except BudgetRefused:
            return False
        return True

    assert [await fits(2, 2, 200), await fits(6, 2, 101), await fits(6, 2, 100)] == [True, False, True]
    assert [await fits(3, 2, 701), await fits(3, 2, 700), await fits(3, 3, 1)] == [False, True, False]
    assert await fits(4, 2, 10**6) and await fits(5, 2, 10**6)
    with pytest.raises(BudgetRefused, match=r"the channel phone's monthly cap .* next month: 2027-02-01"):
        await journal.append([draft(session(2), 3, requested(3, tokens=1), ts_ms=START_MS + DAY_MS)])
    used = [journal.spent(DAY, of).tokens for of in ("phone", "phone/42", "phone/7", "phone-two", "")]
    assert used == [1000, 300, 700, 10**6, 2 * 10**6 + 1000]
