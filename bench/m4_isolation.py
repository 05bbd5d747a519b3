"""M4: ten thousand random looks into memory from every place, with arguments from all others: how many words leak.

A real journal with its indexes, consolidation, files and exports, and the real embedder with a vector for every text.
Every memory, turn, title and summary has a word of its own; what comes out of a tool, a prompt, a receipt, an error, a
file, an export or a run is searched for the words of places that its reader may not see.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import uvloop

from bench.bar import Bar
from stead.memory.backfill import Backfill
from stead.memory.embedding.embedder import Embedder
from stead.memory.meaning import Meaning
from tests.attacks.memory_grounds import Grounds
from tests.attacks.memory_probes import Probing
from tests.attacks.memory_upkeep import Upkeep

PROBES = 10_000
WORLDS = 5
"""Each with its own seed, so that no one arrangement of places decides."""


def measure() -> list[Bar]:
    """Words that leaked."""
    leaked: list[str] = []
    seen: Counter[str] = Counter()
    for seed in range(WORLDS):
        with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
            found, counted = uvloop.run(_world(Path(name), Random(seed), PROBES // WORLDS))
        leaked += found
        seen += counted
    for line in leaked[:50]:
        print(line)
    probes = sum(count for kind, count in seen.items() if kind.endswith("probes"))
    answered = sum(count for kind, count in seen.items() if kind.endswith("told something"))
    said = (
        f"{probes} probes in {WORLDS} worlds, {answered} of which told something; {seen['made']} memories, files and "
        f"lines of exports that were made meanwhile; {seen['vectors']} vectors, {seen['near']} hits by meaning"
    )
    holds = not leaked and probes >= PROBES and seen["near"] > 0
    return [Bar("M4", len(leaked), "leaks", "0", holds, {}, said)]


async def _world(folder: Path, random: Random, probes: int) -> tuple[list[str], Counter[str]]:
    embedder = Embedder()
    meaning = Meaning(embedder, embedder)
    grounds = Grounds(folder, random, meaning, embedder.model_id)
    try:
        await grounds.fill(memories=8, turns=3)
        backfill = Backfill(grounds.books, meaning, embedder.ready)
        probing, upkeep = Probing(grounds), Upkeep(grounds, folder)
        leaked: list[str] = []
        for number in range(probes):
            if number % (probes // 4) == 0:
                leaked += await upkeep.round()
                probing.seen["vectors"] += await backfill.fill()
            leaked += await probing.probe()
        probing.seen["made"] += upkeep.looked
        return leaked, probing.seen
    finally:
        await meaning.close()
        await embedder.close()
        grounds.close()


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions, sep="\n")
