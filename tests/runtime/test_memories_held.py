"""What people and tools say about memory, in any order and by any clock: what holds throughout, and what is refused."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.brain.remembering import is_persons
from stead.domain import memory_commands as cmd
from stead.domain.errors import CallerError, Conflict, InvalidRequest
from stead.domain.ids import CommandId, SessionId
from stead.domain.memory import GLOBAL, MEMORY, MemoryId, MemoryRow, PlaceId, Query, Viewer
from stead.domain.memory_ports import RowsWanted, Wanted
from stead.domain.policies import Confidentiality
from stead.memory.books import MemoryBooks
from stead.runtime.answers import claim_of
from tests.attacks.memory_grounds import Grounds
from tests.build import START_MS
from tests.fakes.world import KEYS

DAY_MS = 86_400_000
YEAR_MS = 365 * DAY_MS
LOOK = Viewer(PlaceId("w_0123456789abcdef"), interactive=True)
SITTING = SessionId("s_00000000000000aa")


class Held(Grounds):
    """Grounds in which a person says things and one session has a model that remembers them."""

    async def do(self, command: cmd.MemoryCommand) -> str:
        """What the person says; gives the answer's text."""
        id = CommandId(f"c_{self.random.getrandbits(64):016x}")
        return (await self.memories.carry_out(command, claim_of(id, "", MEMORY, ""), "cli")).text

    async def add(self, text: str, **fields: object) -> MemoryId:
        """Have the person say something; gives the memory that says it now."""
        answer = await self.do(cmd.Remember((cmd.NewMemory(text, **fields),)))  # type: ignore[arg-type]
        return MemoryId(answer.split()[1])

    async def told(self, text: str, **query: object) -> list[str]:
        """What a query finds."""
        found = await self.recalls.recall(Query(text, limit=100, **query), LOOK)  # type: ignore[arg-type]
        return [hit.text for hit in found.hits]

    def rows(self) -> list[MemoryRow]:
        """All of them, whatever became of them."""
        rows, after = self.books.rows(RowsWanted(status=("live", "superseded", "expired", "retired"), limit=1_000))
        assert not after
        return list(rows)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    held = Held(tmp_path, Random(1))
    yield held
    held.close()


# -- invariants -----------------------------------------------------------------------------------------------------

