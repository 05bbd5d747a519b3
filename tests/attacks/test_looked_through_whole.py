"""What is planted where nobody may look reaches the person's folder no more than what is planted in the open."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stead.machines.sandbox import Limits
from tests.attacks import hidden_folders
from tests.attacks.hidden_folders import MODES
from tests.attacks.ordinary import as_ordinary_user
from tests.machines.bench import Bench, open_bench, require_sandbox
from tests.machines.folders import digest

KEPT_OUT = {"left": [], "again": "ran\n", "failed": ""}
TWO = ["docs/AGENTS.md", "docs/in/.git/config", "docs/in/.git/hooks"]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


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
            yield asyncio.run(hidden_folders.main(base))
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what", ["", "inner ", "planted "])
def test_what_is_planted_behind_modes_is_told_and_reaches_nobody(hidden: dict[str, Any], what: str, mode: str) -> None:
    assert hidden[f"{what}mode {mode}"] == {"told": TWO, **KEPT_OUT}


def test_a_repository_without_the_name_is_told_behind_a_mode(hidden: dict[str, Any]) -> None:
    assert hidden["repository"] == {"told": ["docs/HEAD", "docs/config", "docs/objects", "docs/refs"], **KEPT_OUT}


def test_a_closed_file_is_told(hidden: dict[str, Any]) -> None:
    assert hidden["a closed file"] == {"told": ["AGENTS.md"], **KEPT_OUT}


def test_what_is_planted_behind_two_closed_folders_is_told(hidden: dict[str, Any]) -> None:
    assert hidden["both modes"] == {"told": TWO, **KEPT_OUT}


def test_a_folder_that_is_closed_as_a_whole_is_looked_through_all_the_same(hidden: dict[str, Any]) -> None:
    assert hidden["the whole folder"] == {"told": TWO, **KEPT_OUT}


@pytest.mark.parametrize("way", ["too deep", "too deep and closed"])
def test_what_is_nested_deep_is_told(hidden: dict[str, Any], way: str) -> None:
    assert hidden[way] == {"told": ["docs/" + "d/" * 50 + ".git/config"], **KEPT_OUT}


async def test_a_command_that_makes_too_many_files_is_stopped(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(entries=10_000)) as bench:
        ran = await bench.run("i=0; while [ $i -lt 60000 ]; do : > f$i; i=$((i+1)); done")
        assert "too many files and folders" in ran.output and ran.exit_code == 137
        assert await bench.output("find . -name 'f*' -delete; echo fewer > one; cat one") == "fewer\n"


WRITE_THROUGH_A_MAP = """
import mmap
for name in ("tool", "packages/helper"):
    with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:4] = b"evil"
"""


async def test_a_program_of_the_persons_that_runs_as_them_is_changed_by_no_machine(bench: Bench) -> None:
    for name in ("tool", "packages/helper", "untouched"):
        (bench.project / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / name).write_text("good program")
        (bench.project / name).chmod(0o6755)
    (bench.project / "write.py").write_text(WRITE_THROUGH_A_MAP)
    before = digest(bench.project)
    landing = await bench.landing("python3 write.py")
    modes = {path.stat().st_mode & 0o7777 for path in bench.project.rglob("*") if path.name in ("tool", "helper")}
    if landing.landed:  # the bits went with the content
        assert modes == {0o755} and landing.runnable == ()
    else:
        assert digest(bench.project) == before and {one.path for one in landing.refused} == {"tool", "packages/helper"}
