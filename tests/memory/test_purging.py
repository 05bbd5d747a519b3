"""What is forgotten leaves no byte in the indexes, and what stays is as the journal has it now."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from stead.domain import events as ev
from stead.domain.embedding import VectorBytes
from stead.domain.forgetting import Redaction
from stead.domain.ids import DEFAULT_WORKSPACE, CommandId
from stead.domain.memory import ProposalId, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.redacting import redacted
from stead.domain.sessions import PERSON
from stead.memory.books import MemoryBooks
from stead.memory.meaning import Meaning
from stead.memory.purging import MemoryPurges
from stead.storage.database import connect
from stead.storage.journal import JournalFile
from tests.memory.saying import Sayings, memory
from tests.memory.test_recall import Bag
from tests.storage.drafts import KEYS, finished, session

ADA = session(1)
WORD = "magnolia7741"
LABEL = Label(Integrity.TRUSTED, Confidentiality.PRIVATE)


def copies(folder: Path) -> list[str]:
    """The tables, by file, that have the word, in the clear of a holder of the key."""
    found = []
    for path in sorted(folder.glob("*.db")):
        connection = connect(path, KEYS.views)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                if any(WORD.encode() in (cell if isinstance(cell, bytes) else str(cell).encode()) for cell in row):
                    found.append(f"{path.name} {table}")
        connection.close()
    return found


async def test_nothing_is_left_of_a_memory_its_words_and_what_was_proposed_of_it(
    books: MemoryBooks, journal: JournalFile, sayings: Sayings, tmp_path: Path
) -> None:
    await sayings.open(ADA, "/ada/notes")
    said = await sayings.says(ADA, f"The code of the gate is {WORD}.")
    await sayings.says(ADA, "The gate is green.")
    ended = await sayings.tell(ADA, ev.TurnEnded(1, "done", f"Noted {WORD}."))
    held = memory(1, f"The gate's code is {WORD}.", aliases=(f"gate {WORD}",), key=f"gate.{WORD}")
    made = await sayings.note(ev.MemoryMade(held, "cli"))
    proposed = ev.MemoryProposed(ProposalId("p_1"), "forget", (held.id,), f"- {WORD}", "Its line went.", LABEL)
    asked = await sayings.note(proposed)
    books.catch_up()
    assert {name.split()[0] for name in copies(tmp_path / "memory")} == {
        "directory.db",
        "global.db",
        f"{workspace_place(DEFAULT_WORKSPACE, '/ada/notes')}.db",
    }
    seqs = (said, ended, made, asked)
    begun = ev.ForgettingBegun((held.id,), seqs, (), "cli")
    without = ev.MessageReceived(text="The code of the gate is [forgotten].", door="cli", label=PERSON)
    bodies: dict[int, ev.Body | None] = {**dict.fromkeys(seqs, None), said: without}
    redaction = Redaction(bodies, begun, sayings.now_ms, CommandId(""), journal.head())
    await journal.redact(redaction, lambda payload: WORD.encode() in payload)
    await MemoryPurges(books, None).purge((held.id,), seqs)
    assert copies(tmp_path / "memory") == []
    index = books.index(workspace_place(DEFAULT_WORKSPACE, "/ada/notes"))
    assert index is not None
    assert [turn.text for turn in index.episodes(ADA)] == [
        "The code of the gate is [forgotten].",
        "The gate is green.",
    ]


async def test_what_a_tool_gave_becomes_no_turn_and_a_reply_keeps_the_trust_of_its_day(
    books: MemoryBooks, journal: JournalFile, sayings: Sayings
) -> None:
    """As the indexes are when they are made anew."""
    stranger = Label(Integrity.UNTRUSTED)
    await sayings.open(ADA, "/ada/notes")
    early = await sayings.answers(ADA, f"I note {WORD}.")
    gave = await sayings.tell(ADA, msgspec.structs.replace(finished(WORD), label=stranger, source="web:shop.example"))
    late = await sayings.answers(ADA, f"They say {WORD}.")
    books.catch_up()
    await forget(journal, sayings, early, gave, late)
    await MemoryPurges(books, None).purge((), (early, gave, late))
    await MemoryPurges(books, None).purge((), (early, gave, late))  # as after a crash
    marked = [("I note [forgotten].", "trusted"), ("They say [forgotten].", "untrusted")]
    assert turns(books) == marked
    books.rebuild()
    assert turns(books) == marked


def turns(books: MemoryBooks) -> list[tuple[str, str]]:
    index = books.index(workspace_place(DEFAULT_WORKSPACE, "/ada/notes"))
    assert index is not None
    return [(turn.text, turn.label.integrity.value) for turn in index.episodes(ADA)]


async def forget(journal: JournalFile, sayings: Sayings, *seqs: int) -> None:
    """Take the word out of these events."""
    bodies = {
        event.seq: redacted(event.body, lambda text: text.replace(WORD, "[forgotten]"))
        for event in journal.events(session=ADA)
        if isinstance(event, ev.Event) and event.seq in seqs
    }
    begun = ev.ForgettingBegun((), seqs, (), "cli")
    redaction = Redaction(bodies, begun, sayings.now_ms, CommandId(""), journal.head())
    await journal.redact(redaction, lambda payload: WORD.encode() in payload)


class Late(Bag):
    """Gives its vectors when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        self.asked.set()
        await self.go.wait()
        return await super().embed(texts, held=held, deadline_s=deadline_s)


async def test_vectors_that_were_under_way_are_kept_for_nothing_else(
    books: MemoryBooks, journal: JournalFile, sayings: Sayings
) -> None:
    await sayings.open(ADA, "/ada/notes")
    said = await sayings.says(ADA, f"The code of the gate is {WORD}.")
    late = Late()
    meaning, index = Meaning(late, late), books.index(workspace_place(DEFAULT_WORKSPACE, "/ada/notes"))
    assert index is not None
    embedding = asyncio.create_task(meaning.embed_some(index))
    await late.asked.wait()
    await forget(journal, sayings, said)
    await MemoryPurges(books, meaning).purge((), (said,))
    late.go.set()
    await embedding
    assert [
        item for table in ("known", "said") for piece in index.vectors(late.model_id, table) for item in piece
    ] == []
    assert await meaning.nearest(index, "said", await meaning.vector(WORD), 9) == {}
    assert await meaning.embed_some(index) == 1
