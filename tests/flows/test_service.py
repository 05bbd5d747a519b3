"""Stead as a service: installed, used, handed over to and removed, with the real daemon below a service manager."""

from __future__ import annotations

import json
import os
import plistlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.cli.service_units import MARK, plist, unit
from stead.config import Home
from tests.cli.conftest import Cli
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox
from tests.promises import promise

FAKE = Path("tests/fakes/systemctl.py").absolute()
ODD = 'a $HOME %h "quoted" \\ and blank'


class Managed:
    """A home, the command line, and a service manager that it finds."""

    def __init__(self, root: Path) -> None:
        self.home = Home(root / ODD)
        self.config = root / "config"
        programs, project = root / "programs", root / "project"
        for folder in (self.home.root, programs, project):
            folder.mkdir()
        self.home.settings.write_text('discover = "off"\nembedder = "off"\n', "utf-8")
        program = programs / "systemctl"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n', "utf-8")
        program.chmod(0o755)
        self.path = f"{programs}:{os.environ['PATH']}"
        self.cli = Cli(self.home, project)
        self.project = project

    def __call__(self, *words: str, code: int = 0, path: str = "") -> Json:
        done = self.cli(*words, "--json", PATH=path or self.path, XDG_CONFIG_HOME=str(self.config))
        assert done.code == code, (words, done)
        found: Json = json.loads(done.out or done.err.splitlines()[-1])
        return found

    def says(self, *words: str) -> str:
        return self.cli(*words, PATH=self.path, XDG_CONFIG_HOME=str(self.config)).out

    @property
    def file(self) -> Path:
        (found,) = (self.config / "systemd/user").glob("*.service")
        return found


@pytest.fixture
def managed(tmp_path: Path) -> Iterator[Managed]:
    found = Managed(tmp_path)
    yield found
    found("down")


@promise("OPS-1.service")
def test_a_service_is_installed_used_by_up_and_down_and_removed(managed: Managed) -> None:
    done = managed("service", "install")
    assert done["changed"]
    assert not done["waits"]
    name = managed.file.stem
    up = managed("up")
    assert (up["already_running"], up["service"]) == (True, name)
    assert f"by the service {name}" in managed.says("up")
    assert f"by the service {name}" in managed.says("status")
    stands = managed("service", "status")
    assert (stands["by"], stands["UnitFileState"], stands["ActiveState"]) == (name, "enabled", "active")
    assert int(stands["MainPID"]) == stands["pid"] == up["pid"]
    again = managed("service", "install")
    assert (again["changed"], managed("up")["pid"]) == (False, up["pid"]), "a second time changes nothing"
    assert f"The service {name} starts it with the system" in managed.says("down")
    assert managed("service", "status", code=4)["ActiveState"] == "inactive"
    up = managed("up")
    assert (up["already_running"], up["service"]) == (False, name), "up starts it by the service"
    assert "ready: pid" in managed.says("service", "logs")
    assert managed("service", "uninstall")["changed"]
    assert not managed("service", "uninstall")["changed"]
    assert list((managed.config / "systemd/user").iterdir()) == []
    assert managed("service", "status", code=4) == {"installed": False}
    up = managed("up")
    assert (up["already_running"], up["service"]) == (False, ""), "uninstalling had ended it"


@pytest.mark.long
def test_a_daemon_that_was_started_by_hand_makes_room_once_nothing_is_under_way(managed: Managed) -> None:
    by_hand = managed("up")
    assert by_hand["service"] == ""
    assert not managed("service", "install")["waits"]
    up = managed("up")
    assert up["pid"] != by_hand["pid"]
    assert up["service"] == managed.file.stem


def test_work_that_is_under_way_is_not_cut_off_by_an_installation(managed: Managed) -> None:
    require_sandbox()
    house = LivingHome(managed.home.root)
    house.start()
    nap = Turn("", calls=(Call("shell", {"command": "sleep 300"}),))
    with served(by_turn(nap, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("take a nap", managed.project)
        house.until(lambda: bool(house.bodies(id, "tool.started")), "the nap")
        assert managed("service", "install")["waits"]
        assert house.answers()
        house.post(f"/sessions/{id}/stop", {"why": ""})
        house.wait(id, "paused")
        assert managed("down")["stopped"]
        house.stop()
    assert managed("up")["service"] == managed.file.stem


def test_a_file_that_is_not_ours_stays_as_it_is(managed: Managed) -> None:
    managed("service", "install")
    file = managed.file
    managed("service", "uninstall")
    file.write_text("[Service]\nExecStart=/bin/true\n", "utf-8")
    for words in (["install"], ["uninstall"]):
        refused = managed("service", *words, code=1)["error"]
        assert refused["message"].endswith("is not Stead's")
    assert file.read_text("utf-8") == "[Service]\nExecStart=/bin/true\n"


def test_without_a_service_manager_that_is_said_and_nothing_is_written(managed: Managed, tmp_path: Path) -> None:
    assert managed("service", "install", code=1, path=str(tmp_path))["error"] == {
        "code": "service",
        "message": "there is no systemctl here",
        "next": "stead up starts it by hand; stead service install --print shows the file",
    }
    assert not managed.config.exists()
    assert managed("service", "install", "--print", path=str(tmp_path))["text"].startswith(f"# {MARK}")
    assert not managed.config.exists()


@pytest.mark.parametrize("account", ["", "root", "daemon"])
def test_systemd_takes_the_unit_as_it_is(tmp_path: Path, account: str) -> None:
    file = tmp_path / "stead.service"
    command = [sys.executable, "-P", "-m", "stead.serve", "--home", f"/home/me/{ODD}"]
    file.write_text(unit(command, {"STEAD_HOME": f"/home/me/{ODD}"}, account), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", *([] if account else ["--user"]), "verify", str(file)],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_launchd_reads_the_list_back() -> None:
    written = plist("dev.stead", ["/usr/bin/python3", ODD], {"STEAD_SERVICE": "dev.stead"}, Path("/tmp/log"))
    assert MARK in written[:500]
    found = plistlib.loads(written.encode())
    assert found["ProgramArguments"] == ["/usr/bin/python3", ODD]
    assert (found["RunAtLoad"], found["KeepAlive"]) == (True, {"SuccessfulExit": False})


@pytest.mark.parametrize("account", ["", "root", "daemon"])
def test_the_sandbox_works_below_what_the_unit_takes_away(account: str) -> None:
    require_sandbox()
    settings = unit(["/bin/true"], {}, account).splitlines()
    hardened = ["setpriv"]
    if account == "daemon" and os.geteuid() == 0:
        hardened += ["--reuid=1", "--regid=1", "--clear-groups"]
    if "CapabilityBoundingSet=" in settings:
        hardened += ["--bounding-set=-all", "--inh-caps=-all"]
    assert "NoNewPrivileges=yes" in settings
    walls = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    done = subprocess.run(
        [*hardened, "--no-new-privs", "--", *walls, "true"], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_daemon_says_that_it_is_ready_that_it_lives_and_that_it_leaves(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(20)
        house = LivingHome(
            tmp_path / "home",
            env={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000", "STEAD_SERVICE": "stead"},
        )
        house.launch()
        first = heard.recv(4096).split(b"\n")
        assert first[0] == b"READY=1"
        assert house.answers(), "ready means that it answers"
        assert house.client().address.service == "stead"
        assert [heard.recv(4096) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        assert house.process is not None
        house.process.send_signal(signal.SIGTERM)
        while (said := heard.recv(4096)) == b"WATCHDOG=1":
            pass
        assert said == b"STOPPING=1"
        house.process.wait(20)
