"""The command line that makes a sandbox: what a machine shows, and what it takes away.

Layer: machines. Knows bubblewrap's options; does not start anything.

Everything is denied unless it is listed here. Shown are the system's programs and libraries (read-only), four small
made-up files in ``/etc``, and the workspace at ``/work``. Bubblewrap is to be started with an empty environment: its
own is readable inside, ``--clearenv`` or not.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob
from itertools import chain
from typing import Literal

from stead.config import Settings
from stead.domain.git import SETTINGS
from stead.machines import seccomp
from stead.machines.runner.enter import FILTER, LAYERS, SPACE
from stead.machines.runner.ignored import EMPTY_REPOSITORY
from stead.machines.toolchains import NOTHING, OWN_PATH, Shown, Toolchains

INSIDE_USER = 1000
OUTSIDE_USER = 65534
"""Whom a root daemon's machines run as. A machine never runs as root."""
_MB = 1 << 20
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    # what programs of /usr have there that is no secret: without them no Java starts that opens a connection
    *("/etc/java-*-openjdk", "/etc/java", "/etc/maven/m2.conf", "/etc/maven/logging", "/etc/fonts", "/etc/perl"),
    *("/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/os-release"),
)
"""Patterns."""
_MADE_UP = {
    "/etc/passwd": f"root:x:0:0::/:/bin/false\nstead:x:{INSIDE_USER}:{INSIDE_USER}::/home:/bin/bash\n",
    "/etc/group": f"root:x:0:\nstead:x:{INSIDE_USER}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/gitconfig": SETTINGS,
}
_ENVIRONMENT = {
    "HOME": "/home",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "TMPDIR": "/tmp",  # noqa: S108 - the machine's own
    "GIT_OPTIONAL_LOCKS": "0",  # git status writes no index
    # What is installed for good goes below /home, its programs into one folder; the caches are below /home by default.
    "PIP_BREAK_SYSTEM_PACKAGES": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_update_notifier": "false",
    "GOBIN": OWN_PATH,
    **dict.fromkeys(("npm_config_prefix", "CARGO_INSTALL_ROOT", "BUN_INSTALL", "DENO_INSTALL_ROOT"), "/home/.local"),
}
_EMPTY = {"HEAD": "ref: refs/heads/none\n", "objects/none": "", "refs/none": ""}
"""What git takes for a repository that holds nothing."""
CODE = "/stead"
"""Where the runner's code is inside."""
_OWN_FOLDERS = ("dev", "home", "proc", "run", "tmp", "work")
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
        prefix: a folder that holds it, to be shown read-only; "" when ``/usr`` does.
        prefix_inside: where it is shown.
        toolchains: where to look for what else is shown; None shows nothing else.
    """

    bwrap: str
    bwrap_root: str
    python: str
    prefix: str
    prefix_inside: str = ""
    toolchains: Toolchains | None = None


def place_of(prefix: str) -> str:
    """Where a machine shows the interpreter's folder: its own path, unless a folder of the machine's hides that."""
    return "/stead-python" if prefix.split("/")[1] in _OWN_FOLDERS else prefix


@dataclass(frozen=True)
class Limits:
    """What a machine may use; those of a process are resource limits, the others are watched by the runner.

    Args:
        file_bytes: the largest file that can be written.
        files: open files of a process.
        processes: processes and threads of the machine.
        memory_bytes: unshared memory of all processes together; past it all of them are killed.
        disk_bytes: what is left free on the workspace's disk; below it all of them are killed.
        search_s: seconds for one search, one page or the hashes of large files.
        data_bytes: writable memory of a process; 0 for no such limit. Its address space has none: Java, WebAssembly
            and race detectors reserve far more than they use.
        entries: files and folders that are made on the workspace's disk while something runs; past it all processes are
            killed. Far fewer than what makes a look at a folder give up (``protected``).
    """

    file_bytes: int = 2048 * _MB
    files: int = 4096
    processes: int = 512
    memory_bytes: int = 4096 * _MB
    disk_bytes: int = 512 * _MB
    search_s: int = 20
    data_bytes: int = 0
    entries: int = 200_000

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """What the settings say."""
        return cls(
            file_bytes=settings.machine_file_mb * _MB,
            files=settings.machine_open_files,
            processes=settings.machine_processes,
            memory_bytes=settings.machine_memory_mb * _MB,
            disk_bytes=settings.machine_free_disk_mb * _MB,
        )

    def words(self) -> list[str]:
        """As the runner takes them."""
        return [
            f"fsize={self.file_bytes}",
            f"nofile={self.files}",
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
    """What a view of the workspace is made of, by paths as bubblewrap sees them; see ``runner.enter``.

    Args:
        folder: the person's; no machine can write it.
        layers: the session's changes.
        kept: the machine layer of the workspace: packages and caches.
        home: the home folder of all its machines.
    """

    folder: str
    layers: str
    kept: str
    home: str


class Descriptors:
    """Files in memory for one start: bubblewrap and its child read each of them once.

    Args:
        code: the runner's.
        committer: settings that say whose commits are made inside.
        shown: the toolchains, with the folders as bubblewrap sees them.
    """

    def __init__(self, code: Mapping[str, bytes], committer: str = "", shown: Shown = NOTHING) -> None:
        made_up = _MADE_UP | {"/etc/gitconfig": SETTINGS + committer}
        made_up |= {f"{EMPTY_REPOSITORY}/{path}": text for path, text in _EMPTY.items()}
        program = seccomp.assemble(platform.machine())
        self.seccomp = _memory_file(program)
        self.files = {path: _memory_file(text.encode()) for path, text in made_up.items()}
        self.files |= {f"{CODE}/{name}": _memory_file(data) for name, data in code.items()}
        self.files[FILTER] = _memory_file(program)
        self.shown = shown
        self.covers = {path: _memory_file(b"") for path in shown.covered}

    def all(self) -> list[int]:
        """To be passed on."""
        return [self.seccomp, *self.files.values(), *self.covers.values()]

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
        workspace: None for a sandbox without one. With one, the first process inside may mount, and everything that it
            starts gets the filter from it.
        descriptors: of this start.
        egress: the folder with the way out, as bubblewrap sees it; "" for none.
    """
    line = [bwrap, *_SEPARATION, *(_KEEPER if workspace else _NOTHING)]
    line += ["--uid", str(INSIDE_USER), "--gid", str(INSIDE_USER), *_system()]
    if tools.prefix:
        line += ["--ro-bind", prefix, tools.prefix_inside]
    for path, fd in descriptors.files.items():
        line += ["--perms", "0444", "--file", str(fd), path]
    line += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev", "--dir", "/work"]
    for path, size in (("/tmp", 512), ("/run", 16), ("/dev/shm", 64)):  # noqa: S108 - the machine's
        line += ["--perms", "1777", "--size", str(size * _MB), "--tmpfs", path]
    line += _toolchains(descriptors)
    if workspace:
        line += ["--ro-bind", workspace.folder, f"{SPACE}/folder", "--bind", workspace.layers, LAYERS]
        line += ["--ro-bind", workspace.kept, f"{SPACE}/kept", "--bind", workspace.home, "/home"]
    else:
        # Where a browser looks for what it is to trust; it is written inside, once that is known.
        line += ["--perms", "1777", "--size", str(256 * _MB), "--tmpfs", "/home"]
        line += ["--symlink", "/run/policies", "/etc/chromium/policies"]
    if egress:
        line += ["--ro-bind", egress, EGRESS]
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/work", "--clearenv"]
    own = {"PATH": descriptors.shown.path, **({"TZ": os.environ["TZ"]} if "TZ" in os.environ else {})}
    for name, value in (own | _ENVIRONMENT | descriptors.shown.environment | (_WAY_OUT if egress else {})).items():
        line += ["--setenv", name, value]
    return line if workspace else [*line, "--seccomp", str(descriptors.seccomp)]


