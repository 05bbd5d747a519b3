"""``service install|uninstall|status``: the daemon as a service of the system, which starts it and keeps it running.

Layer: cli. Knows how systemd and launchd are spoken to; what their files say is in ``service_units.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from stead.cli import service_units as units
from stead.cli.invocation import FAILED, OK, UNREACHABLE, CommandError, Invocation
from stead.cli.output import clean
from stead.cli.templates import fill, pairs
from stead.client import Client, Json, NoDaemon, find_address
from stead.config import Home

_TIMEOUT_S = 120.0
_SHOWN = "UnitFileState,ActiveState,SubState,Result,NRestarts,MainPID"
_PASSED_ON = ("PATH", "LANG", "TZ", "STEAD_PASSPHRASE_FILE")
"""Of the installing shell's environment. No key of a provider: a unit is readable by all."""
_MAC = "darwin"


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
    name, person = units.name_of(home.root, Path.home() / ".stead"), Path.home()
    if sys.platform == _MAC:
        label = f"dev.{name}"
        return Service(label, person / "Library/LaunchAgents" / f"{label}.plist", ("launchctl",))
    if system:
        return Service(name, Path("/etc/systemd/system") / f"{name}.service", ("systemctl",), system=True)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or person / ".config")
    return Service(name, config / "systemd/user" / f"{name}.service", ("systemctl", "--user"))


def installed(home: Home) -> Service | None:
    """The service that runs a home, if one is installed: the person's own, else the machine's."""
    return next((found for system in (False, True) if (found := service_of(home, system=system)).installed), None)


def install(invocation: Invocation, arguments: Namespace) -> int:
    """Write the file, have it read, and start the service; with ``--print`` only show it."""
    home, system = invocation.home, arguments.system
    if system and sys.platform == _MAC:
        raise CommandError("--system is for systemd", "stead service install")
    service = service_of(home, system=system)
    text = _text(home, service)
    if arguments.print:
        return invocation.report({"file": str(service.file), "text": text}, text.rstrip("\n"))
    _require_ours(service)
    other = service_of(home, system=not system)
    if other.name == service.name and other.file != service.file and other.installed:
        way = f"stead service uninstall{' --system' if other.system else ''}"
        raise CommandError(f"this home is run by {str(other.file)!r} already", way, exit_code=FAILED)
    service.run("list" if sys.platform == _MAC else "show-environment")  # nothing is written where nobody reads it
    home.make()
    changed = not service.installed or service.file.read_text("utf-8") != text
    if changed:
        _write(service, text)
    waits = _hand_over(invocation, service, changed=changed)
    return invocation.report(
        {"service": service.name, "file": str(service.file), "changed": changed, "waits": waits},
        fill("{0:path} is {1}.", [str(service.file), "written" if changed else "there already, as it should be"]),
        "What is under way in the daemon goes on; the service takes over at the next: stead down && stead up"
        if waits
        else f"The service {service.name} runs Stead from now on, and starts it again after a failure.",
        *_hints(service),
    )


def uninstall(invocation: Invocation, arguments: Namespace) -> int:
    """Stop the service and remove its file; the home and all that is in it stay."""
    service = service_of(invocation.home, system=arguments.system)
    _require_ours(service)
    was = service.installed
    if was:
        if sys.platform == _MAC:
            service.run("bootout", f"gui/{os.getuid()}/{service.name}")
        else:
            service.run("disable", "--now", f"{service.name}.service")
        service.file.unlink()
        if sys.platform != _MAC:
            service.run("daemon-reload")
    said = f"Removed the service {service.name}. Start Stead by hand with: stead up" if was else "None is installed."
    return invocation.report({"service": service.name, "changed": was}, said)


def status(invocation: Invocation, arguments: Namespace) -> int:
    """Say whether a service is installed, and how it stands; exit code 4 where it does not run."""
    service = installed(invocation.home)
    if service is None:
        said = "No service is installed for this home. Install one: stead service install"
        invocation.report({"installed": False}, said)
        return UNREACHABLE
    facts: Json = {"installed": True, "service": service.name, "file": str(service.file), "pid": 0, "port": 0}
    try:
        address = find_address(invocation.home)
        facts |= {"pid": address.pid, "port": address.port, "by": address.service}
    except NoDaemon:
        facts["by"] = ""
    if sys.platform != _MAC:
        lines = service.run("show", f"{service.name}.service", "-p", _SHOWN).splitlines()
        facts |= dict(line.split("=", 1) for line in lines if "=" in line)
    shown = {
        **facts,
        "serving": "yes" if facts["by"] else "no, a daemon that was started by hand" if facts["pid"] else "",
    }
    if invocation.as_json:
        invocation.out.json(facts)
    else:
        invocation.out.pairs(pairs(_ROWS, {name: "" for name in _SHOWN.split(",")} | shown))
    return OK if facts["by"] else UNREACHABLE


_ROWS = (
    "service: {service} | file: {file} | enabled: {UnitFileState} | state: {ActiveState}[ ({SubState})]"
    " | last result: {Result} | restarts: {NRestarts} | process: {pid} | serving: {serving|no}"
    " | log: stead service logs"
)


def _text(home: Home, service: Service) -> str:
    command = [sys.executable, "-P", "-m", "stead.serve", "--home", str(home.root)]
    kept = {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}
    environment = {**kept, "STEAD_HOME": str(home.root), "STEAD_SERVICE": service.name}
    if sys.platform == _MAC:
        return units.plist(service.name, command, environment, home.log)
    import pwd
    import shutil
    import stat

    owner = home.root.stat().st_uid if home.root.exists() else os.getuid()
    bwrap = shutil.which("bwrap")
    set_id = bool(bwrap and os.stat(bwrap).st_mode & stat.S_ISUID)
    account = pwd.getpwuid(owner).pw_name if service.system else ""
    return units.unit(command, environment, account, new_privileges=set_id)


def _require_ours(service: Service) -> None:
    if service.file.exists() and not service.installed:
        raise CommandError(f"{str(service.file)!r} is not Stead's", "move it away first", exit_code=FAILED)


def _write(service: Service, text: str) -> None:
    try:
        service.file.parent.mkdir(parents=True, exist_ok=True)
        new = service.file.with_name(f".{service.file.name}.{os.getpid()}")
        new.write_text(text, "utf-8")
        new.chmod(0o644)
        new.replace(service.file)
    except PermissionError as error:
        way = "sudo, with the same command and --home DIR" if service.system else "make the folder writable"
        raise CommandError(f"{str(service.file)!r}: {error.strerror}", way, exit_code=FAILED) from error


def _hand_over(invocation: Invocation, service: Service, *, changed: bool) -> bool:
    """Have the service start with the system, and now; true where a daemon that is at work keeps the home meanwhile."""
    if sys.platform == _MAC:
        if changed:
            service.run("bootstrap", f"gui/{os.getuid()}", str(service.file))
        return False
    from stead.cli.daemon_control import end

    service.run("daemon-reload")
    service.run("enable", f"{service.name}.service")
    try:
        by_hand = find_address(invocation.home).service != service.name
        if (by_hand or changed) and Client(invocation.home).get("/status")["live_sessions"]:
            return True
        if by_hand:
            end(invocation)
        elif changed:
            service.run("restart", f"{service.name}.service")
    except NoDaemon:
        pass  # nothing is in the way
    service.start()
    return False


def _hints(service: Service) -> list[str]:
    if service.system or sys.platform == _MAC:
        return []
    return ["To have it run also while you are not signed in: loginctl enable-linger"]
