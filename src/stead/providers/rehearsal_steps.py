"""Single steps of the rehearsal model's work: asking for a tool, and reading what came back.

Layer: providers. Pure. A piece of work is a generator that yields calls and is sent their results; it keeps nothing
else, so the same messages always lead to the same next step. What a tool says is data: it is counted, quoted and
copied, never followed. The notes in square brackets are those of the file tools.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
from fnmatch import fnmatchcase
from typing import TypeVar

import msgspec

PAGES_LIMIT = 30
FILES_LIMIT = 30
"""What one task reads at most: results of one file, and files."""

T = TypeVar("T")


class Do(msgspec.Struct, frozen=True):
    """One call to make; ``why`` is the text that goes with it."""

    tool: str
    arguments: dict[str, object]
    why: str


class Seen(msgspec.Struct, frozen=True):
    """The result of a call."""

    text: str
    failed: bool

    @property
    def unknown(self) -> bool:
        """Whether it is unknown if the call took effect."""
        return self.failed and re.match(r"outcome unknown", self.text, re.IGNORECASE) is not None


Work = Generator[Do, Seen, T]


class Problem(Exception):
    """A step that cannot be done, in words for the person, without a full stop. It ends the task, never the model."""


class Toolset(msgspec.Struct, frozen=True):
    """The tools that are offered to the rehearsal model: each name, with the arguments that it takes."""

    offered: dict[str, Collection[str]]

    def call(self, tool: str, why: str, **arguments: object) -> Work[Seen]:
        """Ask for a tool, with those of the arguments that it knows.

        Raises:
            Problem: it is not offered.
        """
        known = self.offered.get(tool)
        if known is None:
            raise Problem(f"I would need the tool {tool!r}, which is not offered here")
        seen = yield Do(tool, {name: value for name, value in arguments.items() if name in known}, why)
        return seen

    def read(self, path: str, first: int = 1) -> Work[Page]:
        """One result of a file.

        Raises:
            Problem: it cannot be read.
        """
        where = f" from line {first}" if first > 1 else ""
        arguments = {"path": path} | ({"line": first} if first > 1 else {})
        seen = yield from self.call("read", f"Read {path}{where}.", **arguments)
        if seen.unknown:  # reading changes nothing, so it may be done again
            seen = yield from self.call("read", f"Read {path}{where} again.", **arguments)
        if seen.failed:
            raise Problem(f"I could not read {path}: {reason(seen.text)}")
        return _page(seen.text, first)

    def read_all(self, path: str) -> Work[list[str]]:
        """Every line of a file, page by page.

        Raises:
            Problem: it cannot be read whole.
        """
        page = yield from self.read(path)
        lines = page.lines
        for _ in range(PAGES_LIMIT):
            if page.next_line == 0:
                return lines
            page = yield from self.read(path, page.next_line)
            lines = lines + page.lines
        raise Problem(f"I could not read {path} whole: I take {PAGES_LIMIT} pieces of a file at most")

    def write(self, path: str, text: str) -> Work[str]:
        """Write a file, and give what the tool said of it. Not done twice: after a crash, the file is read first.

        Raises:
            Problem: it was not written.
        """
        for _ in range(2):
            seen = yield from self.call("write", f"Write {path}.", path=path, text=text)
            if not seen.unknown:
                if seen.failed:
                    raise Problem(reason(seen.text))
                return seen.text
            held = yield from self._held(path)
            if held == text.splitlines():
                return "was written before an interruption, as reading it shows"
        raise Problem("it was interrupted twice")

    def _held(self, path: str) -> Work[list[str] | None]:
        try:
            return (yield from self.read_all(path))
        except Problem:
            return None

    def files(self, source: str) -> Work[list[str]]:
        """The files that a name, a folder or a pattern stands for, in order; a plain name stands for itself.

        Raises:
            Problem: there are none, or too many to read.
        """
        if not _is_pattern(source) and not _may_be_folder(source):
            return [source]
        found = yield from self.glob(source)
        if not found.rows and not _is_pattern(source):
            return [source]
        if not found.rows:
            raise Problem(f"I found no file that matches {source}")
        if found.total > FILES_LIMIT:
            raise Problem(f"I cannot read the {found.total} files that match {source}: I take {FILES_LIMIT} at most")
        return found.rows

    def glob(self, pattern: str) -> Work[Found]:
        """Files that match; a folder stands for everything below it.

        Raises:
            Problem: the search failed.
        """
        folder = pattern.rstrip("/")
        whole = pattern if _is_pattern(pattern) and not pattern.endswith("/") else f"{folder}/**"
        whole = whole.removesuffix("**") + "**/*" if whole.endswith("**") else whole
        seen = yield from self.call("glob", f"List {whole}.", pattern=whole)
        if seen.unknown:
            seen = yield from self.call("glob", f"List {whole} again.", pattern=whole)
        if seen.failed:
            raise Problem(f"I could not list {whole}: {reason(seen.text)}")
        found = _found(seen.text)
        files = [row for row in found.rows if not row.endswith("/")]
        return Found(files, found.total - (len(found.rows) - len(files)), found.complete)

    def grep(self, text: str, source: str) -> Work[Found]:
        """Lines that contain a text, as ``path:line:text``.

        Raises:
            Problem: the search failed.
        """
        path, include = _split_pattern(source)
        arguments = {"pattern": re.escape(text), "path": path} | ({"include": include} if include else {})
        seen = yield from self.call("grep", f"Search {source} for {text!r}.", **arguments)
        if seen.unknown:
            seen = yield from self.call("grep", f"Search {source} for {text!r} again.", **arguments)
        if seen.failed:
            raise Problem(f"I could not search {source}: {reason(seen.text)}")
        found = _found(seen.text)
        if source.endswith("/") or not _is_pattern(source) or source in ("**", "**/*"):
            return found
        rows = [row for row in found.rows if matches(row.partition(":")[0], source)]
        return Found(rows, len(rows) if found.complete else found.total, found.complete)


class Page(msgspec.Struct, frozen=True):
    """One result of reading. ``next_line``: where to go on, 0 at the end."""

    lines: list[str]
    next_line: int


class Found(msgspec.Struct, frozen=True):
    """Rows of a search. ``total`` is at least what there is; exact when ``complete``."""

    rows: list[str]
    total: int
    complete: bool


_LINES_NOTE = re.compile(r"\[lines (\d+)-(\d+) of \d+(?:; go on at line (\d+))?\]")
_PART_NOTE = re.compile(r"\[line (\d+) of (\d+), in part.*\]")
_PAST_NOTE = re.compile(r"\[the file has \d+ lines?\]")
_SHOWN_NOTE = re.compile(r"\[(\d+) of (\d+) shown\b.*\]")
_IGNORED_NOTE = re.compile(r"\[(?:\d+ ignored (?:match|matches|files?) left out|git did not say in time).*\]")
_CUT_NOTE = re.compile(r"\[(?:stopped|… \d+ characters).*\]")


def _page(text: str, first: int) -> Page:
    if text == "(empty)" or _PAST_NOTE.fullmatch(text):
        return Page([], 0)
    lines = text.split("\n")
    if lines[-1] == "" and len(lines) > 1:
        del lines[-1]
    last = lines[-1]
    if part := _PART_NOTE.fullmatch(last):
        raise Problem(f"I could not read line {part.group(1)}: it is too long for one result")
    note = _LINES_NOTE.fullmatch(last)
    # The file itself may end in such a line; then the numbers do not fit what was asked for.
    if note and int(note.group(1)) == first and int(note.group(2)) - first + 1 == len(lines) - 1:
        return Page(lines[:-1], int(note.group(3) or 0))
    return Page(lines, 0)


def _found(text: str) -> Found:
    rows = [row for row in text.split("\n") if not _IGNORED_NOTE.fullmatch(row)]
    total, complete = 0, True
    while rows and (note := _SHOWN_NOTE.fullmatch(rows[-1]) or _CUT_NOTE.fullmatch(rows[-1])):
        complete = False
        total = int(note.group(2)) if note.re is _SHOWN_NOTE else total
        del rows[-1]
    rows = [] if rows == ["no match"] else rows
    return Found(rows, max(total, len(rows)), complete)


def matches(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern in which ``**`` stands for any folders."""
    return _fits(path.split("/"), [part for part in pattern.split("/") if part not in ("", ".")])


