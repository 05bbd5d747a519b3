"""What git's settings name in a workspace is out of an agent's reach, as git's own folder is."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.errors import MachineUnavailable
from stead.machines.changes import changes
from stead.machines.trial import TrialFolder
from tests.attacks.test_obeyed_files import GIT, needs_git
from tests.machines.bench import SESSION, require_sandbox
from tests.machines.test_protected import Guarded
from tests.promises import promise

pytestmark = needs_git
ENV = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}


def git(folder: Path, *words: str) -> None:
    """The person's own git."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always")
    subprocess.run([str(GIT), *identity, *words], cwd=folder, env=ENV, check=True, capture_output=True, timeout=30)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Guarded]:
    require_sandbox()
    opened = Guarded(tmp_path)
    opened.bind()
    git(opened.project, "init", "-q")
    yield opened
    await opened.machines.close()


SETTINGS: dict[str, tuple[list[list[str]], dict[str, str], str]] = {
    # what the person sets, the files that they have, and what the agent would write
    "the hooks' folder": ([["core.hooksPath", "tools/hooks"]], {}, "tools/hooks/pre-commit"),
    "in other letters": ([["CORE.hookspath", "tools/hooks"]], {}, "tools/hooks/pre-commit"),
    "with a slash behind": ([["core.hooksPath", "./tools/../tools/hooks/"]], {}, "tools/hooks/pre-commit"),
    "by its whole path": ([["core.hooksPath", "{project}/tools/hooks"]], {}, "tools/hooks/pre-commit"),
    "the last one of two": ([["core.hooksPath", "old"], ["--add", "core.hooksPath", "new"]], {}, "new/pre-commit"),
    "a program that watches files": ([["core.fsmonitor", "tools/watch.sh"]], {"tools/watch.sh": "#"}, "tools/watch.sh"),
    "a program by its interpreter": ([["core.fsmonitor", "python3 watch.py -q"]], {"watch.py": "#"}, "watch.py"),
    "how to sign in": ([["core.sshCommand", "ssh -F conf/ssh"]], {"conf/ssh": "#"}, "conf/ssh"),
    "a filter": ([["filter.x.clean", "'./tools/clean me.sh' %f"]], {"tools/clean me.sh": "#"}, "tools/clean me.sh"),
    "a driver for diffs": ([["diff.x.textconv", "tools/show"]], {}, "tools/show"),
    "an alias": ([["alias.up", "!sh tools/up.sh"]], {"tools/up.sh": "#"}, "tools/up.sh"),
    "attributes": ([["core.attributesFile", "conf/attributes"]], {}, "conf/attributes"),
    "who may have signed": ([["gpg.ssh.allowedSignersFile", "conf/signers"]], {"conf/signers": ""}, "conf/signers"),
    "further settings": ([["include.path", "../conf/git"]], {"conf/git": ""}, "conf/git"),
    "further settings that are not there yet": ([["include.path", "../conf/git"]], {}, "conf/git"),
    "under a condition": ([["includeIf.gitdir:/nowhere/.path", "../conf/git"]], {"conf/git": ""}, "conf/git"),
    "hooks by further settings": (
        [["include.path", "../conf/git"]],
        {"conf/git": "[include]\n\tpath = more\n", "conf/more": "[core]\n\thooksPath = tools/hooks\n"},
        "tools/hooks/pre-commit",
    ),
    "further settings of further settings": (
        [["include.path", "../conf/git"]],
        {"conf/git": "[include]\n\tpath = more\n", "conf/more": ""},
        "conf/more",
    ),
    "of this work tree": (
        [["extensions.worktreeConfig", "true"], ["--worktree", "core.hooksPath", "tools/hooks"]],
        {},
        "tools/hooks/pre-commit",
    ),
}


@promise("SEC-5.protected")
@pytest.mark.parametrize("there", [True, False], ids=["there", "planted"])
@pytest.mark.parametrize("kind", SETTINGS)
async def test_what_a_setting_names_cannot_be_written(bench: Guarded, kind: str, there: bool) -> None:
    settings, files, target = SETTINGS[kind]
    path = bench.project / target
    for name, text in files.items() if there or "settings" in kind else ():
        (bench.project / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / name).write_text(text)
    if there and "not there" not in kind:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    for setting in settings:
        git(bench.project, "config", *(word.format(project=bench.project) for word in setting))
    before = path.read_text() if path.exists() else None
    word = f"'{target}'"
    await bench.run(f"mkdir -p $(dirname {word}); echo evil >> {word}; mv {word} x; mv $(dirname {word}) y; mkdir -p z")
    await bench.run(f"rm -rf {word}; mkdir -p $(dirname {word}); echo evil > {word}")
    await bench.machines.kill(SESSION)
    assert (path.read_text() if path.exists() else None) == before
    assert (bench.project / "z").is_dir()  # the machine did work


