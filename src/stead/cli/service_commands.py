"""``service install|uninstall|status``: the daemon as a service of the system, which starts it and keeps it running.

Layer: cli.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from stead.cli import service_units as units
from stead.cli.daemon_control import end
from stead.cli.invocation import FAILED, OK, UNREACHABLE, CommandError, Invocation
from stead.cli.own_service import MAC, Service, installed, service_of
from stead.cli.templates import fill, pairs
from stead.client import Client, Json, NoDaemon, find_address
from stead.config import Home

_SHOWN = "UnitFileState,ActiveState,SubState,Result,NRestarts,MainPID"
_PASSES = "Environment="
_PASSED_ON = ("PATH", "LANG", "TZ", "STEAD_PASSPHRASE_FILE")
"""Of the installing shell's environment. No key of a provider: a unit is readable by all."""


def install(invocation: Invocation, arguments: Namespace) -> int:
    """Write the file, have it read, and start the service; with ``--print`` only show it."""
    home, system = invocation.home, arguments.system
    if system and sys.platform == MAC:
        raise CommandError("--system is for systemd", "stead service install")
    service = service_of(home, system=system)
    text = text_of(home, service)
    if arguments.print:
        return invocation.report({"file": str(service.file), "text": text}, text.rstrip("\n"))
    _require_ours(service)
    other = service_of(home, system=not system)
    if other.name == service.name and other.file != service.file and other.installed:
        way = f"stead service uninstall{' --system' if other.system else ''}"
        raise CommandError(f"this home is run by {str(other.file)!r} already", way, exit_code=FAILED)
    service.run("list" if sys.platform == MAC else "show-environment")  # nothing is written where nobody reads it
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
        if sys.platform == MAC:
            service.run("bootout", f"gui/{os.getuid()}/{service.name}")
        else:
            service.run("disable", "--now", f"{service.name}.service")
        service.file.unlink()
        if sys.platform != MAC:
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
    if sys.platform != MAC:
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


def without_environment(text: str) -> str:
    """A unit without what it passes on of the environment of the shell that installed it."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(_PASSES))


def renew(home: Home, service: Service) -> None:
    """Write the unit as this version does, with what the present one passes on, and have it read; nothing restarts.

    Raises:
        CommandError: it cannot be written, or the service manager refuses.
    """
    kept = "".join(line for line in service.file.read_text("utf-8").splitlines(True) if line.startswith(_PASSES))
    text = text_of(home, service)
    at = text.find(_PASSES)
    _write(service, without_environment(text[:at]) + kept + without_environment(text[at:]))
    service.run("daemon-reload")


def text_of(home: Home, service: Service) -> str:
    """The service's file as this version writes it, with what this environment passes on."""
    command = [sys.executable, "-P", "-m", "stead.serve", "--home", str(home.root)]
    kept = {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}
    environment = {**kept, "STEAD_HOME": str(home.root), "STEAD_SERVICE": service.name}
    if sys.platform == MAC:
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
    if sys.platform == MAC:
        if changed:
            service.run("bootstrap", f"gui/{os.getuid()}", str(service.file))
        return False
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
    if service.system or sys.platform == MAC:
        return []
    return ["To have it run also while you are not signed in: loginctl enable-linger"]
