"""What is remembered in one place reaches no other: random looks from everywhere, with arguments from everywhere.

``bench/m4_isolation.py`` makes ten thousand of them with the embedder; here are fewer, without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.attacks.memory_grounds import Grounds
from tests.attacks.memory_probes import Probing
from tests.attacks.memory_upkeep import Upkeep
from tests.promises import promise

PROBES = 1_500


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