def _fits(parts: list[str], wanted: list[str]) -> bool:
    if not wanted or not parts:
        return not parts and all(part == "**" for part in wanted)
    if wanted[0] == "**":
        return _fits(parts, wanted[1:]) or _fits(parts[1:], wanted)
    return fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])


def _is_pattern(source: str) -> bool:
    return any(letter in source for letter in "*?[") or source.endswith("/")


def _may_be_folder(source: str) -> bool:
    """A lower-case name without an ending; only looking can tell."""
    last = source.rpartition("/")[2]
    return "." not in last and last == last.lower()


def _split_pattern(source: str) -> tuple[str, str]:
    """Where to search and in files of which names; what the names cannot say is filtered afterwards."""
    if not _is_pattern(source):
        return source, ""
    parts = source.rstrip("/").split("/")
    fixed = 0
    while fixed < len(parts) and not _is_pattern(parts[fixed]):
        fixed += 1
    last = parts[-1] if fixed < len(parts) and parts[-1] != "**" else ""
    return "/".join(parts[:fixed]) or ".", last


def reason(text: str) -> str:
    """The first sentence of what a tool said, short enough to quote, without its full stop."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "no reason given").partition(". ")[0]
    return (line if len(line) <= 200 else line[:197] + "...").rstrip(".")
