"""What a folder was like is kept, and comes back: whole, in part, after anything that happens to it."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.checkpoints import ABSENT, InUse, Version
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.left_out import Rules
from stead.machines.restoring import Restoring
from stead.machines.scanning import Scan
from stead.machines.workspace import opened_workspace
from stead.storage.contents import ContentStore
from stead.storage.intake import Naming
from stead.storage.trees import differences
from tests.machines.folders import KEY, Gardener, digest, opened_checkpoints, quiet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[FolderCheckpoints]:
    with opened_checkpoints(tmp_path / "store") as opened:
        yield opened


async def test_one_hunk_or_all_of_a_diff_is_put_back_and_only_as_it_was_shown(
    folder: Path, checkpoints: FolderCheckpoints
) -> None:
    lines = [f"line {at}\n" for at in range(30)]
    (folder / "a.txt").write_text("".join(lines), "utf-8")
    root = (await checkpoints.take(str(folder), (), quiet)).root
    lines[2:4] = ["second\n"]
    lines[25:25] = ["more\n", "and more\n"]
    (folder / "a.txt").write_text("".join(lines), "utf-8")
    (folder / "new.txt").write_text("new", "utf-8")
    change, new = await checkpoints.differences(str(folder), (), root)
    first, second = change.diff.split("\n@@ ")
    await checkpoints.restore(str(folder), (), root, ("a.txt",), f"@@ {second}")
    del lines[25:27]
    assert (folder / "a.txt").read_text("utf-8") == "".join(lines)
    for gone in (f"@@ {second}", change.diff, first.replace("second", "other"), "@@ -1,1 +1,1 @@"):
        with pytest.raises(Conflict, match="does not differ so any more"):
            await checkpoints.restore(str(folder), (), root, ("a.txt",), gone)
    assert (folder / "a.txt").read_text("utf-8") == "".join(lines)
    await checkpoints.restore(str(folder), (), root, ("a.txt",), first)
    assert (await checkpoints.restore(str(folder), (), root, ("new.txt",), new.diff)).changed == 1
    assert await checkpoints.differences(str(folder), (), root) == ()


# -- there and back ---------------------------------------------------------------------------------------------------


async def _cycles(root: Path, seed: int, cycles: int) -> None:
    chance = random.Random(seed)
    folder, other = root / "project", root / "elsewhere" / "project"
    for place in (folder, other):
        place.mkdir(parents=True)
    gardener = Gardener(folder, chance)
    kept: dict[str, str] = {}
    root_then = ""
    with opened_checkpoints(root / "store") as checkpoints:
        for _ in range(cycles):
            done = [gardener.change() for _ in range(chance.randrange(1, 12))]
            tree = await checkpoints.take(str(folder), (), quiet)
            now = digest(folder)
            assert kept.setdefault(tree.root, now) == now, f"two folders share one root after {done}"
            assert [root for root, known in kept.items() if known == now] == [tree.root]
            root_then = chance.choice(sorted(kept))
            restored = await checkpoints.restore(str(folder), (), root_then)
            assert restored.failed == ()
            assert digest(folder) == kept[root_then]
            assert (restored.changed == 0) == (kept[root_then] == now)
            again = await checkpoints.take(str(folder), (), quiet)
            assert again.root == root_then
        fresh = await checkpoints.restore(str(other), (), root_then)
        assert fresh.failed == ()
        assert digest(other) == kept[root_then]


@pytest.mark.timeout(300)
async def test_a_hundred_random_cycles_of_change_and_restore_end_where_they_were(tmp_path: Path) -> None:
    await _cycles(tmp_path, seed=4, cycles=100)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32))
def test_any_history_of_a_folder_can_be_gone_back_to(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    root = tmp_path_factory.mktemp("cycles")
    asyncio.run(_cycles(root, seed, cycles=6))
    shutil.rmtree(root)


async def test_a_restore_is_undone_by_restoring_what_was_kept_before_it(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    (folder / "a").write_text("one")
    one = await checkpoints.take(str(folder), (), quiet)
    (folder / "a").write_text("two")
    (folder / "new").mkdir()
    two = await checkpoints.take(str(folder), (), quiet)
    await checkpoints.restore(str(folder), (), one.root)
    assert (folder / "a").read_text() == "one"
    assert not (folder / "new").exists()
    await checkpoints.restore(str(folder), (), two.root)
    assert (folder / "a").read_text() == "two"
    assert (folder / "new").is_dir()


async def test_what_changed_is_counted_and_an_unchanged_folder_stores_nothing(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    told: list[tuple[int, int]] = []
    for number in range(450):
        (folder / str(number)).write_text(str(number))
    first = await checkpoints.take(str(folder), (), lambda done, known: told.append((done, known)))
    assert (first.files, first.changed, first.size_bytes) == (450, 450, 10 + 180 + 3 * 350)
    assert told[-1] == (450, 450)
    assert [done for done, _ in told] == [200, 400, 450]
    (folder / "7").write_text("eight")
    (folder / "8").chmod(0o600)
    (folder / "9").unlink()
    second = await checkpoints.take(str(folder), (), quiet)
    assert second.changed == 3
    assert 0 < second.stored_bytes < 100_000
    third = await checkpoints.take(str(folder), (), quiet)
    assert (third.root, third.changed, third.stored_bytes) == (second.root, 0, 0)


async def test_a_file_that_was_changed_a_moment_before_it_was_read_is_read_again(tmp_path: Path, folder: Path) -> None:
    """A clock of two seconds would show no difference if it were changed once more."""
    path = folder / "racy"
    store = ContentStore(tmp_path / "store", KEY)
    checkpoints = FolderCheckpoints(store)
    path.write_text("fresh")
    await checkpoints.take(str(folder), (), quiet)
    assert store.seen(os.fsencode(folder))[b""].files == {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stead.machines.scanning.RACY_NS", -60_000_000_000)  # as if a minute had gone by
        await checkpoints.take(str(folder), (), quiet)
    assert list(store.seen(os.fsencode(folder))[b""].files) == [b"racy"]
    for number in range(60):
        path.write_text(f"{number:05d}")
        tree = await checkpoints.take(str(folder), (), quiet)
        assert (await checkpoints.restore(str(folder), (), tree.root)).changed == 0
    checkpoints.close()


async def test_only_the_named_paths_are_restored(checkpoints: FolderCheckpoints, folder: Path) -> None:
    for name in ("src/one.py", "src/deep/two.py", "docs/three.md", "new\nline"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")
    tree = await checkpoints.take(str(folder), (), quiet)
    shutil.rmtree(folder / "src" / "deep")
    for name in ("src/one.py", "src/added.py", "docs/three.md", "new\nline"):
        (folder / name).write_text("changed")
    restored = await checkpoints.restore(str(folder), (), tree.root, ["src/deep/two.py", "new\\nline"])
    assert set(restored.paths) == {"src/deep", "src/deep/two.py", "new\\nline"}
    assert (folder / "src/deep/two.py").read_text() == (folder / "new\nline").read_text() == "old"
    assert (folder / "src/one.py").read_text() == "changed"
    await checkpoints.restore(str(folder), (), tree.root, ["src/"])
    assert (folder / "src/one.py").read_text() == "old"
    assert not (folder / "src/added.py").exists()
    assert (folder / "docs/three.md").read_text() == "changed"
    with pytest.raises(NotFound, match=r"'src/none.py', neither in the checkpoint nor in the folder"):
        await checkpoints.restore(str(folder), (), tree.root, ["src/none.py"])
    for path in ("/etc/passwd", "../x", "a/../../x", ""):
        with pytest.raises(InvalidRequest, match="no path within the folder"):
            await checkpoints.restore(str(folder), (), tree.root, [path])
    with pytest.raises(NotFound):
        await checkpoints.restore(str(folder), (), "ab" * 32)


async def test_a_path_whose_folder_is_now_something_else_is_restored_and_that_is_moved_aside(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    (folder / "src").mkdir()
    (folder / "src/one.py").write_text("old")
    tree = await checkpoints.take(str(folder), (), quiet)
    shutil.rmtree(folder / "src")
    (folder / "src").write_text("a file now")
    restored = await checkpoints.restore(str(folder), (), tree.root, ["src/one.py"])
    (aside,) = folder.glob("stead-aside-*")
    assert [(left.path, left.why) for left in restored.failed] == [
        ("src", f"it is put back; what stood there is now {aside.name!r}")
    ]
    assert aside.read_text() == "a file now"
    assert (folder / "src/one.py").read_text() == "old"


async def test_a_path_in_a_folder_that_is_left_out_by_now_comes_back_alone(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    (folder / "src").mkdir()
    for name in ("one.py", "two.py"):
        (folder / "src" / name).write_text("old")
    tree = await checkpoints.take(str(folder), (), quiet)
    (folder / "src/one.py").unlink()
    (folder / "src/two.py").write_text("changed")
    (folder / "src/CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55")
    restored = await checkpoints.restore(str(folder), (), tree.root, ["src/one.py"])
    assert (restored.paths, restored.failed) == (("src/one.py",), ())
    assert [path.read_text() for path in sorted((folder / "src").glob("*.py"))] == ["old", "changed"]


async def test_what_the_person_changes_while_a_restore_is_at_work_is_moved_aside_or_stays(
    folder: Path, tmp_path: Path
) -> None:
    store = ContentStore(tmp_path / "store", KEY)
    checkpoints = FolderCheckpoints(store)
    (folder / "kept").write_text("old")
    tree = bytes.fromhex((await checkpoints.take(str(folder), (), quiet)).root)
    (folder / "kept").write_text("newer")
    (folder / "later").write_text("later")
    with opened_workspace(str(folder)) as top:
        restoring, naming, began_ns = Restoring(store, top), Naming(store), time.time_ns()
        now = Scan(str(folder), naming, {}, Rules(()), 10, lambda: False).run(top)
        for name in ("kept", "later"):
            while (folder / name).stat().st_mtime_ns < began_ns:  # the clock of files is a coarse one
                (folder / name).write_text("mine, just now")
        restored = restoring.run(differences(store.tree, tree, naming.look, now))
    checkpoints.close()
    assert sorted(left.path for left in restored.failed) == ["kept", "later"]
    (aside,) = folder.glob("stead-aside-*")
    assert aside.read_text() == (folder / "later").read_text() == "mine, just now"
    assert (folder / "kept").read_text() == "old"


# -- what differs -----------------------------------------------------------------------------------------------------


async def test_differences_say_what_became_of_each_path(checkpoints: FolderCheckpoints, folder: Path) -> None:
    for name in ("same", "text", "gone", "mode", "kind"):
        (folder / name).write_text("one\ntwo\nthree\n")
    (folder / "binary").write_bytes(b"\0\1")
    (folder / "link").symlink_to("same")
    (folder / "full").mkdir()
    (folder / "full/inner").write_text("x\n")
    old = await checkpoints.take(str(folder), (), quiet)
    (folder / "text").write_text("one\nTWO\nthree\nfour\n")
    (folder / "gone").unlink()
    (folder / "mode").chmod(0o755)
    (folder / "kind").unlink()
    (folder / "kind").mkdir()
    (folder / "binary").write_bytes(b"\0\2\3")
    (folder / "link").unlink()
    (folder / "link").symlink_to("else\x1bwhere")
    shutil.rmtree(folder / "full")
    (folder / "empty").mkdir()
    now = await checkpoints.differences(str(folder), (), old.root)
    new = await checkpoints.take(str(folder), (), quiet)
    assert await checkpoints.differences(str(folder), (), old.root, new.root) == now
    assert [(change.path, change.kind, change.what, change.note) for change in now] == [
        ("binary", "changed", "file", "binary, or too large to be shown"),
        ("empty", "added", "folder", ""),
        ("full/inner", "deleted", "file", ""),
        ("gone", "deleted", "file", ""),
        ("kind", "deleted", "file", ""),
        ("kind", "added", "folder", ""),
        ("link", "changed", "link", "leads to else\\x1bwhere"),
        ("mode", "mode", "file", "0644 → 0755"),
        ("text", "changed", "file", ""),
    ]
    (text,) = [change for change in now if change.path == "text"]
    assert (text.added, text.removed) == (2, 1)
    assert "-two\n+TWO\n three\n+four" in text.diff
    assert await checkpoints.differences(str(folder), (), new.root) == ()
    with pytest.raises(NotFound):
        await checkpoints.differences(str(folder), (), old.root, "00" * 32)


async def test_looking_at_what_differs_stores_nothing(
    checkpoints: FolderCheckpoints, folder: Path, tmp_path: Path
) -> None:
    old = await checkpoints.take(str(folder), (), quiet)
    size = sum(path.stat().st_size for path in (tmp_path / "store" / "packs").iterdir())
    (folder / "large").write_bytes(random.Random(0).randbytes(3_000_000))
    assert len(await checkpoints.differences(str(folder), (), old.root)) == 1
    assert sum(path.stat().st_size for path in (tmp_path / "store" / "packs").iterdir()) == size


# -- single files -----------------------------------------------------------------------------------------------------


async def test_an_edit_is_shown_and_undone_and_its_undoing_undone(checkpoints: FolderCheckpoints, folder: Path) -> None:
    path = folder / "main.py"
    path.write_text("a\nb\n")
    path.chmod(0o750)
    (old,) = await checkpoints.keep(str(folder), ["main.py"])
    path.write_text("a\nc\nd\n")
    (new,) = await checkpoints.keep(str(folder), ["main.py"])
    change = await checkpoints.change(old, new)
    assert (change.kind, change.added, change.removed) == ("changed", 2, 1)
    assert "-b\n+c\n+d" in change.diff
    await checkpoints.put_back(str(folder), old, expected=new)
    assert path.read_text() == "a\nb\n"
    assert path.stat().st_mode & 0o777 == 0o750
    with pytest.raises(Conflict, match="nothing was done"):
        await checkpoints.put_back(str(folder), old, expected=new)
    await checkpoints.put_back(str(folder), new, expected=old)
    assert path.read_text() == "a\nc\nd\n"
    path.chmod(0o600)
    with pytest.raises(Conflict):
        await checkpoints.put_back(str(folder), old, expected=new)


async def test_a_file_that_was_not_there_is_absent_and_undoing_removes_it(
    checkpoints: FolderCheckpoints, folder: Path
) -> None:
    old, other = await checkpoints.keep(str(folder), ["new.py", "deep/er/x"])
    assert old == Version("new.py", ABSENT)
    assert other.content == ABSENT
    (folder / "new.py").write_text("")
    (new,) = await checkpoints.keep(str(folder), ["new.py"])
    assert (await checkpoints.change(old, new)).kind == "added"
    assert (await checkpoints.change(new, old)).kind == "deleted"
    await checkpoints.put_back(str(folder), old, expected=new)
    assert os.listdir(folder) == []
    (folder / "sub").mkdir()
    (folder / "sub/x").write_text("x")
    (kept,) = await checkpoints.keep(str(folder), ["sub/x"])
    shutil.rmtree(folder / "sub")
    await checkpoints.put_back(str(folder), kept, expected=Version("sub/x", ABSENT))
    assert (folder / "sub/x").read_text() == "x"


async def test_a_path_through_a_link_is_absent_and_nothing_is_put_where_it_leads(
    checkpoints: FolderCheckpoints, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    (folder / "way").symlink_to(outside)
    (folder / "direct").symlink_to(outside / "secret")
    os.mkfifo(folder / "pipe")
    through, direct, pipe, itself = await checkpoints.keep(str(folder), ["way/secret", "direct", "pipe", "way"])
    assert {version.content for version in (through, direct, pipe, itself)} == {ABSENT}
    (folder / "plain").write_text("mine")
    (plain,) = await checkpoints.keep(str(folder), ["plain"])
    for path in ("way/secret", "way/new"):
        with pytest.raises(InvalidRequest, match="cannot be put back"):
            await checkpoints.put_back(str(folder), Version(path, plain.content, 0o644), expected=Version(path, ABSENT))
    for path in ("direct", "pipe", "way"):
        with pytest.raises(Conflict):
            await checkpoints.put_back(str(folder), Version(path, plain.content, 0o644), expected=Version(path, ABSENT))
    assert sorted(os.listdir(outside)) == ["secret"]
    assert (outside / "secret").read_text() == "s"


async def test_a_version_that_is_not_kept_any_more_is_not_found(checkpoints: FolderCheckpoints, folder: Path) -> None:
    (folder / "a").write_text("one")
    (one,) = await checkpoints.keep(str(folder), ["a"])
    (folder / "a").write_text("two")
    (two,) = await checkpoints.keep(str(folder), ["a"])
    assert await checkpoints.forget(lambda: InUse(frozenset(), frozenset({two.content, ABSENT}))) > 0
    with pytest.raises(NotFound, match="not kept any more"):
        await checkpoints.change(one, two)
    with pytest.raises(NotFound):
        await checkpoints.put_back(str(folder), one, expected=two)
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_text() == "two"


# -- waiting and giving up --------------------------------------------------------------------------------------------


async def test_an_edit_does_not_wait_for_a_checkpoint_and_one_given_up_leaves_a_sound_store(
    tmp_path: Path, folder: Path
) -> None:
    for number in range(400):
        (folder / f"f{number}").write_bytes(random.Random(number).randbytes(40_000))
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    with opened_checkpoints(tmp_path / "store") as checkpoints:

        def told(_done: int, _known: int) -> None:
            loop.call_soon_threadsafe(begun.set)

        for _ in range(5):
            begun.clear()
            taking = asyncio.create_task(checkpoints.take(str(folder), (), told))
            await asyncio.wait_for(begun.wait(), 30)
            (version,) = await checkpoints.keep(str(folder), ["f0"])
            taking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await taking
            await checkpoints.put_back(str(folder), version, expected=version)
        tree = await checkpoints.take(str(folder), (), quiet)
        assert await checkpoints.forget(lambda: InUse(frozenset({tree.root}), frozenset())) >= 0
        before = digest(folder)
        shutil.rmtree(folder)
        folder.mkdir()
        await checkpoints.restore(str(folder), (), tree.root)
        assert digest(folder) == before


async def test_a_closed_store_says_so_and_a_second_process_is_kept_out(tmp_path: Path, folder: Path) -> None:
    checkpoints = FolderCheckpoints(ContentStore(tmp_path / "store", KEY))
    with pytest.raises(Conflict, match="another process"):
        ContentStore(tmp_path / "store", KEY)
    checkpoints.close()
    with pytest.raises(StorageFault, match="closed; start Stead again"):
        await checkpoints.take(str(folder), (), quiet)
    FolderCheckpoints(ContentStore(tmp_path / "store", KEY)).close()
