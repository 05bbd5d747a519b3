"""The service of a home: where its file is, and how its manager, systemd or launchd, is spoken to.

Layer: cli. What the files say is in ``service_units.py``, the commands are in ``service_commands.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from stead.cli import service_units as units
from stead.cli.invocation import FAILED, CommandError
from stead.cli.output import clean
from stead.config import Home

_TIMEOUT_S = 120.0
MAC = "darwin"


class Service(NamedTuple):
    """The service of one home.

    Args:
        name: such as ``stead``; of launchd the label.
        file: where its unit is, or would be.
        talk: the argv before a verb.
        system: it belongs to the machine and not to a person's own service manager.
    """

    name: str
    file: Path
    talk: tuple[str, ...]
    system: bool = False

    @property
    def installed(self) -> bool:
        """Whether its file is there and ours."""
        try:
            return units.MARK in self.file.read_text("utf-8", "replace")[:500]
        except OSError:
            return False

    def run(self, *words: str) -> str:
        """Tell the service manager something; gives what it prints.

        Raises:
            CommandError: there is none here, or it refuses.
        """
        way = "stead up starts it by hand; stead service install --print shows the file"
        try:
            done = subprocess.run(
                [*self.talk, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S
            )
        except FileNotFoundError:
            raise CommandError(f"there is no {self.talk[0]} here", way, exit_code=FAILED, code="service") from None
        except subprocess.TimeoutExpired:
            cause = f"{self.talk[0]} has not answered within {_TIMEOUT_S:g} s"
            raise CommandError(cause, "stead service status", exit_code=FAILED, code="service") from None
        if done.returncode:
            said = clean(done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
            cause = f"{' '.join([*self.talk, *words])}: {said}"
            raise CommandError(cause, way, exit_code=FAILED, code="service")
        return done.stdout

    def start(self) -> None:
        """Start it, and wait until it is ready or has failed (systemd), or was begun (launchd)."""
        if self.talk[0] == "launchctl":
            self.run("kickstart", f"gui/{os.getuid()}/{self.name}")
        else:
            self.run("start", f"{self.name}.service")


def service_of(home: Home, *, system: bool = False) -> Service:
    """The service that a home has, or would have."""
    person = Path.home()
    usual = Path("/root") if system else person  # of the machine: the same, whichever account asks
    name = units.name_of(home.root, usual / ".stead")
    if sys.platform == MAC:
        label = f"dev.{name}"
        return Service(label, person / "Library/LaunchAgents" / f"{label}.plist", ("launchctl",))
    if system:
        return Service(name, Path("/etc/systemd/system") / f"{name}.service", ("systemctl",), system=True)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or person / ".config")
    return Service(name, config / "systemd/user" / f"{name}.service", ("systemctl", "--user"))


def installed(home: Home) -> Service | None:
    """The service that runs a home, if one is installed: the person's own, else the machine's."""
    return next((found for system in (False, True) if (found := service_of(home, system=system)).installed), None)
