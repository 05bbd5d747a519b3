"""What is remembered in one place reaches no other: random looks from everywhere, with arguments from everywhere.

``bench/m4_isolation.py`` makes ten thousand of them with the embedder; here are fewer, without it. Two walls have
another one behind them, so that one may fail and nothing leaks: the levels that statements of ``memory/finding.py`` ask
for, and ``_may_see`` of each hit; ``visible`` of the rows in ``runtime/loading.py``, and the scopes of ``scopes_of``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from stead.domain import commands as cmd
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import GLOBAL, Level, Scope, workspace_place
from tests.attacks.memory_grounds import Grounds
from tests.attacks.memory_probes import Probing
from tests.attacks.memory_upkeep import Upkeep
from tests.memory.saying import memory
from tests.promises import promise
from tests.runtime.room import Room, WireModels
from tests.runtime.test_recalling import keep, said

PROBES = 500
CODES = {"global": "alder", "workspace": "birch", "private": "cedar"}


@pytest.fixture
def grounds(tmp_path: Path) -> Iterator[Grounds]:
    grounds = Grounds(tmp_path, Random(6))
    yield grounds
    grounds.close()


@promise("MEM-6.scopes")
async def test_no_look_from_one_place_shows_a_word_of_another(grounds: Grounds, tmp_path: Path) -> None:
    await grounds.fill(memories=6, turns=2)
    probing, upkeep = Probing(grounds), Upkeep(grounds, tmp_path)
    leaked = []
    for number in range(PROBES):
        leaked += await probing.probe()
        if number % (PROBES // 3) == PROBES // 4:
            leaked += await upkeep.round()
    assert leaked == []
    told = {kind.partition(":")[0] for kind in probing.seen if kind.endswith("told something")}
    assert told >= {"recall", "recall_all", "candidates", "opening", "words", "files", "query", "preview"}, (
        "what never tells anything would leak nothing"
    )
    assert upkeep.looked > 500


async def test_a_fork_into_another_folder_leaves_what_was_told_of_memory_behind(tmp_path: Path) -> None:
    models = WireModels(())
    room = Room(tmp_path, models)
    try:
        here = workspace_place(DEFAULT_WORKSPACE, str(room.project))
        levels: tuple[Level, ...] = ("global", "workspace", "private")
        for number, level in enumerate(levels, start=1):
            scope = Scope(level, GLOBAL if level == "global" else here)
            text = f"The gate's code word is {CODES[level]}."
            await keep(room, memory(number, text, scope=scope, aliases=("gate",)))
        id = await room.open()
        await room.tell(id, "What is the code word of the gate?")
        assert all(word in "\n".join(said(models.requests[-1])) for word in CODES.values())
        (tmp_path / "other").mkdir()
        fork = (await room.do(cmd.ForkSession(id, 0, str(tmp_path / "other")))).session
        for session, known in ((fork, ("alder",)), ((await room.do(cmd.ForkSession(id))).session, CODES.values())):
            await room.tell(session, "Which code word has the gate?")
            told = "\n".join(said(models.requests[-1]))
            assert "What is the code word of the gate?" in told, "the conversation goes on"
            assert {word for word in CODES.values() if word in told} == {*known}
        goal = cmd.OpenSession(goal="Open the gate.", directory=str(tmp_path / "other"))
        await room.settled((await room.do(goal)).session)
        told = "\n".join(said(models.requests[-1]))
        assert {word for word in CODES.values() if word in told} == {"alder"}
    finally:
        room.world.close()
