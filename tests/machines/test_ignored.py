"""Searches leave out what git ignores and what tools make; git says what that is, and nothing of the folder's runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stead.machines.runner.ignored import REMADE
from tests.machines.bench import Bench, live_permit, open_bench, require_sandbox

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is what says what is ignored")


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def git(folder: Path, *words: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=settings)


def put(folder: Path, *paths: str, text: str = "needle\n") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


async def globbed(bench: Bench, pattern: str, *, ignored: bool = False) -> tuple[tuple[str, ...], int]:
    found = await bench.machines.glob(live_permit(), pattern, ignored=ignored)
    return found.rows, found.left_out


async def grepped(bench: Bench, path: str = "", *, ignored: bool = False) -> tuple[list[str], int]:
    found = await bench.machines.grep(live_permit(), "needle", path, "", ignored=ignored)
    return [row.partition(":")[0] for row in found.rows], found.left_out


async def test_one_virtual_environment_does_not_hide_the_project(bench: Bench) -> None:
    put(bench.project, "main.py", "app/models.py", "app/views.py")
    put(bench.project, *(f".venv/lib/pkg{number}/mod.py" for number in range(1000)))
    own = ("main.py", "app/models.py", "app/views.py")
    assert await globbed(bench, "**/*.py") == (own, 1000)
    found = await bench.machines.glob(live_permit(), "**/*.py", ignored=True)
    assert found.rows[:3] == own and found.total == 1003 and found.left_out == 0
    assert await grepped(bench) == (list(own), 1000)


async def test_an_ignored_folder_of_thousands_does_not_hide_the_one_hit(bench: Bench) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, ".gitignore", text="deps/\n")
    for number in range(10_000):
        folder = bench.project / ("deps" if number % 10 < 3 else "src") / f"p{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.txt").write_text("needle\n" if number % 10 < 3 or number == 9999 else "hay\n")
    assert await grepped(bench) == (["src/p49/f9999.txt"], 3000)


async def test_git_says_what_is_ignored(bench: Bench) -> None:
    project = bench.project
    git(project, "init", "-q")
    put(project, ".gitignore", text="*.log\n!kept.log\n/build/\n")
    put(project, "sub/.gitignore", text="*.tmp\n")
    put(project, ".git/info/exclude", text="private/\n")
    put(
        project,
        "a.log",
        "tracked.log",
        "kept.log",
        "build/x",
        "sub/y.tmp",
        "sub/z",
        "private/n",
        "other/build/w",
        "t.tmp",
    )
    put(project, "vendor/node_modules/tracked.js")
    git(project, "add", "--force", "tracked.log", "vendor")
    own = ["kept.log", "t.tmp", "tracked.log", "sub/z", "other/build/w", "vendor/node_modules/tracked.js"]
    searched, left_out = await grepped(bench)
    assert sorted(searched) == sorted(own) and left_out == 4
    assert sorted((await grepped(bench, ignored=True))[0]) == sorted(
        [*own, "a.log", "build/x", "private/n", "sub/y.tmp"]
    )


async def test_what_is_pointed_at_is_searched_although_it_is_ignored(bench: Bench) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, ".gitignore", text="build/\n*.log\n")
    put(bench.project, "build/deep/x.py", "a.log", "node_modules/p/i.js", "plain/node_modules/q/i.js")
    assert await grepped(bench, "build") == (["build/deep/x.py"], 0)
    assert await grepped(bench, "build/deep") == (["build/deep/x.py"], 0)
    assert await grepped(bench, "a.log") == (["a.log"], 0)
    assert await globbed(bench, "node_modules/*/i.js") == (("node_modules/p/i.js",), 0)
    assert await globbed(bench, "plain/node_modules/**/*.js") == (("plain/node_modules/q/i.js",), 0)
    assert await globbed(bench, "**/i.js") == ((), 2)


async def test_a_folder_without_a_repository_and_repositories_within_have_their_own_patterns(bench: Bench) -> None:
    put(bench.project, ".gitignore", text="*.out\n")
    put(bench.project, "a.out", "a.txt", "one/b.txt", "one/b.log", "one/venv/c.py")
    git(bench.project / "one", "init", "-q")
    put(bench.project, "one/.gitignore", text="*.log\n")
    assert await grepped(bench) == (["a.txt", "one/b.txt"], 3)
    assert await grepped(bench, "one") == (["one/b.txt"], 2)


async def test_a_submodule_knows_what_it_tracks(bench: Bench) -> None:
    git(bench.project, "init", "-q")
    (bench.project / ".git/modules").mkdir()
    put(bench.project, "lib/.gitignore", text="*.gen\n")
    put(bench.project, "lib/tracked.gen", "lib/made.gen")
    git(bench.project / "lib", "init", "-q", "--separate-git-dir", str(bench.project / ".git/modules/lib"))
    (bench.project / "lib/.git").write_text("gitdir: ../.git/modules/lib\n")
    git(bench.project / "lib", "add", "--force", "tracked.gen")
    assert await grepped(bench) == (["lib/tracked.gen"], 1)


async def test_marked_caches_and_what_tools_make_are_left_out(bench: Bench) -> None:
    put(bench.project, "target/CACHEDIR.TAG", text="Signature: 8a477f597d28d172789f06886806bc55\n# made by a tool\n")
    put(bench.project, "target/debug/x", "fake/y", "a", *(f"sub/{name}/z" for name in REMADE))
    put(bench.project, "fake/CACHEDIR.TAG", text="no such signature\n")
    assert await grepped(bench) == (["a", "fake/y"], 2 + len(REMADE))
    assert await grepped(bench, "target") == (["target/debug/x"], 0)


async def test_what_the_session_has_changed_counts(bench: Bench) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, "a.log", "b.txt")
    await bench.output("echo '*.log' > .gitignore")
    assert await grepped(bench) == (["b.txt"], 1)


@pytest.mark.parametrize("copies", [False, True])
async def test_nothing_that_the_repository_names_is_run(tmp_path: Path, copies: bool) -> None:
    async with open_bench(tmp_path, copies=copies) as bench:
        git(bench.project, "init", "-q")
        put(bench.project, "a.log", "b.txt", "tracked.log")
        put(bench.project, ".gitignore", text="*.log\n")
        git(bench.project, "add", "--force", "tracked.log")
        with (bench.project / ".git/config").open("a") as config:
            config.write("[core]\n\tfsmonitor = touch /tmp/ran; false\n\tsshCommand = touch /tmp/ran\n")
            config.write("\tpager = touch /tmp/ran\n[include]\n\tpath = /proc/self/environ\n")
        assert await grepped(bench) == (["b.txt", "tracked.log"], 1)
        assert await bench.output("ls /tmp; command -v git > /dev/null") == ""


async def test_the_git_that_a_session_made_is_not_run(bench: Bench) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, ".gitignore", text="*.log\n")
    put(bench.project, "a.log")
    fake = 'mkdir -p ~/.local/bin; printf "#!/bin/sh\\ntouch /tmp/ran\\n" > ~/.local/bin/git; chmod +x ~/.local/bin/git'
    await bench.output(fake)
    assert await grepped(bench) == ([], 1)
    assert await bench.output("ls /tmp") == ""


HOSTILE: dict[str, Callable[[Path], object]] = {
    "ten megabytes": lambda file: file.write_text("".join(f"*{number}*x*{number}\n" for number in range(600_000))),
    "slow patterns": lambda file: file.write_text(("*a" * 60 + "b\n") + ("**/" * 40 + "*a*a*a*a*a*b\n") * 500),
    "a pipe": lambda file: os.mkfifo(file),
    "a link out": lambda file: file.symlink_to("/etc/passwd"),
    "a loop": lambda file: file.symlink_to(".gitignore"),
    "a folder": lambda file: file.mkdir(),
    "no text": lambda file: file.write_bytes(os.urandom(100_000).replace(b"*", b"")),  # which hides all, rightly
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_hostile_ignore_files_cost_little_and_hide_nothing(bench: Bench, kind: str) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, "own.py", *(f"sub/{'a' * 100}{number}" for number in range(200)), "node_modules/x")
    HOSTILE[kind](bench.project / ".gitignore")
    await bench.output("true")
    started = time.monotonic()
    found = await bench.machines.glob(live_permit(), "**/*")
    assert "own.py" in found.rows and not any("node_modules" in row for row in found.rows) and not found.timed_out
    assert time.monotonic() - started < 8


@pytest.mark.parametrize("kind", ["a pipe", "no index", "a link to a pipe"])
async def test_without_an_index_that_git_can_read_only_names_decide(bench: Bench, kind: str) -> None:
    git(bench.project, "init", "-q")
    put(bench.project, ".gitignore", text="*.log\n")
    put(bench.project, "a.log", "node_modules/x")
    index = bench.project / ".git/index"
    if kind == "no index":
        index.write_bytes(b"DIRC" + os.urandom(200))
    else:
        pipe = bench.project / ".git/pipe" if "link" in kind else index
        os.mkfifo(pipe)
        if "link" in kind:
            index.symlink_to("pipe")
    found = await bench.machines.grep(live_permit(), "needle", "", "")
    assert found.rows == ("a.log:1:needle",) and found.left_out == 1 and found.unsure
