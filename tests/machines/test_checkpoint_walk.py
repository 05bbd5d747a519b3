"""Folders that are made to be hard to keep: nothing hangs, nothing outside is read, and what is left out is said."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain.checkpoints import LeftOut
from stead.domain.errors import InvalidRequest
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.left_out import REBUILT
from tests.machines.checkpoint_processes import run
from tests.machines.folders import digest, opened_checkpoints, quiet

TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[FolderCheckpoints]:
    with opened_checkpoints(tmp_path / "store") as opened:
        yield opened


def _fill(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)


async def test_what_tools_make_anew_is_neither_kept_nor_touched(checkpoints: FolderCheckpoints, folder: Path) -> None:
    _fill(folder, "kept", "sub/kept", ".git/config", "sub/.git/config", "node_modules/a/b", "sub/__pycache__/x.pyc")
    _fill(folder, "cache/CACHEDIR.TAG", "cache/big", "build/out", "a.log", "keep.log", "venv.txt", "worktree/x")
    (folder / "cache/CACHEDIR.TAG").write_text(TAG)
    (folder / "worktree/.git").write_text("gitdir: elsewhere")
    for name in (".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"):
        _fill(folder, f"{name}/x")
    ignore = ("*.log", "!keep.log", "/build/", "# a comment", "")
    tree = await checkpoints.take(str(folder), ignore, quiet)
    assert tree.files == 5
    why = {left.path: left.why for left in tree.left_out}
    assert tree.left_out_count == len(why) == 15
    assert why[".git"] == "Git's own history is not kept"
    assert why["node_modules"] == why["cache"] == why["sub/__pycache__"] == REBUILT
    assert why["a.log"] == why["build"] == "an ignore pattern names it"
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    (folder / "kept").unlink()
    (folder / ".git/config").write_text("new")
    shutil.rmtree(folder / "sub")
    _fill(folder, "sub/__pycache__/y.pyc", "b.log", "added/__pycache__/z", "added/other")
    restored = await checkpoints.restore(str(folder), ignore, tree.root)
    assert [left.path for left in restored.failed] == ["added"]
    assert (folder / "kept").exists()
    assert (folder / ".git/config").read_text() == "new"
    assert (folder / "b.log").exists()
    assert (folder / "sub/__pycache__/y.pyc").exists()
    assert os.listdir(folder / "added") == ["__pycache__"], "no machine makes one in the folder, so it is the person's"
    assert before[folder / "sub/kept"] == (folder / "sub/kept").read_text()


async def test_what_stands_where_something_was_is_moved_aside_when_it_is_not_kept(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    _fill(folder, "one", "two", "three", "four/x")
    tree = await checkpoints.take(str(folder), (), quiet)
    for name in ("one", "two", "three"):
        (folder / name).unlink()
    os.mkfifo(folder / "one")
    with (folder / "two").open("wb") as file:
        file.truncate((2 << 30) + 1)
    (folder / "three").mkdir()
    _fill(folder, "three/.git/config", "three/other")
    (folder / "four/CACHEDIR.TAG").write_text(TAG)
    restored = await checkpoints.restore(str(folder), ["four"], tree.root)
    assert sorted(left.path for left in restored.failed) == ["four", "one", "three", "two"]
    assert all("it is put back; what stood there is now 'stead-aside-" in left.why for left in restored.failed)
    assert [(folder / name).read_text() for name in ("one", "two", "three", "four/x")] == [
        "one",
        "two",
        "three",
        "four/x",
    ]
    assert not (folder / "four/CACHEDIR.TAG").exists()
    aside = list(folder.glob("stead-aside-*"))
    assert len(aside) == 4 and [path for path in aside if (path / ".git/config").exists()]
    assert [path for path in aside if (path / "CACHEDIR.TAG").exists()]
    assert not [name for name in os.listdir(folder) if name.startswith(".stead")]


async def test_pipes_sockets_devices_and_huge_files_are_left_out_at_once(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        with (folder / "huge").open("wb") as file:
            file.truncate((2 << 30) + 1)
        _fill(folder, "bell\x07", "caf")
        (folder / os.fsdecode(b"\xff\x1b[2Jpipe")).symlink_to("caf")
        os.mkfifo(folder / os.fsdecode(b"\xff\n"))
        tree = await asyncio.wait_for(checkpoints.take(str(folder), (), quiet), 30)
    special = "devices, pipes and sockets are not kept"
    assert set(tree.left_out) == {
        LeftOut("pipe", special),
        LeftOut("socket", special),
        LeftOut("huge", "it is larger than 2 GB"),
        LeftOut("\\udcff\\n", special),
    }
    assert tree.files == 3


async def test_loops_of_links_and_links_that_lead_out_are_kept_as_links(
    checkpoints: FolderCheckpoints, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    _fill(outside, "secret")
    for name, target in {
        "self": "self",
        "up": "..",
        "here": ".",
        "one": "two",
        "two": "one",
        "out": str(outside),
    }.items():
        (folder / name).symlink_to(target)
    tree = await checkpoints.take(str(folder), (), quiet)
    assert (tree.files, tree.size_bytes, tree.left_out_count) == (6, 0, 0)
    before, elsewhere = digest(folder), digest(outside)
    for name in os.listdir(folder):
        (folder / name).unlink()
    _fill(folder, "self/x", "out")
    await checkpoints.restore(str(folder), (), tree.root)
    assert (digest(folder), digest(outside)) == (before, elsewhere)


async def test_nests_too_deep_to_follow_are_left_out(checkpoints: FolderCheckpoints, folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    _fill(folder, "beside")
    tree = await checkpoints.take(str(folder), (), quiet)
    assert [left.why for left in tree.left_out] == ["it is nested deeper than 128 folders"]
    assert tree.files == 1
    (folder / "beside").unlink()
    assert (await checkpoints.restore(str(folder), (), tree.root)).paths == ("beside",)


async def test_too_many_files_are_refused_with_a_way_out(tmp_path: Path, folder: Path) -> None:
    _fill(folder, *(f"many/{number}" for number in range(60)), "few")
    with opened_checkpoints(tmp_path / "store", most_files=50) as checkpoints:
        with pytest.raises(InvalidRequest, match=r"more than 50 files .* ignore patterns"):
            await checkpoints.take(str(folder), (), quiet)
        tree = await checkpoints.take(str(folder), ["many/"], quiet)
    assert tree.files == 1


async def test_patterns_that_cannot_be_read_are_refused_and_slow_ones_are_not_slow(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    (folder / ("a" * 200)).touch()
    (folder / os.fsdecode(b"caf\xe9.log")).touch()
    for pattern in ("!", "[z-a]", "x" * 1_001):
        with pytest.raises(InvalidRequest, match="pattern"):
            await checkpoints.take(str(folder), [pattern], quiet)
    slow = "*a" * 60 + "b"
    tree = await asyncio.wait_for(checkpoints.take(str(folder), [slow, "*.log"], quiet), 20)
    assert [left.path for left in tree.left_out] == ["caf\\udce9.log"]


async def test_a_folder_that_is_gone_is_said(checkpoints: FolderCheckpoints, folder: Path) -> None:
    tree = await checkpoints.take(str(folder), (), quiet)
    folder.rmdir()
    for work in (
        checkpoints.take(str(folder), (), quiet),
        checkpoints.restore(str(folder), (), tree.root),
        checkpoints.differences(str(folder), (), tree.root),
        checkpoints.keep(str(folder), ["x"]),
    ):
        with pytest.raises(InvalidRequest, match="no folder that can be read"):
            await work
    folder.symlink_to("/etc")
    with pytest.raises(InvalidRequest, match="no folder that can be read"):
        await checkpoints.take(str(folder), (), quiet)


async def test_a_folder_that_is_changed_and_removed_while_it_is_walked_harms_nobody(
    checkpoints: FolderCheckpoints, tmp_path: Path
) -> None:
    for number in range(6):
        folder = tmp_path / f"project{number}"
        _fill(folder, *(f"d{at % 40}/f{at}" for at in range(400)))
        goes = threading.Thread(target=shutil.rmtree, args=(folder,), kwargs={"ignore_errors": True})
        taking = asyncio.create_task(checkpoints.take(str(folder), (), quiet))
        goes.start()
        try:
            tree = await taking
        except InvalidRequest as refusal:
            assert "no folder that can be read" in str(refusal)
        else:
            (tmp_path / f"again{number}").mkdir()
            restored = await checkpoints.restore(str(tmp_path / f"again{number}"), (), tree.root)
            assert restored.failed == ()
        goes.join(30)


def test_what_its_owner_may_not_read_just_now_is_kept_and_put_back_all_the_same() -> None:
    """In a process that is not root, in a folder that it may reach."""
    place = Path(tempfile.mkdtemp(prefix="stead-test-"))
    try:
        place.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(place, 65534, 65534)
        done = run("unreadable", place)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["kept", "restored", "edited", "done"]
    finally:
        shutil.rmtree(place)
