"""Which file a memory is written to, and which of the files a session's first prompt has.

Layer: brain. Pure. Below the folder of the files every scope has a folder of its own: ``global``, ``workspaces/NAME``,
``private/NAME``, ``channels/NAME``; in it ``soul.md``, ``user.md``, ``MEMORY.md``, ``people/NAME.md`` and
``journal/YYYY-MM-DD.md``. In the prompt they follow in this order: soul (with the instructions), user, MEMORY, today,
yesterday.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import msgspec

from stead.brain.remembering import normal
from stead.domain.memory import GLOBAL, Level, Memory, MemoryRow, Scope, Viewer, visible
from stead.domain.memory_events import LoadedFile
from stead.domain.memory_ports import JournalLine
from stead.domain.policies import Integrity

USER, MEMORIES, SOUL, JOURNAL, PEOPLE = "user.md", "MEMORY.md", "soul.md", "journal", "people"
FOLDERS: dict[Level, str] = {
    "global": "global",
    "workspace": "workspaces",
    "private": "private",
    "channel": "channels",
}
LOADED_CHARS = 8_000
"""What a session begins with comes to at most."""
_MEMORY_CHARS = 2_000
_JOURNAL_CHARS = 1_000
_LINE_CHARS = 400
_NAME_CHARS = 40
_NO_NAME = re.compile(r"[^\w]+")


class Day(msgspec.Struct, frozen=True):
    """One day where the person lives: its date as ``YYYY-MM-DD``, and since and until when it is, in milliseconds."""

    name: str
    since_ms: int
    until_ms: int


class ScopeFiles(msgspec.Struct, frozen=True):
    """The memories and journal lines of one scope, from which the files that a model reads are written.

    Args:
        scope: whose files.
        folder: the files' folder, below the folder of all memory files.
        rows: the scope's live memories.
        more: how many live memories are not in ``rows``; -1 when that was not counted.
        lines: what happened in the scope today and yesterday, oldest first.
    """

    scope: Scope
    folder: str
    rows: Sequence[MemoryRow]
    more: int = 0
    lines: Sequence[JournalLine] = ()


def folder_of(scope: Scope, title: str) -> str:
    """The folder of a scope's files, below the folder of all memory files.

    Args:
        scope: whose files.
        title: of the scope's place: a folder's path, a channel's name.
    """
    if scope.level == "global":
        return FOLDERS["global"]
    name = file_name(title.rstrip("/").rpartition("/")[2]) if title != scope.place else ""
    return f"{FOLDERS[scope.level]}/{name or scope.level}-{scope.place.partition('_')[2]}"


def file_name(words: str) -> str:
    """Words as a part of a file's name: small letters, digits, dashes; "" when nothing is left."""
    folded = unicodedata.normalize("NFKC", words).casefold()
    return _NO_NAME.sub("-", folded).strip("-_")[:_NAME_CHARS].strip("-_")


def file_of(memory: Memory) -> str:
    """The name of a memory's file, in its scope's folder."""
    if memory.kind in ("preference", "correction") or memory.standing or memory.key.startswith("person."):
        return USER
    if memory.kind == "person":
        subject = memory.key.partition(".")[0] or next(iter(memory.aliases), "")
        return f"{PEOPLE}/{file_name(subject) or 'others'}.md"
    return MEMORIES


def scopes_of(viewer: Viewer) -> tuple[Scope, ...]:
    """The scopes whose files are in a session's first prompt, the widest first."""
    if viewer.channel:
        return (Scope("channel", viewer.channel),)
    every = (Scope("global", GLOBAL), Scope("workspace", viewer.workspace), Scope("private", viewer.workspace))
    return tuple(scope for scope in every if visible(scope, viewer))


def happened_in(lines: Sequence[JournalLine], scope: Scope) -> tuple[JournalLine, ...]:
    """Of what happened in a place, what a scope's files say: what a person did themselves is private to them."""
    if scope.level == "channel":
        return tuple(lines)
    return tuple(line for line in lines if line.private is (scope.level == "private"))


def loaded_files(
    by_scope: Sequence[ScopeFiles], days: Sequence[Day], clock: Callable[[int], str], limit_chars: int = LOADED_CHARS
) -> tuple[LoadedFile, ...]:
    """The files of memory with which a session begins, without those that would be empty.

    Args:
        by_scope: for each scope that it may see, the widest first.
        days: today and the day before.
        clock: the time of day of a moment, for people.
        limit_chars: of all texts together; what is behind the limit is counted and left out.
    """
    files: list[LoadedFile] = []
    shown = set[str]()  # what two scopes say is shown once, from the wider one
    left = limit_chars

    def add(path: str, lines: Iterable[str], count: int, most: int, uncounted: int) -> None:
        nonlocal left
        if text := _cut(lines, count, min(most, left), uncounted):
            left = max(0, left - len(text))
            files.append(LoadedFile(path, text, hashlib.sha256(text.encode()).hexdigest()))

    for name in (USER, MEMORIES):
        for entry in by_scope:
            rows = [row for row in entry.rows if row.memory.scope == entry.scope]
            # Before a model's first word nothing shows that a stranger said it.
            rows = [row for row in rows if row.memory.label.integrity is not Integrity.UNTRUSTED]
            rows = [row for row in rows if (file_of(row.memory) == USER) is (name == USER)]
            fresh = {normal(row.memory.text): row for row in rows if normal(row.memory.text) not in shown}
            shown.update(fresh)
            rows = list(fresh.values())
            lines = (f"- {_line(row.memory.text)}" for row in sorted(rows, key=_weight))
            add(f"{entry.folder}/{name}", lines, len(rows), _MEMORY_CHARS, entry.more if name == MEMORIES else 0)
    for day in days:
        for entry in by_scope:
            happened = {
                (line.title, line.text): line  # what happened again is said once, at its last time
                for line in entry.lines
                if day.since_ms <= line.ts_ms < day.until_ms and not (line.tainted or line.failed)
            }
            newest = sorted(happened.values(), key=lambda line: line.ts_ms, reverse=True)
            lines = (_happened(line, clock) for line in newest)
            add(f"{entry.folder}/{JOURNAL}/{day.name}.md", lines, len(happened), _JOURNAL_CHARS, 0)
    return tuple(files)


def _weight(row: MemoryRow) -> tuple[bool, bool, float, int, int, str]:
    memory = row.memory
    return not memory.pinned, not memory.standing, -memory.confidence, -row.uses, -row.recorded_ms, memory.id


def _happened(line: JournalLine, clock: Callable[[int], str]) -> str:
    title = _line(line.title)
    return f"- {clock(line.ts_ms)} {title}: {_line(line.text)}" if line.text else f"- {clock(line.ts_ms)} {title}"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1].rstrip() + "…"


def _cut(lines: Iterable[str], count: int, most: int, uncounted: int) -> str:
    """As many of so many lines as there is room for, and how many there are besides; the others are not made."""
    shown, length = list[str](), 0
    for line in lines:
        if length + len(line) + 1 > most:
            break
        shown.append(line)
        length += len(line) + 1
    if left := count - len(shown):
        shown.append(f"({left + max(0, uncounted)}{' or more' if uncounted < 0 else ''} more; `recall` finds them)")
    elif uncounted and shown:
        shown.append(f"({'Many' if uncounted < 0 else uncounted} more; `recall` finds them)")
    return "\n".join(shown)