KEY = st.sampled_from(("", "shop.opens", "Shop / Opens", "ada.city"))
TEXT = st.integers(0, 5).map(lambda number: f"Statement number {number}.")
VALUE = st.sampled_from(("", "nine", "ten"))
WHEN = st.sampled_from((0, 0, START_MS - YEAR_MS, START_MS + 1, START_MS + YEAR_MS))
STEP = st.one_of(
    st.tuples(st.just("add"), TEXT, KEY, VALUE, WHEN),
    st.tuples(st.just("model"), TEXT, KEY, VALUE),
    st.tuples(st.just("amends"), st.integers(0, 9), TEXT),
    st.tuples(st.just("correct"), st.integers(0, 9), TEXT, WHEN, st.booleans()),
    st.tuples(st.just("mark"), st.lists(st.integers(0, 9), min_size=1, max_size=2), KEY, st.booleans()),
    st.tuples(st.just("retire"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.lists(st.integers(0, 9), min_size=1, max_size=3)),
    st.tuples(st.just("clock"), st.sampled_from((-2 * YEAR_MS, -DAY_MS, -1_000, DAY_MS, 2 * YEAR_MS))),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(STEP, max_size=16))
def test_whatever_is_said_in_whatever_order_memory_stays_of_one_piece(steps: list[tuple[object, ...]]) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as name:
            held = Held(Path(name), Random(2))
            try:
                await held.sayings.open(SITTING, "/ada/notes")
                for number in range(6):
                    await held.sayings.says(SITTING, f"Statement number {number}.")
                for step in steps:
                    try:
                        await _take(held, *step)
                    except CallerError:
                        continue  # refused, and nothing was written
                _hold(held, Path(name))
            finally:
                held.close()

    asyncio.run(play())


async def _take(held: Held, what: object, *rest: object) -> None:
    made = held.rows()

    def named(place: object) -> MemoryId:
        return made[int(str(place)) % len(made)].memory.id if made else MemoryId("m_0000000000000000")

    match (what, *rest):
        case ("add", str(text), str(key), str(value), int(when)):
            await held.do(cmd.Remember((cmd.NewMemory(text, key=key, value=value, valid_from_ms=when),)))
        case ("model", str(text), str(key), str(value)):
            await held.recollection.remember(SITTING, [Wanted(text=text, key=key, value=value)])
        case ("amends", place, str(text)):
            await held.recollection.correct(SITTING, named(place), Wanted(text=text))
        case ("correct", place, str(text), int(when), bool(wrong)):
            await held.do(cmd.CorrectMemory(named(place), text, valid_from_ms=when, was_wrong=wrong))
        case ("mark", list(places), str(key), bool(pinned)):
            await held.do(cmd.MarkMemories(tuple(map(named, places)), key=key, pinned=pinned))
        case ("retire", place):
            await held.do(cmd.RetireMemories((named(place),)))
        case ("restore", list(places)):
            await held.do(cmd.RestoreMemories(tuple(dict.fromkeys(map(named, places)))))
        case ("clock", int(by)):
            held.clock.ms += by
        case _:
            raise AssertionError(what)


def _hold(held: Held, folder: Path) -> None:
    rows = held.rows()
    live = [row for row in rows if row.status == "live"]
    own = Counter((row.memory.scope, row.memory.key) for row in live if row.memory.key and is_persons(row.memory))
    assert all(count == 1 for count in own.values()), "two words of the person's hold at one key"
    said = Counter((row.memory.scope, row.memory.text) for row in live)
    assert all(count == 1 for count in said.values()), "one thing is remembered twice"
    known = {row.memory.id: row for row in rows}
    for row in rows:
        assert (row.status == "live") is (row.retired_ms == 0)
        seen: set[str] = set()
        at: MemoryRow | None = row
        while at is not None and at.superseded_by:
            assert at.memory.id not in seen, "what took its place was taken the place of by it"
            seen.add(at.memory.id)
            at = known.get(MemoryId(at.superseded_by))
            assert at is not None, "what took its place is not there"
    again = MemoryBooks(folder / "again", KEYS.views, held.journal)
    try:
        every = RowsWanted(status=("live", "superseded", "expired", "retired"), limit=1_000)
        assert set(again.rows(every)[0]) == set(rows), "the journal replayed gives another memory"
    finally:
        again.close()


# -- clocks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [-10 * YEAR_MS, -1, 10 * YEAR_MS])
async def test_what_is_said_last_holds_wherever_the_clock_was_set(held: Held, by: int) -> None:
    await held.add("The shop opens at nine.", key="shop.opens", value="nine")
    other = await held.add("Ada lives in Bergen.")
    held.clock.ms += by
    await held.add("The shop opens at ten.", key="shop.opens", value="ten")
    await held.do(cmd.CorrectMemory(other, "Ada lives in Oslo."))
    told = [*await held.told("Where does Ada live?"), *await held.told("shop.opens")]
    assert told == ["Ada lives in Oslo.", "The shop opens at ten."]
    files = held.files.loaded(LOOK, held.clock.now_ms(), Confidentiality.PRIVATE)
    assert all(any(text in file.text for file in files) for text in told)
    assert not any("nine" in file.text or "Bergen" in file.text for file in files)


async def test_a_clock_that_goes_back_takes_nothing_out_of_the_files_a_session_begins_with(held: Held) -> None:
    await held.add("Ada lives in Bergen.")
    held.clock.ms -= 10 * YEAR_MS
    (file,) = held.files.loaded(LOOK, held.clock.now_ms(), Confidentiality.PRIVATE)
    assert "Ada lives in Bergen." in file.text
    assert await held.told("Where does Ada live?") == ["Ada lives in Bergen."]


async def test_what_is_to_expire_expires_whichever_way_the_clock_goes(held: Held) -> None:
    await held.add("The guest code is 4711.", ttl_days=7, aliases=("guest code",))
    held.clock.ms -= YEAR_MS
    assert await held.told("What is the guest code?") == ["The guest code is 4711."]
    held.clock.ms += YEAR_MS + 8 * DAY_MS
    assert await held.told("What is the guest code?") == []
    assert held.files.loaded(LOOK, held.clock.now_ms(), Confidentiality.PRIVATE) == ()


async def test_contradictions_within_a_millisecond_leave_the_last_one(held: Held) -> None:
    held.clock.now_ms = lambda: START_MS + 5  # type: ignore[method-assign]
    for hour in ("nine", "ten", "eleven", "ten", "twelve"):
        await held.add(f"The shop opens at {hour}.", key="shop.opens", value=hour)
    live = [row.memory.value for row in held.rows() if row.status == "live"]
    assert live == ["twelve"]
    batch = tuple(cmd.NewMemory(f"The stall opens at {hour}.", key="stall.opens") for hour in ("one", "two", "three"))
    await held.do(cmd.Remember(batch))
    assert [row.memory.text for row in held.rows() if row.status == "live" and row.memory.key == "stall.opens"] == [
        "The stall opens at three."
    ]


async def test_asking_about_the_past_gives_the_pasts_answer_through_a_chain(held: Held) -> None:
    moments = []
    for city in ("Bergen", "Oslo", "Tromsø", "Bergen", "Voss"):
        held.clock.ms += YEAR_MS
        await held.add(f"Ada lives in {city}.", key="ada.city", value=city)
        moments.append((held.clock.now_ms(), f"Ada lives in {city}."))
    for at_ms, text in moments:
        assert await held.told("ada.city", as_of_ms=at_ms) == [text]
    assert await held.told("ada.city") == ["Ada lives in Voss."]


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(5)), st.booleans())
def test_in_whatever_order_it_is_learned_what_held_when_each_moment_has_one_answer(
    order: list[int], at_once: bool
) -> None:
    """News of the past, and what is to hold in future: each holds from its own start to the next one's."""
    starts = [START_MS + (at - 2) * YEAR_MS for at in range(5)]
    items = [cmd.NewMemory(f"The desk of Ada is {at}.", key="ada.desk", valid_from_ms=starts[at]) for at in order]

    async def play() -> None:
        with tempfile.TemporaryDirectory() as name:
            held = Held(Path(name), Random(3))
            try:
                for batch in [items] if at_once else [[item] for item in items]:
                    await held.do(cmd.Remember(tuple(batch)))
                told = [await held.told("ada.desk", as_of_ms=start + DAY_MS) for start in starts]
                assert told == [[f"The desk of Ada is {at}."] for at in range(5)]
            finally:
                held.close()

    asyncio.run(play())


