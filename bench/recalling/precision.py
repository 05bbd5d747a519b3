"""PrecisionMemBench: which of 35 beliefs belong to a question, and no other ones.

Its terms as ours: a user and a domain are a workspace of their own, ``user:universal`` is told everywhere and always,
``pinned`` is pinned, a canonical name is a key, ``resolved_at`` and ``superseded`` are retired. A question in two
domains is asked in two workspaces, and every user has a home of their own. Its budget counts what is pinned, but
neither what is told always of a person nor open questions; ours counts nothing that is always told, so the pinned are
taken off. What is judged is what was found beside what is always told.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from stead.domain.memory import (
    Hit,
    Kind,
    Memory,
    MemoryId,
    MemoryRow,
    PlaceId,
    Query,
    Scope,
    Standing,
    Viewer,
    workspace_place,
)
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.embedding.embedder import Embedder
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning
from stead.memory.retrieval import Retriever

DATA = Path(__file__).parent.parent / "data" / "precisionmembench"
USER = "test-user"
_EVERYTHING = 60
_NOW = "2026-10-10T00:00:00Z"
_KINDS: dict[str, Kind] = {"preference": "preference", "open_question": "context"}
_LABEL = Label(Integrity.PERSON, Confidentiality.PRIVATE)


class Judged(msgspec.Struct, frozen=True):
    """One case.

    Args:
        name: as the fixture has it.
        wanted: beliefs that belong to it.
        found: those that were found.
        wrong: what was found or always told and may never be: superseded, resolved, or another user's.
        drifted: what was found and belongs to what the session talked of before.
    """

    name: str
    wanted: frozenset[str]
    found: frozenset[str]
    wrong: frozenset[str]
    drifted: frozenset[str]

    @property
    def exact(self) -> bool:
        """The right ones and no others."""
        return self.wanted == self.found

    @property
    def precision(self) -> float:
        """The share of the found that is wanted; of nothing all, when nothing is wanted."""
        if not self.found:
            return 1.0
        return len(self.found & self.wanted) / len(self.found)

    @property
    def recall(self) -> float:
        """The share of the wanted that is found."""
        return len(self.found & self.wanted) / len(self.wanted) if self.wanted else 1.0


class Beliefs:
    """The beliefs, indexed as the product does it. Close it."""

    def __init__(self, data: Path, embedder: Embedder | None) -> None:
        self.beliefs: dict[str, dict[str, Any]] = {
            one["_id"]: one for one in json.loads((data / "beliefs.seed.json").read_text("utf-8"))
        }
        self._folder = tempfile.TemporaryDirectory(prefix="stead-bench-")
        self._meaning = Meaning(embedder, embedder, deadline_s=30) if embedder else None
        self._homes: dict[str, dict[PlaceId, Index]] = defaultdict(dict)

    async def fill(self) -> None:
        """Take all of them in."""
        for one in self.beliefs.values():
            self._keep(one)
        await self._embed()

    async def learn(self, turn: dict[str, Any]) -> None:
        """Take in what a turn of a session makes of the beliefs: another one, other names."""
        if (made := turn.get("createBeliefAtTurn")) is not None:
            self.beliefs[made["_id"]] = made
            self._keep(made)
        if (change := turn.get("updateBeliefAtTurn")) is not None:
            one = self.beliefs[change["beliefId"]]
            one["aliases"] += change["addAliases"]
            self._keep(one)
        await self._embed()

    async def ask(
        self, user: str, scopes: list[str], text: str, most: int | None = None
    ) -> tuple[list[Hit], list[Hit]]:
        """What is always told, and what is found beside it."""
        always: list[Hit] = []
        found: list[Hit] = []
        retriever = Retriever(self._homes[user].get, self._meaning, now_ms=lambda: _ms(_NOW))
        for scope in scopes:
            recalled = await retriever.recall(Query(text, limit=_EVERYTHING), Viewer(workspace_place(user, scope)))
            told = [hit for hit in recalled.hits if hit.why[0].by == "pinned"]
            always += told
            left = _EVERYTHING if most is None else max(0, most - sum(not self._is_free(hit) for hit in told))
            found += [hit for hit in recalled.hits if hit not in told][:left]
        return always, found

    async def close(self) -> None:
        """Put everything away."""
        if self._meaning:
            await self._meaning.close()
        for index in self._indexes():
            index.close()
        self._folder.cleanup()

    def wrong(self, hits: list[Hit], user: str) -> frozenset[str]:
        """Hits that may never be."""
        return frozenset(
            hit.ref
            for hit in hits
            if (one := self.beliefs[hit.ref])["epistemic_status"] == "superseded"
            or one["resolved_at"]
            or one["user_id"] != user
        )

    def _is_free(self, hit: Hit) -> bool:
        one = self.beliefs[hit.ref]
        return one["type"] == "open_question" or "user:universal" in one["scope"]

    def _keep(self, one: dict[str, Any]) -> None:
        row = _row(one)
        home, place = self._homes[one["user_id"]], row.memory.scope.place
        if place not in home:
            number = list(self._homes).index(one["user_id"])
            home[place] = Index(Path(self._folder.name) / f"{number} {place}.db", bytes(32), place)
        home[place].take(Changes(rows=[row]), 1)

    def _indexes(self) -> list[Index]:
        return [index for home in self._homes.values() for index in home.values()]

    async def _embed(self) -> None:
        for index in self._indexes() if self._meaning else ():
            while self._meaning and await self._meaning.embed_some(index):
                continue


async def judge(data: Path, embedder: Embedder | None) -> tuple[list[Judged], list[Judged]]:
    """The single questions of which it is said what belongs to them, and the turns of the sessions."""
    beliefs = Beliefs(data, embedder)
    try:
        await beliefs.fill()
        cases = [await _judged(beliefs, case, case["query"]) for case in _cases(data / "retrieval.cases.json")]
        turns = []
        for case in json.loads((data / "session-retrieval.cases.json").read_text("utf-8")):
            for turn in case["turns"]:
                if "shouldOnlyInclude" in turn["expect"].get("relevantBeliefs", {}):
                    told = {**turn, "caseId": f"{case['caseId']}/{turn['turnIndex']}"}
                    turns.append(await _judged(beliefs, told, turn["userMessage"]))
                await beliefs.learn(turn)
        return cases, turns
    finally:
        await beliefs.close()


async def _judged(beliefs: Beliefs, case: dict[str, Any], text: str) -> Judged:
    user = case.get("userId", USER)
    most = case["budget"]["maxBeliefs"] if "budget" in case else None
    always, found = await beliefs.ask(user, case["scope"], text, most)
    wanted = frozenset(case["expect"]["relevantBeliefs"]["shouldOnlyInclude"])
    hits = frozenset(hit.ref for hit in found)
    noise = frozenset(case["expect"].get("noiseCheck", {}).get("mustNotSurface", ()))
    return Judged(case["caseId"], wanted, hits, beliefs.wrong(always + found, user), hits & noise)


def _cases(path: Path) -> Iterator[dict[str, Any]]:
    for case in json.loads(path.read_text("utf-8")):
        if "shouldOnlyInclude" in case["expect"].get("relevantBeliefs", {}):
            yield case


def _row(one: dict[str, Any]) -> MemoryRow:
    everywhere = "user:universal" in one["scope"]
    ended = one["resolved_at"] or (one["updated_at"] if one["epistemic_status"] == "superseded" else None)
    memory = Memory(
        id=MemoryId(one["_id"]),
        kind=_KINDS.get(one["type"], "knowledge"),
        text=one["content"],
        scope=Scope() if everywhere else Scope("workspace", workspace_place(one["user_id"], one["scope"][0])),
        origin="user_said" if one["user_edited"] else "inferred",
        label=_LABEL,
        valid_from_ms=_ms(one["created_at"]),
        valid_to_ms=_ms(ended) if ended else 0,
        key=one["canonical_name"],
        aliases=tuple(one["aliases"]),
        confidence=one["confidence"],
        pinned=one["pinned"],
        standing=everywhere,
    )
    status: Standing = "superseded" if one["superseded_by"] else "retired" if ended else "live"
    retired_ms = _ms(ended) if ended else 0
    return MemoryRow(memory, status, _ms(one["created_at"]), retired_ms, one["superseded_by"] or "")


def _ms(date: str) -> int:
    return int(datetime.fromisoformat(date).timestamp() * 1000)
