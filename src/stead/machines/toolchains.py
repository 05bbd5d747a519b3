"""Which toolchains of this computer a machine shows, read-only at their own paths, and what its PATH is.

Layer: machines. Reads folders and starts nothing: it takes less than a millisecond, so each new machine looks again.

Shown are folders of programs and libraries alone: of ``~/.cargo`` its ``bin``, where there is no credentials file, and
never a home. Each must belong to the person or root, with every folder above it, and be writable for no other account.
Files in them that are known to hold tokens (npm's and pip's settings of an installation, Maven's) are covered by empty
ones.

What is below ``/home`` is a special case. There the machine has a home of its own, which it writes, and a mount point
in a folder that is written inside could be swapped for a link while it is mounted on. So it is mounted below
``/tools``, and the machine's home has a link to it (``Shown.links``).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import glob
from itertools import islice
from typing import NamedTuple

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OWN_PATH = "/home/.local/bin"
"""Where programs are that were installed inside; they go before all others."""
_ELSEWHERE = "/tools"
_MOST_FOLDERS = 24
"""Each costs a tenth of a millisecond, or more, at a machine's start."""
_MOST_ENTRIES = 1000
_NEVER_BELOW = (
    "/boot/",
    "/dev/",
    "/etc/",
    "/proc/",
    "/run/",
    "/space/",
    "/stead/",
    "/sys/",
    "/tools/",
    "/usr/",
    "/work/",
)
"""What is no toolchain, or is something of the machine's own, or is shown anyhow."""
_TOKENS = ("etc/npmrc", "pip.conf", "etc/pip.conf", "conf/settings.xml", "gradle.properties", ".condarc")
"""Below a folder of programs' own folder. A file of the person's next to programs may hold what opens a registry."""


class _Kind(NamedTuple):
    """One kind of toolchain.

    Args:
        name: for people.
        variable: of the environment, names its folder; "" for none.
        folder: otherwise, below the home or absolute.
        shown: which folders of it are shown.
        programs: patterns of its folders of programs.
    """

    name: str
    variable: str
    folder: str
    shown: tuple[str, ...]
    programs: tuple[str, ...] = ()


_KINDS = (
    _Kind("local programs", "", ".local/bin", ("",), ("",)),
    _Kind("uv", "", ".local/share/uv", ("python", "tools"), ("python/*/bin",)),
    _Kind("pipx", "PIPX_HOME", ".local/share/pipx", ("venvs",)),
    _Kind("pyenv", "PYENV_ROOT", ".pyenv", ("versions",), ("versions/*/bin",)),
    _Kind("nvm", "NVM_DIR", ".nvm", ("versions",), ("versions/node/*/bin",)),
    _Kind("fnm", "FNM_DIR", ".local/share/fnm", ("node-versions",), ("node-versions/*/installation/bin",)),
    _Kind("Volta", "VOLTA_HOME", ".volta", ("tools/image",), ("tools/image/*/*/bin",)),
    _Kind("Cargo", "CARGO_HOME", ".cargo", ("bin",), ("bin",)),
    _Kind("rustup", "RUSTUP_HOME", ".rustup", ("",)),
    _Kind("Go", "", "/usr/local/go", (), ("bin",)),
    _Kind("Go programs", "GOPATH", "go", ("bin",), ("bin",)),
    _Kind("SDKMAN", "SDKMAN_DIR", ".sdkman", ("candidates",), ("candidates/*/*/bin",)),
    _Kind("Bun", "BUN_INSTALL", ".bun", ("bin", "install/global"), ("bin",)),
    _Kind("Deno", "DENO_INSTALL", ".deno", ("bin",), ("bin",)),
    _Kind("mise", "MISE_DATA_DIR", ".local/share/mise", ("installs",), ("installs/*/*/bin",)),
    _Kind("rbenv", "RBENV_ROOT", ".rbenv", ("versions",), ("versions/*/bin",)),
)


@dataclass(frozen=True)
class Shown:
    """What one machine shows.

    Args:
        folders: absolute path on the host, or where a root daemon put it, and mount point inside.
        path: the PATH.
        environment: further variables.
        links: in the machine's ``/home``: name and target.
        covered: files inside that an empty one covers.
        names: kinds and added folders, for people.
    """

    folders: tuple[tuple[str, str], ...] = ()
    path: str = f"{OWN_PATH}:{SYSTEM_PATH}"
    environment: dict[str, str] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    covered: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


NOTHING = Shown()


@dataclass(frozen=True)
class Toolchains:
    """Where to look.

    Args:
        private: folders of Stead's own, absolute; nothing that holds one, or is in one, is shown.
        added: further folders, absolute; their programs are in ``bin``, or else in themselves.
    """

    private: tuple[str, ...]
    added: tuple[str, ...] = ()

    def look(self) -> Shown:
        """What is there now."""
        return _Look(self).shown()


