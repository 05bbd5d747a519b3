"""What tests of checkpoints run in processes of their own: to kill them, to limit them, to take their rights away.

``python -m tests.machines.checkpoint_workers NAME FOLDER`` works on ``FOLDER/project`` and ``FOLDER/store``, and says
what comes of it.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

from stead.domain.checkpoints import ABSENT, InUse
from stead.domain.errors import StorageFault
from tests.machines.folder_copies import compare_many
from tests.machines.folders import Gardener, digest, opened_checkpoints, quiet

NOBODY = 65534


def say(text: str) -> None:
    """Report at once, in one piece."""
    os.write(1, text.encode() + b"\n")


def take_until_killed(place: Path) -> None:
    """Change the folder and keep it; say each root with the digest of what it holds, once it is acknowledged."""
    folder = place / "project"
    gardener = Gardener(folder, random.Random())

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            while True:
                for _ in range(3):
                    gardener.change()
                now = digest(folder)
                tree = await checkpoints.take(str(folder), (), quiet)
                say(f"{tree.root} {now}")

    asyncio.run(work())


def restore_until_killed(place: Path) -> None:
    """Restore the trees that ``roots`` names, one after another."""
    roots = (place / "roots").read_text().split()

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            say("ready")
            while True:
                for root in roots:
                    await checkpoints.restore(str(place / "project"), (), root)

    asyncio.run(work())


def fill(place: Path) -> None:
    """Keep until the disk is full; say what came of it; make room and go on."""
    folder, chance = place / "project", random.Random(1)
    folder.mkdir()
    ballast = place / "ballast"
    ballast.write_bytes(b"\0" * 2_000_000)

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            kept = {}
            for number in range(1000):
                (folder / "a").write_bytes(chance.randbytes(300_000))
                (folder / "b").write_bytes(bytes(number))
                now = digest(folder)
                try:
                    kept[(await checkpoints.take(str(folder), (), quiet)).root] = now
                except StorageFault as fault:
                    say(f"full {fault}")
                    break
            assert len(kept) > 2
            ballast.unlink()
            for root, then in kept.items():
                assert (await checkpoints.restore(str(folder), (), root)).failed == ()
                assert digest(folder) == then
            (folder / "c").write_text("there is room again")
            await checkpoints.take(str(folder), (), quiet)
            freed = await checkpoints.forget(lambda: InUse(frozenset(), frozenset()))
            assert freed > 300_000 * len(kept), freed
            say(f"recovered {len(kept)}")

    asyncio.run(work())


def fill_by_restoring(place: Path) -> None:
    """Restore onto a disk that has no room; say what came of it; make room and restore again."""
    folder, chance = place / "small" / "project", random.Random(2)
    folder.mkdir()

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            for name in ("a", "b", "c"):
                (folder / name).write_bytes(chance.randbytes(150_000))
            then = digest(folder)
            tree = await checkpoints.take(str(folder), (), quiet)
            for name in ("a", "b", "c"):
                (folder / name).unlink()
            (place / "small" / "ballast").write_bytes(b"\0" * 200_000)
            try:
                await checkpoints.restore(str(folder), (), tree.root)
            except StorageFault as fault:
                say(f"full {fault}")
            assert all(path.stat().st_size == 150_000 for path in folder.iterdir()), os.listdir(folder)
            (place / "small" / "ballast").unlink()
            assert (await checkpoints.restore(str(folder), (), tree.root)).failed == ()
            assert digest(folder) == then
            say("recovered")

    asyncio.run(work())


def mounted(place: Path) -> None:
    """Restore a folder in which another file system is mounted where the tree has files."""
    folder = place / "project"
    (folder / "m").mkdir(parents=True)
    for name in ("m/x", "other"):
        (folder / name).write_text("old")

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            tree = await checkpoints.take(str(folder), (), quiet)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder / "m"], check=True)
            for name in ("m/y", "other"):
                (folder / name).write_text("new")
            for paths in ((), ("m/x",)):
                restored = await checkpoints.restore(str(folder), (), tree.root, paths)
                say(f"{restored.failed[0].path} {restored.failed[0].why} {len(restored.failed)}")
            assert os.listdir(folder / "m") == ["y"]
            assert (folder / "other").read_text() == "old"

    asyncio.run(work())


def unreadable(place: Path) -> None:
    """Keep and restore a folder parts of which may not be read, as somebody who is not root."""
    _become_nobody(place)
    folder = place / "project"
    for name in ("open", "closed", "shut/inside", "locked/inside", "locked/other"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "closed").chmod(0)
    (folder / "shut").chmod(0)
    (folder / "locked").chmod(0o500)

    async def work() -> None:
        with opened_checkpoints(place / "store") as checkpoints:
            tree = await checkpoints.take(str(folder), (), quiet)
            assert (tree.files, tree.left_out) == (5, ())
            assert (folder / "closed").stat().st_mode & 0o777 == 0
            say("kept")
            (folder / "locked").chmod(0o700)
            (folder / "locked/inside").write_text("changed")
            (folder / "locked/other").unlink()
            (folder / "locked").chmod(0o500)
            (folder / "open").write_text("hidden")
            (folder / "open").chmod(0)
            (folder / "shut").chmod(0o700)
            (folder / "shut/inside").unlink()
            (folder / "shut").chmod(0o311)
            restored = await checkpoints.restore(str(folder), (), tree.root)
            assert restored.failed == ()
            for name in ("locked/inside", "locked/other", "open", "shut/inside"):
                assert (folder / name).read_text() == name
            assert [(folder / name).stat().st_mode & 0o777 for name in ("closed", "shut", "locked")] == [
                0,
                0o500,
                0o500,
            ]
            say("restored")
            (folder / "open").chmod(0)
            (kept,) = await checkpoints.keep(str(folder), ["open"])
            assert kept.content != ABSENT and kept.mode == 0
            (kept,) = await checkpoints.keep(str(folder), ["locked/inside"])
            assert kept.content != ABSENT
            say("edited")
            (folder / "shut").chmod(0o700)
            (folder / "closed").chmod(0o600)
            (folder / "open").chmod(0o600)
            (folder / "locked").chmod(0o700)
            say("done")

    asyncio.run(work())


def copies(place: Path) -> None:
    """Compare restores of random folders with copies, as somebody who is not root."""

    _become_nobody(place)
    compare_many(place, 60)
    say("compared")


def _become_nobody(place: Path) -> None:
    asyncio.run(_warm_up(place))  # a user who is not root may not be able to read what is imported later
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


async def _warm_up(place: Path) -> None:
    (place / "warm").mkdir()
    (place / "warm" / "large").write_bytes(bytes(100_000))
    with opened_checkpoints(place / "warm-store") as checkpoints:
        tree = await checkpoints.take(str(place / "warm"), ["*.log"], quiet)
        await checkpoints.restore(str(place / "warm"), ["*.log"], tree.root)


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
