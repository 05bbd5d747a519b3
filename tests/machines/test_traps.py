"""The known traps of sandboxes made with bubblewrap, one by one; each was fallen into once, somewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stead.domain.errors import ToolFault
from stead.domain.ids import SessionId
from tests.machines.bench import SESSION, Bench, live_permit, napping, open_bench, processes_with, until

OTHER = SessionId("s_fedcba9876543210")


async def test_bubblewrap_itself_is_started_with_an_empty_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--clearenv`` empties the environment of the child alone; bubblewrap's own is seen in /proc."""
    monkeypatch.setenv("STEAD_CANARY", "canary-in-the-environment")
    inside = await bench.output("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | cut -d= -f1 | sort -u; true")
    named = {
        *("HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "TERM", "TZ", "_", "npm_config_prefix", "GOBIN"),
        *("PIP_BREAK_SYSTEM_PACKAGES", "PIP_DISABLE_PIP_VERSION_CHECK", "npm_config_update_notifier", "BUN_INSTALL"),
        *("CARGO_INSTALL_ROOT", "DENO_INSTALL_ROOT", "GIT_OPTIONAL_LOCKS"),
    }
    assert set(inside.split()) <= named
    (outer,) = [pid for pid in processes_with("/stead/start.pyc") if parent_of(pid) == os.getpid()]
    assert Path(f"/proc/{outer}/environ").read_bytes() == b""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_kernel_settings_are_mounted_read_only_and_the_user_is_no_root(bench: Bench, nap: str) -> None:
    assert " ro," in await bench.output(f"grep ' /proc/sys ' /proc/mounts; sleep {nap} >/dev/null 2>&1 &")
    await until(lambda: bool(napping(nap)))
    (pid,) = napping(nap)
    assert Path(f"/proc/{pid}").stat().st_uid != 0


async def test_a_folder_above_an_obeyed_path_can_be_renamed_in_the_machine_alone(bench: Bench) -> None:
    (bench.project / ".git/hooks").mkdir(parents=True)
    (bench.project / ".git/config").write_text("[core]\n")
    landing = await bench.landing(
        "mv .git .git2; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; mv .git2 .git/old"
    )
    assert {".git/hooks/pre-commit", ".git/config"} <= {one.path for one in landing.held}
    assert bench.tree() == {".git": "/", ".git/hooks": "/", ".git/config": "[core]\n"}


@pytest.mark.skipif(not shutil.which("git", path="/usr/bin"), reason="git is not under /usr")
async def test_a_repository_can_be_worked_in_but_not_made_to_run_programs(bench: Bench) -> None:
    git = ["git", "-C", str(bench.project), "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    (bench.project / "a").write_text("one\n")
    for words in (["init", "-q"], ["add", "a"], ["commit", "-qm", "First"]):
        subprocess.run([*git, *words], check=True)
    (bench.project / "a").write_text("two\n")
    assert "First" in await bench.output("git log --oneline; git status --short; git diff")
    before = (bench.project / ".git/config").read_text()
    for attack, path in (
        ("git config core.fsmonitor 'touch pwned'", ".git/config"),
        ("echo ../evil > .git/commondir", ".git/commondir"),
        (
            "mkdir -p .git/rebase-merge; echo exec evil > .git/rebase-merge/git-rebase-todo",
            ".git/rebase-merge/git-rebase-todo",
        ),
    ):
        assert path in [one.path for one in (await bench.landing(attack)).held], attack
        assert not (bench.project / path).exists() or path == ".git/config"
    assert (bench.project / ".git/config").read_text() == before
    subprocess.run([*git, "status"], check=True, capture_output=True)
    assert not (bench.project / "pwned").exists()


async def test_without_a_repository_none_can_be_planted_and_no_trace_is_left(bench: Bench) -> None:
    (bench.project / "sub").mkdir()
    for attack in ("git init -q", "mkdir -p .git/hooks", "mv sub .git", "rm -r .git; ln -s sub .git"):
        landing = await bench.landing(attack)
        assert landing.holding or landing.refused, attack
        assert not os.path.lexists(bench.project / ".git")


@pytest.mark.skipif(not shutil.which("git", path="/usr/bin"), reason="git is not under /usr")
async def test_files_that_look_like_a_repository_make_git_run_nothing(bench: Bench) -> None:
    """``git status`` is judged as reading; a bare repository's layout beside the work gives it settings to obey."""
    for folder in ("objects", "refs"):
        (bench.project / folder).mkdir()
    (bench.project / "HEAD").write_text("ref: refs/heads/main\n")
    (bench.project / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /work\n"
        '\tfsmonitor = "touch /work/pwned; false"\n'
    )
    await bench.run("git diff")
    for wrapper in ("", "env -i", "env -u HOME", "env - ", "(unset HOME PATH; export PATH=/usr/bin:/bin;", "exec -c"):
        for command in ("status", "log"):
            ran = await bench.run(f"{wrapper} git {command}" + (")" if "(" in wrapper else ""))
            assert ran.exit_code == 128 and "safe.bareRepository" in ran.output, (wrapper, ran.output)
    assert not (bench.project / "pwned").exists()

    unguarded = await bench.run("GIT_CONFIG_NOSYSTEM=1 git status")
    assert (bench.project / "pwned").exists(), unguarded.output  # so the setting is what keeps it shut


async def test_a_git_file_and_a_git_link_stay_as_they_are(bench: Bench, tmp_path: Path) -> None:
    (bench.project / ".git").write_text("gitdir: /somewhere/else\n")
    assert (await bench.landing("echo gitdir: evil > .git")).holding == 1
    assert (await bench.landing("rm .git; mkdir .git; echo evil > .git/config")).holding
    assert (bench.project / ".git").read_text() == "gitdir: /somewhere/else\n"
    await bench.machines.kill(SESSION)
    await bench.held_changes.discard_trial(SESSION)
    (bench.project / ".git").unlink()
    (tmp_path / "elsewhere").mkdir()
    (bench.project / ".git").symlink_to(tmp_path / "elsewhere")
    assert (await bench.run("echo evil > .git/config; rm .git; mkdir .git; echo evil > .git/config")).landing.holding
    assert os.readlink(bench.project / ".git") == str(tmp_path / "elsewhere") and not os.listdir(tmp_path / "elsewhere")
    bench.bind(writable=False)
    await bench.machines.kill(SESSION)
    await bench.held_changes.discard_trial(SESSION)
    assert await bench.output("ls .git/ 2>/dev/null || echo leads nowhere") == "leads nowhere\n"


async def test_sockets_between_programs_inside_still_work(bench: Bench) -> None:
    script = """
import socket
a, b = socket.socketpair(); a.send(b"unix"); print(b.recv(9).decode())
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname()); print("loopback")
"""
    (bench.project / "sockets.py").write_text(script)
    assert await bench.output("python3 sockets.py") == "unix\nloopback\n"


async def test_a_zero_byte_or_too_deep_a_pattern_is_a_fault_and_not_the_end(bench: Bench) -> None:
    for work in (
        bench.run("echo a\0b"),
        bench.machines.read(live_permit(), "a\0b", first_line=1, lines=1),
        bench.machines.write(live_permit(), "a\0b", ""),
        bench.machines.glob(live_permit(), "a\0b/*"),
        bench.machines.grep(live_permit(), "x", "a\0b", ""),
        bench.machines.write(live_permit(), "half", "\ud800"),
    ):
        with pytest.raises(ToolFault):
            await work
    deep = "/".join("d" for _ in range(1500))
    (bench.project / "d").mkdir()
    assert (await bench.machines.glob(live_permit(), "*/" * 1500 + "x")).rows == ()
    with pytest.raises(ToolFault):
        await bench.machines.read(live_permit(), deep, first_line=1, lines=1)
    assert [change[1] for change in bench.changes] == ["started"]


async def test_a_machine_needs_no_terminal_and_gets_none(bench: Bench) -> None:
    assert await bench.output("tty; echo; python3 -c 'import os; print(os.getsid(0) == os.getpid())' | cat") == (
        "not a tty\n\nFalse\n"
    )


async def test_the_machine_names_nobody_of_the_host(bench: Bench) -> None:
    listed = await bench.output("cut -d: -f1 /etc/passwd; hostname; ls / /etc")
    assert listed.split()[:3] == ["root", "stead", "stead"]
    assert "shadow" not in listed and "root\n" not in listed.partition("stead\nstead")[2]


async def test_starting_machines_leaks_no_descriptors(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await bench.run("true")
        await bench.machines.kill(SESSION)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            await bench.run("true")
            await bench.machines.kill(SESSION)
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)
