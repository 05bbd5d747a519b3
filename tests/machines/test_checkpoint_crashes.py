"""kill -9, full disks, damage and hostile company: what was acknowledged is there, and nothing else is touched."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from stead.domain.checkpoints import InUse
from stead.domain.errors import Conflict, InvalidRequest, StorageFault
from stead.machines.checkpoints import FolderCheckpoints
from stead.storage.contents import ContentStore
from stead.storage.trees import Entry, encode
from tests.machines.checkpoint_processes import DEADLINE_S, run, worker
from tests.machines.folders import KEY, digest, opened_checkpoints, quiet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


# -- kill -9 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", [5, pytest.param(40, marks=pytest.mark.long)])
async def test_kills_while_a_folder_is_kept_lose_no_checkpoint_that_was_acknowledged(
    tmp_path: Path, folder: Path, kills: int
) -> None:
    chance = random.Random(5)
    promised: dict[str, str] = {}
    for _ in range(kills):
        with worker("take_until_killed", tmp_path) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            killer = threading.Timer(chance.uniform(0, 0.15), process.kill)  # only the instant is varied
            killer.start()
            said = first + process.stdout.read()
            killer.join(DEADLINE_S)
        lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
        promised |= {root: then for root, then in lines}
        with opened_checkpoints(tmp_path / "store") as checkpoints:
            for root in chance.sample(sorted(promised), min(4, len(promised))):
                assert (await checkpoints.restore(str(folder), (), root)).failed == ()
                assert digest(folder) == promised[root]
    assert len(promised) >= kills
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        kept = chance.choice(sorted(promised))
        await checkpoints.forget(lambda: InUse(frozenset({kept}), frozenset()))
        await checkpoints.restore(str(folder), (), kept)
        assert digest(folder) == promised[kept]


@pytest.mark.parametrize("most", [5, pytest.param(40, marks=pytest.mark.long)])
async def test_kills_while_a_folder_is_restored_leave_no_file_half_and_the_next_restore_mends_it(
    tmp_path: Path, folder: Path, most: int
) -> None:
    chance = random.Random(6)
    versions: list[str] = []
    whole: set[bytes] = set()
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        for number in range(2):
            for name in range(12):
                content = random.Random(100 * number + name).randbytes(200_000)
                whole.add(content)
                (folder / f"f{name}").write_bytes(content)
            versions.append((await checkpoints.take(str(folder), (), quiet)).root)
        then = digest(folder)
    (tmp_path / "roots").write_text(" ".join(versions))
    littered = kills = 0
    while kills < most or (not littered and kills < 60):  # where nobody else is at work, most kills hit a file
        kills += 1
        with worker("restore_until_killed", tmp_path) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            killer = threading.Timer(chance.uniform(0, 0.1), process.kill)
            killer.start()
            process.wait(DEADLINE_S)
            killer.join(DEADLINE_S)
        for path in folder.iterdir():
            littered += path.name.startswith(".stead-")
            assert path.name.startswith(".stead-") or path.read_bytes() in whole
        with opened_checkpoints(tmp_path / "store") as checkpoints:
            tree = await checkpoints.take(str(folder), (), quiet)
            assert tree.files == 12
            await checkpoints.restore(str(folder), (), versions[1])
            assert digest(folder) == then
    assert littered > 0, "no kill came while a file was being written"


# -- full disks -------------------------------------------------------------------------------------------------------


@contextmanager
def _small_disk(place: Path, size: str) -> Iterator[list[str]]:
    place.mkdir()
    mount = f'mount -t tmpfs -o size={size} tmpfs "{place}" && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if shutil.which("unshare") is None or os.system(" ".join(["unshare", "--user", "--mount", "true"])):
        pytest.skip("this machine lets nobody mount a small disk")
    yield inside


def test_a_full_disk_keeps_nothing_half_and_the_store_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with _small_disk(tmp_path / "small", "6m") as inside:
        done = run("fill", tmp_path / "small", *inside)
    assert done.returncode == 0, done.stderr
    assert "the disk is full, nothing was written; free some space" in done.stdout
    assert "recovered" in done.stdout


def test_a_disk_that_fills_up_during_a_restore_has_no_half_file_on_it(tmp_path: Path) -> None:
    with _small_disk(tmp_path / "small", "500k") as inside:
        done = run("fill_by_restoring", tmp_path, *inside)
    assert done.returncode == 0, done.stderr
    assert "is restored, 'c' and what comes after it is not; free some space" in done.stdout
    assert "recovered" in done.stdout


def test_nothing_is_put_into_a_file_system_that_is_mounted_in_the_folder_and_that_is_said(tmp_path: Path) -> None:
    with _small_disk(tmp_path / "small", "500k") as inside:
        done = run("mounted", tmp_path, *inside)
    assert done.returncode == 0, done.stderr
    why = "another file system is mounted there 1"
    assert done.stdout.splitlines() == [f"m {why}", f"m/x {why}"]


# -- damage -----------------------------------------------------------------------------------------------------------


def _damage(pack: Path, at: int) -> None:
    with pack.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


async def test_a_damaged_chunk_is_named_harms_no_other_file_and_is_stored_anew(tmp_path: Path, folder: Path) -> None:
    for name in ("first", "second", "third"):
        (folder / name).write_bytes(random.Random(name).randbytes(20_000))
    large = random.Random(9).randbytes(1_000_000)
    (folder / "zlarge").write_bytes(large)
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        then = digest(folder)
        (pack,) = (tmp_path / "store" / "packs").iterdir()
        _damage(pack, 100)
        _damage(pack, pack.stat().st_size - 5)
        second = (folder / "second").read_bytes()
        for path in folder.iterdir():
            path.write_text("changed")
        restored = await checkpoints.restore(str(folder), (), tree.root)
        assert [left.path for left in restored.failed] == ["first", "zlarge"]
        assert all("damaged" in left.why for left in restored.failed)
        assert (folder / "first").read_text() == (folder / "zlarge").read_text() == "changed"
        assert (folder / "second").read_bytes() == second
        assert sorted(os.listdir(folder)) == ["first", "second", "third", "zlarge"]
        shown = await checkpoints.differences(str(folder), (), tree.root)
        assert "damaged" in next(change.note for change in shown if change.path == "first")
        (folder / "first").write_bytes(random.Random("first").randbytes(20_000))
        (folder / "zlarge").write_bytes(large)
        again = await checkpoints.take(str(folder), (), quiet)
        assert again.root == tree.root
        assert 20_000 < again.stored_bytes < 600_000, "only what was damaged is stored anew"
        shutil.rmtree(folder)
        folder.mkdir()
        assert (await checkpoints.restore(str(folder), (), tree.root)).failed == ()
        assert digest(folder) == then


async def test_a_file_that_never_changed_is_stored_anew_once_its_chunk_was_found_damaged(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "only").write_bytes(b"o" * 5_000)
    os.utime(folder / "only", (1_000_000_000, 1_000_000_000))
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        (pack,) = (tmp_path / "store" / "packs").iterdir()
        _damage(pack, 50)
        (tmp_path / "copy").mkdir()
        assert (await checkpoints.restore(str(tmp_path / "copy"), (), tree.root)).failed
        assert (await checkpoints.take(str(folder), (), quiet)).stored_bytes > 5_000
        assert not (await checkpoints.restore(str(tmp_path / "copy"), (), tree.root)).failed


@pytest.mark.parametrize("harm", [lambda pack: pack.unlink(), lambda pack: os.truncate(pack, 10)], ids=["gone", "cut"])
async def test_a_lost_pack_is_named_and_the_rest_goes_on(
    tmp_path: Path, folder: Path, harm: Callable[[Path], None]
) -> None:
    (folder / "a").write_text("one")
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        (version,) = await checkpoints.keep(str(folder), ["a"])
    harm(tmp_path / "store" / "packs" / "00000001.pack")
    with opened_checkpoints(tmp_path / "store") as checkpoints:
        (folder / "a").write_text("two")
        (changed,) = await checkpoints.keep(str(folder), ["a"])
        restored = await checkpoints.restore(str(folder), (), tree.root)
        assert "00000001.pack" in restored.failed[0].why
        with pytest.raises(StorageFault, match=r"00000001\.pack"):
            await checkpoints.put_back(str(folder), version, expected=changed)
        assert (folder / "a").read_text() == "two"
        (folder / "a").write_text("one")
        await checkpoints.keep(str(folder), ["a"])
        await checkpoints.put_back(str(folder), changed, expected=version)
        assert (folder / "a").read_text() == "two"
        await checkpoints.put_back(str(folder), version, expected=changed)
        await checkpoints.forget(lambda: InUse(frozenset({tree.root}), frozenset()))
        assert not (await checkpoints.restore(str(folder), (), tree.root)).failed


async def test_a_damaged_tree_is_named_harms_no_other_and_is_stored_anew(tmp_path: Path, folder: Path) -> None:
    for name in ("one/x", "two/y"):
        (folder / name).parent.mkdir()
        (folder / name).write_text(name)
    store = ContentStore(tmp_path / "store", KEY)
    checkpoints = FolderCheckpoints(store)
    tree = await checkpoints.take(str(folder), (), quiet)
    (two,) = [entry for entry in store.tree(bytes.fromhex(tree.root)) if entry.name == b"two"]
    wrong = store.tree(two.ref)[0]
    forged = [Entry(b"../../evil", "link", 0, 0, b"/etc"), wrong]
    store.write(lambda c: c.execute("UPDATE trees SET entries = ? WHERE name = ?", (encode(forged), two.ref)))
    for name in ("one/x", "two/y"):
        (folder / name).write_text("changed")
    restored = await checkpoints.restore(str(folder), (), tree.root)
    assert [left.path for left in restored.failed] == ["two"]
    assert two.ref.hex() in restored.failed[0].why
    assert (folder / "one/x").read_text() == "one/x"
    assert (folder / "two/y").read_text() == "changed"
    with pytest.raises(StorageFault, match=two.ref.hex()):
        await checkpoints.forget(lambda: InUse(frozenset({tree.root}), frozenset()))
    (folder / "two/y").write_text("two/y")
    assert (await checkpoints.take(str(folder), (), quiet)).root == tree.root
    assert (await checkpoints.restore(str(folder), (), tree.root)).failed == ()
    checkpoints.close()


# -- hostile company --------------------------------------------------------------------------------------------------


@contextmanager
def _swapping(folder: Path, outside: Path) -> Iterator[list[int]]:
    """Somebody who puts a link to another folder in a folder's place and back, as fast as can be."""
    stop, swaps = threading.Event(), [0]

    def swap() -> None:
        while not stop.is_set():
            try:
                os.rename(folder / "inner", folder / "aside")
                os.symlink(outside, folder / "inner")
                swaps[0] += 1
                os.unlink(folder / "inner")
                os.rename(folder / "aside", folder / "inner")
            except OSError:
                for name in ("inner", "aside"):
                    if (folder / name).is_symlink():
                        (folder / name).unlink()
                (folder / "inner").mkdir(exist_ok=True)
                shutil.rmtree(folder / "aside", ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield swaps
    finally:
        stop.set()
        thread.join(DEADLINE_S)


async def test_folders_swapped_for_links_in_the_middle_let_nothing_out_and_nothing_in(
    tmp_path: Path, folder: Path
) -> None:
    outside = tmp_path / "outside"
    for place, content in ((outside, "precious"), (folder / "inner", "old")):
        place.mkdir()
        for number in range(20):
            (place / f"f{number}").write_text(f"{content} {number}")
    (outside / "only-outside").write_text("precious")
    before = digest(outside)
    store = ContentStore(tmp_path / "store", KEY)
    with closing(FolderCheckpoints(store)) as checkpoints:
        old = await checkpoints.take(str(folder), (), quiet)
        for number in range(20):
            (folder / "inner" / f"f{number}").write_text(f"new {number}")
        new = await checkpoints.take(str(folder), (), quiet)
        (version,) = await checkpoints.keep(str(folder), ["inner/f3"])
        refused: list[Exception] = []
        with _swapping(folder, outside) as swaps:
            for number in range(150):
                await checkpoints.restore(str(folder), (), (old, new)[number % 2].root)
                await checkpoints.take(str(folder), (), quiet)
                for kept in await checkpoints.keep(str(folder), ["inner/f3", "inner/only-outside"]):
                    try:
                        await checkpoints.put_back(str(folder), version, expected=kept)
                    except (Conflict, InvalidRequest) as refusal:
                        refused.append(refusal)
        assert swaps[0] > 100
        assert digest(outside) == before
        names = [store.name_of(path.read_bytes()) for path in outside.iterdir()]
        assert [store.place(name) for name in names] == [None] * 21, "something from outside was kept"
        await checkpoints.restore(str(folder), (), new.root)
        assert (folder / "inner/f3").read_text() == "new 3"
