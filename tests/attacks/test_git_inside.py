"""A folder that came from a stranger has settings for git, and a model that looks at it with git must run none of them.

Every setting is written into a real repository and read by git in a real machine. Git itself says whether the attack
would have worked: where it can, a forbidden reading is run, and leaves its mark.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from stead.domain.policies import Risk
from stead.guardian.shell import assess
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import SESSION, Bench, open_bench
from tests.promises import promise

MARK = "/work/marked"
RUN = f"touch {MARK}; cat"
LOOKS = "git status; git diff; git log -p -3; git show; git blame a.txt; git grep one; git ls-files -m; git describe"
SETTINGS = {
    # setting: (value, whether looking alone runs it)
    "core.fsmonitor": (f"touch {MARK}; false", True),
    "Core.FSMonitor": (f"touch {MARK}; false", True),
    "diff.external": (f"touch {MARK}", True),
    "diff.x.command": (f"touch {MARK}", True),
    "diff.x.textconv": (RUN, True),
    "diff.x y.z.textconv": (RUN, False),
    "filter.x.clean": (RUN, True),
    "filter.x.smudge": (RUN, False),
    "filter.x.process": (RUN, True),
    "core.hooksPath": ("tools", True),
    "core.attributesFile": ("tools/attributes", False),
    "core.worktree": ("..", False),
    "core.pager": (RUN, False),
    "pager.log": (RUN, False),
    "core.editor": (RUN, False),
    "sequence.editor": (RUN, False),
    "core.sshCommand": (RUN, False),
    "core.gitProxy": (RUN, False),
    "core.askPass": (RUN, False),
    "core.alternateRefsCommand": (RUN, False),
    "gpg.program": (RUN, False),
    "gpg.ssh.program": (RUN, False),
    "log.showSignature": ("true", False),
    "format.pretty": ("%G?", False),
    "credential.helper": (f"!touch {MARK}", False),
    "alias.lg": (f"!touch {MARK}", False),
    "alias.status": (f"!touch {MARK}", False),
    "interactive.diffFilter": (RUN, False),
    "merge.x.driver": (RUN, False),
    "mergetool.x.cmd": (RUN, False),
    "difftool.x.cmd": (RUN, False),
    "trailer.x.command": (RUN, False),
    "gc.recentObjectsHook": (RUN, False),
    "uploadpack.packObjectsHook": (RUN, False),
    "remote.origin.uploadpack": (RUN, False),
    "remote.origin.vcs": ("x", False),
    "remote.origin.promisor": ("true", False),
    "extensions.partialClone": ("origin", False),
    "submodule.part.update": (f"!touch {MARK}", False),
    "commit.gpgSign": ("true", False),
    "sendemail.sendmailCmd": (RUN, False),
    "hook.lint.command": (RUN, False),
    "some.setting.of.a.later.git": (RUN, False),
}


def git(folder: Path, *words: str) -> None:
    """Run the host's git, by no settings but the folder's."""
    who = {f"GIT_{role}_{what}": "ada@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {"PATH": os.environ["PATH"], **who, **nowhere}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=environment)


def make_repository(folder: Path) -> None:
    """One with a changed file, and attributes that select the driver ``x`` for it."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitattributes").write_text("*.txt diff=x filter=x merge=x\n")
    (folder / "tools").mkdir()
    hook = folder / "tools/post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {MARK}\n")
    hook.chmod(0o755)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    (folder / "a.txt").write_text("two\n")
    for path in (folder / ".git").rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def by_setting(folder: Path, key: str) -> None:
    make_repository(folder)
    git(folder, "config", key, SETTINGS[key][0])


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


def look_is_free(*, plain: bool) -> bool:
    """Whether every one of the commands runs unasked."""
    return {assess(command, plain_git=plain).risk for command in LOOKS.split("; ")} == {Risk.LOW}


@pytest.mark.parametrize("key", SETTINGS)
async def test_a_setting_that_could_name_a_program_makes_looking_a_question(bench: Bench, key: str) -> None:
    by_setting(bench.project, key)
    facts = await bench.machines.git.facts(SESSION)

    assert not (bench.project / "marked").exists(), "asking what git obeys has run it"
    assert not facts.plain and not look_is_free(plain=facts.plain)
    if SETTINGS[key][1]:  # the attack is a real one
        git(bench.project, "config", "core.trustctime", "false")
        bench.machines.bind(SESSION, str(bench.project), writable=True, released=[".git"])
        await bench.run(LOOKS)
        assert (bench.project / "marked").exists()


