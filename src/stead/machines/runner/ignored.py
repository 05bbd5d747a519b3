"""What a search leaves out unless it is asked: what git ignores, and folders that tools fill again by themselves.

Layer: machines, runner. Standard library only. Git itself says what it ignores, so that tracked files, nested
``.gitignore`` files and ``.git/info/exclude`` count exactly as they do for the person. It is run on a repository of our
own that is empty, and reads of the project's only the index and the ignore patterns: the settings in the project's
``.git`` may name programs to run, and no setting of the person or of the system is obeyed either. Everything that it
reads may be hostile, so its time, memory and output are bounded; without its answer, or without git, names
alone decide.
"""

from __future__ import annotations

import os
import resource
import select
import time

from . import files
from .enter import WORK, prctl
from .frames import Fault

REMADE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
"""Folders that tools fill from what is kept."""
CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
"""How a CACHEDIR.TAG begins that marks a folder as a cache (bford.info/cachedir)."""

EMPTY_REPOSITORY = "/stead/git"
"""What git is run on, inside; nothing there can be written."""

_GIT = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git")
"""Never one that the session's search path finds: a search needs no approval, so it runs nothing of the session's."""
_LIST = ("ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-per-directory=.gitignore")
_GIT_S = 3.0
_MEMORY_BYTES, _ANSWER_BYTES = 1 << 30, 16 << 20
_REPOSITORIES = 50
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9


class Ignored:
    """The paths that a search leaves out; found out one repository at a time, as the walk gets there.

    ``unknown``: git gave no answer for some repository (too slow, too much, an index that it cannot read).
    """

    def __init__(self) -> None:
        self.unknown = False
        self._git = next((path for path in _GIT if os.path.exists(path)), "")
        self._asked: set[str] = set()
        self._paths: set[str] = set()
        self._deadline = time.monotonic() + _GIT_S

    def covers(self, folder: str) -> bool:
        """Whether a folder is left out itself, or lies in one that is; asks the repositories that it lies in."""
        parts = folder[len(WORK) + 1 :].split("/") if folder != WORK else []
        self._ask(WORK)
        at = WORK
        for part in parts:
            at = f"{at}/{part}"
            if self.has(at, part, folder=True):
                return True
            if os.path.lexists(f"{at}/.git"):
                self._ask(at)
        return False

    def enter(self, folder: str, names: list[str]) -> bool:
        """Take notice of a folder that the walk has come to; false when it is a cache, which is left out."""
        if ".git" in names:
            self._ask(folder)
        return "CACHEDIR.TAG" not in names or _head(f"{folder}/CACHEDIR.TAG", len(CACHE_TAG)) != CACHE_TAG

    def has(self, path: str, name: str, *, folder: bool) -> bool:
        """Whether a path is left out, in a folder that is not."""
        return path in self._paths or (folder and name in REMADE and (self.unknown or not self._git))

    def _ask(self, repository: str) -> None:
        """Have git list what it ignores in a repository, or in a folder that may lie in one."""
        if not self._git or repository in self._asked:
            return
        self._asked.add(repository)
        few = len(self._asked) <= _REPOSITORIES
        answer = _listed(self._git, repository, self._deadline) if few else None
        if answer is None:
            self.unknown = True
            return
        for path in answer.split(b"\0"):
            self._paths.add(f"{repository}/{os.fsdecode(path).rstrip('/')}")
        self._paths.discard(f"{repository}/")


def _head(path: str, size: int) -> bytes:
    """The first bytes of a file; b"" when there is none to be read."""
    try:
        with open(files.open_file(os.fsencode(path)), "rb") as file:
            return file.read(size)
    except (OSError, Fault):
        return b""


def _listed(git: str, repository: str, deadline: float) -> bytes | None:
    """What git prints, or None when it gave no whole answer in time."""
    store = _store(repository)
    words = [git, *_LIST, *(f"--exclude={name}/" for name in sorted(REMADE))]
    if os.path.isfile(f"{store}/info/exclude"):
        words.append(f"--exclude-from={store}/info/exclude")
    settings = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": EMPTY_REPOSITORY}
    places = {"GIT_DIR": EMPTY_REPOSITORY, "GIT_WORK_TREE": repository, "GIT_INDEX_FILE": f"{store}/index"}
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
            os.dup2(into, 1)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
            os.chdir(repository)
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            most = min(hard, _MEMORY_BYTES) if hard != resource.RLIM_INFINITY else _MEMORY_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            os.execve(git, words, settings | places)  # noqa: S606 - the system's git, no shell
        finally:
            os._exit(1)
    os.close(into)
    try:
        answer = _collected(out, deadline)
    finally:
        os.close(out)
    if answer is None:
        os.kill(pid, _SIGKILL)
    return answer if os.waitpid(pid, 0)[1] == 0 else None


def _collected(out: int, deadline: float) -> bytes | None:
    """All that comes, unless it comes too late or is too much."""
    answer = bytearray()
    while select.select([out], [], [], max(0.0, deadline - time.monotonic()))[0]:
        data = os.read(out, 1 << 18)
        if not data:
            return bytes(answer)
        answer += data
        if len(answer) > _ANSWER_BYTES:
            break
    return None


def _store(repository: str) -> str:
    """Where a repository keeps its index: its ``.git``, or what a ``.git`` file of a submodule or worktree names."""
    place = f"{repository}/.git"
    named, _, path = _head(place, 4096).partition(b": ")
    return os.path.join(repository, os.fsdecode(path.rstrip(b"\n"))) if named == b"gitdir" else place
