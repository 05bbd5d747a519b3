"""The journal through its port: order, fences, claims, forgetting."""

from __future__ import annotations

import asyncio
import threading

import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.errors import BudgetRefused, Conflict, Fenced, StorageFault
from stead.domain.ids import HOME, CommandId, SessionId
from stead.storage.journal import CHUNK_ROWS, JournalFile, open_journal
from tests.build import START_MS, created
from tests.storage.drafts import KEYS, claim, draft, finished, requested, session, stream

ADA = session(1)
BOB = session(2)


def _seqs(journal: JournalFile, *, after: int = 0, of: SessionId | None = None) -> list[int]:
    return [event.seq for event in journal.events(after=after, session=of)]


async def test_events_come_back_as_they_were_written_in_order(journal: JournalFile) -> None:
    drafts = [*stream(ADA, [created("tidy"), finished("a")]), *stream(BOB, [created("sort")])]
    written = await journal.append(drafts)
    assert [event.seq for event in written] == [1, 2, 3]
    assert list(journal.events()) == list(written)
    assert [ev.Draft(*(getattr(event, name) for name in ev.Draft.__struct_fields__)) for event in written] == drafts
    assert journal.head() == 3


def test_an_empty_journal_has_no_head_and_no_events(journal: JournalFile) -> None:
    assert journal.head() == 0
    assert list(journal.events()) == list(journal.events(session=ADA)) == []
    assert journal.claimed(CommandId("never")) is None


async def test_it_is_the_same_journal_after_it_was_closed(home: Home) -> None:
    first = open_journal(home.journal, KEYS)
    await first.append(stream(ADA, [created()]))
    first.close()
    again = open_journal(home.journal, KEYS)
    await again.append([draft(ADA, 2, finished())])
    assert _seqs(again) == [1, 2]
    assert again.verify_chain().faults == ()
    again.close()


@pytest.mark.parametrize("place", [0, 1, 2, 4, -1])
async def test_only_the_next_place_of_a_stream_can_be_written(journal: JournalFile, place: int) -> None:
    await journal.append(stream(ADA, [created(), finished()]))
    with pytest.raises(Fenced, match="another runner"):
        await journal.append([draft(ADA, place, finished())])
    assert journal.head() == 2


async def test_all_drafts_are_written_or_none(journal: JournalFile) -> None:
    with pytest.raises(Fenced):
        await journal.append([*stream(ADA, [created(), finished()]), draft(BOB, 7, finished())], claim=claim("c", ADA))
    assert journal.head() == 0
    assert journal.claimed(CommandId("c")) is None


async def test_what_is_refused_takes_nothing_of_its_neighbours_with_it(journal: JournalFile) -> None:
    await journal.append([draft(HOME, 1, ev.CapSet(ev.Budget(150, "unlimited")))], claim=claim("taken", HOME))
    outcomes = await asyncio.gather(
        journal.append([draft(session(10), 1, requested(tokens=100))]),
        journal.append([draft(session(11), 5, finished())]),
        journal.append([draft(session(12), 1, finished()), draft(session(12), 2, requested(tokens=100))]),
        journal.append([draft(session(13), 1, finished())], claim=claim("taken", session(13))),
        journal.append([draft(session(14), 1, finished())]),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [tuple, Fenced, BudgetRefused, Conflict, tuple]
    assert [event.session for event in journal.events(after=1)] == [session(10), session(14)]
    assert journal.verify_chain().faults == ()


async def test_events_after_a_seq_of_one_stream_or_of_all(journal: JournalFile) -> None:
    for place in range(1, CHUNK_ROWS * 2 + 10):
        await journal.append([draft(ADA, place, finished()), draft(BOB, place, finished())])
    head = journal.head()
    assert _seqs(journal) == list(range(1, head + 1))
    assert _seqs(journal, after=head - 3) == [head - 2, head - 1, head]
    assert _seqs(journal, of=BOB) == list(range(2, head + 1, 2))
    for after in (0, 1, 2, 3, head - 4, head - 1, head, head + 5):
        assert _seqs(journal, after=after, of=ADA) == [seq for seq in range(1, head + 1, 2) if seq > after]


async def test_readers_in_other_threads_see_a_growing_prefix(journal: JournalFile) -> None:
    done = threading.Event()
    seen: list[list[int]] = []

    def read() -> None:
        while not done.is_set() or not seen:
            seen.append(_seqs(journal))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for place in range(1, 60):
        await journal.append([draft(ADA, place, finished()), draft(BOB, place, finished())])
    done.set()
    for reader in readers:
        await asyncio.to_thread(reader.join, 30)
    assert all(found == list(range(1, len(found) + 1)) and len(found) % 2 == 0 for found in seen)


async def test_an_iterator_ends_at_the_head_that_it_began_with(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [finished()] * 3))
    iterator = journal.events()
    first = next(iterator)
    await journal.append([draft(ADA, 4, finished())])
    assert [first.seq, *(event.seq for event in iterator)] == [1, 2, 3]


