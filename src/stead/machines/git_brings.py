"""What git would write into a folder from what a machine left in its store: commits, branches, the index.

Layer: machines. Git's data lands without a question, and the person's next ``checkout`` or ``merge`` writes files from
it. So new commits and the index are listed by the person's git, with plumbing that reads objects alone and starts
nothing, and what they bring is judged as if it stood in the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stead.domain.obeyed import REPOSITORY_TELLS, fold, is_repository
from stead.machines.git_running import GitFailed, persons_environment, run_git

_LIMIT_S = 15.0
_MOST_BYTES = 32 << 20
_SMALL = 1 << 20
_MOST_TIPS = 5_000
_IDS = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_TIPS = re.compile(r"refs/.*|packed-refs|[A-Z_]*HEAD")
_NOTED = re.compile(r"[A-Z_]+_HEAD")
"""What git writes down of its last steps, and never misses."""
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_ENTRY = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) \w\0([^\0]*)\0")
_SAFE = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
UNREAD = "what git would bring into the folder could not be listed"


@dataclass(frozen=True)
class Brought:
    """A file or link that git would write: its path in the repository, its mode, its object."""

    path: str
    mode: str
    object: str


class _Unread(Exception):
    pass


def brings(folder: Path, pending: Path, above: str, changed: Sequence[str], obeyed: Callable[[str], bool]) -> str:
    """Why git's new data in a repository may not land; "" when it may.

    Args:
        folder: the person's folder.
        pending: the layer that holds the data.
        above: of the repository, relative, with a slash at its end; "" for the folder itself.
        changed: paths of the data below its ``.git``.
        obeyed: whether a path of the folder is one that programs act on.
    """
    git = _Git(folder / above, pending / above / ".git")
    try:
        for one in git.brought(changed):
            path = above + one.path
            if one.mode == "160000":
                continue  # a submodule is fetched on request only; the file that names its source is an obeyed one
            if obeyed(path) or (one.mode == "120000" and _leads_out(one.path, git.content(one.object))):
                return f"git would bring {path!r} from it"
            if _makes_repository(folder / above, one.path, git.paths):
                return f"git would bring a repository from it ({path!r})"
    except _Unread:
        return UNREAD
    return ""


class _Git:
    def __init__(self, top: Path, data: Path) -> None:
        self._top = top
        self._data = data
        self._environment = persons_environment() | _SAFE | {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(data / "objects")}
        self.paths: dict[str, set[str]] = {}
        """By folder, the names in what is brought that tell a repository."""

    def brought(self, changed: Sequence[str]) -> list[Brought]:
        """What new commits and the index have that the person's branch has not."""
        tips = {name: self._ids(name) for name in changed if _TIPS.fullmatch(name)}
        found = list(self._of_commits(tips)) if any(tips.values()) else []
        if "index" in changed:
            found += self._of_index()
        for one in found:
            *parts, _ = [*one.path.split("/"), ""]
            for at, part in enumerate(parts):
                if fold(part) in map(fold, REPOSITORY_TELLS):
                    self.paths.setdefault("/".join(parts[:at]), set()).add(fold(part))
        return found

    def content(self, object: str) -> str:
        """Of a link."""
        return self._run("cat-file", "blob", object).decode("utf-8", "surrogateescape")

    def _ids(self, name: str) -> set[str]:
        try:
            content = (self._data / name).read_bytes() if not (self._data / name).is_symlink() else b""
        except OSError:
            return set()  # it was removed, or is a folder
        if len(content) > _SMALL:
            raise _Unread
        return {one.decode() for one in _IDS.findall(content)}

    def _of_commits(self, tips: Mapping[str, set[str]]) -> Iterator[Brought]:
        asked = "\n".join(sorted(set[str]().union(*tips.values())))
        known = self._run("cat-file", "--batch-check", input=asked.encode()).decode()
        kinds = {line.split()[0]: line.split()[1] for line in known.splitlines()}
        gone = {id for id, kind in kinds.items() if kind == "missing"}
        if any(ids & gone for name, ids in tips.items() if not _NOTED.fullmatch(name)):
            raise _Unread  # a branch of what is nowhere
        commits = [id for id, kind in kinds.items() if kind in ("commit", "tag")]
        if not commits:
            return
        new = self._run("rev-list", *commits[:_MOST_TIPS], "--not", "--all")
        if len(commits) > _MOST_TIPS:
            raise _Unread
        listed = self._run("diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--no-renames", "--raw", input=new)
        yield from _entries(listed)

    def _of_index(self) -> Iterator[Brought]:
        try:
            head = self._run("rev-parse", "--verify", "-q", "HEAD").decode().strip()
        except _Unread:
            head = _EMPTY
        index = str(self._data / "index")
        yield from _entries(self._run("diff-index", "--cached", "--raw", "-z", "--no-renames", head, index=index))

    def _run(self, *words: str, input: bytes = b"", index: str = "") -> bytes:
        environment = self._environment | ({"GIT_INDEX_FILE": index} if index else {})
        try:
            found = run_git(("-C", str(self._top), *words), environment, input=input, limit_s=_LIMIT_S)
        except FileNotFoundError:
            return b""  # there is no git that could bring anything
        except (OSError, GitFailed) as error:
            raise _Unread from error
        if len(found) > _MOST_BYTES:
            raise _Unread
        return found


def _entries(listed: bytes) -> Iterator[Brought]:
    for found in _ENTRY.finditer(listed):
        mode, object, path = (field.decode("utf-8", "surrogateescape") for field in found.groups())
        if mode != "000000":
            yield Brought(path, mode, object)


def _leads_out(path: str, target: str) -> bool:
    whole = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return target.startswith("/") or whole == ".." or whole.startswith("../")


def _makes_repository(top: Path, path: str, brought: dict[str, set[str]]) -> bool:
    """Whether a path lies in a folder that git would take for a repository, with what is there."""
    parts = path.split("/")
    for at in range(len(parts)):
        above = "/".join(parts[:at])
        if above in brought and fold(parts[at]) in brought[above]:
            there = {fold(tell) for tell in REPOSITORY_TELLS if os.path.lexists(top / above / tell)}
            if is_repository(brought[above] | there):
                return True
    return False
