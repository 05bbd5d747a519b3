"""Protection fails closed: what could not be looked through whole is made readable, or nothing starts there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stead.domain.errors import MachineUnavailable
from stead.domain.ids import SessionId
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.protected import Found, walk
from stead.machines.quarantine import QuarantineFolder
from stead.machines.sandbox import Limits
from stead.machines.workspace import enter
from tests.attacks import hidden_folders
from tests.attacks.hidden_folders import LET, MODES
from tests.attacks.ordinary import as_ordinary_user
from tests.machines.bench import SESSION, Bench, open_bench, require_sandbox, this_host

OTHER = SessionId("s_fedcba9876543210")
DEEP = "/".join(["d"] * 50)
ALL_SEEN = {"unseen": False, "where": "", "left": [], "again": "ran\n", "rules": []}


@pytest.fixture(scope="module")
def hidden() -> Iterator[dict[str, Any]]:
    """What came of each way to hide, tried by an ordinary user, from whom modes keep things."""
    require_sandbox()
    base = Path(tempfile.mkdtemp(prefix="stead-hidden-"))
    try:
        base.chmod(0o755)
        if os.geteuid() == 0:
            work = base / "work"
            work.mkdir()
            done = as_ordinary_user(base, "tests.attacks.hidden_folders", str(work))
            assert done.returncode == 0, done.stderr
            yield json.loads(done.stdout)
        else:
            import asyncio

            yield asyncio.run(hidden_folders.main(base))
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what", ["", "inner ", "planted "])
def test_what_is_planted_behind_modes_is_found_and_moved_out(hidden: dict[str, Any], what: str, mode: str) -> None:
    assert hidden[f"{what}mode {mode}"] == {"moved": ["docs/AGENTS.md", "docs/in/.git"], **ALL_SEEN}


def test_a_repository_without_the_name_is_found_behind_a_mode(hidden: dict[str, Any]) -> None:
    assert hidden["repository"] == {"moved": ["docs/HEAD", "docs/config"], **ALL_SEEN}


def test_rules_that_were_closed_after_they_were_written_are_an_agents_all_the_same(hidden: dict[str, Any]) -> None:
    written = [f"{LET}/AGENTS.md"]
    assert hidden["rules"] == {"moved": [], **ALL_SEEN, "left": written, "rules": written}


def test_what_is_planted_behind_two_closed_folders_is_found_and_moved_out(hidden: dict[str, Any]) -> None:
    assert hidden["both modes"] == {"moved": ["docs/AGENTS.md", "docs/in/.git"], **ALL_SEEN}


def test_a_folder_that_is_closed_as_a_whole_is_looked_through_before_anything_starts_in_it_again(
    hidden: dict[str, Any],
) -> None:
    found = hidden["the whole folder"]
    assert found["unseen"] and found["where"] == "."
    assert found["moved"] == ["docs/AGENTS.md", "docs/in/.git"] and found["again"] == "ran\n"


@pytest.mark.parametrize("way", ["too deep", "too deep and closed"])
def test_what_is_nested_too_deep_keeps_the_next_machine_from_starting(hidden: dict[str, Any], way: str) -> None:
    found = hidden[way]
    assert found["unseen"] and found["where"].startswith("docs/d/d")
    assert "cannot be looked through whole" in found["again"] and "docs" not in found["again"]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


def another(bench: Bench) -> BubblewrapMachines:
    """Machines of another daemon over the same home."""
    return BubblewrapMachines(bench.home, host=this_host(), on_swept=lambda *swept: bench.swept.append(swept))


async def dirty(bench: Bench) -> None:
    """An agent has planted something where nobody can look, and its machine has ended."""
    await bench.output(f"mkdir -p part/{DEEP}/.git part/in && echo evil > part/{DEEP}/.git/config")
    await bench.machines.kill(SESSION)
    ((_, swept),) = bench.swept
    assert swept.unseen and swept.where == "part/" + "/".join(["d"] * 48)


@pytest.mark.parametrize("session", [SESSION, OTHER])
@pytest.mark.parametrize("part", ["", "part", "part/in", "part/d/d"])
@pytest.mark.parametrize("restarted", [False, True])
async def test_a_folder_that_is_not_clean_is_written_by_no_machine_of_any_session(
    bench: Bench, session: SessionId, part: str, restarted: bool
) -> None:
    await dirty(bench)
    machines = another(bench) if restarted else bench.machines
    if restarted:
        await machines.sweep_left()
    bench.machines = machines
    machines.bind(session, str(bench.project / part), writable=True)
    with pytest.raises(MachineUnavailable, match="cannot be looked through whole") as refusal:
        await bench.run("true", session=session)
    assert "d/d/d/d" not in str(refusal.value), "the words of a path are the agent's"
    assert bench.swept[-1][0] == session and bench.swept[-1][1].where.startswith(("part/d/d", "d/d"))
    machines.bind(session, str(bench.project / part), writable=False)
    assert (await bench.run("echo looked", session=session)).output == "looked\n"
    machines.bind(session, str(bench.project / part), writable=True, trial=True)
    assert (await bench.run("echo tried", session=session)).output == "tried\n"


async def test_once_it_can_be_looked_at_what_was_planted_is_moved_out_and_not_taken_for_the_persons(
    bench: Bench,
) -> None:
    await dirty(bench)
    os.rename(bench.project / "part" / "/".join(["d"] * 40), bench.project / "up")
    assert await bench.output("ls up") == "d\n"
    assert [row.path for row in bench.swept[-1][1].moved] == ["up/" + "/".join(["d"] * 10) + "/.git"]
    await bench.machines.kill(SESSION)
    assert not list((bench.home.run / "machines").glob("*.json"))


async def test_what_is_found_again_and_again_is_noted_once(bench: Bench) -> None:
    bench.machines.bind(SESSION, str(bench.project), writable=True, released=("AGENTS.md",))
    await bench.output("echo mine >> AGENTS.md")
    await dirty(bench)
    for _ in range(2):
        with pytest.raises(MachineUnavailable, match="cannot be looked through whole"):
            await bench.run("true")
    (row,) = QuarantineFolder(bench.home).rows()
    assert row.path == "AGENTS.md" and row.rules


async def test_once_it_is_removed_the_folder_can_be_worked_in(bench: Bench) -> None:
    await dirty(bench)
    shutil.rmtree(bench.project / "part")
    assert await bench.output("echo on") == "on\n"


async def test_a_folder_beside_is_not_held_up(bench: Bench, tmp_path: Path) -> None:
    await dirty(bench)
    (tmp_path / "project-2").mkdir()
    bench.machines.bind(OTHER, str(tmp_path / "project-2"), writable=True)
    assert (await bench.run("echo on", session=OTHER)).output == "on\n"


async def test_a_folder_that_was_too_deep_from_the_start_is_refused_with_a_way_out(bench: Bench) -> None:
    (bench.project / DEEP).mkdir(parents=True)
    with pytest.raises(MachineUnavailable, match=r"make it readable or remove it.*--trial"):
        await bench.run("true")
    (bench.project / "node_modules").mkdir()
    (bench.project / "d").rename(bench.project / "node_modules/d")
    assert await bench.output("echo packages are not looked into") == "packages are not looked into\n"


@pytest.mark.parametrize("room", [0, 1, 5, 12])
def test_a_walk_that_runs_out_of_room_says_where_and_has_seen_the_top_first(tmp_path: Path, room: int) -> None:
    for name in (".a/1", ".a/2", ".a/3", "b/AGENTS.md", "AGENTS.md", ".envrc", "c/d/e/.envrc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = Found(room=room)
    top = enter(str(tmp_path))
    walked = walk(top, "", found, lambda _path, _name: True)
    seen = [above + entry.name for _, above, entries in walked for entry in entries]
    os.close(top)
    assert len(seen) == room and found.missed == {0: ".", 1: ".", 5: ".a", 12: ""}.get(room, "")
    assert room < 5 or {"AGENTS.md", ".envrc", "b", "c"} <= set(seen)


async def test_a_command_that_makes_too_many_files_is_stopped(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(entries=2_000)) as bench:
        ran = await bench.run("i=0; while [ $i -lt 60000 ]; do : > f$i; i=$((i+1)); done")
        assert "too many files and folders" in ran.output and ran.exit_code == 137
        assert await bench.output("rm -rf f*; echo fewer > one; cat one") == "fewer\n"


WRITE_THROUGH_A_MAP = """
import mmap
for name in ("tool", "packages/node_modules/helper"):
    with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:4] = b"evil"
"""


async def test_a_program_of_the_persons_that_runs_as_them_does_so_no_more_once_a_machine_wrote_it(bench: Bench) -> None:
    for name in ("tool", "packages/node_modules/helper", "untouched"):
        (bench.project / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / name).write_text("good program")
        (bench.project / name).chmod(0o6755)
    (bench.project / "write.py").write_text(WRITE_THROUGH_A_MAP)
    await bench.output("python3 write.py")
    await bench.machines.kill(SESSION)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in bench.project.rglob("*") if path.is_file()}
    assert (bench.project / "tool").read_text() == "evil program"
    assert (modes["tool"], modes["helper"], modes["untouched"]) == (0o755, 0o755, 0o6755)
    assert sorted(bench.swept[-1][1].stripped) == ["packages/node_modules/helper", "tool"]
