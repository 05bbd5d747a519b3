"""Ways to take a part of the folder out of undo: whatever an agent makes, its changes are listed and can be undone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stead.config import Home
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.runner.ignored import REMADE
from stead.storage.contents import ContentStore
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import sit_down
from tests.machines.folders import KEY, quiet

TAG = "Signature: 8a477f597d28d172789f06886806bc55\n"
SAFE, EVIL = "safe = True\n", "import backdoor\n"


def tag(folder: Path, at: str, text: str = TAG) -> None:
    (folder / at).mkdir(parents=True, exist_ok=True)
    (folder / at / "CACHEDIR.TAG").write_text(text)


def swap(folder: Path, name: str) -> None:
    """The sources move into a folder with such a name, and a link stands in their place."""
    (folder / name).mkdir(exist_ok=True)
    (folder / "src").rename(folder / name / "src")
    (folder / "src").symlink_to(f"{name}/src")


def above(folder: Path, name: str) -> None:
    tag(folder, name)
    (folder / "src").rename(folder / name / "src")


def in_place(folder: Path, make: Callable[[Path], object], path: str = "src/app.py") -> None:
    (folder / path).rename(folder.parent / "away")
    make(folder / path)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate((2 << 30) + 1)


def nest(path: Path) -> None:
    (path / ".git").mkdir(parents=True)
    (path / ".git/config").write_text("kept by nobody")


SWITCHES: dict[str, Callable[[Path], object]] = {
    "a tag": lambda folder: tag(folder, "src"),
    "a tag at the top": lambda folder: tag(folder, "."),
    "a tag with more behind it": lambda folder: tag(folder, "src", TAG + "# a cache, honest\n"),
    "a tag above": lambda folder: above(folder, "deep"),
    "the name of packages": lambda folder: (folder / "src").rename(folder / "node_modules"),
    "a link into packages": lambda folder: swap(folder, "node_modules"),
    "a link into an environment": lambda folder: swap(folder, ".venv"),
    "a link into a cache": lambda folder: swap(folder, "__pycache__"),
    "a pipe in its place": lambda folder: in_place(folder, os.mkfifo),
    "a huge file in its place": lambda folder: in_place(folder, sparse),
    "a folder in its place": lambda folder: in_place(folder, Path.mkdir),
    "a repository in its place": lambda folder: in_place(folder, nest),
    "a link in its place": lambda folder: in_place(folder, lambda path: path.symlink_to("/dev/null")),
    "a file in place of the folder": lambda folder: in_place(folder, Path.touch, "src"),
    "a pipe in place of the folder": lambda folder: in_place(folder, os.mkfifo, "src"),
    "a repository made of the folder": lambda folder: (folder / "src/.git").mkdir(),
    "no permissions on the file": lambda folder: (folder / "src/app.py").chmod(0),
    "no permissions on the folder": lambda folder: (folder / "src").chmod(0),
    "a folder that is only passed through": lambda folder: (folder / "src").chmod(0o311),
}


@contextmanager
def daemon(root: Path) -> Iterator[FolderCheckpoints]:
    """The checkpoints of a home, as a daemon opens them."""
    home = Home(root / "home")
    home.make()
    made = FolderCheckpoints(ContentStore(root / "store", KEY))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text(SAFE)
    return folder


async def paths(checkpoints: FolderCheckpoints, folder: Path, root: str) -> set[str]:
    return {change.path for change in await checkpoints.differences(str(folder), (), root)}


def act(folder: Path) -> bool:
    """Change the sources, if they are there as sources."""
    app = folder / "src/app.py"
    if not app.is_file() or app.stat().st_size > 100 or app.resolve() == Path("/dev/null"):
        return False
    mode = app.stat().st_mode
    app.chmod(0o600)
    app.write_text(EVIL)
    app.chmod(mode)
    return True


@pytest.mark.parametrize("switch", SWITCHES)
async def test_what_is_done_behind_a_switch_is_listed_and_undone(tmp_path: Path, folder: Path, switch: str) -> None:
    with daemon(tmp_path) as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        act(folder)
        SWITCHES[switch](folder)
        assert any(path.split("/")[0] == "src" for path in await paths(checkpoints, folder, tree.root))
        await checkpoints.restore(str(folder), (), tree.root)
        assert (folder / "src/app.py").read_text() == SAFE
        assert not (folder / "src").is_symlink()


@pytest.mark.parametrize("name", sorted(REMADE))
async def test_a_folder_that_was_there_is_left_out_and_told_whatever_becomes_of_it(
    tmp_path: Path, folder: Path, name: str
) -> None:
    (folder / name / "lib").mkdir(parents=True)
    (folder / name / "lib/big").write_text(SAFE)
    with daemon(tmp_path) as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        assert [left.path for left in tree.left_out] == [name] and tree.files == 1
        (folder / name / "lib/big").write_text("made anew")
        await checkpoints.restore(str(folder), (), tree.root)
        assert (folder / name / "lib/big").read_text() == "made anew"


def test_a_hostile_agent_cannot_switch_undo_off_over_a_restart(tmp_path: Path, folder: Path) -> None:
    """Through a real daemon: an objective, which keeps no checkpoints, makes the switch before the session begins."""
    house = LivingHome(tmp_path / "stead", forked=True)
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/activate").write_text(SAFE)
    script = f"printf '{TAG}' > src/CACHEDIR.TAG; mkdir -p lib/.venv; cp src/app.py lib/.venv/app.py"
    harm = "for f in src/app.py lib/.venv/app.py .venv/bin/activate; do echo import backdoor > $f; done"
    turns = [Turn("", (Call("shell", {"command": script}),)), Turn("Tidied.")]
    later = [Turn("", (Call("shell", {"command": harm}),)), Turn("Nothing changed.")]
    try:
        house.start()
        with served(turns) as model:
            use_model(house, model.openai)
            house.finish(house.give("tidy up", folder))
        house.stop()
        house.start()
        with served(later) as model:
            use_model(house, model.openai, name="other")
            desk = sit_down(house, folder)
            end = desk.turn("go on")
            assert {change["path"] for change in end["changes"]} == {"src/app.py"}
            for path in ("lib/.venv/app.py", ".venv/bin/activate"):  # what tools make anew stays in the machine
                assert not (folder / path).exists() or (folder / path).read_text() == SAFE
            [mark] = desk.items("checkpoints")
            desk.restore(mark["id"], "--files")
        for path in ("src/app.py", ".venv/bin/activate"):
            assert (folder / path).read_text() == SAFE, path
    finally:
        house.stop()
