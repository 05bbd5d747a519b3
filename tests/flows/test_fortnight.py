"""Two weeks with Stead, by a simulated clock: what is said in sessions becomes what the last day's model is told.

The whole runtime over a real journal; only the model has a script, and time is the test's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.memory import MemoryRow
from stead.domain.memory_commands import Consolidate, NewMemory, Remember, RevertRun, SettleProposal
from stead.domain.memory_ports import RowsWanted
from tests.promises import promise
from tests.runtime.room import Room, WireModels, calls

DAY_MS = 86_400_000
ASKED = "Check the links of the newsletter and mend the broken ones"
WORK = (calls(("read", '{"path":"news.md"}')), calls(("plan", '{"steps":[{"title":"mend","status":"done"}]}')))


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path, WireModels(()))
    yield room
    room.world.close()


class Fortnight:
    """Days in which things are said; each ends with a consolidation."""

    def __init__(self, room: Room, folder: Path) -> None:
        self.room = room
        self.shop = folder / "shop"
        self.shop.mkdir()
        self.start_ms = room.world.clock.ms
        self.last: SessionId | None = None

    async def day(self, number: int, *said: str, shop: bool = False) -> None:
        """A session of the person's own on a day, with these words, each with its turn; then the day is worked in."""
        self.room.world.clock.ms = self.start_ms + (number - 1) * DAY_MS
        directory = str(self.shop if shop else self.room.project)
        self.last = (await self.room.do(cmd.OpenSession(directory))).session
        for text in said:
            await self.room.tell(self.last, text)
            self.room.world.clock.ms += 600_000
        await self.room.do(Consolidate())

    async def newsletter(self, number: int) -> None:
        """A session in which the newsletter's links are checked, in two calls."""
        self.room.models.left = iter(WORK)
        await self.day(number, f"{ASKED}, issue {number}!")

    def rows(self, *status: str) -> list[MemoryRow]:
        """Memories of every place."""
        wanted = RowsWanted(status=status or ("live",), limit=1000)  # type: ignore[arg-type]
        return list(reversed(self.room.world.books.rows(wanted)[0]))

    def live(self) -> dict[str, str]:
        """What holds."""
        return {row.memory.key: row.memory.value for row in self.rows()}


async def two_weeks(room: Room, folder: Path) -> Fortnight:
    """The script."""
    days = Fortnight(room, folder)
    await days.day(1, "Hi, my name is Ada Lund.", "My dentist is Dr Lund.", "My home town is Bergen.")
    await days.day(1, "I always use MariaDB for ledgers.", "My gym is Fjord Gym.", shop=True)
    await days.day(
        2, "I always use SQLite for ledgers.", "I prefer tabs over spaces.", "From now on, answer in English."
    )
    await days.newsletter(2)
    await days.day(3, "What is a good name for a cat?")
    visit = NewMemory("The dentist is seen on Friday.", key="event.dentist", value="Friday", ttl_days=2)
    await days.room.do(Remember((visit,), "private", str(days.room.project)))
    await days.newsletter(4)
    await days.day(5, "If my bank was Crook Bank, I would leave.", "The readme says my home town is Rome.")
    await days.newsletter(6)
    await days.day(7, "My dentist is Dr Berg now.", "My home town is Oslo, by the way.", "My wife is called Eva.")
    await days.newsletter(8)
    await days.day(9, "I now always use PostgreSQL for ledgers.", "My birthday is on 9 March.")
    await days.newsletter(10)
    await days.day(11, "I prefer spaces now.", "From now on, answer in German.", "My shoe size is 41.")
    await days.day(12, "No, my shoe size is 42.", "Never push to main.")
    return days