async def test_a_submodules_settings_count(bench: Guarded, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "One")
    git(bench.project, "submodule", "--quiet", "add", str(tmp_path / "other"), "libs/other")
    git(bench.project / "libs/other", "config", "core.hooksPath", "hook")
    await bench.output("mkdir libs/other/hook; echo evil > libs/other/hook/pre-commit; echo fine > libs/other/code")
    assert await bench.planted() == ["libs/other/hook"]
    assert (bench.project / "libs/other/code").exists()


async def test_a_linked_work_trees_settings_count_though_they_lie_outside(bench: Guarded, tmp_path: Path) -> None:
    git(bench.project, "commit", "-q", "--allow-empty", "-m", "One")
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    git(bench.project, "worktree", "add", "-q", str(tmp_path / "linked"))
    bench.machines.bind(SESSION, str(tmp_path / "linked"), writable=True)
    await bench.output("mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; echo fine > code")
    assert await bench.planted() == ["tools/hooks"] and (tmp_path / "linked/code").exists()


async def test_a_bare_repositorys_settings_count(bench: Guarded) -> None:
    git(bench.project, "init", "-q", "--bare", "store")
    git(bench.project / "store", "config", "core.hooksPath", "../store-hooks")
    await bench.output("mkdir store-hooks; echo evil > store-hooks/update")
    assert await bench.planted() == ["store-hooks"]


async def test_settings_that_changed_are_read_again(bench: Guarded) -> None:
    await bench.output("mkdir one; echo fine > one/x")
    assert await bench.planted() == []
    git(bench.project, "config", "core.hooksPath", "two")
    await bench.output("mkdir two; echo evil > two/pre-commit")
    assert await bench.planted() == ["two"]
    git(bench.project, "config", "--unset", "core.hooksPath")
    await bench.output("mkdir two; echo fine > two/x")
    assert await bench.planted() == ["two"]


async def test_settings_that_cannot_be_read_start_no_machine(bench: Guarded) -> None:
    for number in range(12):
        (bench.project / f"c{number}").write_text(f"[include]\n\tpath = c{number + 1}\n")
    (bench.project / ".git/config").write_text("[include]\n\tpath = ../c0\n")
    with pytest.raises(MachineUnavailable, match="include more than is followed; shorten their includes"):
        await bench.run("true")


async def test_what_cannot_be_listed_in_bounds_starts_no_machine(bench: Guarded) -> None:
    (bench.project / ".git/config").write_text("[x]\n" + f"\ty = {'z' * 1000}\n" * 2000)
    with pytest.raises(MachineUnavailable, match=r"cannot be read.*repair the settings, or work on trial"):
        await bench.run("true")


async def test_a_trial_holds_back_what_a_setting_names_and_what_would_be_a_repository(bench: Guarded) -> None:
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    (bench.project / "store/refs").mkdir(parents=True)
    (bench.project / "store/objects").mkdir()
    bench.machines.bind(SESSION, str(bench.project), writable=True, trial=True)
    await bench.output(
        "mkdir -p tools/hooks docs/objects docs/refs; echo evil > tools/hooks/pre-commit; echo fine > tools/x;"
        "echo ref: refs/heads/main > docs/HEAD; echo evil > docs/config; echo x > docs/objects/x; echo y > store/HEAD"
    )
    await bench.machines.kill(SESSION)
    found = {change.path: change.held for change in changes(TrialFolder(bench.home, SESSION))}
    held = {path for path, how in found.items() if how == "protected"}
    assert held == {"tools/hooks/pre-commit", "docs/HEAD", "docs/config", "store/HEAD"}
    assert found["tools/x"] == found["docs/objects/x"] == ""


# -- a yes, and what it lets be written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "sibling"),
    [
        (".github/workflows/ci.yml", ".github/workflows/other.yml"),
        (".vscode/settings.json", ".vscode/tasks.json"),
        ("sub/.vscode/settings.json", "sub/.vscode/tasks.json"),
        (".git/hooks/pre-commit", ".git/hooks/post-commit"),
        (".git/hooks/pre-commit", ".git/config.worktree"),
        ("tools/hooks/pre-commit", "tools/hooks/post-commit"),
        ("AGENTS.md", "sub/AGENTS.md"),
    ],
)
@pytest.mark.parametrize("there", [True, False], ids=["there", "new"])
async def test_a_yes_lets_one_file_be_written_and_it_stays(
    bench: Guarded, path: str, sibling: str, there: bool
) -> None:
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    if there:
        for name in (path, sibling):
            (bench.project / name).parent.mkdir(parents=True, exist_ok=True)
            (bench.project / name).write_text("mine\n")
    bench.machines.bind(SESSION, str(bench.project), writable=True, allowed=(path,))
    await bench.run(f"mkdir -p $(dirname {path}) $(dirname {sibling}); echo evil > {sibling}; echo evil >> .git/config")
    await bench.output(f"echo theirs > {path}")
    await bench.planted()
    bench.bind()
    await bench.run(f"echo evil > {path}; echo evil > {sibling}")
    await bench.planted()
    assert (bench.project / path).read_text() == "theirs\n"
    assert (bench.project / sibling).read_text() == "mine\n" if there else not (bench.project / sibling).exists()
    assert "evil" not in (bench.project / ".git/config").read_text()