async def test_an_ordinary_repository_is_looked_at_unasked_whatever_its_hooks_are(bench: Bench) -> None:
    make_repository(bench.project)
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"):
        shutil.copy(bench.project / "tools/post-index-change", bench.project / ".git/hooks" / name)
    bench.machines.bind(SESSION, str(bench.project), writable=True, released=[".git"])
    facts = await bench.machines.git.facts(SESSION)

    assert facts.plain and look_is_free(plain=facts.plain)
    await bench.run(f"{LOOKS}; touch a.txt; git add a.txt; git commit -qm Second")
    assert not (bench.project / "marked").exists()


def _included(folder: Path) -> None:
    make_repository(folder)
    (folder / "shared.cfg").write_text(f'[core]\n\tfsmonitor = "touch {MARK}; false"\n')
    git(folder, "config", "include.path", "../shared.cfg")


def _included_harmless_by_now(folder: Path) -> None:
    _included(folder)
    (folder / "shared.cfg").write_text("")


def _included_if(folder: Path) -> None:
    _included(folder)
    git(folder, "config", "--unset", "include.path")
    git(folder, "config", "includeIf.onbranch:other.path", "../shared.cfg")


def _of_a_worktree(folder: Path) -> None:
    make_repository(folder)
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "config", "--worktree", "core.fsmonitor", f"touch {MARK}; false")


def _by_a_file_that_points_elsewhere(folder: Path) -> None:
    by_setting(folder, "core.fsmonitor")
    (folder / ".git").rename(folder / "elsewhere")
    (folder / ".git").write_text("gitdir: elsewhere\n")


def _of_a_common_folder(folder: Path) -> None:
    by_setting(folder, "core.fsmonitor")
    shutil.copytree(folder / ".git", folder / "common")
    (folder / ".git/config").write_text("")
    (folder / ".git/commondir").write_text("../common\n")


def _of_a_submodule(folder: Path) -> None:
    make_repository(folder)
    by_setting(folder / "part", "core.fsmonitor")
    git(folder, "add", "part")


def _of_a_submodule_with_a_strange_name(folder: Path) -> None:
    make_repository(folder)
    name = 'p "a\n160000 rt'
    by_setting(folder / name, "core.fsmonitor")
    git(folder, "add", name)


def _of_a_submodule_that_is_ignored(folder: Path) -> None:
    _of_a_submodule(folder)
    (folder / ".gitmodules").write_text('[submodule "part"]\n\tpath = part\n\turl = ./part\n\tignore = none\n')


def _of_a_submodule_behind_a_link(folder: Path) -> None:
    _of_a_submodule(folder)
    (folder / "part/.git").rename(folder / "kept")
    (folder / "part/.git").symlink_to("../kept")


def _of_an_unreadable_index(folder: Path) -> None:
    make_repository(folder)
    (folder / ".git/index").write_bytes(b"DIRC no index at all")


def _with_too_many_settings(folder: Path) -> None:
    make_repository(folder)
    with (folder / ".git/config").open("a") as file:
        file.write("[user]\n" + "\tname = " + "x" * 400_000 + "\n")


def _of_settings_that_are_none(folder: Path) -> None:
    make_repository(folder)
    with (folder / ".git/config").open("a") as file:
        file.write("[core\n\tfsmonitor")


@pytest.mark.parametrize(
    "bring",
    [
        _included,
        _included_harmless_by_now,
        _included_if,
        _of_a_worktree,
        _by_a_file_that_points_elsewhere,
        _of_a_common_folder,
        _of_a_submodule,
        _of_a_submodule_with_a_strange_name,
        _of_a_submodule_that_is_ignored,
        _of_a_submodule_behind_a_link,
        _of_an_unreadable_index,
        _with_too_many_settings,
        _of_settings_that_are_none,
    ],
)
async def test_settings_count_wherever_git_finds_them(bench: Bench, bring: Callable[[Path], None]) -> None:
    bring(bench.project)
    facts = await bench.machines.git.facts(SESSION)

    assert not facts.plain
    assert not (bench.project / "marked").exists()


async def test_settings_of_the_machines_own_home_count_too(bench: Bench) -> None:
    make_repository(bench.project)
    assert (await bench.machines.git.facts(SESSION)).plain
    await bench.run("git config --global alias.x '!true'")
    assert not (await bench.machines.git.facts(SESSION)).plain


async def test_settings_that_change_are_read_anew(bench: Bench) -> None:
    make_repository(bench.project)
    assert (await bench.machines.git.facts(SESSION)).plain
    git(bench.project, "config", "core.fsmonitor", RUN)
    assert not (await bench.machines.git.facts(SESSION)).plain
    git(bench.project, "config", "--unset", "core.fsmonitor")
    assert (await bench.machines.git.facts(SESSION)).plain