async def test_a_dropped_iterator_holds_nothing_back(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [finished()] * (CHUNK_ROWS + 1)))
    iterator = journal.events()
    next(iterator)
    await journal.append([draft(ADA, CHUNK_ROWS + 2, ev.SessionDeleted())])
    assert await journal.erase(ADA) == CHUNK_ROWS + 1  # it empties the log, which an open reader would forbid


async def test_a_claim_is_kept_with_the_seq_of_its_last_event(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [created(), finished()]), claim=claim("one", ADA, "made"))
    await journal.append([], claim=claim("two", ADA))
    one, two = journal.claimed(CommandId("one")), journal.claimed(CommandId("two"))
    assert one is not None
    assert two is not None
    assert (one.digest, one.answer.session, one.answer.seq, one.answer.text) == ("digest", ADA, 2, "made")
    assert two.answer.seq == 2
    with pytest.raises(Conflict, match="one"):
        await journal.append([draft(BOB, 1, finished())], claim=claim("one", BOB))
    assert journal.head() == 2


async def test_appends_from_two_event_loops_each_get_their_answer(journal: JournalFile) -> None:
    def write(id: SessionId) -> list[int]:
        async def all_of_it() -> list[int]:
            return [(await journal.append([draft(id, place, finished())]))[0].seq for place in range(1, 31)]

        return asyncio.run(all_of_it())

    one, two = await asyncio.gather(asyncio.to_thread(write, ADA), asyncio.to_thread(write, BOB))
    assert sorted(one + two) == list(range(1, 61))


async def test_giving_up_the_wait_does_not_undo_the_write(journal: JournalFile) -> None:
    append = asyncio.ensure_future(journal.append(stream(ADA, [created()])))
    await asyncio.sleep(0)  # lets it hand over its drafts
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    await journal.append([draft(BOB, 1, finished())])  # is written after it
    assert [event.session for event in journal.events()] == [ADA, BOB]


async def test_a_closed_journal_says_so(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    journal.close()
    with pytest.raises(StorageFault, match="closed"):
        await journal.append(stream(ADA, [created()]))
    with pytest.raises(StorageFault, match="closed"):
        journal.head()
    journal.close()


async def test_what_is_queued_when_it_closes_is_written(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    appends = [asyncio.ensure_future(journal.append([draft(session(n), 1, finished())])) for n in range(600)]
    await asyncio.sleep(0)
    await asyncio.to_thread(journal.close)
    assert sorted([(await append)[0].seq for append in appends]) == list(range(1, 601))


# -- forgetting -----------------------------------------------------------------------------------------------------


async def test_erased_events_keep_their_place_and_lose_their_content(journal: JournalFile) -> None:
    await journal.append([*stream(ADA, [created("a secret goal"), finished()]), *stream(BOB, [created("kept")])])
    await journal.append([draft(ADA, 3, ev.SessionDeleted())], claim=claim("delete", ADA, "a secret answer"))
    assert await journal.erase(ADA) == 2
    assert list(journal.events(session=ADA)) == [
        ev.Erased(1, ADA, 1, START_MS, "session.opened"),
        ev.Erased(2, ADA, 2, START_MS + 1000, "tool.finished"),
        ev.Event(4, ADA, 3, START_MS, "stead", CommandId(""), ev.SessionDeleted()),
    ]
    assert [type(event) for event in journal.events(session=BOB)] == [ev.Event]
    assert journal.verify_chain().faults == ()
    answered = journal.claimed(CommandId("delete"))
    assert answered is not None
    assert answered.answer.text == ""
    assert await journal.erase(ADA) == 0


async def test_an_erasure_that_a_crash_cut_off_is_finished_at_the_next_opening(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    await journal.append(stream(ADA, [created("a secret goal"), finished(), ev.SessionDeleted()]))
    journal.close()  # before erase was called
    again = open_journal(home.journal, KEYS)
    assert [type(event) for event in again.events()] == [ev.Erased, ev.Erased, ev.Event]
    assert await again.erase(ADA) == 0
    again.close()


async def test_nothing_is_erased_that_was_not_deleted(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [created()]))
    for id in (ADA, BOB, HOME):
        with pytest.raises(Conflict, match="no deletion"):
            await journal.erase(id)
    assert [type(event) for event in journal.events()] == [ev.Event]


# -- snapshots ------------------------------------------------------------------------------------------------------


async def test_the_newest_snapshot_is_loaded_and_goes_with_its_session(journal: JournalFile) -> None:
    await journal.append(stream(ADA, [created(), finished(), finished()]))
    assert journal.snapshots.load(ADA) is None
    await journal.snapshots.save(ADA, 2, b"two")
    await journal.snapshots.save(ADA, 3, b"three")
    assert journal.snapshots.load(ADA) == (3, b"three")
    await journal.append([draft(ADA, 4, ev.SessionDeleted())])
    await journal.erase(ADA)
    assert journal.snapshots.load(ADA) is None