@promise("MEM-4.extraction", "MEM-4.patterns", "MEM-4.decay", "MEM-2.supersession")
async def test_a_fortnight_is_remembered_as_it_went(room: Room, tmp_path: Path) -> None:
    days = await two_weeks(room, tmp_path)
    live = days.live()
    learned = {
        "person.name": "Ada Lund",
        "person.dentist": "Dr Berg",
        "person.home_town": "Oslo",
        "person.wife": "Eva",
        "person.birthday": "9 March",
        "preference.indentation": "spaces",
        "instruction.language": "German",
        "instruction.push_to_main": "never",
        "person.shoe_size": "42",
    }
    assert learned.items() <= live.items()
    assert {row.memory.value for row in days.rows() if row.memory.key == "preference.ledgers"} == {
        "MariaDB",
        "PostgreSQL",
    }
    superseded = {row.memory.value for row in days.rows("superseded")}
    assert superseded == {"Dr Lund", "Bergen", "SQLite", "tabs", "English", "41"}
    (over,) = days.rows("expired")
    assert over.memory.key == "event.dentist"

    (pattern,) = [row for row in days.rows() if row.memory.kind == "pattern"]
    assert ASKED in pattern.memory.text
    (procedure,) = [row for row in days.rows() if row.memory.kind == "procedure"]
    assert procedure.memory.value == "5 of 5"
    (skill,) = [row for row in room.world.books.proposals(waiting=True) if row.proposal.what == "skill"]
    await room.do(SettleProposal(skill.proposal.id, accept=True))
    assert [row.memory.kind for row in days.rows() if row.memory.key.startswith("skill.")] == ["skill"]

    kinds = {row.memory.kind for row in days.rows()}
    junk = [row for row in days.rows() if not row.memory.evidence]
    assert (kinds, junk) == (
        {"knowledge", "preference", "person", "pattern", "procedure", "skill"},
        [],
    )


@promise("MEM-3.prompt", "MEM-6.scopes")
async def test_the_last_days_model_is_told_what_matters_and_nothing_of_the_other_folder(
    room: Room, tmp_path: Path
) -> None:
    days = await two_weeks(room, tmp_path)
    await days.day(14, "What do I always use for ledgers, and who is my dentist?")
    told = msgspec.json.encode(room.models.requests[-1].messages).decode()
    for words in (
        "I now always use PostgreSQL for ledgers.",
        "My dentist is Dr Berg.",
        "From now on, answer in German.",
        "Never push to main.",
    ):
        assert words in told
    for gone in ("MariaDB", "Fjord Gym", "answer in English", "seen on Friday"):
        assert gone not in told
    receipts = [body for body in room.bodies(days.last or SessionId("")) if isinstance(body, ev.MemoryRecalled)]
    assert sum(len(receipt.told) for receipt in receipts) <= 10
    live = {row.memory.id for row in days.rows()}
    assert {told.ref for receipt in receipts for told in receipt.told if told.ref.startswith("m_")} <= live


@promise("MEM-2.keys")
async def test_the_same_journal_replayed_gives_the_same_memory(room: Room, tmp_path: Path) -> None:
    days = await two_weeks(room, tmp_path)
    every = ("live", "superseded", "expired", "retired")
    before = (days.rows(*every), room.world.books.runs(1000), room.world.books.proposals(waiting=False))
    room.world.books.rebuild()
    assert (days.rows(*every), room.world.books.runs(1000), room.world.books.proposals(waiting=False)) == before
    assert len(before[0]) > 15


@promise("MEM-1.provenance")
async def test_a_day_that_went_wrong_is_taken_back(room: Room, tmp_path: Path) -> None:
    days = await two_weeks(room, tmp_path)
    before = [(row.memory, row.status) for row in days.rows("live", "superseded")]
    await days.day(13, "My dentist is Dr Crook now.", "My home town is Rome.")
    assert days.live()["person.home_town"] == "Rome"
    run = room.world.books.runs(1)[0][1].run
    diff = await room.world.deps.memory.queries.runs.diff(run)
    assert [one.how for one in diff.changed] == ["made", "retired", "made", "retired"]
    await room.do(RevertRun(run))
    assert [(row.memory, row.status) for row in days.rows("live", "superseded")] == before