DROPS = (
    *("env -i {}", "env -u GIT_CONFIG_COUNT {}", "env -u PATH {}", "env -uHOME {}", "env -i PATH=/usr/bin {}"),
    *("env -u LANG {}", "env - {}", "env --ignore-environment {}", "env --unset=HOME {}", "env --unset HOME {}"),
    *("command env -i {}", "nice env -i {}", "timeout 5 env -i {}", "time env -i {}", "stdbuf -o0 env -u X {}"),
    *("env env -i {}", "env -S '-i {}'", "env -C /work {}", "env --chdir=/work {}", "exec -c {}", "sudo -E {}"),
    *("sudo {}", "su -c '{}'", "bash --norc -c '{}'", "busybox env -i {}", "unset HOME; {}", "export -n HOME; {}"),
    *("unset GIT_CONFIG_COUNT; {}", "declare +x HOME; {}", "GIT_CONFIG_NOSYSTEM=1 {}", "env GIT_CONFIG_SYSTEM=a {}"),
    *("HOME=/work {}", "XDG_CONFIG_HOME=/work {}", "GIT_DIR=/work {}", "export GIT_DIR=/work; {}", "GIT_CONFIG=a {}"),
    *("env GIT_CONFIG_COUNT=1 {}", "GIT_EXEC_PATH=/work {}", "ls | xargs env -i {}", "find . -exec env -i {} \\;"),
)
GIT_OPTIONS = ("-c a.b=c", "--exec-path=/work", "--git-dir=/work", "--work-tree=/work", "-C sub", "--bare", "-p")


@pytest.mark.parametrize("wrapper", DROPS)
def test_who_drops_or_sets_what_programs_go_by_is_asked(wrapper: str) -> None:
    for command in ("git status", "ls -la"):
        assert assess(wrapper.format(command), plain_git=True).risk in (Risk.HIGH, Risk.CRITICAL)


@pytest.mark.parametrize("option", GIT_OPTIONS)
def test_an_option_that_moves_git_elsewhere_is_asked(option: str) -> None:
    assert assess("git status", plain_git=True).risk is Risk.LOW
    assert assess(f"git {option} status", plain_git=True).risk in (Risk.HIGH, Risk.CRITICAL)


@pytest.mark.parametrize("wrapper", ["{}", "env {}", "timeout 5 {}", "nice {}", "command {}", "ls && {}", "({})"])
def test_without_the_fact_no_git_is_free_however_it_is_wrapped(wrapper: str) -> None:
    for command in ("git status", "git log -p", "git add a.txt", "git commit -m x"):
        found = assess(wrapper.format(command))
        assert found.risk is Risk.HIGH and found.changes
        assert assess(wrapper.format(command), plain_git=True).risk in (Risk.LOW, Risk.MEDIUM)


def plant_bare(project: Path) -> None:
    """A folder that looks like a repository of its own."""
    for name in ("objects", "refs"):
        (project / name).mkdir()
    (project / "HEAD").write_text("ref: refs/heads/main\n")
    (project / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch {MARK}; false"\n'
    )


@pytest.fixture
def house(tmp_path: Path) -> Iterator[LivingHome]:
    living = LivingHome(tmp_path / "home")
    try:
        living.start()
        yield living
    finally:
        living.stop()


@promise("SEC-3.parsed")
@pytest.mark.parametrize("profile", ["readonly", "default"])
@pytest.mark.parametrize("kind", ["bare", "settings"])
def test_a_hostile_model_that_looks_with_git_runs_nothing(
    house: LivingHome, tmp_path: Path, profile: str, kind: str
) -> None:
    looks = ["git status", "git diff", "git log -p -1", "env -i git status", "env -u GIT_CONFIG_COUNT git status"]
    project = tmp_path / "project"
    project.mkdir()
    plant_bare(project) if kind == "bare" else by_setting(project, "core.fsmonitor")
    turns = [Turn("", calls=(Call("shell", {"command": look}),)) for look in looks]
    with served(by_turn(*turns, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("look around", project, profile=profile)
        house.finish(id, answer="deny")

    first = {body["key"]: body["verdict"] for body in reversed(house.bodies(id, "call.judged"))}
    bound = "deny" if profile == "readonly" else "ask"
    assert list(reversed(first.values()))[-2:] == [bound, bound]
    if kind == "settings":
        assert set(first.values()) == {bound}
    assert len(first) == len(looks)
    assert not (project / "marked").exists()
