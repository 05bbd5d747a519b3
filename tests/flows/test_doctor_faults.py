"""Faults planted one by one in a real home: doctor names each, says what to do, and cures what it says that it can."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stead.cli.data_checks import data_checks
from stead.config import Home
from stead.storage.backup import NEWEST, backup
from stead.storage.database import connect
from stead.storage.keystore import open_keys
from stead.web import pages
from tests import forks
from tests.fakes.models import Turn
from tests.flows.conftest import running_home
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

Checks = dict[str, dict[str, str]]


@dataclass
class Planted:
    """A copy of a real home, and what its doctor is started with."""

    home: Home
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """Put before the command: what changes the process's own surroundings."""
    held: ExitStack = field(default_factory=ExitStack)

    def doctor(self, *words: str) -> Checks:
        """What doctor finds, by the names of its checks."""
        bare = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        bare["PATH"] = f"{Path(sys.executable).parent}:{bare['PATH']}"
        home = {"HOME": str(self.folder), "STEAD_HOME": str(self.home.root), "LANG": "C.UTF-8", "TERM": "xterm"}
        words, env = ("doctor", "--json", *words), {**bare, **home, **self.env}
        if self.words or "PYTHONIOENCODING" in env:
            done = subprocess.run(
                [*self.words, sys.executable, "-P", "-m", "stead", *words],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        else:
            done = forks.run("stead", words, 120, environment=env)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which something was done, at rest."""
    root = tmp_path_factory.mktemp("lived")
    with running_home(root) as living:
        (root / "project").mkdir()
        (root / "project" / "README.md").write_text("# One\n", "utf-8")
        living.finish(living.give("List the headings of README.md", root / "project"))
    (root / "home" / "run" / "recovery.txt").unlink()  # it was shown
    return root / "home"


@pytest.fixture
def planted(lived_in: Path, tmp_path: Path) -> Iterator[Planted]:
    """A copy of it, as private as the first."""
    shutil.copytree(lived_in, tmp_path / "home")
    one = Planted(Home(tmp_path / "home"), tmp_path)
    with one.held:
        yield one


def set_to(text: str) -> Callable[[Planted], None]:
    """Other settings."""
    return written("config.toml", text)


def opened(which: Callable[[Home], Path], mode: int = 0o755) -> Callable[[Planted], None]:
    """Rights for everybody."""
    return lambda one: which(one.home).chmod(mode)


def a_key_of_another_home(one: Planted) -> None:
    other = Home(one.folder / "other")
    other.make()
    open_keys(other, "file", str)
    shutil.copyfile(other.key, one.home.key)


def a_damaged_journal(one: Planted) -> None:
    content = bytearray(one.home.journal.read_bytes())
    for at in range(4096, len(content), 4096):
        content[at + 100] ^= 0xFF
    one.home.journal.write_bytes(content)


def a_journal_cut_short(one: Planted) -> None:
    os.truncate(one.home.journal, one.home.journal.stat().st_size // 2 // 4096 * 4096)


def a_journal_from_the_future(one: Planted) -> None:
    keys = open_keys(one.home, "file", str).keys
    with closing(connect(one.home.journal, keys.database)) as database:
        database.execute("UPDATE meta SET value = '9999' WHERE name = 'schema'")


def a_clock_that_is_behind(one: Planted) -> None:
    later = time.time() + 3 * 86_400
    os.utime(one.home.journal, (later, later))


def weeks_without_a_backup(one: Planted) -> None:
    then = time.time() - 20 * 86_400
    os.utime(one.home.key, (then, then))


def a_backup_of_long_ago(one: Planted) -> None:
    backup(one.home, open_keys(one.home, "file", str).keys, "four plain words", one.folder / "old.backup")
    then = time.time() - 60 * 86_400
    os.utime(one.home.data / "backups" / NEWEST, (then, then))


def a_large_log(one: Planted) -> None:
    with one.home.log.open("ab") as log:
        log.truncate(200_000_000)


def a_dead_daemon(one: Planted) -> None:
    left = {"pid": 2**22 + 1, "port": 1, "name": "n", "bearer": "b", "version": "", "started_ms": 0}
    one.home.address.write_text(json.dumps(left), "utf-8")
    one.home.address.chmod(0o600)


def an_open_address(one: Planted) -> None:
    a_dead_daemon(one)
    one.home.address.chmod(0o644)


def a_taken_port(one: Planted) -> None:
    server = one.held.enter_context(socket.create_server(("127.0.0.1", 0)))
    set_to(f"port = {server.getsockname()[1]}\n")(one)


def a_second_daemon(one: Planted) -> None:
    lock = one.held.enter_context(one.home.lock.open("wb"))
    fcntl.flock(lock, fcntl.LOCK_EX)


def a_passphrase_for_all(one: Planted) -> None:
    file = one.folder / "passphrase"
    file.write_text("four plain words here", "utf-8")
    file.chmod(0o644)
    one.env["STEAD_PASSPHRASE_FILE"] = str(file)


def a_broken_sandbox_tool(one: Planted) -> None:
    tool = one.folder / "bin" / "bwrap"
    tool.parent.mkdir()
    tool.write_bytes(b"\x7fELF, and nothing more")
    tool.chmod(0o755)
    one.env["PATH"] = f"{tool.parent}:{os.environ['PATH']}"


def an_old_service(one: Planted) -> None:
    """As an older version wrote it; with a stand-in for a service manager that starts the daemon and says nothing."""
    manager = one.folder / "bin" / "systemctl"
    manager.parent.mkdir()
    daemon = f"setsid {sys.executable} -m stead.serve --home {one.home.root}"
    manager.write_text(f'#!/bin/sh\ncase "$*" in *" start "*) {daemon} >/dev/null 2>&1 & esac\n', "utf-8")
    manager.chmod(0o755)
    one.env["PATH"] = f"{manager.parent}:{os.environ['PATH']}"
    shown = subprocess.run(
        [sys.executable, "-P", "-m", "stead", "service", "install", "--print", "--json"],
        env={**os.environ, "HOME": str(one.folder), "STEAD_HOME": str(one.home.root), "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    unit = json.loads(shown.stdout)
    file = Path(unit["file"])
    file.parent.mkdir(parents=True)
    file.write_text(unit["text"].replace("Restart=on-failure", "Restart=always"), "utf-8")


def in_namespace(script: str) -> Callable[[Planted], None]:
    """Surroundings of the doctor's own process, made in a user namespace of its own."""

    def plant(one: Planted) -> None:
        one.words = ("unshare", "-Urm", "sh", "-c", f'{script} && exec "$@"', "sh")
        one.env["WHERE"] = str(one.home.root)

    return plant


def environment(**names: str) -> Callable[[Planted], None]:
    return lambda one: one.env.update(names)


def few_files(one: Planted) -> None:
    one.words = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")


def written(name: str, text: str) -> Callable[[Planted], None]:
    def plant(one: Planted) -> None:
        file = one.home.root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")

    return plant


def gone(name: str) -> Callable[[Planted], None]:
    return lambda one: (one.home.root / name).unlink()


FAULTS: Mapping[str, tuple[Callable[[Planted], None], str, str, str]] = {
    "a home open to all": (opened(lambda home: home.root), "home", "fail", "chmod go-rwx"),
    "a data folder open to all": (opened(lambda home: home.data), "data folder", "fail", "chmod go-rwx"),
    "a journal open to all": (opened(lambda home: home.journal, 0o644), "journal file", "fail", "chmod go-rwx"),
    "a run folder open to all": (opened(lambda home: home.run), "run folder", "fail", "chmod go-rwx"),
    "a log folder open to all": (opened(lambda home: home.log.parent), "log folder", "fail", "chmod go-rwx"),
    "settings that all can write": (opened(lambda home: home.settings, 0o666), "settings file", "fail", "chmod go-rwx"),
    "a key that all can read": (opened(lambda home: home.key, 0o644), "key", "fail", "chmod 600"),
    "a key that is gone": (gone("key"), "key", "fail", "stead key recover"),
    "a key that is no key": (written("key", "{}"), "key", "fail", "stead key recover"),
    "a key of another home": (a_key_of_another_home, "journal content", "fail", "stead key recover"),
    "a damaged journal": (a_damaged_journal, "journal content", "fail", "stead audit verify"),
    "a journal cut short": (a_journal_cut_short, "journal content", "fail", "stead audit verify"),
    "a plain database": (written("data/journal.db", "SQLite format 3\0" * 9), "journal content", "fail", "backup"),
    "a journal from the future": (a_journal_from_the_future, "journal content", "fail", "install that version"),
    "files that are gone": (gone("data/contents/index.db"), "kept files", "fail", "stead restore"),
    "a clock that is behind": (a_clock_that_is_behind, "journal clock", "fail", "set-ntp"),
    "weeks without a backup": (weeks_without_a_backup, "backup", "warn", "stead backup"),
    "a backup of long ago": (a_backup_of_long_ago, "backup", "warn", "stead backup"),
    "a spoilt copy of the heads": (written("heads.jsonl", "no head\n"), "signed heads", "fail", "audit_heads"),
    "a disk for heads that is gone": (set_to('audit_heads = "/nowhere/h"\n'), "signed heads", "fail", "mount it"),
    "a memory folder that is gone": (set_to('memory_folder = "/nowhere"\n'), "memory folder", "fail", "mkdir"),
    "a broken specialist": (written("specialists/mender.md", "kind: x"), "specialists", "warn", "specialist edit"),
    "settings that are no TOML": (set_to("port = = 1\n"), "settings", "fail", "fix or remove"),
    "a setting out of range": (set_to("port = 99999\n"), "settings", "fail", "fix or remove"),
    "a setting that is unknown": (set_to('colour = "blue"\n'), "settings", "warn", "remove it"),
    "a zone that is none": (set_to('time_zone = "Mars/Base"\n'), "settings", "fail", "fix or remove"),
    "a log too large": (a_large_log, "log", "warn", "rm "),
    "a recovery key that was never shown": (written("run/recovery.txt", "ABCD"), "recovery key", "warn", "stead up"),
    "a daemon that died": (a_dead_daemon, "address file", "warn", "stead up"),
    "an address that all can read": (an_open_address, "address file", "fail", "stead down"),
    "a taken port": (a_taken_port, "port", "fail", "choose another"),
    "two daemons": (a_second_daemon, "lock", "fail", "fuser"),
    "a passphrase that all can read": (a_passphrase_for_all, "passphrase file", "fail", "chmod go-rwx"),
    "a passphrase that is gone": (environment(STEAD_PASSPHRASE_FILE="/nowhere"), "passphrase file", "fail", "unset"),
    "a TZ that is none": (environment(TZ="Mars/Base"), "time zone", "warn", "export TZ="),
    "a sandbox tool that does not run": (a_broken_sandbox_tool, "bubblewrap", "fail", "apt install"),
    "no sandbox tool in the PATH": (environment(PATH="/nowhere"), "PATH", "warn", "to PATH"),
    "a terminal that takes no UTF-8": (environment(PYTHONIOENCODING="latin-1"), "encoding", "warn", "C.UTF-8"),
    "no terminal": (environment(TERM="dumb"), "terminal", "warn", "export TERM"),
    "too few open files": (few_files, "open files", "warn", "ulimit -n"),
    "a service of another version": (an_old_service, "service", "warn", "stead service install"),
    "user namespaces forbidden": (
        in_namespace("echo 0 > /proc/sys/user/max_user_namespaces"), "user namespaces", "fail", "sysctl"
    ),
    "a full disk": (
        in_namespace('mount -t tmpfs -o size=2m,mode=700 tmpfs "$WHERE"'), "disk space", "fail", "free space"
    ),
    "a disk that is nearly full": (
        in_namespace('mount -t tmpfs -o size=200m,mode=700 tmpfs "$WHERE"'), "disk space", "warn", "free space"
    ),
    "a disk that cannot be written": (
        in_namespace('mount --bind "$WHERE" "$WHERE" && mount -o remount,ro,bind "$WHERE"'), "disk", "fail", "writable"
    ),
}  # fmt: skip
"""What is planted; then the check that names it, its verdict, and a part of the way out."""
CURED = {
    "a home open to all",
    "a data folder open to all",
    "a journal open to all",
    "a run folder open to all",
    "a log folder open to all",
    "settings that all can write",
    "a key that all can read",
    "a log too large",
    "a daemon that died",
    "a passphrase that all can read",
    "a service of another version",
}


@promise("OPS-1.doctor-finds")
def test_a_home_at_rest_has_none_of_the_faults(planted: Planted) -> None:
    found = planted.doctor()
    assert {name: found[name]["verdict"] for _, name, _, _ in FAULTS.values()} == {
        name: "ok" for _, name, _, _ in FAULTS.values()
    }
    assert len(FAULTS) >= 30


@promise("OPS-1.doctor-finds")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_with_the_way_out_and_cured_where_doctor_says_that_it_can(
    planted: Planted, fault: str
) -> None:
    plant, name, verdict, way = FAULTS[fault]
    plant(planted)
    check = planted.doctor()[name]
    assert (check["verdict"], way in check["fix"]) == (verdict, True), check
    assert check["text"]
    assert bool(check["cure"]) == (fault in CURED), check
    if fault in CURED:
        healed = planted.doctor("--fix", "--yes")
        planted.held.callback(subprocess.run, [sys.executable, "-m", "stead", "down", "--home", str(planted.home.root)])
        assert healed[name]["verdict"] == "ok", healed[name]


@promise("OPS-1.doctor-finds")
def test_a_backup_sets_right_that_there_was_none_for_weeks(planted: Planted) -> None:
    weeks_without_a_backup(planted)
    file = planted.folder / "today.backup"
    backup(planted.home, open_keys(planted.home, "file", str).keys, "four plain words", file)
    check = planted.doctor()["backup"]
    assert (check["verdict"], check["text"]) == ("ok", f"the newest was made just now: {str(file)!r}")
    file.unlink()
    assert planted.doctor()["backup"]["text"].endswith(", which is not there now")


@promise("OPS-1.doctor-finds")
def test_a_page_that_was_not_built_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "STATIC", planted.folder)
    (check,) = [check for check in data_checks(planted.home) if check.name == "page"]
    assert (check.verdict, "make ui" in check.fix) == ("fail", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator gives files away")
def test_a_home_of_another_account_is_found(planted: Planted) -> None:
    os.chown(planted.home.root, 12_345, -1)
    check = planted.doctor()["home"]
    assert (check["verdict"], "another account" in check["text"]) == ("fail", True)


@promise("OPS-1.doctor-finds")
def test_what_the_daemon_knows_to_be_broken_is_named(own_house: LivingHome, project: Path, tmp_path: Path) -> None:
    house = own_house
    one = Planted(house.home, tmp_path)
    assert one.doctor()["schedules"]["verdict"] == "ok"
    lost = tmp_path / "lost"
    lost.mkdir()
    job = {"type": "session.open", "directory": str(lost), "goal": "Look after it"}
    house.post("/schedules", {"name": "look", "when": {"type": "every", "seconds": 86_400}, "job": job})
    house.post("/egress/hosts", {"host": "example.com", "directory": str(lost)})
    lost.rmdir()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    house.post("/web-search", {"engine": "searxng", "url": f"http://127.0.0.1:{port}"})
    house.post("/mcp", {"name": "clock", "command": ["no-such-program-anywhere"]})
    house.post("/mcp/clock/test", {"directory": str(project)})
    house.post("/providers", {"name": "away", "preset": "compatible", "base_url": f"http://127.0.0.1:{port}/v1"})
    house.post("/providers", {"name": "keyless", "preset": "openai", "key": "env:NOT_SET_ANYWHERE"})
    found = one.doctor()
    for name, verdict, said in (
        ("schedules", "warn", "look: its folder"),
        ("allowed hosts", "warn", str(lost)),
        ("web search", "fail", ""),
        ("MCP clock", "fail", ""),
        ("provider keys", "fail", "keyless (env:NOT_SET_ANYWHERE (not set))"),
        ("caps", "warn", "none"),
    ):
        assert (found[name]["verdict"], said in found[name]["text"]) == (verdict, True), found[name]
        assert found[name]["fix"].startswith("stead "), found[name]
    report = tmp_path / "report.tar.gz"
    assert house.cli("doctor", "--bundle", str(report)).returncode == 0
    with tarfile.open(report) as archive:
        texts = [archive.extractfile(member).read().decode() for member in archive.getmembers()]  # type: ignore[union-attr]
    assert "its folder" in "".join(texts) and str(lost) not in "".join(texts)
    house.client().command("DELETE", "/providers/keyless", {})
    house.post("/chain", {"chain": [{"provider": "away", "model": "m"}]})
    check = one.doctor()["provider away"]
    assert check["verdict"] == "fail" and check["fix"]


@promise("OPS-1.doctor-finds")
def test_a_provider_that_refuses_the_key_is_named(own_house: LivingHome, tmp_path: Path) -> None:
    with served(lambda _: Turn("", status=401)) as model:
        use_model(own_house, model.openai)
        check = Planted(own_house.home, tmp_path).doctor()["provider acme"]
    assert check["verdict"] == "fail"
    assert "401" in check["text"] or "key" in check["text"], check
