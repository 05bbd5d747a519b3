"""What git's settings name in a workspace is out of an agent's reach, as git's own folder is."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.attacks.test_obeyed_files import GIT, needs_git
from tests.machines.bench import SESSION, Bench, open_bench
from tests.promises import promise

pytestmark = needs_git
ENV = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}


def git(folder: Path, *words: str) -> None:
    """The person's own git."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always")
    subprocess.run([str(GIT), *identity, *words], cwd=folder, env=ENV, check=True, capture_output=True, timeout=30)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        git(opened.project, "init", "-q")
        yield opened


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
async def test_what_a_setting_names_cannot_be_written(bench: Bench, kind: str, there: bool) -> None:
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


async def held(bench: Bench, command: str) -> list[str]:
    return [one.path for one in (await bench.landing(command)).held]


async def test_a_submodules_settings_count(bench: Bench, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "One")
    git(bench.project, "submodule", "--quiet", "add", str(tmp_path / "other"), "libs/other")
    git(bench.project / "libs/other", "config", "core.hooksPath", "hook")
    made = "mkdir libs/other/hook; echo evil > libs/other/hook/pre-commit; echo fine > libs/other/code"
    assert await held(bench, made) == ["libs/other/hook/pre-commit"]
    assert (bench.project / "libs/other/code").exists()


async def test_a_linked_work_trees_settings_count_though_they_lie_outside(bench: Bench, tmp_path: Path) -> None:
    git(bench.project, "commit", "-q", "--allow-empty", "-m", "One")
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    git(bench.project, "worktree", "add", "-q", str(tmp_path / "linked"))
    bench.machines.bind(SESSION, str(tmp_path / "linked"), writable=True)
    made = "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; echo fine > code"
    assert await held(bench, made) == ["tools/hooks/pre-commit"] and (tmp_path / "linked/code").exists()


async def test_settings_that_changed_are_read_again(bench: Bench) -> None:
    assert await held(bench, "mkdir one; echo fine > one/x") == []
    git(bench.project, "config", "core.hooksPath", "two")
    assert await held(bench, "mkdir two; echo evil > two/pre-commit") == ["two/pre-commit"]
    git(bench.project, "config", "--unset", "core.hooksPath")
    assert await held(bench, "mkdir three; echo fine > three/x") == []


@pytest.mark.parametrize("how", ["too many includes", "no settings at all"])
async def test_settings_that_git_itself_cannot_read_name_nothing_and_nothing_is_obeyed(bench: Bench, how: str) -> None:
    if how == "too many includes":
        for number in range(12):
            (bench.project / f"c{number}").write_text(f"[include]\n\tpath = c{number + 1}\n")
        (bench.project / "c12").write_text("[core]\n\thooksPath = tools/hooks\n")
        (bench.project / ".git/config").write_text("[include]\n\tpath = ../c0\n")
    else:
        (bench.project / ".git/config").write_text("[core\n\thooksPath = tools/hooks\n")
    await bench.output(
        "mkdir -p tools/hooks; echo 'touch ran' > tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit"
    )
    with pytest.raises(subprocess.CalledProcessError):
        git(bench.project, "commit", "--allow-empty", "-m", "One")
    assert not (bench.project / "ran").exists()


async def test_settings_of_any_size_are_read(bench: Bench) -> None:
    (bench.project / ".git/config").write_text(
        "[x]\n" + f"\ty = {'z' * 1000}\n" * 2000 + "[core]\n\thooksPath = hooks\n"
    )
    landing = await bench.landing("mkdir hooks; echo evil > hooks/pre-commit")
    assert [one.path for one in landing.held] == ["hooks/pre-commit"]


async def test_what_a_setting_names_and_what_would_be_a_repository_waits_as_such(bench: Bench) -> None:
    git(bench.project, "config", "core.hooksPath", "tools/hooks")
    (bench.project / "store/refs").mkdir(parents=True)
    (bench.project / "store/objects").mkdir()
    bench.bind(hold="all")
    await bench.output(
        "mkdir -p tools/hooks docs/objects docs/refs; echo evil > tools/hooks/pre-commit; echo fine > tools/x;"
        "echo ref: refs/heads/main > docs/HEAD; echo evil > docs/config; echo x > docs/objects/x; echo y > store/HEAD"
    )
    found = {path: change.held for path, change in (await bench.waiting()).items()}
    held = {path for path, how in found.items() if how == "protected"}
    repository = {"docs/HEAD", "docs/config", "docs/objects/x", "docs/refs", "store/HEAD"}
    assert held == {"tools/hooks/pre-commit", *repository} and found["tools/x"] == ""
