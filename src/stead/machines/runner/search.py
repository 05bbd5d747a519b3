"""Work on files: short, or long as searches and parsing are. It runs in a fork of the runner, in a transaction.

Layer: machines, runner. Standard library only. The fork writes records to a pipe: rows, and a closing one with the
total or a fault. When it is killed at its deadline, the rows that it had written still count.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from . import files
from .enter import WORK, enter
from .frames import Fault, encode
from .ignored import REMADE, Ignored

_ROWS, _ROW_CHARACTERS, _ROWS_BYTES = 1000, 300, 256 << 10
_PAGE_BYTES = 1 << 20
_LINE_BYTES = 32 << 10
_IGNORED_MOST = 20_000
"""Entries of what is left out that are looked at, to count what would have matched there."""


class Late(Exception):
    """A search has used up its time."""


class Rows:
    """What is found: counted all, kept up to the caps, sent as it comes. Looks at the clock at each ``check``.

    ``left_out``: how many matches, or files not searched, are ignored; ``unsure`` when git did not say what it ignores.
    """

    def __init__(self, into: int, deadline: float) -> None:
        self.total = self.left_out = 0
        self.unsure = False
        self._into = into
        self._deadline = deadline
        self._pending = bytearray()
        self._room = _ROWS_BYTES

    def add(self, row: bytes) -> None:
        """Take a row in; past the caps it is only counted."""
        self.total += 1
        if self.total <= _ROWS and len(row) <= self._room:
            self._room -= len(row)
            self._put(b"r" + row)

    def page(self, text: bytes) -> None:
        """Take in the one text that a page became."""
        self.total = 1
        self._put(b"r" + text[:_PAGE_BYTES].decode("utf-8", "ignore").encode())

    def fields(self, answer: list[bytes]) -> None:
        """Take in a whole answer."""
        for field in answer:
            self._put(b"d" + field)

    def check(self) -> None:
        """Send what there is.

        Raises:
            Late: the deadline has passed.
        """
        self._send()
        if time.monotonic() > self._deadline:
            raise Late

    def end(self, record: bytes) -> None:
        """Send the rest and the closing record: ``t`` or ``l`` (late) with the counts, or ``f`` with a fault."""
        self._put(record)
        self._send()

    def counts(self) -> bytes:
        """The total, how many are left out, and whether that is unsure."""
        return b"%d %d %d" % (self.total, self.left_out, self.unsure)

    def _put(self, record: bytes) -> None:
        self._pending += len(record).to_bytes(4, "big") + record

    def _send(self) -> None:
        while self._pending:
            del self._pending[: os.write(self._into, self._pending)]


def work_apart(into: int, operation: str, arguments: list[bytes], deadline: float) -> None:
    """In the fork: do the work and exit. It never returns."""
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(into, 2)
    os.closerange(3, 4096)
    rows = Rows(2, deadline)
    try:
        if operation in files.CHANGING:
            enter(arguments.pop(0).decode())
            rows.fields(files.CHANGING[operation](*arguments))
        else:
            enter("")
            _WORK[operation](rows, *arguments)
        rows.end(b"t" + rows.counts())
    except Late:
        rows.end(b"l" + rows.counts())
    except Fault as fault:
        rows.end(b"f" + encode(str(fault)))
    except OSError as error:
        rows.end(b"f" + encode(files.explain(error, operation)))
    except (ValueError, MemoryError, RecursionError) as error:
        rows.end(b"f" + encode(f"{operation}: {str(error) or 'out of memory'}"))
    finally:
        os._exit(0)


def _read(rows: Rows, *arguments: bytes) -> None:
    rows.fields(files.read(*arguments))


def _chunk(rows: Rows, *arguments: bytes) -> None:
    rows.fields(files.chunk(*arguments))


def _hash(rows: Rows, *paths: bytes) -> None:
    for path in paths:
        rows.check()
        rows.add(files.hashes(path)[0])


def _glob(rows: Rows, pattern: bytes, everything: bytes) -> None:
    wanted = [part for part in os.fsdecode(pattern).split("/") if part not in ("", ".")]
    if pattern.startswith(WORK.encode() + b"/"):
        del wanted[0]
    folder = WORK
    while len(wanted) > 1 and not any(letter in wanted[0] for letter in "*?["):
        folder = os.path.join(folder, wanted.pop(0))
    if not files.inside(os.path.realpath(folder)):
        raise Fault(f"{files.name(pattern)!r} leads out of the workspace")
    for entry, ignored in _walk(folder, rows, everything == b"1"):
        if not _matches(entry.path[len(folder) + 1 :].split("/"), wanted):
            continue
        if ignored:
            rows.left_out += 1
        else:
            rows.add(encode(files.name(entry.path) + "/" * entry.is_dir(follow_symlinks=False)))


def _matches(parts: list[str], wanted: list[str]) -> bool:
    if not wanted or not parts:
        return not parts and all(part == "**" for part in wanted)
    if wanted[0] == "**":
        return _matches(parts, wanted[1:]) or _matches(parts[1:], wanted)
    return fnmatchcase(parts[0], wanted[0]) and _matches(parts[1:], wanted[1:])


def _grep(rows: Rows, pattern: bytes, path: bytes, include: bytes, everything: bytes) -> None:
    try:
        regex = re.compile(pattern.decode())
    except (re.error, RecursionError, OverflowError) as error:
        raise Fault(f"{pattern.decode()!r} is not a regular expression: {error}") from error
    top, wanted = files.target(path), os.fsdecode(include)
    if os.path.isfile(top):
        _grep_file(rows, regex.search, top)
    elif not os.path.isdir(top):
        raise Fault(f"there is no {files.name(path)!r}")
    for entry, ignored in _walk(top, rows, everything == b"1"):
        name = entry.path[len(WORK) + 1 :] if "/" in wanted else entry.name
        if not (entry.is_file(follow_symlinks=False) and fnmatchcase(name, wanted or "*")):
            continue
        if ignored:
            rows.left_out += 1
        else:
            _grep_file(rows, regex.search, entry.path)


def _grep_file(rows: Rows, search: Callable[[str], object], path: str) -> None:
    try:
        fd = files.open_file(os.fsencode(path))
    except (OSError, Fault):
        return
    with open(fd, "rb") as file:
        if b"\0" in file.peek(8192)[:8192]:
            return
        shown, number = files.name(path), 1
        while line := file.readline(_LINE_BYTES):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if search(text):
                rows.add(encode(f"{shown}:{number}:{_printable(text[:_ROW_CHARACTERS])}"))
            if number % 256 == 0:
                rows.check()
            number += line.endswith(b"\n")


def _printable(text: str) -> str:
    """Without the control characters that would speak to a terminal."""
    return "".join(letter if letter >= " " or letter == "\t" else "·" for letter in text)


def _walk(top: str, rows: Rows, everything: bool) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """What is below a folder: the project's own, shallow first and in order of name, then what is ignored.

    Links are not followed, ``.git`` folders not entered. The flag says of what is ignored that it was not asked for:
    with ``everything``, or when the folder itself is ignored, it is false for all. Of what was not asked for, at most
    ``_IGNORED_MOST`` are given.
    """
    ignored = Ignored()
    asked = ignored.covers(top) or everything
    own, others = deque([top]), deque[os.DirEntry[str]]()
    while own:
        for entry in _own_entries(own.popleft(), top, ignored, others):
            rows.check()
            yield entry, False
            if entry.is_dir(follow_symlinks=False) and entry.name != ".git":
                own.append(entry.path)
        rows.unsure = ignored.unknown and not asked
    budget = _IGNORED_MOST
    while others and (budget := budget - (not asked)):
        rows.check()
        yield (entry := others.popleft()), not asked
        if entry.is_dir(follow_symlinks=False) and entry.name != ".git":
            others.extend(_entries(entry.path))


def _own_entries(folder: str, top: str, ignored: Ignored, others: deque[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    """The project's own entries of a folder; the other ones are put to ``others``. ``top`` is wanted, cache or not."""
    entries = _entries(folder)
    if not ignored.enter(folder, [entry.name for entry in entries]) and folder != top:
        others.extend(entries)
        return []
    own: list[os.DirEntry[str]] = []
    for entry in entries:
        left_out = ignored.has(entry.path, entry.name, folder=entry.is_dir(follow_symlinks=False))
        (others if left_out else own).append(entry)
    return own


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Sorted entries; of a folder that cannot be read, none."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _html(rows: Rows, content: bytes) -> None:
    from .pages import page_text

    rows.page(encode(page_text(content)))


def _prove(rows: Rows, kind: bytes, path: bytes, text: bytes) -> None:
    from .proofs import digest, prove

    if kind in (b"changed", b"untouched"):
        wanted = [part for part in os.fsdecode(path + b"**" * path.endswith(b"/")).split("/") if part not in ("", ".")]
        every = ((entry.path[len(WORK) + 1 :].split("/"), entry) for entry, _ in _walk(WORK, rows, everything=True))
        # What git ignores counts: the work could have it ignore something. What machines make anew lands nowhere.
        found = {"/".join(parts): entry for parts, entry in every if _matches(parts, wanted) and not REMADE & {*parts}}
        answer = digest([found[path] for path in sorted(found)], rows.check)
        rows.fields([b"1", b"", answer.encode()])
    else:
        holds, detail = prove(kind.decode(), path.decode(), text.decode())
        rows.fields([b"%d" % holds, encode(detail), b""])


_WORK: dict[str, Callable[..., None]] = {
    "chunk": _chunk,
    "glob": _glob,
    "grep": _grep,
    "hash": _hash,
    "html": _html,
    "prove": _prove,
    "read": _read,
}
