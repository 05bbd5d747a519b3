"""The command line that makes a sandbox: what a machine shows, and what it takes away.

Layer: machines. Knows bubblewrap's options; does not start anything.

Everything is denied unless it is listed here. Shown are the system's programs and libraries (read-only), four small
made-up files in ``/etc``, and the workspace at ``/work``. Bubblewrap is to be started with an empty environment: its
own is readable inside, ``--clearenv`` or not.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stead.domain.git import SETTINGS
from stead.machines import seccomp

INSIDE_USER = 1000
_MB = 1 << 20
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
)
_MADE_UP = {
    "/etc/passwd": f"root:x:0:0::/:/bin/false\nstead:x:{INSIDE_USER}:{INSIDE_USER}::/home:/bin/bash\n",
    "/etc/group": f"root:x:0:\nstead:x:{INSIDE_USER}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/gitconfig": SETTINGS,
}
_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/home",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - the machine's own
}
CODE = "/stead"
"""Where the runner's code is inside."""
EGRESS = "/run/egress"
"""Where the folder with the way out is inside; the runner knows it too."""
_PROXY = "http://127.0.0.1:3128"
_BUNDLE = f"{EGRESS}/ca.pem"
_WAY_OUT = {
    # Programs do not agree on how a proxy and the certificates to trust are named.
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
    "NODE_USE_ENV_PROXY": "1",
    **dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS"), _BUNDLE),
    **dict.fromkeys(("GIT_SSL_CAINFO", "CURL_CA_BUNDLE"), _BUNDLE),
}


@dataclass(frozen=True)
class Tools:
    """The programs that a machine is made with.

    Args:
        bwrap: absolute real path of bubblewrap.
        bwrap_root: the folder that holds it and its libraries; "" when ``/usr`` does.
        python: the interpreter of the runner, absolute, as seen inside.
        prefix: a folder that holds it, to be shown read-only at the same path; "" when ``/usr`` does.
    """

    bwrap: str
    bwrap_root: str
    python: str
    prefix: str


@dataclass(frozen=True)
class Limits:
    """What a machine may use; those of a process are resource limits, the others are watched by the runner.

    Args:
        file_bytes: the largest file that can be written.
        files: open files of a process.
        address_bytes: address space of a process.
        processes: processes and threads of the machine.
        memory_bytes: unshared memory of all processes together; past it all of them are killed.
        disk_bytes: what is left free on the workspace's disk; below it likewise.
        search_s: seconds for one search, one page or the hashes of large files.
        data_bytes: writable memory of a process, where its address space says little; 0 for no such limit.
        entries: files and folders that are made on the workspace's disk while something runs; past it likewise. Far
            fewer than what makes a look at a folder give up (``protected``).
    """

    file_bytes: int = 256 * _MB
    files: int = 256
    address_bytes: int = 2048 * _MB
    processes: int = 128
    memory_bytes: int = 4096 * _MB
    disk_bytes: int = 512 * _MB
    search_s: int = 20
    data_bytes: int = 0
    entries: int = 200_000

    def words(self) -> list[str]:
        """As the runner takes them."""
        return [
            f"fsize={self.file_bytes}",
            f"nofile={self.files}",
            f"as={self.address_bytes}",
            f"nproc={self.processes}",
            "core=0",
            f"memory={self.memory_bytes}",
            f"disk={self.disk_bytes}",
            f"search={self.search_s}",
            f"entries={self.entries}",
            *([f"data={self.data_bytes}"] if self.data_bytes else []),
        ]


@dataclass(frozen=True)
class Workspace:
    """The folder that is shown at ``/work``.

    Args:
        source: its path, as bubblewrap sees it.
        writable: or read-only.
        kept: paths in it that are shown read-only, with the folders above them (``above``) as mount points too: a
            mount point cannot be renamed away. See ``protected``.
        above: those folders.
        placeholder: whether an empty folder stands for a ``.git`` that is not there: who can make a repository runs
            programs in the person's next ``git`` or prompt.
    """

    source: str
    writable: bool
    kept: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    placeholder: bool = False


