"""``up``, ``down``, ``backup``, ``restore`` and ``key`` with the real daemon, as a person meets it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stead.client import find_address, is_alive
from stead.config import Home
from tests.cli.conftest import Cli, Result

DEADLINE_S = 20.0
PASSPHRASE = "correct horse battery\n"


def until(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.02)


@pytest.fixture
def offline(home: Home, cli: Cli) -> Iterator[Cli]:
    """A home that looks for no model server; whatever daemon a test leaves is ended."""
    home.make()
    home.settings.write_text('discover = "off"\n')
    yield cli
    with contextlib.suppress(Exception):
        pid = find_address(home).pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid), "the daemon to end")


def recovery_key_of(result: Result) -> str:
    lines = result.out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("Recovery key")]
    return lines[at + 1].strip()


def test_up_starts_once_links_the_page_and_shows_the_recovery_key_once(offline: Cli, home: Home) -> None:
    first = offline("up")
    assert first.code == 0, first.err
    pid = find_address(home).pid
    assert f"is running (pid {pid})." in first.out
    assert ".localhost:" in first.out
    assert "/#code=" in first.out
    assert "model  rehearsal: offline" in first.out
    assert first.out.rstrip().endswith('stead run "read README.md and write SUMMARY.md with its headings"')
    assert len(recovery_key_of(first)) > 50
    again = offline("up")
    assert again.code == 0
    assert f"is already running (pid {pid})." in again.out
    assert "Recovery key" not in again.out
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.log.stat().st_mode) == 0o600


def test_the_daemon_outlives_its_terminal_and_leaves_when_asked(offline: Cli, home: Home) -> None:
    assert offline("up").code == 0
    pid = find_address(home).pid
    assert os.getsid(pid) == pid, "a session of its own, so no terminal's end reaches it"
    assert offline("status").code == 0
    assert offline("doctor", TERM="xterm", LANG="C.UTF-8").code == 0
    down = offline("down")
    assert down.code == 0, down.err
    until(lambda: not is_alive(pid), "the daemon to leave")
    assert offline("status").code == 4
    assert offline("down").out == "Stead is not running.\n"


def test_two_ups_at_once_make_one_daemon(offline: Cli, home: Home) -> None:
    with offline.running("up") as one, offline.running("up") as two:
        ends = [process.communicate(timeout=30) for process in (one, two)]
    assert (one.returncode, two.returncode) == (0, 0), ends
    assert all(f"(pid {find_address(home).pid})" in out for out, _ in ends)


def test_down_waits_until_another_daemon_could_have_the_home(offline: Cli, home: Home) -> None:
    assert offline("up").code == 0
    with open(home.lock, "rb") as lock, offline.running("down") as down:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits for the daemon, and then leaves as late as a slow one
        with pytest.raises(subprocess.TimeoutExpired):
            down.wait(1.0)
        fcntl.flock(lock, fcntl.LOCK_UN)
        out, err = down.communicate(timeout=DEADLINE_S)
    assert down.returncode == 0, err
    assert out.startswith("Stead has stopped.")


def test_after_a_crash_up_starts_again(offline: Cli, home: Home) -> None:
    assert offline("up").code == 0
    pid = find_address(home).pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid), "the daemon to die")
    gone = offline("stop")
    assert gone.code == 4
    assert gone.err.endswith("next: start it with: stead up\n")
    assert offline("up").code == 0
    assert find_address(home).pid != pid


def test_a_command_that_needs_the_daemon_starts_it(offline: Cli, home: Home) -> None:
    listed = offline("objectives")
    assert (listed.code, listed.out) == (0, "No objectives yet. Give one: stead run GOAL\n")
    assert is_alive(find_address(home).pid)


def test_a_command_starts_the_daemon_where_a_crash_left_the_number_of_another_process(offline: Cli, home: Home) -> None:
    assert offline("up").code == 0
    pid = find_address(home).pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid), "the daemon to die")
    left = json.loads(home.address.read_text())
    home.address.write_text(json.dumps({**left, "pid": os.getpid()}))
    assert offline("objectives").code == 0
    assert find_address(home).pid not in (pid, os.getpid())


def test_a_copied_home_does_not_command_the_daemon_of_the_original(offline: Cli, home: Home, tmp_path: Path) -> None:
    assert offline("up").code == 0
    copy = tmp_path / "copy"
    shutil.copytree(home.root, copy, ignore=shutil.ignore_patterns("*.sock"))
    refused = offline("stop", "--home", str(copy))
    assert refused.code == 4
    assert "which is a copy of another home" in refused.err
    assert offline("down", "--home", str(copy)).out == "Stead is not running.\n"
    assert offline("status").code == 0


def test_up_renews_a_daemon_that_runs_the_code_of_before_an_update(offline: Cli, home: Home) -> None:
    assert offline("up").code == 0
    old = find_address(home)
    home.address.write_text(json.dumps(old._asdict() | {"code": "of before"}))
    assert "runs the code of before an update" in offline("doctor").out
    unknown = offline("show", "s_0123456789abcdef")
    assert "The daemon runs other code than this command" in unknown.err
    renewed = offline("up")
    assert "the daemon is started again with the code of now" in renewed.err
    assert "this version gives 0 otherwise" in renewed.err
    assert find_address(home).pid != old.pid


def test_a_key_that_the_daemon_was_started_without_is_named(offline: Cli) -> None:
    assert offline("up").code == 0
    ran = offline("run", "say hello", "--detach", ANTHROPIC_API_KEY="sk-invented")
    assert "note: ANTHROPIC_API_KEY is set here, but the daemon was started without it" in ran.err
    assert "sk-invented" not in ran.err + ran.out
    assert "note:" not in offline("run", "say hello", "--detach", ANTHROPIC_API_KEY="").err


def test_a_title_of_a_directive_is_taken_once_and_a_doubtful_name_gives_the_ids(offline: Cli) -> None:
    written = offline("directives", "add", "Short", "--text", "Answer first.", "--json").rows[0]
    again = offline("directives", "add", "short", "--text", "Answer last.")
    assert (again.code, written["id"] in again.err) == (2, True)
    assert offline("directives", "edit", "Short", "--text", "Answer at once.").code == 0


def test_what_was_made_has_its_id_at_the_top_of_the_json(offline: Cli) -> None:
    (session,) = offline("session", "new", ".", "--json").rows
    assert session["id"] == session["session"]
    (fork,) = offline("session", "fork", session["id"], "--json").rows
    assert fork["id"] == fork["session"] != session["id"]
    assert offline("rules", "add", "never change infra/", "--yes", "--json").rows[0]["id"].startswith("r_")
    (made,) = offline("memory", "add", "The kiln is in hall 2.", "--json").rows
    (memory,) = offline("memory", "list", "--json").rows
    assert made["id"] == memory["id"] == memory["memory"]["id"]


def test_a_failing_start_shows_why_and_ends_with_4(offline: Cli, home: Home) -> None:
    home.settings.write_text("port = 99999\n")
    failed = offline("up")
    assert failed.code == 4
    assert "error: the daemon failed to start (exit code 1); its log ends with:\n" in failed.err
    assert failed.err.count("port = 99999") == 1
    assert failed.err.endswith("next: stead doctor\n")


def test_a_home_that_cannot_be_made_is_a_failed_start(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = cli("up", "--home", str(tmp_path / "file" / "home"))
    assert failed.code == 4
    assert "cannot be used" in failed.err
    assert "--home DIR" in failed.err


def test_in_the_foreground_it_runs_until_it_is_asked_to_leave(offline: Cli, home: Home) -> None:
    with offline.running("up", "--foreground") as process:
        until(lambda: offline("status").code == 0, "the daemon to answer")
        assert find_address(home).pid == process.pid
        refused = offline("up", "--foreground")
        assert refused.code == 1
        assert "serves this home already" in refused.err
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_stead_folder_in_the_current_directory_is_not_run_as_the_daemon(offline: Cli, home: Home) -> None:
    planted = offline.directory / "stead"
    planted.mkdir()
    (planted / "__init__.py").write_text(f"open({str(offline.directory / 'run')!r}, 'w')")
    (planted / "daemon.py").write_text("")
    assert offline("up").code == 0
    assert not (offline.directory / "run").exists()


def test_run_starts_the_daemon_and_the_rehearsal_model_does_the_first_task(offline: Cli) -> None:
    (offline.directory / "README.md").write_text("# One\n\ntext\n\n## Two\n")
    asked = offline("run", "--profile", "ask", "read README.md and write SUMMARY.md with its headings")
    assert asked.code == 3, asked.err
    assert asked.err.endswith("Stead is started. Its recovery key is shown once, by: stead up\n")
    assert "SUMMARY.md" in asked.out
    (row,) = offline("approvals", "--json").rows
    assert offline("approve", row["id"], "--digest", row["digest"]).code == 0
    watched = offline("watch", row["session"])
    assert watched.code == 0, watched.out
    assert "One" in (offline.directory / "SUMMARY.md").read_text()
    shown = offline("show", row["session"])
    assert "status     unverified" in shown.out
    found = offline("journal", "search", "SUMMARY.md")
    assert row["session"] in found.out
    assert offline("journal", "open").out == "No run is open.\n"
    assert offline("journal", "tokens").code == 0
    assert offline("usage").code == 0


def test_a_backup_is_restored_elsewhere_with_its_passphrase_alone(offline: Cli, home: Home, tmp_path: Path) -> None:
    assert offline("up").code == 0
    secret = tmp_path / "passphrase"
    secret.write_text(PASSPHRASE)
    saved = offline("backup", str(tmp_path / "saved"), "--passphrase-file", str(secret))
    assert saved.code == 0, saved.err
    assert stat.S_IMODE((tmp_path / "saved").stat().st_mode) == 0o600
    other = ["--home", str(tmp_path / "other")]
    (tmp_path / "wrong").write_text("something else\n")
    wrong = offline("restore", str(tmp_path / "saved"), "--passphrase-file", str(tmp_path / "wrong"), *other)
    assert wrong.code == 1
    assert "passphrase" in wrong.err
    restored = offline("restore", str(tmp_path / "saved"), "--passphrase-file", str(secret), *other)
    assert restored.code == 0, restored.err
    assert f"Restored into '{tmp_path / 'other'}'" in restored.out
    refused = offline("restore", str(tmp_path / "saved"), "--passphrase-file", str(secret))
    assert refused.code == 2
    assert "stead down" in refused.err


def test_a_lost_key_comes_back_from_the_recovery_key(offline: Cli, home: Home) -> None:
    started = offline("up")
    recovery = recovery_key_of(started)
    assert offline("down").code == 0
    home.key.unlink()
    lost = offline("up")
    assert lost.code == 4
    assert "key file" in lost.err
    mistyped = offline("key", "recover", typed=recovery[:-1])
    assert mistyped.code == 2
    assert offline("key", "recover", typed=recovery.lower() + "\n").code == 0
    assert offline("up").code == 0


def test_without_a_terminal_or_a_file_no_passphrase_is_invented(offline: Cli, home: Home, tmp_path: Path) -> None:
    assert "there is nothing to back up" in offline("backup", str(tmp_path / "b")).err
    assert offline("up").code == 0
    assert "--passphrase-file FILE" in offline("backup", str(tmp_path / "b")).err
    empty = tmp_path / "empty"
    empty.write_text("\n")
    assert "the first line of" in offline("backup", str(tmp_path / "b"), "--passphrase-file", str(empty)).err
    assert "cannot be read" in offline("backup", str(tmp_path / "b"), "--passphrase-file", "/no/such").err
    assert "there is no backup" in offline("restore", str(tmp_path / "none")).err