async def test_what_took_anothers_place_is_not_had_back_beside_it(held: Held) -> None:
    first = await held.add("The shop opens at nine.", key="shop.opens")
    second = await held.add("The shop opens at ten.", key="shop.opens")
    with pytest.raises(Conflict, match=f"{second!r} says the same, or something else at the key"):
        await held.do(cmd.RestoreMemories((first,)))
    await held.do(cmd.RetireMemories((second,)))
    await held.do(cmd.RestoreMemories((first,)))
    third = await held.add("The stall opens at ten.")
    with pytest.raises(Conflict, match="retire it first"):
        await held.do(cmd.MarkMemories((third,), key="shop.opens"))
    with pytest.raises(Conflict):
        await held.do(cmd.RestoreMemories((second,)))


# -- too much, and what is none --------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [-1, 253_370_764_800_001, 2**63 - 1, 2**63, 2**200])
async def test_a_moment_that_cannot_be_dated_never_reaches_the_journal(held: Held, moment: int) -> None:
    id = await held.add("The shop opens at nine.")
    head = held.journal.head()
    with pytest.raises(InvalidRequest, match="the year 9999"):
        await held.add("The shop opens at ten.", valid_from_ms=moment)
    with pytest.raises(InvalidRequest, match="the year 9999"):
        await held.do(cmd.CorrectMemory(id, "The shop opens at ten.", valid_from_ms=moment))
    assert held.journal.head() == head
    assert await held.told("shop opens") == ["The shop opens at nine."]


async def test_ten_megabytes_are_refused_at_once_with_the_way_out(held: Held) -> None:
    huge = "ä\u200b " * 4_000_000
    head, began = held.journal.head(), time.process_time()
    for item in (
        cmd.NewMemory(huge),
        cmd.NewMemory("x", key=huge),
        cmd.NewMemory("x", value=huge),
        cmd.NewMemory("x", aliases=(huge,)),
    ):
        with pytest.raises(InvalidRequest) as refused:
            await held.do(cmd.Remember((item,)))
        assert len(str(refused.value)) < 400
    with pytest.raises(InvalidRequest, match="put long material into a file"):
        await held.add(huge)
    assert time.process_time() - began < 1, "it was cleaned before it was measured"
    assert held.journal.head() == head


