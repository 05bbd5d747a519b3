"""WS-3: checkpoint, diff, undo and restore after 150 changes in 10,000 files of 1 GB; unchanged ones; how they grow.

Everything goes the whole way: the folder on a real disk, the encrypted store, each checkpoint on the disk before it
counts. CPU time is that of all threads of this process.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TypeVar

from bench.bar import Bar
from stead.domain.checkpoints import Version
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.scanning import RACY_NS
from stead.storage.contents import ContentStore
from tests.machines.folders import Gardener, digest

FILES, FOLDERS, FILE_BYTES = 10_000, 500, 100_000
EDITS, ADDED, DELETED, RENAMED, MODES = 100, 15, 15, 10, 10
CHANGES = EDITS + ADDED + DELETED + RENAMED + MODES
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
        path.write_text("\n".join(f"{chance.getrandbits(400):0100x}" for _ in range(FILE_BYTES // 101)) + "\n")
    os.sync()  # the folder was not written this moment, and so the disk has nothing else to do
    checkpoints = _opened(root / "store")
    times = {name: _Times() for name in ("first", "same", "diff", "take", "undo", "restore")}
    tree = await times["first"].of(checkpoints.take(str(folder), (), _quiet))
    time.sleep(RACY_NS / 1e9)  # a folder that a person has worked on, not one made this second
    await checkpoints.take(str(folder), (), _quiet)
    for _ in range(REPEATS):
        assert (await times["same"].of(checkpoints.take(str(folder), (), _quiet))).root == tree.root
    grown = []
    for _ in range(REPEATS):
        edited = _change(folder, chance)
        before = await checkpoints.keep(str(folder), edited)
        for name in edited:
            _edit(folder / name, chance)
        found = await times["diff"].of(checkpoints.differences(str(folder), (), tree.root))
        assert len(found) == CHANGES + RENAMED, len(found)
        changed = await times["take"].of(checkpoints.take(str(folder), (), _quiet))
        assert changed.changed >= CHANGES
        grown.append(changed.stored_bytes / 1e6)
        after = await checkpoints.keep(str(folder), edited)
        await times["undo"].of(_undo(checkpoints, str(folder), before, after))
        await _undo(checkpoints, str(folder), after, before)
        restored = await times["restore"].of(checkpoints.restore(str(folder), (), tree.root))
        assert (restored.changed, restored.failed) == (CHANGES + RENAMED, ())
        time.sleep(RACY_NS / 1e9)  # what is changed next is all that is young
        assert (await checkpoints.take(str(folder), (), _quiet)).root == tree.root
    checkpoints.close()
    said = (
        f"{FILES:,} files in {FOLDERS} folders, {FILES * FILE_BYTES / 1e9:.1f} GB; medians of {REPEATS}; {EDITS} files "
        f"edited, {ADDED} added, {DELETED} deleted, {RENAMED} renamed, {MODES} modes: {times['take']}, "
        f"{statistics.median(grown):.1f} MB stored; compared {times['diff']}; the {EDITS} edits undone one by one "
        f"{times['undo']}; restored {times['restore']}; unchanged {times['same']}; the first {times['first']}"
    )
    bars = [
        ("WS-3", "take", "s for a checkpoint after 150 changes", 0.3),
        ("WS-3.diff", "diff", "s to compare", 0.3),
        ("WS-3.undo", "undo", f"s to undo {EDITS} edits", 0.3),
        ("WS-3.restore", "restore", "s to restore", 0.3),
        ("WS-3.same", "same", "s for an unchanged folder", 0.3),
        ("WS-3.first", "first", "s for the first", 20),
    ]
    return [
        Bar(id, times[name].wall_s, unit, f"≤ {most}", times[name].wall_s <= most, {}, said)
        for id, name, unit, most in bars
    ]


def _change(folder: Path, chance: random.Random) -> list[str]:
    """Add, delete, rename and change modes; gives the paths of files that are to be edited."""
    numbers = chance.sample(range(FILES), EDITS + DELETED + RENAMED + MODES)
    paths = [f"d{number % FOLDERS}/f{number}" for number in numbers]
    for number in range(ADDED):
        (folder / f"d{number}" / "added").write_text("new\n" * 1_000)
    for path in paths[EDITS : EDITS + DELETED]:
        (folder / path).unlink()
    for path in paths[EDITS + DELETED : EDITS + DELETED + RENAMED]:
        (folder / path).rename(folder / f"{path}.renamed")
    for path in paths[-MODES:]:
        (folder / path).chmod(0o755)
    return paths[:EDITS]


def _edit(path: Path, chance: random.Random) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[chance.randrange(len(lines))] = "edited\n"
    path.write_text("".join(lines))


async def _undo(
    checkpoints: FolderCheckpoints, folder: str, before: Sequence[Version], after: Sequence[Version]
) -> None:
    for old, new in zip(before, after, strict=True):
        await checkpoints.put_back(folder, old, new)


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
