"""What a coding job is: a project, what the person says, how the model goes about it, and how the result is judged.

A model's part is a generator. It gives a call and is told its result; a text ends its turn, and the person's next
message begins the next one. A result that it did not look for ends the job (``Unexpected``), as a person would be told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.models import Call

Model = Generator[Call | str, str, None]
"""Gives calls, each of which is answered by the text of its result, and texts that end a turn."""
Files = Mapping[str, tuple[int, bytes]]
"""Paths with permissions and content, or a link's target."""

PERSON = ("Ada Brook", "ada@example.com")
"""Whose projects these are; their global git settings say so."""
_SYSTEM = "/usr/local/bin:/usr/bin:/bin"
"""Where both the person and a machine find programs."""
NOT_COUNTED = frozenset({"__pycache__", ".git"})
"""Folders that are not compared file by file: git is asked itself, and Python's caches are of no interest."""


class Unexpected(Exception):
    """A result was not what the model needs to go on."""


@dataclass(frozen=True)
class Registry:
    """Where packages are to be had: a server on loopback that machines know by names of their own."""

    port: int

    @property
    def pypi(self) -> str:
        """The host of Python's packages, as a call names it."""
        return f"pypi.example.com:{self.port}"

    @property
    def npm(self) -> str:
        """The host of Node's packages."""
        return f"npm.example.com:{self.port}"


@dataclass(frozen=True)
class Done:
    """A job's outcome as its judge sees it.

    Args:
        folder: a copy of the person's folder, to run things in.
        touched: paths that were added, changed or deleted in the person's folder; see ``NOT_COUNTED``.
    """

    folder: Path
    touched: frozenset[str]

    def text(self, path: str) -> str:
        """A file's content; empty where there is none."""
        file = self.folder / path
        return file.read_text("utf-8") if file.is_file() else ""

    def run(self, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A program of the host's in the copy, with nobody's settings but the person's."""
        return on_host(self.folder, *argv, **env)

    def git(self, *argv: str) -> str:
        """What git says in the copy, and its complaint where it has one."""
        done = self.run("git", *argv)
        return (done.stdout if done.returncode == 0 else f"[{done.returncode}] {done.stderr}").strip()


Judge = Callable[[Done], Iterator[str]]
"""Gives what is wrong with the result, in words; nothing for a job that is done."""


@dataclass(frozen=True)
class Job:
    """One job.

    Args:
        name: short, as in the table.
        make: lays the project out in an empty folder.
        says: the person's messages, one a turn.
        model: how the work is done.
        judge: looks at the result, independently of what the model saw.
        asks: how often the person may be needed for it: a host that is new, a review of what is held.
        held: paths that must wait for the person's review, and be as they were in their folder until then.
        needs: programs that it takes, on the host and in a machine.
        meanwhile: what the person does in the folder between two turns.
    """

    name: str
    make: Callable[[Path], None]
    says: tuple[str, ...]
    model: Callable[[Registry], Model]
    judge: Judge
    asks: int = 0
    held: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("python3",)
    meanwhile: Callable[[Path], None] = lambda _folder: None

    def missing(self) -> list[str]:
        """What it needs and the system does not have."""
        return [name for name in self.needs if shutil.which(name, path=_SYSTEM) is None]


# -- for the model ---------------------------------------------------------------------------------------------------


def shell(command: str, *hosts: str) -> Call:
    """Run a command, with hosts that it needs."""
    return Call("shell", {"command": command} | ({"hosts": list(hosts)} if hosts else {}))


def service(name: str, command: str = "", *, stop: bool = False) -> Call:
    """Start a service; without a command look at its log, or stop it."""
    return Call("shell", {"command": command, "service": name} | ({"stop": True} if stop else {}))


def read(path: str) -> Call:
    """Read a file."""
    return Call("read", {"path": path})


def write(path: str, text: str) -> Call:
    """Write a file."""
    return Call("write", {"path": path, "text": text})


def edit(path: str, old: str, new: str) -> Call:
    """Put one text in the place of another."""
    return Call("edit", {"path": path, "old": old, "new": new})


_STATUS = re.compile(r"\[exit code [0-9]+\]|\[killed after ")


def succeeded(told: str) -> str:
    """The result of a command that must have succeeded.

    Raises:
        Unexpected: it did not.
    """
    if _STATUS.search(told):
        raise Unexpected(told)
    return told


def failed(told: str, *words: str) -> str:
    """The result of a command that must have failed by itself, and said these words.

    Raises:
        Unexpected: it succeeded, or failed otherwise.
    """
    if "[exit code " not in told:
        raise Unexpected(told)
    return says(told, *words)


def says(told: str, *words: str) -> str:
    """A result in which these words must stand.

    Raises:
        Unexpected: one of them is missing.
    """
    for word in words:
        if word not in told:
            raise Unexpected(f"no {word!r} in: {told}")
    return told


# -- for projects and judges -----------------------------------------------------------------------------------------


def lay_out(folder: Path, files: Mapping[str, str]) -> None:
    """Write a project's files; a script that says how it is run can be run."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        if text.startswith("#!"):
            file.chmod(0o755)


def on_host(folder: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program as the person would, outside of every machine, in a bare environment."""
    name, address = PERSON
    settings = {"user.name": name, "user.email": address, "init.defaultBranch": "main", "advice.detachedHead": "false"}
    bare = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    bare |= {"PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": str(len(settings))}
    for at, (key, value) in enumerate(settings.items()):
        bare |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return subprocess.run(
        argv,
        cwd=folder,
        env=bare | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def prepare(folder: Path, *argv: str) -> str:
    """Run a program that must succeed, to make a project; gives what it prints."""
    done = on_host(folder, *argv)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def passes(done: Done, *argv: str, **env: str) -> Iterator[str]:
    """A complaint where a program of the host's fails in the result."""
    ran = done.run(*argv, **env)
    if ran.returncode:
        yield f"{' '.join(argv)} leaves with {ran.returncode} on the host: {(ran.stderr + ran.stdout)[-500:].strip()}"


def same(what: str, found: object, wanted: object) -> Iterator[str]:
    """A complaint where two things differ."""
    if found != wanted:
        yield f"{what}: {found!r} instead of {wanted!r}"


def touched(done: Done, *paths: str) -> Iterator[str]:
    """A complaint where anything but these paths was touched, or one of them was not."""
    if extra := done.touched - set(paths):
        yield f"also touched: {', '.join(sorted(extra)[:12])}{' ...' if len(extra) > 12 else ''} ({len(extra)})"
    if missing := set(paths) - done.touched:
        yield f"not touched: {', '.join(sorted(missing)[:12])}{' ...' if len(missing) > 12 else ''} ({len(missing)})"


def files_of(folder: Path) -> Files:
    """Every file and link of a folder; see ``NOT_COUNTED``."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if NOT_COUNTED & set(inner.parts) or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        found[str(inner)] = (path.lstat().st_mode & 0o7777, content)
    return found


def differing(before: Files, after: Files) -> frozenset[str]:
    """Paths that are not the same in both."""
    return frozenset(path for path in {*before, *after} if before.get(path) != after.get(path))
