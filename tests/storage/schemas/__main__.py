"""Record what today's schema looks like on disk: ``python -m tests.storage.schemas``.

Run once before a schema changes. The file it writes is kept for ever, and ``test_migrate.py`` upgrades every one.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import msgspec

from stead.domain.events import Erased, ModelRequested, ReadingRequested, SessionDeleted
from stead.domain.forgetting import Redaction
from stead.domain.ids import HOME, CommandId
from stead.domain.memory_events import ForgettingBegun
from stead.storage.codec import decode, tag_of
from stead.storage.head_copy import HeadCopy
from stead.storage.journal import JournalFile, open_journal
from stead.storage.migrate import known_steps
from tests.build import START_MS
from tests.storage.drafts import KEYS, claim, session, stream

HERE = Path(__file__).parent
EVENTS = HERE.parent.parent / "events"


def summaries(journal: JournalFile) -> list[list[object]]:
    """Where each event stands and of what type it is; that its content is the same follows from the chain."""
    return [
        [event.seq, event.session, event.session_seq, event.tag if isinstance(event, Erased) else tag_of(event.body)]
        for event in journal.events()
    ]


async def record(path: Path) -> None:
    """One event of each type, a claim, a snapshot, a secret, a signed head, a session that was forgotten, and words."""
    journal = open_journal(path, KEYS)
    bodies = {file.stem: decode(file.stem, 1, file.read_bytes()) for file in sorted(EVENTS.glob("v1/*.json"))}
    del bodies["content.redacted"]  # the journal writes it itself, about events that there are
    home = [body for tag, body in bodies.items() if tag.partition(".")[0] in ("daemon", "provider", "chain", "cap")]
    rest = [body for body in bodies.values() if body not in home and not isinstance(body, SessionDeleted)]
    readings = [body for tag, body in bodies.items() if tag.startswith("reading.")]  # numbered as the requests are
    rest = [body for body in rest if body not in readings]
    rest.sort(key=lambda body: not isinstance(body, ModelRequested))  # a request comes before its reply
    readings.sort(key=lambda body: not isinstance(body, ReadingRequested))
    await journal.append(stream(HOME, home))
    await journal.append(stream(session(1), rest), claim=claim("a-command", session(1), "made"))
    await journal.append([*stream(session(2), [bodies["objective.created"], SessionDeleted()])])
    await journal.erase(session(2))
    await journal.append(stream(session(4), readings))
    words = stream(session(5), [bodies["objective.created"], bodies["message.received"]])
    written = (await journal.append(words))[-1].seq
    begun = ForgettingBegun((), (written,), (), "cli")
    redaction = Redaction({written: bodies["message.received"]}, begun, START_MS, CommandId("c"), journal.head())
    await journal.redact(redaction, lambda _: False)
    await journal.snapshots.save(session(1), 3, b"a state")
    await journal.vault.put("provider/acme", "not a real key")
    await journal.heads.sign(START_MS, HeadCopy(path.with_suffix(".jsonl")))
    lines = [msgspec.json.encode(summary).decode() for summary in summaries(journal)]
    (HERE / f"{path.stem}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    journal.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{max(known_steps()):04d}.db"
        asyncio.run(record(made))
        (HERE / made.name).write_bytes(made.read_bytes())
