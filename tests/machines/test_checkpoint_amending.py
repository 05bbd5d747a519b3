"""What changed while a checkpoint was taken stands in it as it was before."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.checkpoints import Version
from stead.domain.errors import NotFound
from stead.machines.checkpoints import FolderCheckpoints
from stead.storage.contents import ContentStore

KEY = bytes(range(32))
PATHS = ("a.txt", "b.txt", "in/c.txt", "in/deep/d.txt", "new/e.txt")


def quiet(_done: int, _known: int) -> None:
    """Nobody watches."""


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[FolderCheckpoints]:
    made = FolderCheckpoints(ContentStore(tmp_path / "store", KEY))
    yield made
    made.close()


def put(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8")


def test_a_tree_amended_with_what_files_were_is_the_tree_from_before(tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=25, deadline=None)
    @given(
        before=st.dictionaries(st.sampled_from(PATHS), st.text("ab\n", max_size=5)),
        after=st.dictionaries(st.sampled_from(PATHS), st.text("ab\n", max_size=5)),
    )
    def check(before: dict[str, str], after: dict[str, str]) -> None:
        root = tmp_path_factory.mktemp("amended")
        folder = root / "folder"
        folder.mkdir()
        store = FolderCheckpoints(ContentStore(root / "store", KEY))

        async def run() -> None:
            for path, text in before.items():
                put(folder, path, text)
            tree = await store.take(str(folder), (), quiet)
            kept = await store.keep(str(folder), sorted({*before, *after}))
            for path, text in after.items():
                put(folder, path, text)
            later = await store.take(str(folder), (), quiet)
            assert await store.amend(later.root, kept) == tree.root
            assert await store.amend(tree.root, ()) == tree.root

        try:
            asyncio.run(run())
        finally:
            store.close()

    check()


async def test_a_mode_comes_back_too_and_other_files_stay(checkpoints: FolderCheckpoints, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    put(folder, "run.sh", "echo\n")
    put(folder, "other", "1\n")
    os.chmod(folder / "run.sh", 0o755)
    kept = await checkpoints.keep(str(folder), ["run.sh"])
    os.chmod(folder / "run.sh", 0o644)
    put(folder, "run.sh", "rm\n")
    taken = await checkpoints.take(str(folder), (), quiet)
    amended = await checkpoints.amend(taken.root, kept)
    changed = await checkpoints.differences(str(folder), (), amended, taken.root)
    assert [(change.path, change.kind) for change in changed] == [("run.sh", "changed")]
    await checkpoints.restore(str(folder), (), amended)
    assert (folder / "run.sh").read_text("utf-8") == "echo\n"
    assert os.stat(folder / "run.sh").st_mode & 0o777 == 0o755


async def test_a_tree_that_is_not_kept_cannot_be_amended(checkpoints: FolderCheckpoints) -> None:
    with pytest.raises(NotFound):
        await checkpoints.amend("ab" * 32, ())


async def test_a_tree_cannot_be_amended_with_what_is_not_kept(checkpoints: FolderCheckpoints, tmp_path: Path) -> None:
    put(tmp_path / "folder", "a.txt", "1\n")
    taken = await checkpoints.take(str(tmp_path / "folder"), (), quiet)
    with pytest.raises(NotFound, match="not kept"):
        await checkpoints.amend(taken.root, [Version("a.txt", "ab" * 32, 0o644, 2)])
