"""Ways to take a part of the folder out of undo: whatever an agent makes, its changes are listed and can be undone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stead.config import Home
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.first_look import FirstLooks
from stead.machines.left_out import REMADE
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
    made = FolderCheckpoints(ContentStore(root / "store", KEY), before=FirstLooks(home).left_out)
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


@pytest.mark.parametrize("switch", [name for name in SWITCHES if name.startswith("a ") and "tag" in name])
async def test_a_switch_of_one_session_is_none_in_the_next_of_another_daemon(
    tmp_path: Path, folder: Path, switch: str
) -> None:
    with daemon(tmp_path) as checkpoints:
        await checkpoints.take(str(folder), (), quiet)
    SWITCHES[switch](folder)
    with daemon(tmp_path) as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        (app,) = folder.rglob("app.py")
        app.write_text(EVIL)
        assert str(app.relative_to(folder)) in await paths(checkpoints, folder, tree.root)
        await checkpoints.restore(str(folder), (), tree.root)
        assert app.read_text() == SAFE


@pytest.mark.parametrize("name", sorted(REMADE))
async def test_a_folder_named_as_tools_name_theirs_is_kept_when_it_comes_later(
    tmp_path: Path, folder: Path, name: str
) -> None:
    with daemon(tmp_path) as checkpoints:
        first = await checkpoints.take(str(folder), (), quiet)
        hidden = folder / "src" / name / "hidden.py"
        hidden.parent.mkdir()
        hidden.write_text(SAFE)
        second = await checkpoints.take(str(folder), (), quiet)
        hidden.write_text(EVIL)
        assert await paths(checkpoints, folder, second.root) == {f"src/{name}"}
        await checkpoints.restore(str(folder), (), second.root)
        assert hidden.read_text() == SAFE
        await checkpoints.restore(str(folder), (), first.root)
        assert not hidden.parent.exists()


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


@pytest.mark.parametrize("program", [".venv/bin/activate", "venv/Scripts/run", "node_modules/.bin/tsc"])
async def test_the_programs_of_packages_that_were_there_are_listed_and_put_back(
    tmp_path: Path, folder: Path, program: str
) -> None:
    path = folder / program
    path.parent.mkdir(parents=True)
    path.write_text(SAFE)
    (path.parents[1] / "lib").mkdir()
    with daemon(tmp_path) as checkpoints:
        tree = await checkpoints.take(str(folder), (), quiet)
        path.write_text(EVIL)
        path.with_name("more").write_text(EVIL)
        listed = await paths(checkpoints, folder, tree.root)
        assert listed == {program, f"{os.path.dirname(program)}/more"}
        await checkpoints.restore(str(folder), (), tree.root)
        assert path.read_text() == SAFE and not path.with_name("more").exists()
        assert (path.parents[1] / "lib").is_dir()
        path.chmod(0o777)
        assert program in await paths(checkpoints, folder, tree.root)


async def test_what_a_fork_is_given_is_not_left_out_there(tmp_path: Path, folder: Path) -> None:
    fork = tmp_path / "fork"
    fork.mkdir()
    with daemon(tmp_path) as checkpoints:
        await checkpoints.take(str(folder), (), quiet)
        tag(folder, "src")
        made = await checkpoints.take(str(folder), (), quiet)
        await checkpoints.restore(str(fork), (), made.root)
        tree = await checkpoints.take(str(fork), (), quiet)
        (fork / "src/app.py").write_text(EVIL)
        assert await paths(checkpoints, fork, tree.root) == {"src/app.py"}


def test_a_session_in_a_part_of_the_folder_trusts_nothing_that_one_in_the_whole_may_have_made(
    tmp_path: Path, folder: Path
) -> None:
    home = Home(tmp_path / "home")
    home.make()
    (folder / "src/.venv").mkdir()
    assert FirstLooks(home).left_out(str(folder)) == {"src/.venv"}
    tag(folder, "src/made")
    assert FirstLooks(home).left_out(str(folder / "src")) == {".venv"}


def test_a_session_in_the_whole_trusts_nothing_that_one_in_a_part_may_have_made(tmp_path: Path, folder: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    assert FirstLooks(home).left_out(str(folder / "src")) == frozenset()
    tag(folder, "src/made")
    (folder / "node_modules").mkdir()
    assert FirstLooks(home).left_out(str(folder)) == {"node_modules"}


def test_a_folder_beside_with_a_longer_name_is_another(tmp_path: Path, folder: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    FirstLooks(home).left_out(str(folder))
    other = tmp_path / "project-2"
    (other / "node_modules").mkdir(parents=True)
    assert FirstLooks(home).left_out(str(other)) == {"node_modules"}


def test_a_hostile_agent_cannot_switch_undo_off_over_a_restart(tmp_path: Path, folder: Path) -> None:
    """Through a real daemon: an objective, which keeps no checkpoints, makes the switch before the session begins."""
    house = LivingHome(tmp_path / "stead")
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
            assert {change["path"] for change in end["changes"]} == {
                "src/app.py", "lib/.venv", ".venv/bin/activate",
            }  # fmt: skip
            [mark] = desk.items("checkpoints")
            desk.restore(mark["id"], "--files")
        for path in ("src/app.py", "lib/.venv/app.py", ".venv/bin/activate"):
            assert (folder / path).read_text() == SAFE, path
    finally:
        house.stop()
