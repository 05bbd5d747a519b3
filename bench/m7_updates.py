"""M7: facts that change, facts that are said a thousand times, and what comes of hearing oneself.

Chains of five statements about one thing, days apart, with figures, negations and a return to the old value: recall is
asked for each right now and as of the day after each statement, and is right when it tells that value and no other.
What is said in so many words is noted without a model; the chains of ``BY_MODEL`` by a scripted one without error.
Then one fact is said a thousand times in ten ways over twenty sessions, and noted both ways. Then what is remembered is
told to a model that repeats, looks up and quotes it, fifty times over, with a consolidation after each time.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bench.bar import Bar
from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, CallKey
from stead.domain.memory import Query, Viewer, workspace_place
from stead.domain.policies import Confidentiality
from stead.domain.ports import ModelInfo
from stead.domain.sessions import STEAD
from stead.runtime.extractor import Extractor
from tests.fakes.world import ScriptedModels
from tests.runtime.house import House
from tests.storage.drafts import DAY_MS, session

RESTATEMENTS, CYCLES = 1_000, 50
APART_DAYS = 3
HERE = Viewer(workspace_place(DEFAULT_WORKSPACE, "/ada/notes"), interactive=True)

CHAINS: dict[str, tuple[tuple[str, str], ...]] = {
    "Who is my dentist?": tuple(
        (f"My dentist is {name}.", name) for name in ("Dr Lund", "Dr Berg", "Dr Holm", "Dr Lund", "Dr Berg")
    ),
    "What is the database port?": tuple(
        (f"The database port is {port}.", str(port)) for port in (5432, 5433, 6000, 5432, 5434)
    ),
    "Where is my home, in which city?": tuple(
        (f"I moved to {city}.", city) for city in ("Bergen", "Oslo", "Porto", "Bergen", "Turku")
    ),
    "What do I say of mushrooms?": (
        ("I like mushrooms.", "likes"),
        ("I don't like mushrooms any more.", "dislikes"),
        ("I love mushrooms.", "likes"),
        ("I hate mushrooms.", "dislikes"),
        ("I like mushrooms again.", "likes"),
    ),
    "Is Jenkins used?": (
        ("We use Jenkins.", "yes"),
        ("We no longer use Jenkins.", "no"),
        ("We use Jenkins again.", "yes"),
        ("We don't use Jenkins any more.", "no"),
        ("We now use Jenkins.", "yes"),
    ),
    "Which language do I want answers in?": (
        ("From now on, answer in German.", "German"),
        ("Always answer in English.", "English"),
        ("Never answer in English.", "not English"),
        ("From now on, answer in French.", "French"),
        ("From now on, answer in German.", "German"),
    ),
    "What is my shoe size?": tuple((f"My shoe size is {size}.", str(size)) for size in (41, 42, 43, 42, 40)),
    "Which indentation do I prefer?": tuple(
        (f"I prefer {what} now.", what) for what in ("tabs", "spaces", "tabs", "2 spaces", "spaces")
    ),
    "Who is our accountant?": tuple(
        (f"{name} is our accountant.", name) for name in ("Bob", "Eva Holm", "Bob", "Priya Nair", "Eva Holm")
    ),
    "What is used for the ledger?": (
        ("We use SQLite for the ledger.", "SQLite"),
        ("We switched from SQLite to MariaDB for the ledger.", "MariaDB"),
        ("We use PostgreSQL for the ledger.", "PostgreSQL"),
        ("We switched from PostgreSQL back to SQLite for the ledger.", "SQLite"),
        ("Actually, we use DuckDB for the ledger.", "DuckDB"),
    ),
}
BY_MODEL = {
    "What is the database port?": ("project.database_port", "{said}"),
    "Where is my home, in which city?": ("person.city", "{said}"),
    "What do I say of mushrooms?": ("preference.mushrooms", "{said}"),
    "Who is our accountant?": ("person.accountant", "{said}"),
    "Is Jenkins used?": ("project.uses.jenkins", "{said}"),
    "What is used for the ledger?": ("project.ledger", "{value} for the ledger."),
}
"""The key that the model notes a chain under, and in which words: with the new one of two values alone."""
WAYS = (
    "My dentist is Dr Lund.",
    "my dentist is Dr Lund",
    "Dr Lund is my dentist.",
    "By the way, my dentist is Dr Lund.",
    "Please remember that my dentist is Dr Lund.",
    "My dentist is Dr Lund, thanks.",
    "Our dentist is Dr Lund.",
    "So, my dentist is Dr Lund!",
    "My dentist is called Dr Lund.",
    "Just so you know: my dentist is Dr Lund.",
)


class Scribe(ScriptedModels):
    """Notes what the chains of ``BY_MODEL`` and ``WAYS`` say, in their own words."""

    def __init__(self) -> None:
        super().__init__(())
        self.items = {
            said: {
                "kind": "context",
                "text": text.format(said=said, value=value),
                "key": key,
                "value": value,
                "quote": said,
            }
            for question, (key, text) in BY_MODEL.items()
            for said, value in CHAINS[question]
        }
        one = {"kind": "person", "key": "person.dentist", "value": "Dr Lund"}
        self.items |= {said: {**one, "text": said, "quote": said} for said in WAYS}

    def info(self, ref: ev.ModelRef) -> ModelInfo:
        """A model that may read what is private."""
        return replace(super().info(ref), clearance=Confidentiality.PRIVATE, rehearsal=False)

    async def reply(self, request, on_text):  # type: ignore[no-untyped-def]
        """The items of the turns that it is sent."""
        turns = msgspec.json.decode(request.messages[0].text)["turns"]
        items = [{**self.items[turn["text"]], "turn": turn["id"]} for turn in turns if turn["text"] in self.items]
        self.script = [(msgspec.json.encode({"items": items}).decode(),)] * request.number
        return await super().reply(request, on_text)


def measure() -> list[Bar]:
    """Answers that are right, duplicates, and what came of repeating oneself."""
    return asyncio.run(_measure())


async def _measure() -> list[Bar]:
    right, asked = await _in_a_home(_chains)
    doubled, _ = await _in_a_home(_restated)
    new, _ = await _in_a_home(_repeated)
    chains = f"{len(CHAINS)} chains of 5 statements, each asked for right now and as of the day after every statement"
    restated = f"one fact said {RESTATEMENTS:,} times in {len(WAYS)} ways over 20 sessions"
    cycles = f"{CYCLES} times told, repeated by the model, looked up and quoted"
    share = 100 * right / asked
    return [
        Bar("M7", share, "% of answers right", "100", right == asked, {}, f"{chains}: {right} of {asked}"),
        Bar("M7.DOUBLED", 100 * doubled / RESTATEMENTS, "% duplicates", "≤ 2", doubled <= 20, {}, restated),
        Bar("M7.REPEATED", new, "memories made of memory", "0", new == 0, {}, cycles),
    ]


async def _in_a_home(work) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        house = House(Path(name))
        try:
            found: tuple[int, int] = await work(house)
            return found
        finally:
            house.close()


async def _chains(house: House) -> tuple[int, int]:
    moments: list[int] = []
    extractor = Extractor(house.consolidation, Scribe, house.journal, tokens_a_day=20_000)
    for at in range(5):
        for number, chain in enumerate(CHAINS.values()):
            await house.hears(session(1 + number + 100 * at), chain[at][0])
        await house.run()
        await extractor.run()
        moments.append(house.now_ms() + DAY_MS)
        house.later(APART_DAYS)
    right = asked = 0
    for question, chain in CHAINS.items():
        wanted = [(0, chain[-1][1]), *((moment, value) for moment, (_, value) in zip(moments, chain, strict=True))]
        for as_of_ms, value in wanted:
            told = await _told(house, question, as_of_ms, {said for _, said in chain})
            asked += 1
            right += told == {value}
            if told != {value}:
                print(f"{question} as of {as_of_ms}: {sorted(told)}, not {value!r}")
    return right, asked


async def _told(house: House, question: str, as_of_ms: int, values: set[str]) -> set[str]:
    """Which of the chain's values recall tells."""
    found = await house.retriever.recall(Query(question, as_of_ms=as_of_ms, sources=("memory",)), HERE)
    keys = {row.memory.key: row.memory.value for row in house.rows(status=()) if row.memory.value in values}
    hits = [hit.memory for hit in found.hits if hit.memory is not None]
    best = next((memory.key for memory in hits if memory.key in keys), "")
    return {memory.value for memory in hits if memory.key == best}