class Descriptors:
    """Files in memory for one start: bubblewrap and its child read each of them once.

    Args:
        code: the runner's.
        committer: settings that say whose commits are made inside.
    """

    def __init__(self, code: Mapping[str, bytes], committer: str = "") -> None:
        made_up = _MADE_UP | {"/etc/gitconfig": SETTINGS + committer}
        self.seccomp = _memory_file(seccomp.assemble(platform.machine()))
        self.files = {path: _memory_file(text.encode()) for path, text in made_up.items()}
        self.files |= {f"{CODE}/{name}": _memory_file(data) for name, data in code.items()}

    def all(self) -> list[int]:
        """To be passed on."""
        return [self.seccomp, *self.files.values()]

    def close(self) -> None:
        """Once the sandbox is up."""
        for fd in self.all():
            os.close(fd)


def command_line(
    bwrap: str, prefix: str, tools: Tools, workspace: Workspace | None, descriptors: Descriptors, egress: str = ""
) -> list[str]:
    """Bubblewrap and its options; ``--`` and what runs inside are to follow.

    Args:
        bwrap: where it is now.
        prefix: where the interpreter's folder is now, if it needs one.
        tools: as seen from the host.
        workspace: None for a sandbox without one.
        descriptors: of this start.
        egress: the folder with the way out, as bubblewrap sees it; "" for none.
    """
    line = [bwrap, *_SEPARATION, "--uid", str(INSIDE_USER), "--gid", str(INSIDE_USER), *_system()]
    if tools.prefix:
        line += ["--ro-bind", prefix, tools.prefix]
    for path, fd in descriptors.files.items():
        line += ["--perms", "0444", "--file", str(fd), path]
    line += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for path, size in (("/tmp", 256), ("/home", 256), ("/run", 16), ("/dev/shm", 64)):  # noqa: S108 - the machine's
        line += ["--perms", "1777", "--size", str(size * _MB), "--tmpfs", path]
    # Where a browser looks for what it is to trust; it is written inside, once that is known.
    line += (
        _work(workspace) if workspace else ["--dir", "/work", "--symlink", "/run/policies", "/etc/chromium/policies"]
    )
    if egress:
        line += ["--ro-bind", egress, EGRESS]
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/work", "--clearenv"]
    for name, value in (_ENVIRONMENT | (_WAY_OUT if egress else {})).items():
        line += ["--setenv", name, value]
    return [*line, "--seccomp", str(descriptors.seccomp)]


Role = Literal["", "browse", "terminal"]
"""What a machine is for: a session's work, its browser, or a person's terminal."""


def runner_line(python: str, limits: Limits, shown: Sequence[str], role: Role = "") -> list[str]:
    """What runs inside. Isolated mode: neither the environment nor the workspace can add to what Python imports.

    Args:
        python: as seen inside.
        limits: of this machine.
        shown: paths in the workspace whose identity the runner's first words are to tell.
        role: see there.
    """
    words = [f"{role}=1"] if role else []
    return [python, "-I", "-S", f"{CODE}/start.pyc", *limits.words(), *words, "--", *shown]


_SEPARATION = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"),
    *("--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"),
    *("--hostname", "stead"),
)


def _system() -> list[str]:
    line = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            line += ["--ro-bind", path, path]
    for path in _SYSTEM_FILES:
        line += ["--ro-bind-try", path, path]
    return line


def _work(workspace: Workspace) -> list[str]:
    if not workspace.writable:
        return ["--ro-bind", workspace.source, "/work"]
    line = ["--bind", workspace.source, "/work"]
    for path in workspace.above:
        line += ["--bind", f"{workspace.source}/{path}", f"/work/{path}"]
    for path in workspace.kept:
        line += ["--ro-bind", f"{workspace.source}/{path}", f"/work/{path}"]
    if workspace.placeholder:
        line += ["--perms", "0555", "--size", "4096", "--tmpfs", "/work/.git", "--remount-ro", "/work/.git"]
    return line


def _memory_file(data: bytes) -> int:
    fd = os.memfd_create("stead", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