Role = Literal["", "browse", "terminal", "program"]
"""What a machine is for: a session's work, its browser, a person's terminal, or a program that the daemon talks to."""


def runner_line(python: str, limits: Limits, role: Role = "", job: str = "") -> list[str]:
    """What runs inside. Isolated mode: neither the environment nor the workspace can add to what Python imports.

    Args:
        python: as seen inside.
        limits: of this machine.
        role: which processes it is for; as ``Role`` says.
        job: the transaction of a terminal; "" for none.
    """
    words = [f"{role}=1"] if role else []
    return [python, "-I", "-S", f"{CODE}/start.pyc", *limits.words(), *words, f"job={job or 0}"]


_SEPARATION = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"),
    *("--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "stead"),
)
_NOTHING = ("--cap-drop", "ALL")
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SYS_CHROOT", "CAP_SETPCAP", "CAP_DAC_OVERRIDE")
_KEEPER = tuple(word for name in _CAPABILITIES for word in ("--cap-add", name))
"""What the first process inside may do with the machine's own mounts and its changes; see ``runner.enter``."""


def _system() -> list[str]:
    line = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            line += ["--ro-bind", path, path]
    for path in chain.from_iterable(map(glob, _SYSTEM_FILES)):
        line += ["--ro-bind-try", path, path]
    return line


def _toolchains(descriptors: Descriptors) -> list[str]:
    """After the folders that are empty at first: the person's may be in one of them. None is below ``/home``."""
    line = []
    for source, at in descriptors.shown.folders:
        line += ["--ro-bind-try", source, at]
    for path, fd in descriptors.covers.items():
        line += ["--ro-bind-data", str(fd), path]
    return line


def _memory_file(data: bytes) -> int:
    fd = os.memfd_create("stead", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