@pytest.mark.parametrize("count", [0, 1_001])
async def test_one_too_many_and_none_at_all_are_refused(held: Held, count: int) -> None:
    ids = tuple(MemoryId(f"m_{number:016x}") for number in range(count))
    news = tuple(cmd.NewMemory(f"Thing {number}.") for number in range(count))
    for command in (cmd.Remember(news), cmd.MarkMemories(ids), cmd.RetireMemories(ids), cmd.RestoreMemories(ids)):
        with pytest.raises(InvalidRequest, match="1 to 1000"):
            await held.do(command)
    assert held.journal.head() == 0


async def test_a_thousand_at_once_are_taken_in(held: Held) -> None:
    news = tuple(cmd.NewMemory(f"Thing {number // 2} is kept.") for number in range(1_000))
    await held.do(cmd.Remember(news))
    rows = [row for row in held.rows() if row.status == "live"]
    assert len(rows) == 500, "each was said twice"
    await held.do(cmd.RetireMemories(tuple(row.memory.id for row in rows)))
    assert await held.told("Thing") == []


@pytest.mark.parametrize(
    "text",
    ["\x00", "\x00\x01\u200b", "\ud800", " \n\t\u2028 ", "\u202e\u2066", "\U000e0041\U000e0042"],
    ids=["nul", "controls", "surrogate", "spaces", "bidi", "tags"],
)
async def test_what_has_no_words_is_refused(held: Held, text: str) -> None:
    with pytest.raises(InvalidRequest, match="without words"):
        await held.add(text)


async def test_control_characters_and_lone_surrogates_stand_in_no_part_of_a_memory(held: Held) -> None:
    dirt = "\x00\x1b[2J\u202e\ud800\u200b"
    id = await held.add(f"The shop{dirt}opens.", key=f"shop{dirt}", value=f"{dirt}nine", aliases=(f"shop{dirt}", dirt))
    memory = held.books.row(id).memory
    every = (memory.text, memory.key, memory.value, *memory.aliases)
    assert not any(char in part for part in every for char in dirt if not char.isprintable())
    assert await held.told("shop\x00 \ud800 opens") == [memory.text]


@pytest.mark.parametrize(
    "id", ["", "m_", "x" * 1_000_000, "m_0000000000000000", "../../etc", "\ud800", "e_1", "global"]
)
async def test_an_id_of_nothing_is_refused_in_few_words(held: Held, id: str) -> None:
    for command in (
        cmd.CorrectMemory(MemoryId(id), "x"),
        cmd.MarkMemories((MemoryId(id),), pinned=True),
        cmd.RetireMemories((MemoryId(id),)),
        cmd.RestoreMemories((MemoryId(id),)),
    ):
        with pytest.raises(CallerError) as refused:
            await held.do(command)
        assert len(str(refused.value)) < 400
    assert held.journal.head() == 0


@pytest.mark.parametrize("limit", [1, 100])
async def test_as_many_are_found_as_were_asked_for(held: Held, limit: int) -> None:
    boilers = (cmd.NewMemory(f"Boiler number {number}.", pinned=number < 20) for number in range(140))
    await held.do(cmd.Remember(tuple(boilers)))
    found = await held.recalls.recall(Query("boiler", limit=limit), LOOK)
    always = [hit for hit in found.hits if hit.why[0].by == "pinned"]
    assert (len(always), len(found.hits)) == (20, 20 + limit)
    assert found.legs[0].leg == "pinned"
    assert GLOBAL in {hit.place for hit in found.hits}


async def test_a_query_of_any_kind_is_answered(held: Held) -> None:
    await held.add("The boiler is in the cellar.")
    for text in (
        "",
        "\x00",
        '"',
        "NEAR(",
        "*",
        "boiler" * 100_000,
        "b " * 200_000,
        "\ud800",
        "م" * 9_000,
        "OR AND NOT",
    ):
        began = time.monotonic()
        await held.recalls.recall(Query(text), LOOK)
        assert time.monotonic() - began < 3, text[:20]
