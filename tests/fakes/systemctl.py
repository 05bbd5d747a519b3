"""A service manager of a person, as ``systemctl --user`` is spoken to: it runs what units say and hears sd_notify.

A strict stand-in, started as a program of its own: it reads units by itself, knows the few verbs below and refuses all
others, and takes a service for started when it has heard READY=1. Its state is in ``$XDG_CONFIG_HOME/state``.
"""

from __future__ import annotations

import configparser
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

CONFIG = Path(os.environ["XDG_CONFIG_HOME"])
STATE = CONFIG / "state"


def unit_of(name: str) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # the keys' case counts
    file = CONFIG / "systemd/user" / name
    if not file.exists():
        raise SystemExit(f"Unit {name} not found.")
    lines = file.read_text("utf-8").splitlines()
    places = [n for n, line in enumerate(lines) if line.startswith("Environment=")]
    given = [shlex.split(lines[n].partition("=")[2])[0] for n in places]
    parser.read_string("\n".join(line for n, line in enumerate(lines) if n not in places))
    parser["Service"]["Environment"] = shlex.join(given)
    return parser["Service"]


def pid_of(name: str) -> int:
    file = STATE / f"{name}.pid"
    pid = int(file.read_text()) if file.exists() else 0
    try:
        running = pid and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        running = False
    return pid if running else 0


def start(name: str) -> None:
    unit = unit_of(name)
    if pid_of(name):
        return
    assert unit["Type"] == "notify"
    address = f"stead-test-{name}-{os.getpid()}"  # an abstract one: a path can be too long for a socket
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{address}")
        heard.settimeout(25)
        environment = dict(word.split("=", 1) for word in shlex.split(unit["Environment"]))
        environment |= {"NOTIFY_SOCKET": f"@{address}", "WATCHDOG_USEC": str(int(unit["WatchdogSec"]) * 1_000_000)}
        out = (STATE / "out").open("ab")
        process = subprocess.Popen(
            shlex.split(unit["ExecStart"].replace("$$", "$").replace("%%", "%")),
            env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/",
        )  # fmt: skip
        (STATE / f"{name}.pid").write_text(str(process.pid))
        while b"READY=1" not in heard.recv(4096).split(b"\n"):
            pass


def stop(name: str) -> None:
    if pid := pid_of(name):
        os.kill(pid, signal.SIGTERM)
        while pid_of(name):
            time.sleep(0.02)


def main(words: list[str]) -> None:
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / "said").open("a") as said:
        said.write(" ".join(words) + "\n")
    match words:
        case ["--user", "show-environment" | "daemon-reload"]:
            pass
        case ["--user", "enable", name]:
            unit_of(name)
            (STATE / f"{name}.enabled").touch()
        case ["--user", "disable", "--now", name]:
            stop(name)
            (STATE / f"{name}.enabled").unlink()
        case ["--user", "start", name]:
            start(name)
        case ["--user", "restart", name]:
            stop(name)
            start(name)
        case ["--user", "show", name, "-p", wanted]:
            enabled = (STATE / f"{name}.enabled").exists()
            facts = {"UnitFileState": "enabled" if enabled else "disabled", "MainPID": str(pid_of(name))}
            facts |= {"ActiveState": "active" if pid_of(name) else "inactive"}
            print("\n".join(f"{key}={facts.get(key, '')}" for key in wanted.split(",")))
        case _:
            raise SystemExit(f"Unknown command verb: {words}")


main(sys.argv[1:])
