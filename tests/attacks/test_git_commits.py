"""A trial's commits are taken over as data: whatever else a hostile session leaves in ``.git`` stays out."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.domain.git import COMMITS, SETTINGS, identity
from stead.domain.trials import Choice
from stead.machines.desk import Desk
from stead.machines.host import committer
from tests.attacks.test_git_inside import git, make_repository
from tests.fakes.models import Call, Turn
from tests.flows.conftest import house, project
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import SESSION, Bench, require_sandbox

__all__ = ["house", "project"]
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
)


class OnTrial(Bench):
    """A repository on trial, and the desk where its changes are looked at."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        make_repository(self.project)
        (self.project / "bait").write_text("as it was\n")
        self.desk = Desk(self.home, self.machines.kill)
        self.machines.bind(SESSION, str(self.project), writable=True, trial=True)

    def obeyed(self) -> dict[str, str]:
        """All that git obeys or follows, and what must be there still."""
        found = {}
        for path in (self.project / ".git").rglob("*"):
            name = str(path.relative_to(self.project))
            if path.is_symlink() or not (COMMITS.fullmatch(name) or path.is_dir()):
                found[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes().decode("latin-1")
        return found


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[OnTrial]:
    require_sandbox()
    opened = OnTrial(tmp_path)
    yield opened
    await opened.machines.close()


def said(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_a_commit_on_trial_is_taken_over_by_naming_git(bench: OnTrial) -> None:
    before = bench.obeyed()
    await bench.output(COMMIT)
    held = (await bench.desk.apply_trial(SESSION, Choice())).held
    assert any(".git/refs" in one.path for one in held), "nobody named .git"
    await bench.desk.apply_trial(SESSION, Choice((".git",), force=True))

    assert said(bench.project, "log", "--format=%s").split() == ["Second", "First"]
    assert said(bench.project, "branch", "--show-current").strip() == "topic"
    assert said(bench.project, "status", "--porcelain", "-uno") == ""
    said(bench.project, "fsck", "--strict")
    assert bench.obeyed() == before


@pytest.mark.parametrize("attack", HOSTILE)
async def test_what_git_obeys_and_links_are_held_back(bench: OnTrial, attack: str) -> None:
    before = bench.obeyed()
    first = said(bench.project, "rev-parse", "main").strip()
    await bench.run(f"{COMMIT}; {attack}")
    await bench.run(attack)
    await bench.desk.apply_trial(SESSION, Choice((".git",), force=True))

    assert bench.obeyed() == before
    assert (bench.project / "bait").read_text() == "as it was\n"
    assert not (bench.project / "sub").exists()
    assert "First" in said(bench.project, "log", "--format=%s", first), "an older commit was lost"


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        (".git/index", ".git"),
        (".git/refs/heads", ".git"),
        ("sub/.git/objects", "sub/.git"),
        ("/.git/HEAD", ".git"),
        (".github/workflows/ci.yml", ".github/workflows"),
        (".vscode/settings.json", ".vscode"),
    ],
)
def test_a_path_that_cannot_be_released_by_itself_is_refused(
    house: LivingHome, project: Path, path: str, whole: str
) -> None:
    with pytest.raises(ApiError, match=f"'{whole}' is shown as a whole"):
        house.give("Look", project, unprotected=["AGENTS.md", path])


def test_a_model_whose_commit_fails_is_told_what_the_person_can_do(house: LivingHome, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    commit = Turn("", calls=(Call("shell", {"command": "git add README.md"}),))
    with served(by_turn(commit, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("commit", project)
        house.finish(id)
    assert "stead trial apply ID .git" in house.bodies(id, "tool.finished")[0]["text"]


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
