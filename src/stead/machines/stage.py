"""Where a sandbox takes its folders from: straight from the host, or, for a daemon that is root, from a private view.

Layer: machines. See ``idmap`` for why and how.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace

from stead.domain.errors import MachineUnavailable
from stead.machines.idmap import STAGE, Show, private_namespace
from stead.machines.sandbox import OUTSIDE_USER, Tools, Workspace
from stead.machines.toolchains import NOTHING, Shown

ROOT_TOOLS = ("setpriv", "nsenter", "unshare")
"""What a root daemon needs besides bubblewrap; all are part of util-linux."""


@dataclass(frozen=True)
class Stage:
    """Folders as bubblewrap will see them.

    Args:
        command: words before bubblewrap on the command line.
        bwrap: its path.
        prefix: where the interpreter's folder is, "" when it needs none.
        workspace: None for none.
        fd: of the private namespace, -1 for none.
        egress: where the folder with the way out is; "" for none.
        shown: the toolchains, with the folders where they are.
    """

    command: tuple[str, ...]
    bwrap: str
    prefix: str
    workspace: Workspace | None
    fd: int = -1
    egress: str = ""
    shown: Shown = NOTHING

    def close(self) -> None:
        """Once the sandbox is up."""
        if self.fd >= 0:
            os.close(self.fd)


def make_stage(tools: Tools, workspace: Workspace | None, egress: str = "", *, toolchains: bool = True) -> Stage:
    """Make the folders reachable for the machine's user. May take milliseconds; call it from a thread.

    Args:
        tools: bubblewrap and the interpreter.
        workspace: by absolute real paths on the host; None for none.
        egress: absolute path of the folder with the way out; "" for none. Where it cannot be made reachable for the
            machine's user, the machine has no way out.
        toolchains: show the person's toolchains. Those below ``/home`` are found by their names in a workspace alone.

    Raises:
        MachineUnavailable: the machine's user could not work there; says why and the way out.
    """
    if os.geteuid() != 0:
        shown = _toolchains(tools, workspace) if toolchains else NOTHING
        return Stage((), tools.bwrap, tools.prefix, workspace, egress=egress, shown=shown)
    drop = ("setpriv", f"--reuid={OUTSIDE_USER}", f"--regid={OUTSIDE_USER}", "--clear-groups", "--")
    try:
        return _private(drop, tools, workspace, egress, toolchains=toolchains)
    except OSError as error:
        if workspace:
            raise MachineUnavailable(
                "{!r} cannot be lent to the machine's user: {}. Run Stead as the folder's owner, "
                "or use a folder on a file system with id-mapped mounts (ext4, xfs, btrfs; Linux 5.19 or newer)",
                *(workspace.folder, error),
            ) from error
        # No mount namespaces for this root (a container): what all may reach can still be shown.
        return Stage(drop, tools.bwrap, tools.prefix, None)


def _private(
    drop: tuple[str, ...], tools: Tools, workspace: Workspace | None, egress: str, *, toolchains: bool
) -> Stage:
    shows = {}
    if egress:  # its socket belongs to the machine's user already
        shows["egress"] = Show(egress, "egress", None, read_only=True)
    if workspace:
        shows["folder"] = Show(workspace.folder, "folder", _owner(workspace.folder), read_only=False)
        for name in ("layers", "kept", "home"):  # these too
            shows[name] = Show(getattr(workspace, name), name, None, read_only=False)
    if tools.prefix:
        shows["python"] = Show(tools.prefix, "python", _owner(tools.prefix), read_only=True)
    if tools.bwrap_root:
        shows["bwrap"] = Show(tools.bwrap_root, "bwrap", _owner(tools.bwrap_root), read_only=True)
    shown = _toolchains(tools, workspace) if toolchains else NOTHING
    for number, (source, _) in enumerate(shown.folders):
        shows[f"tool{number}"] = Show(source, f"tool{number}", _owner_if_closed(source), read_only=True)
    if not shows:
        return Stage(drop, tools.bwrap, tools.prefix, None)
    fd = private_namespace(list(shows.values()), OUTSIDE_USER)
    bwrap = f"{STAGE}/bwrap" + tools.bwrap.removeprefix(tools.bwrap_root) if "bwrap" in shows else tools.bwrap
    # It drops what setpriv does, other groups included; one program less is a millisecond less for each machine.
    user = (f"--setgid={OUTSIDE_USER}", f"--setuid={OUTSIDE_USER}")
    return Stage(
        ("nsenter", f"--mount=/proc/{os.getpid()}/fd/{fd}", *user, "--"),
        bwrap,
        f"{STAGE}/python" if "python" in shows else tools.prefix,
        Workspace(*(f"{STAGE}/{name}" for name in ("folder", "layers", "kept", "home"))) if workspace else None,
        fd,
        f"{STAGE}/egress" if egress else "",
        replace(shown, folders=tuple((f"{STAGE}/tool{at}", to) for at, (_, to) in enumerate(shown.folders))),
    )


def _toolchains(tools: Tools, workspace: Workspace | None) -> Shown:
    if not tools.toolchains:
        return NOTHING
    shown = tools.toolchains.look()
    for name, target in shown.links if workspace else ():
        assert workspace is not None
        with suppress(FileExistsError):  # machines write that folder; what is there already is theirs
            os.symlink(target, f"{workspace.home}/{name}")
    return shown


def _owner(path: str) -> tuple[int, int]:
    found = os.stat(path, follow_symlinks=False)
    return found.st_uid, found.st_gid


def _owner_if_closed(path: str) -> tuple[int, int] | None:
    """The owner of a folder that others cannot read; in one that they can, a file that they cannot is a secret."""
    found = os.stat(path)
    return None if found.st_mode & 0o5 == 0o5 else (found.st_uid, found.st_gid)