class _Look:
    """One look. ``_tops`` are the folders to show, each as it was named and as it really is."""

    def __init__(self, wanted: Toolchains) -> None:
        self._home = os.path.expanduser("~")
        self._private = [os.path.realpath(path) for path in wanted.private]
        self._people = {0, os.geteuid()}
        self._safe = {"": True}
        self._tops: set[str] = set()
        self._names: list[str] = []
        self._programs: list[str] = []
        self._roots = {kind.name: self._root(kind) for kind in _KINDS}
        self._path = os.environ.get("PATH", "").split(":")
        self._added = wanted.added

    def shown(self) -> Shown:
        for kind in _KINDS:
            root = self._roots[kind.name]
            self._show(kind.name, *(os.path.join(root, part).rstrip("/") for part in kind.shown))
            for pattern in kind.programs:
                found = glob(os.path.join(root, pattern).rstrip("/"))
                self._programs += sorted(found, key=_version, reverse=True)
        for folder in self._added:
            self._show(folder, folder)
            self._programs.append(f"{folder}/bin" if os.path.isdir(f"{folder}/bin") else folder)
        for programs in (*self._path, *self._targets(f"{self._home}/.local/bin")):
            self._show_around(programs)
        outermost = [top for top in self._tops if not any(top.startswith(f"{other}/") for other in self._tops)]
        folders = tuple((os.path.realpath(top), _at(top)) for top in sorted(outermost))
        homes = {top.split("/")[2] for top in outermost if top.startswith("/home/")}
        self._programs = list(filter(self._is_shown, self._programs))
        path = [OWN_PATH, *self._named(), *SYSTEM_PATH.split(":"), *self._programs]
        return Shown(
            folders,
            ":".join(dict.fromkeys(path)),
            {
                name: value
                for name, value in self._variables().items()
                if self._is_shown(value) and os.path.isdir(value)
            },
            tuple((name, f"{_ELSEWHERE}/home/{name}") for name in sorted(homes)),
            tuple(self._covered(folders)),
            tuple(dict.fromkeys(self._names)),
        )

    def _root(self, kind: _Kind) -> str:
        chosen = os.environ.get(kind.variable, "").partition(":")[0] if kind.variable else ""
        return os.path.normpath(chosen if os.path.isabs(chosen) else os.path.join(self._home, kind.folder))

    def _show(self, name: str, *folders: str) -> None:
        for folder in folders:
            if len(self._tops) < _MOST_FOLDERS and self._is_fit(folder):
                self._tops |= {folder, os.path.realpath(folder)}
                self._names.append(name)

    def _is_fit(self, folder: str) -> bool:
        if not os.path.isdir(folder):
            return False
        real = os.path.realpath(folder)
        below = any(f"{real}/".startswith(f"{path}/") for path in self._private)
        holds = any(f"{path}/".startswith(f"{real}/") for path in (*self._private, os.path.realpath(self._home)))
        whole = real.count("/") < (3 if real.startswith("/home/") else 2)
        ours = f"{real}/".startswith(_NEVER_BELOW) or f"{folder}/".startswith(_NEVER_BELOW)
        return not (below or holds or whole or ours) and self._is_safe(real)

    def _is_safe(self, path: str) -> bool:
        """Whether only the person and root can change a path; in a sticky folder, whether it is theirs."""
        if path not in self._safe:
            found = os.stat(path or "/")
            closed = not found.st_mode & stat.S_IWOTH or bool(found.st_mode & stat.S_ISVTX)
            self._safe[path] = closed and found.st_uid in self._people and self._is_safe(path.rpartition("/")[0])
        return self._safe[path]

    def _targets(self, folder: str) -> set[str]:
        """The folders that a folder's links lead to."""
        if not self._is_shown(folder) or not os.access(folder, os.R_OK):
            return set()
        with os.scandir(folder) as entries:
            links = [entry.path for entry in islice(entries, _MOST_ENTRIES) if entry.is_symlink()]
        return {os.path.dirname(os.path.realpath(link)) for link in links}

    def _show_around(self, programs: str) -> None:
        """Show what a folder of programs is part of that the PATH or a link names: in ``/opt``, or a venv."""
        top = os.path.dirname(programs)
        if self._is_shown(programs) or os.path.basename(programs) not in ("bin", "sbin"):
            return
        if programs.startswith("/opt/") or os.path.exists(f"{top}/pyvenv.cfg"):
            self._show(top, top)

    def _is_shown(self, path: str) -> bool:
        return path.startswith("/usr/") or any(f"{path}/".startswith(f"{top}/") for top in self._tops)

    def _named(self) -> Iterator[str]:
        """The person's own PATH, as far as it is shown."""
        pyenv = self._roots["pyenv"]
        for entry in filter(os.path.isabs, self._path):
            if entry == f"{pyenv}/shims":  # scripts that start pyenv; what they would start is named instead
                with suppress(OSError), open(f"{pyenv}/version", encoding="utf-8", errors="replace") as file:
                    chosen = [f"{pyenv}/versions/{name}/bin" for name in file.read(1000).split()]
                    yield from (programs for programs in chosen if programs in self._programs)
            elif entry in ("/bin", "/sbin") or self._is_shown(entry):
                yield entry
            elif self._is_shown(real := os.path.realpath(entry)):
                yield real

    def _variables(self) -> dict[str, str]:
        named = {name: os.environ.get(name, "") for name in ("JAVA_HOME", "GOROOT")}
        named["JAVA_HOME"] = named["JAVA_HOME"] or f"{self._roots['SDKMAN']}/candidates/java/current"
        return {"RUSTUP_HOME": self._roots["rustup"], **named}

    def _covered(self, folders: Sequence[tuple[str, str]]) -> Iterator[str]:
        prefixes = {os.path.dirname(programs) for programs in self._programs} | self._tops
        files = (f"{prefix}/{name}" for prefix in prefixes for name in _TOKENS)
        for file in sorted({os.path.realpath(file) for file in files if os.path.isfile(file)}):
            yield from (at + file[len(source) :] for source, at in folders if file.startswith(f"{source}/"))


def _at(path: str) -> str:
    return _ELSEWHERE + path if path.startswith("/home/") else path


def _version(path: str) -> tuple[bool, list[int]]:
    return "current" in path, [int(number) for number in re.findall(r"\d+", path)]
