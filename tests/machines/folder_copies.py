"""Restores compared with an independent copy: random folders, what is done to them, and what must come back."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from stead.config import Home
from stead.domain.checkpoints import Restored
from stead.domain.ids import SessionId
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.landing import land
from stead.machines.space import Space
from tests.machines.folders import opened_checkpoints, quiet

Row = tuple[str, int, bytes]
"""What stands at a path: kind, permissions, content or target."""
Made = tuple[str, str, bytes, int]
Done = tuple[str, str, str, bytes, int]

NAMES = ["a", "A", "b", "Straße", "new\nline", os.fsdecode(b"\xff\xfe"), "-rf", " x ", "*"]
TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n"
LEFT_OUT = {".git", "node_modules"}
_OUTSIDE = b"not of the folder"

_paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
_modes = st.sampled_from([0o600, 0o644, 0o755, 0o444])
_folders = st.lists(
    st.tuples(_paths, st.sampled_from(["file", "file", "folder", "link"]), st.binary(max_size=40), _modes), max_size=12
)
_deeds = [
    *("write", "in place", "delete", "rename", "mode", "folder", "link", "pipe", "socket", "huge"),
    *("repository", "tag", "packages", "land", "land a folder", "land a deletion"),
]
_histories = st.lists(
    st.tuples(
        st.sampled_from(_deeds),
        _paths,
        _paths,
        st.binary(max_size=40),
        st.sampled_from([0, 0o100, 0o200, 0o400, 0o600, 0o644, 0o755]),
    ),
    max_size=12,
)


def compare_many(root: Path, examples: int) -> None:
    """Make folders at random, keep and copy each, do things to it, restore it, and compare it with the copy."""
    with opened_checkpoints(root / "store") as checkpoints:

        @settings(max_examples=examples, deadline=None, database=None)
        @given(made=_folders, done=_histories)
        def check(made: list[Made], done: list[Done]) -> None:
            place = Path(tempfile.mkdtemp(dir=root))
            try:
                _compare(checkpoints, place, made, done)
            finally:
                subprocess.run(["chmod", "-R", "u+rwx", place], check=False)
                shutil.rmtree(place)

        check()


def _compare(checkpoints: FolderCheckpoints, place: Path, made: Sequence[Made], done: Sequence[Done]) -> None:
    folder, copy, outside = place / "project", place / "copy", place / "outside"
    folder.mkdir()
    outside.write_bytes(_OUTSIDE)
    outside.chmod(0o640)
    _make(folder, made, outside)
    tree = asyncio.run(checkpoints.take(str(folder), (), quiet))
    subprocess.run(["cp", "-a", folder, copy], check=True)
    mutation = _Mutation(folder, Home(place / "home"))
    for name, path, other, content, mode in done:
        with suppress(OSError):  # there may be nothing, or something else, at the path
            mutation.do(name, folder / path, folder / other, content, mode)
    restored = asyncio.run(checkpoints.restore(str(folder), (), tree.root))
    _check(dict(_rows(os.fsencode(copy), "")), dict(_rows(os.fsencode(folder), "")), restored)
    assert outside.read_bytes() == _OUTSIDE and stat.S_IMODE(outside.stat().st_mode) == 0o640


def _rows(folder: bytes, above: str) -> Iterator[tuple[str, Row]]:
    for name in os.listdir(folder):
        full, path = os.path.join(folder, name), above + os.fsdecode(name)
        status = os.lstat(full)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            yield path, ("link", 0, os.readlink(full))
        elif stat.S_ISDIR(status.st_mode):
            yield path, ("folder", mode, b"")
            with suppress(PermissionError):
                yield from _rows(full, path + "/")
        elif stat.S_ISREG(status.st_mode) and status.st_size < 1_000_000 and os.access(full, os.R_OK):
            yield path, ("file", mode, Path(os.fsdecode(full)).read_bytes())
        else:
            yield path, ("other", mode, b"")


def _check(copy: dict[str, Row], now: dict[str, Row], restored: Restored) -> None:
    assert {path: now.get(path) for path in copy} == copy
    why = [left.why for left in restored.failed]
    for path in now.keys() - copy.keys():
        parts = path.split("/")
        above = ["/".join(parts[:at]) for at in range(1, len(parts) + 1)]
        tagged = any(f"{one}/CACHEDIR.TAG" in now and one not in copy for one in above)
        aside = any(part.startswith("stead-aside-") for part in parts)
        holds = any(other.startswith(path + "/") for other in now)  # and so stays
        assert now[path][0] == "other" or tagged or aside or holds or LEFT_OUT & set(parts), f"{path!r} came later"
        if parts[-1].startswith("stead-aside-"):
            assert any(parts[-1] in text for text in why), "what is moved aside is said"
    assert all("is now 'stead-aside-" in text or "still holds" in text for text in why), restored.failed


def _make(folder: Path, made: Sequence[Made], outside: Path) -> None:
    for path, kind, content, mode in made:
        with suppress(OSError):  # something else stands on the way
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if kind == "file":
                (folder / path).unlink(missing_ok=True)  # a link that stands there would be written through
                (folder / path).write_bytes(content)
                (folder / path).chmod(mode)
            elif kind == "folder":
                (folder / path).mkdir()
            else:
                (folder / path).symlink_to("a" if mode & 0o200 else outside)
    for path, kind, _, mode in sorted(made, reverse=True):
        if kind == "folder" and (folder / path).is_dir() and not (folder / path).is_symlink():
            (folder / path).chmod(mode | 0o500)


class _Mutation:
    """What a person, a program of theirs or a landing does to a folder."""

    def __init__(self, folder: Path, home: Home) -> None:
        self._folder = folder
        home.make()
        self._space = Space(home, SessionId("s_0123456789abcdef"), str(folder))
        self._space.prepare()

    def do(self, name: str, path: Path, other: Path, content: bytes, mode: int) -> None:
        """One thing.

        Raises:
            OSError: it cannot be done here.
        """
        match name:
            case "in place":
                status = path.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    path.write_bytes(content)
                    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            case "delete":
                _clear(path)
            case "rename":
                path.rename(other)
            case "mode":
                if not path.is_symlink():
                    path.chmod(mode)
            case "repository":
                _into(path / ".git" / "config", lambda config: config.write_bytes(content))
            case "tag":
                _into(path / "CACHEDIR.TAG", lambda tag: tag.write_bytes(TAG))
            case "packages":
                _into(path / "node_modules" / "x", lambda package: package.write_bytes(content))
            case "land" | "land a folder" | "land a deletion":
                self._land(name, path.relative_to(self._folder), content)
            case _:
                _clear(path)
                _into(path, lambda new: _MADE[name](new, content))

    def _land(self, name: str, path: Path, content: bytes) -> None:
        upper = self._space.jobs / "job" / "upper"
        new = upper / path
        new.parent.mkdir(parents=True)
        if name == "land a folder":
            new.mkdir()
            (new / "inside").write_bytes(content)
        else:
            new.write_bytes(b"" if name == "land a deletion" else content)
        if name == "land a deletion":
            os.setxattr(new, "user.overlay.whiteout", b"y")
        land(self._space, {"job": {}}, "obeyed")


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _into(path: Path, make: Callable[[Path], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)


def _huge(path: Path, _content: bytes) -> None:
    with path.open("wb") as file:
        file.truncate((2 << 30) + 1)


def _socket(path: Path, _content: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.open(path.parent, os.O_PATH)
        try:
            listening.bind(f"/proc/self/fd/{folder}/".encode() + os.fsencode(path.name))  # a socket's path is short
        finally:
            os.close(folder)


_MADE: dict[str, Callable[[Path, bytes], object]] = {
    "write": lambda path, content: path.write_bytes(content),
    "folder": lambda path, _content: path.mkdir(),
    "link": lambda path, content: path.symlink_to("b" if content else ".."),
    "pipe": lambda path, _content: os.mkfifo(path),
    "socket": _socket,
    "huge": _huge,
}
