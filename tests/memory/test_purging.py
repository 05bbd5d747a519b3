"""What is forgotten leaves no byte in the indexes, and what stays is as the journal has it now."""

from __future__ import annotations

from pathlib import Path

from stead.domain import events as ev
from stead.domain.forgetting import Redaction
from stead.domain.ids import DEFAULT_WORKSPACE, CommandId
from stead.domain.memory import ProposalId, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON
from stead.memory.books import MemoryBooks
from stead.memory.purging import MemoryPurges
from stead.storage.database import connect
from stead.storage.journal import JournalFile
from tests.memory.saying import Sayings, memory
from tests.storage.drafts import KEYS, session

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
    redacted = ev.MessageReceived(text="The code of the gate is [forgotten].", door="cli", label=PERSON)
    bodies: dict[int, ev.Body | None] = {**dict.fromkeys(seqs, None), said: redacted}
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
