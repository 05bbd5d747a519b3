"""Words of single events are forgotten: nothing of them is left in the file, and whoever changes that is found out."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.folding import fold
from stead.domain.forgetting import Redaction
from stead.domain.ids import CommandId
from stead.domain.memory import MEMORY
from stead.domain.memory_events import ContentRedacted, ForgettingBegun
from stead.domain.messages import UserMessage
from stead.domain.policies import Label
from stead.storage.audit import open_audit
from stead.storage.codec import decode
from stead.storage.database import connect
from stead.storage.head_copy import HeadCopy
from stead.storage.journal import JournalFile, open_journal
from stead.storage.views import Views
from tests.build import START_MS, created
from tests.storage.drafts import KEYS, claim, draft, finished, session, stream
from tests.storage.raw import raw

if TYPE_CHECKING:
    from collections.abc import Mapping

ADA, BOB = session(1), session(2)
WORD = "quillfeather"


def said(text: str) -> ev.MessageReceived:
    return ev.MessageReceived(text, "cli", Label())


def redaction(events: Mapping[int, ev.Body | None], read: int) -> Redaction:
    begun = ForgettingBegun((), tuple(events), ("2:aa",), "cli")
    return Redaction(events, begun, START_MS, CommandId("forget-1"), read)


def touches(content: bytes) -> bool:
    return WORD.encode() in content.lower()


@pytest.fixture
async def full(journal: JournalFile) -> JournalFile:
    """Three events of Ada's, the second with the word, and one of Bob's."""
    await journal.append(stream(ADA, [created("a goal"), said(f"Write to {WORD}."), finished("done")]))
    await journal.append(stream(BOB, [created("another")]), claim=claim("c1", BOB, f"made for {WORD}"))
    await journal.snapshots.save(ADA, 2, f"a state with {WORD}".encode())
    return journal


async def forget(journal: JournalFile) -> tuple[ev.Event, ...]:
    return await journal.redact(redaction({2: said("Write to [forgotten].")}, journal.head()), touches)


async def test_readers_get_the_event_without_the_words_and_the_chain_is_whole(full: JournalFile) -> None:
    written = await forget(full)
    assert [(event.session, type(event.body)) for event in written] == [
        (ADA, ContentRedacted),
        (MEMORY, ForgettingBegun),
    ]
    events = list(full.events(session=ADA))
    assert [type(event) for event in events] == [ev.Event] * 4
    folded = fold(event for event in events if isinstance(event, ev.Event))
    assert folded is not None
    assert [said.text for said in folded.messages if isinstance(said, UserMessage)] == [
        "a goal",
        "Write to [forgotten].",
    ]
    assert full.verify_chain().faults == ()
    assert full.snapshots.load(ADA) is None
    claimed = full.claimed(CommandId("c1"))
    assert claimed is not None
    assert claimed.answer.text == ""


def _raw(home: Home) -> bytes:
    files = [file for file in sorted(home.data.glob("journal.db*")) if file.suffix != ".db-shm"]
    return b"".join(raw(file, KEYS.database) for file in files)


async def test_no_byte_is_left_in_the_pages_of_the_file_and_of_its_log(full: JournalFile, home: Home) -> None:
    assert WORD.encode() in _raw(home)
    await forget(full)
    assert WORD.encode() not in _raw(home)
    full.close()
    assert WORD.encode() not in _raw(home)


async def test_an_event_is_redacted_twice_and_the_last_time_counts(full: JournalFile) -> None:
    await forget(full)
    await full.redact(redaction({2: said("[forgotten]")}, full.head()), lambda content: b"Write" in content)
    second = next(event for event in full.events(session=ADA) if event.session_seq == 2)
    assert isinstance(second, ev.Event)
    assert second.body == said("[forgotten]")
    assert full.verify_chain().faults == ()


async def test_a_memorys_own_event_leaves_nothing_but_its_place(full: JournalFile) -> None:
    await full.redact(redaction({2: None}, full.head()), touches)
    second = list(full.events(session=ADA))[1]
    assert second == ev.Erased(2, ADA, 2, second.ts_ms, "message.received")
    assert full.verify_chain().faults == ()


async def test_words_that_came_while_they_were_looked_for_refuse_it_whole(full: JournalFile) -> None:
    read = full.head()
    await full.append([draft(BOB, 2, said(f"{WORD} again"))])
    with pytest.raises(Conflict, match="event 5"):
        await full.redact(redaction({2: said("-")}, read), touches)
    assert full.head() == 5
    assert b"Write" in msgspec.json.encode(list(full.events(session=ADA)))


@pytest.mark.parametrize("wrong", [{99: said("-")}, {2: finished("-")}], ids=["no such event", "another type"])
async def test_a_replacement_that_fits_no_event_is_refused_whole(full: JournalFile, wrong: dict[int, ev.Body]) -> None:
    with pytest.raises(NotFound):
        await full.redact(redaction({3: finished("-"), **wrong}, full.head()), touches)
    assert full.head() == 4
    assert full.verify_chain().faults == ()


async def test_deleting_the_session_takes_what_was_read_instead_along(full: JournalFile, home: Home) -> None:
    await forget(full)
    await full.append([draft(ADA, 5, ev.SessionDeleted())])
    await full.erase(ADA)
    assert full.verify_chain().faults == ()
    assert b"Write to [forgotten]" not in _raw(home)


async def test_the_read_models_follow_as_if_it_had_never_been_said(full: JournalFile, home: Home) -> None:
    path = home.views / "default.db"
    views = Views(path, KEYS, full)
    assert [row.session for row in views.search(WORD)] == [ADA]
    before = views.steps(ADA), views.objective(ADA)
    await forget(full)
    assert (views.search(WORD), [row.session for row in views.search("write to")]) == ([], [ADA])
    assert (views.steps(ADA), views.objective(ADA)) == before
    shown = [row.excerpt for row in views.search("forgotten")]
    views.rebuild()
    assert [row.excerpt for row in views.search("forgotten")] == shown
    views.close()


async def test_a_decision_stays_in_the_log_without_the_words(full: JournalFile) -> None:
    golden = (Path(__file__).parents[1] / "events" / "v1" / "call.judged.json").read_bytes()
    judged = decode("call.judged", 1, golden)
    assert isinstance(judged, ev.CallJudged)
    reason = msgspec.structs.replace(judged.reason, text=f"it writes to {WORD}")
    await full.append([draft(ADA, 4, msgspec.structs.replace(judged, reason=reason))])
    clean = msgspec.structs.replace(reason, text="it writes to [forgotten]")
    await full.redact(redaction({5: msgspec.structs.replace(judged, reason=clean)}, full.head()), touches)
    found, _ = full.decisions.page(session=None, verdict="", call="", before=0, limit=9)
    assert [(decision.seq, WORD in repr(decision)) for decision in found] == [(5, False)]
    assert "[forgotten]" in repr(found)
    assert full.decisions.decision(5) == found[0]
    assert full.decisions.page(session=ADA, verdict="", call="", before=0, limit=9)[0] == found


TAMPERED = {
    "changed": "UPDATE replacements SET payload = replace(payload, 'Write', 'Wrote')",
    "of another version": "UPDATE replacements SET version = 2",
    "of another type": "UPDATE replacements SET version = 'one'",
    "gone": "DELETE FROM replacements",
    "the payload is back": "UPDATE events SET payload = 'x', salt = 'y' WHERE seq = 2",
    "of an event that nobody redacted": "INSERT INTO replacements SELECT 3, version, payload, salt FROM replacements",
    "an erasure that nobody recorded": "UPDATE events SET payload = NULL, salt = NULL WHERE seq = 3",
    "another salt": "UPDATE replacements SET salt = randomblob(16)",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED.keys())
async def test_whoever_changes_what_is_read_instead_is_found_out(full: JournalFile, home: Home, statement: str) -> None:
    await forget(full)
    await full.heads.sign(START_MS, HeadCopy(home.heads))
    with open_audit(home.journal, KEYS, home.heads) as audit:
        assert audit.verify().faults == ()
    connection = connect(home.journal, KEYS.database)
    connection.execute(statement)
    connection.close()
    assert full.verify_chain().faults
    with open_audit(home.journal, KEYS, home.heads) as audit:
        assert audit.verify().faults


async def test_a_log_that_a_crash_left_full_is_emptied_at_the_next_opening(full: JournalFile, home: Home) -> None:
    """The last reader holds the log; a copy of the files is what a crash leaves."""
    connection = connect(home.journal, KEYS.database)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM events").fetchone()
    work = asyncio.create_task(forget(full))
    while full.head() == 4:
        await asyncio.sleep(0)
    left = Home(home.root.with_name("left"))
    left.make()
    for file in home.data.glob("journal.db*"):
        shutil.copy(file, left.data)
    assert WORD.encode() in _raw(left)
    connection.close()
    await work
    open_journal(left.journal, KEYS).close()
    assert WORD.encode() not in _raw(left)
