"""WS-3: checkpoints of 10,000 files of 1 GB: taken after 150 changes, restored, unchanged, and how they grow.

Everything goes the whole way: the folder on a real disk, the encrypted store, each checkpoint on the disk before it
counts. CPU time is that of all threads of this process.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from bench.bar import Bar
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.scanning import RACY_NS
from stead.storage.contents import ContentStore
from tests.machines.folders import Gardener, digest

FILES, FOLDERS, FILE_BYTES = 10_000, 500, 100_000
CHANGES = 150
REPEATS = 9
LARGE_BYTES = 40_000_000
CYCLES = 100

T = TypeVar("T")


def measure() -> list[Bar]:
    """Run in a folder of the working directory, so that it is a real disk that is waited for."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=Path.cwd()) as name:
        return asyncio.run(_measure(Path(name)))


async def _measure(root: Path) -> list[Bar]:
    return [*await _large_folder(root), await _one_byte(root), await _cycles(root)]


class _Times:
    """Wall and CPU seconds of what is repeated."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    async def of(self, work: Awaitable[T]) -> T:
        wall, cpu = time.perf_counter(), time.process_time()
        result = await work
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        return result

    @property
    def wall_s(self) -> float:
        return statistics.median(self.wall)

    def __str__(self) -> str:
        return f"{self.wall_s:.3f} s ({statistics.median(self.cpu):.3f} s CPU)"


async def _large_folder(root: Path) -> list[Bar]:
    folder, chance = root / "large", random.Random(1)
    for number in range(FILES):
        path = folder / f"d{number % FOLDERS}" / f"f{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(FILE_BYTES))
    time.sleep(RACY_NS / 1e9)  # a folder that a person has worked on, not one made this second
    checkpoints = _opened(root / "store")
    first, same, take, restore = _Times(), _Times(), _Times(), _Times()
    tree = await first.of(checkpoints.take(str(folder), (), _quiet))
    for _ in range(REPEATS):
        assert (await same.of(checkpoints.take(str(folder), (), _quiet))).root == tree.root
    grown = []
    for _ in range(REPEATS):
        for number in chance.sample(range(FILES), CHANGES):
            (folder / f"d{number % FOLDERS}" / f"f{number}").write_bytes(chance.randbytes(FILE_BYTES))
        changed = await take.of(checkpoints.take(str(folder), (), _quiet))
        assert changed.changed >= CHANGES  # and what the last restore put back
        grown.append(changed.stored_bytes / 1e6)
        restored = await restore.of(checkpoints.restore(str(folder), (), tree.root))
        assert (restored.changed, restored.failed) == (CHANGES, ())
    assert (await checkpoints.take(str(folder), (), _quiet)).root == tree.root
    checkpoints.close()
    stored = statistics.median(grown)
    said = (
        f"{FILES:,} files in {FOLDERS} folders, {FILES * FILE_BYTES / 1e9:.1f} GB; medians of {REPEATS}: {CHANGES} "
        f"files changed {take}, {stored:.1f} MB stored; restored {restore}; unchanged {same}; the first {first}"
    )
    return [
        Bar("WS-3", take.wall_s, "s for a checkpoint after 150 changes", "≤ 1.5", take.wall_s <= 1.5, {}, said),
        Bar("WS-3.restore", restore.wall_s, "s to restore them", "≤ 3", restore.wall_s <= 3, {}, said),
        Bar("WS-3.same", same.wall_s, "s for an unchanged folder", "≤ 0.3", same.wall_s <= 0.3, {}, said),
        Bar("WS-3.first", first.wall_s, "s for the first", "≤ 20", first.wall_s <= 20, {}, said),
    ]


async def _one_byte(root: Path) -> Bar:
    folder, chance = root / "single", random.Random(2)
    folder.mkdir()
    content = bytearray(chance.randbytes(LARGE_BYTES))
    checkpoints = _opened(root / "single-store")
    took, grown = _Times(), []
    (folder / "large").write_bytes(content)
    await checkpoints.take(str(folder), (), _quiet)
    for _ in range(REPEATS):
        before = _size(root / "single-store")
        content[chance.randrange(LARGE_BYTES)] ^= 1
        (folder / "large").write_bytes(content)
        await took.of(checkpoints.take(str(folder), (), _quiet))
        grown.append((_size(root / "single-store") - before) / 1e6)
    checkpoints.close()
    usual = statistics.median(grown)
    said = f"{LARGE_BYTES / 1e6:.0f} MB, the most of {REPEATS}, index included; median {usual:.2f}; {took}"
    return Bar("WS-3.byte", max(grown), "MB for one byte in 40 MB", "≤ 2", max(grown) <= 2, {}, said)


async def _cycles(root: Path) -> Bar:
    folder, chance = root / "cycles", random.Random(3)
    folder.mkdir()
    gardener, kept, equal = Gardener(folder, chance), dict[str, str](), 0
    checkpoints = _opened(root / "cycles-store")
    for _ in range(CYCLES):
        for _ in range(10):
            gardener.change()
        now = digest(folder)
        kept[(await checkpoints.take(str(folder), (), _quiet)).root] = now
        then = chance.choice(sorted(kept))
        await checkpoints.restore(str(folder), (), then)
        equal += digest(folder) == kept[then]
    checkpoints.close()
    said = (
        f"{CYCLES} cycles of 10 random changes and a restore of any earlier checkpoint; an independent digest is equal"
    )
    return Bar("WS-3.cycles", equal, "of 100 restores equal", "100", equal == CYCLES, {}, said)


def _opened(store: Path) -> FolderCheckpoints:
    return FolderCheckpoints(ContentStore(store, bytes(32)))


def _quiet(_done: int, _known: int) -> None:
    pass


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
        print(f"    {bar.conditions}")