async def _restated(house: House) -> tuple[int, int]:
    extractor = Extractor(house.consolidation, Scribe, house.journal, tokens_a_day=1_000_000)
    for number in range(RESTATEMENTS):
        await house.hears(session(1 + number % 20), WAYS[number % len(WAYS)])
        if number % 50 == 49:
            house.later(0.5)
            await house.run()
            await extractor.run()
    return len(house.rows(status=())) - 1, RESTATEMENTS


async def _repeated(house: House) -> tuple[int, int]:
    for number, chain in enumerate(CHAINS.values()):
        await house.hears(session(1 + number), chain[0][0])
    await house.run()
    before = len(house.rows(status=()))
    for cycle in range(CYCLES):
        id = session(100 + cycle)
        await house.hears(id, "Tell me what you know.")
        found = await house.retriever.recall(Query("what you know", limit=100, sources=("memory",)), HERE)
        texts = [hit.text for hit in found.hits] or [row.memory.text for row in house.rows()]
        every = "\n".join(texts)
        told = tuple(ev.Told(hit.ref, hit.text, ("words",)) for hit in found.hits)
        await house.talk.tell(id, ev.MemoryRecalled(told, (), STEAD))
        await house.talk.answers(id, every)
        key = CallKey("call_1_0")
        await house.talk.tell(id, ev.ToolFinished(key, "recall", "ok", every, STEAD, len(every), 1))
        quoted = "\n".join(f"> {text}" for text in texts)
        await house.hears(id, f"You said:\n{quoted}\nIs that all?")
        house.later(0.5)
        await house.run()
    return len(house.rows(status=())) - before, CYCLES
