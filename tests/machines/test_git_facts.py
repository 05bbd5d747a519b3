"""What git obeys in a folder, as git inside a real machine says it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stead.domain.git import GitFacts, understand
from tests.machines.bench import SESSION, Bench

GIT = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always"]


def git(folder: Path, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")


async def facts(bench: Bench) -> GitFacts:
    return await bench.machines.git.facts(SESSION)


async def test_an_ordinary_repository_names_no_program(bench: Bench) -> None:
    make_repository(bench.project)
    git(bench.project, "remote", "add", "origin", "https://example.com/r.git")
    git(bench.project, "checkout", "-qb", "feature")
    git(bench.project, "config", "branch.feature.remote", "origin")
    assert (await facts(bench)).plain


async def test_a_folder_without_a_repository_names_no_program(bench: Bench) -> None:
    assert (await facts(bench)).plain


async def test_hooks_and_includes_are_told_by_name(bench: Bench) -> None:
    make_repository(bench.project)
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    git(bench.project, "config", "include.path", "../shared.cfg")
    git(bench.project, "config", "includeIf.onbranch:x.y.path", "../other.cfg")
    found = await facts(bench)
    assert (found.hooks_path, found.includes, found.plain) == ("tools/hooks", ("../shared.cfg", "../other.cfg"), False)


async def test_a_submodule_that_is_checked_out_is_not_known(bench: Bench) -> None:
    make_repository(bench.project)
    make_repository(bench.project / "part")
    git(bench.project, "add", "part")
    assert not (await facts(bench)).read
    git(bench.project, "commit", "-qm", "Second")
    subprocess.run(["rm", "-r", "part/.git"], cwd=bench.project, check=True)
    assert (await facts(bench)).plain


@pytest.mark.parametrize(
    "listing", [b"", b"system\0o\0safe.barerepository\nexplicit", b"local\0o\0user.name\nA\0", b"\0\0"]
)
def test_what_was_cut_off_or_lacks_the_settings_of_the_machine_is_not_read(listing: bytes) -> None:
    assert not understand(listing).read
    assert not GitFacts().plain
