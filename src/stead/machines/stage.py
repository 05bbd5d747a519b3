"""Where a sandbox takes its folders from: straight from the host, or, for a daemon that is root, from a private view.

Layer: machines. See ``idmap`` for why and how.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from stead.domain.errors import MachineUnavailable
from stead.machines.idmap import STAGE, Overlay, Show, private_namespace
from stead.machines.sandbox import Tools
from stead.machines.trial import OPTIONS

OUTSIDE_USER = 65534
"""Whom a root daemon's machines run as. A machine never runs as root."""

_ON_TRIAL = """
set -e
cd "$1"
mount --rbind "$2" lower
if [ "$(stat -c %d:%i lower)" != "$3" ]; then echo "the folder changed just now" >&2; exit 1; fi
mount -t overlay -o "lowerdir=lower,upperdir=upper,workdir=work,$4" stead view
shift 4
exec env -i "$@"
"""
"""Run in a user namespace of its own, where an ordinary user may mount. Short relative names need no escaping."""

ROOT_TOOLS = ("setpriv", "nsenter", "unshare")
"""What a root daemon needs beside bubblewrap; all are part of util-linux."""


@dataclass(frozen=True)
class Stage:
    """Folders as bubblewrap will see them.

    Args:
        command: words before bubblewrap on the command line.
        bwrap: its path.
        prefix: where the interpreter's folder is, "" when it needs none.
        directory: where the workspace is; "" for none.
        fd: of the private namespace, -1 for none.
        egress: where the folder with the way out is; "" for none.
    """

    command: tuple[str, ...]
    bwrap: str
    prefix: str
    directory: str
    fd: int = -1
    egress: str = ""

    def close(self) -> None:
        """Once the sandbox is up."""
        if self.fd >= 0:
            os.close(self.fd)


def make_stage(tools: Tools, directory: str, *, writable: bool, egress: str = "") -> Stage:
    """Make the folders reachable for the machine's user. May take milliseconds; call it from a thread.

    Args:
        tools: bubblewrap and the interpreter.
        directory: absolute real path of the workspace; "" for none.
        writable: whether the machine is to write it.
        egress: absolute path of the folder with the way out; "" for none. Where it cannot be made reachable for the
            machine's user, the machine has no way out.

    Raises:
        MachineUnavailable: the machine's user could not work there; says why and the way out.
    """
    if os.geteuid() != 0:
        return Stage((), tools.bwrap, tools.prefix, directory, egress=egress)
    drop = _drop()
    try:
        return _private(drop, tools, directory, egress, mapped=True)
    except OSError as error:
        if directory and not _open_to_all(directory, writable):
            raise MachineUnavailable(
                "{!r} cannot be lent to the machine's user: {}. Run Stead as the folder's owner, "
                "or use a folder on a file system with id-mapped mounts (ext4, xfs, btrfs; Linux 5.14 or newer)",
                *(directory, error),
            ) from error
    try:
        return _private(drop, tools, directory, egress, mapped=False)
    except OSError:  # no mount namespaces for this root (a container): what all may reach can still be shown
        return Stage(drop, tools.bwrap, tools.prefix, directory)


def make_trial_stage(tools: Tools, directory: str, trial: str, egress: str = "") -> Stage:
    """Make a folder reachable with an overlay over it, so that nothing of it can be changed.

    Args:
        tools: as for ``make_stage``.
        directory: absolute real path of the workspace.
        trial: absolute path of the folder that takes the changes; see ``trial.TrialFolder``.
        egress: as for ``make_stage``.

    Raises:
        MachineUnavailable: this host cannot lay one folder over another.
    """
    found = os.stat(directory, follow_symlinks=False)
    if os.geteuid() != 0:
        where = (trial, directory, f"{found.st_dev}:{found.st_ino}", OPTIONS)
        apart = ("unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "--")
        command = (*apart, "sh", "-c", _ON_TRIAL, "stead", *where)
        return Stage(command, tools.bwrap, tools.prefix, f"{trial}/view", egress=egress)
    lower = Show(directory, "lower", _owner(directory), read_only=False)
    overlay = Overlay(lower, (found.st_dev, found.st_ino), trial, OPTIONS)
    try:
        return _private(_drop(), tools, "", egress, mapped=True, overlay=overlay)
    except OSError as error:
        raise MachineUnavailable(
            "trial mode needs Linux 5.19 or newer, with {!r} and Stead's home on ext4, xfs or btrfs ({}); run Stead as "
            "the folder's owner, or work without --trial",
            *(directory, error),
        ) from error


def _drop() -> tuple[str, ...]:
    return ("setpriv", f"--reuid={OUTSIDE_USER}", f"--regid={OUTSIDE_USER}", "--clear-groups", "--")


def _private(
    drop: tuple[str, ...], tools: Tools, directory: str, egress: str, *, mapped: bool, overlay: Overlay | None = None
) -> Stage:
    shows = {}
    if egress:  # its socket belongs to the machine's user already
        shows["egress"] = Show(egress, "egress", None, read_only=True)
    if directory:
        shows["work"] = Show(directory, "work", _owner(directory) if mapped else None, read_only=False)
    if tools.prefix:
        shows["python"] = Show(tools.prefix, "python", _owner(tools.prefix), read_only=True)
    if tools.bwrap_root:
        shows["bwrap"] = Show(tools.bwrap_root, "bwrap", _owner(tools.bwrap_root), read_only=True)
    if not shows and not overlay:
        return Stage(drop, tools.bwrap, tools.prefix, directory)
    fd = private_namespace(list(shows.values()), OUTSIDE_USER, overlay)
    bwrap = f"{STAGE}/bwrap" + tools.bwrap.removeprefix(tools.bwrap_root) if "bwrap" in shows else tools.bwrap
    # It drops what setpriv does, other groups included; one program less is a millisecond less for each machine.
    user = (f"--setgid={OUTSIDE_USER}", f"--setuid={OUTSIDE_USER}")
    return Stage(
        ("nsenter", f"--mount=/proc/{os.getpid()}/fd/{fd}", *user, "--"),
        bwrap,
        f"{STAGE}/python" if "python" in shows else tools.prefix,
        f"{STAGE}/work" if directory or overlay else "",
        fd,
        f"{STAGE}/egress" if egress else "",
    )


def _owner(path: str) -> tuple[int, int]:
    found = os.stat(path, follow_symlinks=False)
    return found.st_uid, found.st_gid


def _open_to_all(directory: str, writable: bool) -> bool:
    found = os.stat(directory)
    wanted = 0o7 if writable else 0o5
    return found.st_uid == OUTSIDE_USER or found.st_mode & wanted == wanted
