"""Commits land as data: whatever else a hostile session leaves in ``.git`` stays out.

Some walls do not show here when they fail alone: a link that leads out of the folder is no data of git's either, the
steps of an unfinished rebase are none, and no file lands with a set-user bit, wherever it is.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.git import DATA, SETTINGS, identity
from stead.domain.trials import Choice
from stead.machines.host import committer
from tests.machines.bench import SESSION, Bench, open_bench

COMMIT = "git checkout -q -b topic && git add a.txt && git -c user.name=A -c user.email=a@example.com commit -qm Second"
HOSTILE = (
    *("echo touch x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", "git config core.fsmonitor 'touch x'"),
    *("git config alias.x '!id'", "echo ../evil > .git/commondir", "echo evil > .git/gitdir", "rm .git/config"),
    *(
        "printf '[core]\\n\\tfsmonitor = id\\n' > .git/config.worktree",
        "mkdir -p .git/worktrees/w .git/modules/m/hooks",
    ),
    *(
        "echo '*.txt filter=x' > .git/info/attributes",
        "echo a > .git/info/grafts",
        "echo /etc > .git/objects/info/alternates",
    ),
    *("mkdir -p .git/rebase-merge; echo 'exec touch x' > .git/rebase-merge/git-rebase-todo", "touch .git/MERGE_HEAD"),
    *(
        "mkdir -p .git/sequencer; echo 'exec id' > .git/sequencer/todo",
        "touch .git/shallow",
        "echo id > .git/description",
    ),
    *("ln -sf ../../bait .git/logs/HEAD", "ln -sf ../bait .git/COMMIT_EDITMSG", "ln -sf ../bait .git/packed-refs"),
    *(
        "rm .git/index; ln -s ../bait .git/index",
        "ln -s ../../../bait .git/refs/heads/other",
        "ln -s ../.. .git/refs/out",
    ),
    *("ln -s ../../bait .git/objects/pack/x.pack", "mv .git/hooks .git/elsewhere; ln -s ../evil .git/hooks"),
    *(
        "rm -rf .git/objects/*; rm .git/HEAD .git/index",
        "chmod 4755 .git/index",
        "mkdir -p sub/.git/refs; cp .git/HEAD sub/.git",
    ),
    *("rm .git/index", "rm -rf .git/objects/*", "rm .git/logs/HEAD"),
    "mkdir .vscode; touch .vscode/tasks.json; git add .vscode; git -c user.name=A -c user.email=a@b.c commit -qm Third",
)

RECORDS = ("HEAD", "index", "logs/HEAD")
"""Without them the person's branch is lost."""
WHEN = ("with a commit", "after a commit", "all that waits is applied but what is obeyed")


def git(folder: Path, *words: str) -> None:
    """Run the host's git, by no settings but the folder's."""
    who = {f"GIT_{role}_{what}": "ada@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {"PATH": os.environ["PATH"], **who, **nowhere}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=environment)


def make_repository(folder: Path) -> None:
    """One with a changed file, and attributes that select the driver ``x`` for it."""
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitattributes").write_text("*.txt diff=x filter=x merge=x\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    (folder / "a.txt").write_text("two\n")
    (folder / "bait").write_text("as it was\n")


def obeyed(project: Path) -> dict[str, str]:
    """All that git obeys or follows, and what must be there still."""
    found = {}
    for path in (project / ".git").rglob("*"):
        name = str(path.relative_to(project / ".git"))
        if path.is_symlink() or not (DATA.fullmatch(name) or path.is_dir()):
            found[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes().decode("latin-1")
    return found


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        make_repository(opened.project)
        yield opened


def said(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_a_commit_lands_with_its_command(bench: Bench) -> None:
    before = obeyed(bench.project)
    landing = await bench.landing(COMMIT)
    assert not landing.held and not landing.refused and not landing.failed
    assert said(bench.project, "log", "--format=%s").split() == ["Second", "First"]
    assert said(bench.project, "branch", "--show-current").strip() == "topic"
    assert said(bench.project, "status", "--porcelain", "-uno") == ""
    said(bench.project, "fsck", "--strict")
    assert obeyed(bench.project) == before


@pytest.mark.parametrize(
    ("attack", "when"),
    [
        pytest.param(attack, when, marks=[pytest.mark.long] * (number % len(WHEN) != turn))
        for number, attack in enumerate(HOSTILE)
        for turn, when in enumerate(WHEN)
    ],
)
async def test_what_git_obeys_and_links_are_held_back(bench: Bench, attack: str, when: str) -> None:
    before = obeyed(bench.project)
    first = said(bench.project, "rev-parse", "main").strip()
    if when == "after a commit":
        await bench.run(COMMIT)
    if when.startswith("all"):
        bench.bind(hold="all")
    await bench.run(f"{COMMIT}; {attack}")
    if when.startswith("all") and await bench.waiting():
        await bench.held_changes.apply_trial(SESSION, Choice(force=True))
    now = obeyed(bench.project)
    assert {name: text for name, text in now.items() if name in before} == before
    assert {name for name in now if name not in before} == set()
    assert (bench.project / "bait").read_text() == "as it was\n"
    assert [name for name in RECORDS if not (bench.project / ".git" / name).is_file()] == []
    assert (bench.project / ".git/index").stat().st_mode & 0o7111 == 0, "what is data can be run"
    assert not (bench.project / "sub/.git/HEAD").exists()
    assert said(bench.project, "log", "--all", "--format=%s", "--", ".vscode") == "", "what editors obey is committed"
    assert "First" in said(bench.project, "log", "--format=%s", first), "an older commit was lost"


@pytest.mark.parametrize(
    ("name", "email"),
    [
        ("Ada Lovelace", "ada@example.com"),
        ('A "B" \\ C', "a@example.com"),
        ("Zoë; #1", ""),
        ("x\n[core]\n\tpager = id", ""),
    ],
)
def test_whose_commits_they_are_is_known_inside_and_says_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, email: str
) -> None:
    settings = tmp_path / "settings"
    for key, value in (("user.name", name), ("user.email", email), ("alias.x", "!id")):
        said(tmp_path, "config", "--file", str(settings), key, value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    (tmp_path / "made").write_text(SETTINGS + committer())

    listing = said(tmp_path, "config", "--file", str(tmp_path / "made"), "--list").splitlines()
    wanted = [f"user.name={name}"] * name.isprintable() + [f"user.email={email}"] * bool(email)
    assert [line for line in listing if not line.startswith(("safe.", "core."))] == wanted
    assert len(listing) == 3 + len(wanted)
    assert identity("", "") == "[user]\n"
