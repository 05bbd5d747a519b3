"""Stead as a service: the unit that systemd reads, and the property list that launchd reads.

Layer: cli. Pure. Settings that would break the sandbox are left out on purpose; ADR 0063 names them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

MARK = "Written by stead service install"
"""In the first lines of each file of ours; one without it is another program's, and stays as it is."""
STOP_S, WATCHDOG_S = 30, 60


def name_of(root: Path, usual: Path) -> str:
    """The service of a home: ``stead``, with a few digits of its path where it is not the usual home."""
    return "stead" if root == usual else f"stead-{hashlib.sha256(str(root).encode()).hexdigest()[:8]}"


def unit(command: Sequence[str], environment: Mapping[str, str], account: str, *, new_privileges: bool = False) -> str:
    """The systemd unit.

    Args:
        command: the daemon's argv; its first word is a whole path.
        environment: what the daemon is to see besides what systemd gives.
        account: whose a system unit runs as; "" for a user unit.
        new_privileges: bubblewrap is set-id here, and must be able to use that.
    """
    given = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items())
    # A start may bring a large journal up to date, which nobody may cut off, so it has no limit of time.
    # Of a system unit alone: without privileges these would put the daemon into a user namespace of systemd's making.
    system = f"User={account}\nProtectSystem=full\n" if account else ""
    if account and account != "root":  # root maps its own id into the sandbox by a capability
        system += "CapabilityBoundingSet=\n"
    return f"""\
# {MARK}; change it with: systemctl {"" if account else "--user "}edit
[Unit]
Description=Stead
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={" ".join(_quoted(word).replace("$", "$$") for word in command)}
{given}{system}Restart=on-failure
RestartSec=2
TimeoutStartSec=infinity
TimeoutStopSec={STOP_S}
WatchdogSec={WATCHDOG_S}
KillMode=mixed
OOMPolicy=continue
Delegate=yes
UMask=0077
LimitCORE=0
NoNewPrivileges={"no" if new_privileges else "yes"}
RestrictRealtime=yes
SystemCallArchitectures=native

[Install]
WantedBy={"multi-user" if account else "default"}.target
"""


def _quoted(word: str) -> str:
    """A word as systemd reads it back: no specifier and no escape of its own (systemd.syntax(7))."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        word = word.replace(sign, written)
    return f'"{word}"'


def plist(label: str, command: Sequence[str], environment: Mapping[str, str], log: Path) -> str:
    """The property list of a launchd agent that runs at sign-in and again after a failure."""
    import plistlib

    written = plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": STOP_S,
            "Umask": 0o077,
            "ProcessType": "Interactive",
            "StandardOutPath": str(log),
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    ).decode()
    head, brk, rest = written.partition("\n")
    return f"{head}{brk}<!-- {MARK} -->\n{rest}"
