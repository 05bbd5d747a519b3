"""Telling people how two trees, or two versions of a file, differ.

Layer: machines. Contents are read from the store, or, for a folder as it is now, from the folder by descriptors; what
cannot be read is said, and shown without a diff.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Literal

from stead.domain.checkpoints import FileChange
from stead.domain.errors import Conflict
from stead.machines.left_out import shown
from stead.machines.runner.files import unified
from stead.machines.scanning import regular
from stead.machines.workspace import opened_above
from stead.storage.contents import ContentStore
from stead.storage.database import Damaged
from stead.storage.trees import Difference, Entry

MOST_CHANGES = 20_000
_DIFF_BYTES, _DIFF_CHARACTERS, _DIFF_S = 256 << 10, 1 << 20, 5.0

Text = Callable[[bytes, Entry], str | None]
"""The text of a file by its path; None for what is no text, too large, or gone."""


def changes(found: Iterable[Difference], before: Text, after: Text) -> tuple[FileChange, ...]:
    """What differs, by path, with diffs as far as time and size allow.

    Raises:
        Conflict: there is more than can be shown.
    """
    made: list[FileChange] = []
    room, deadline = _DIFF_CHARACTERS, time.monotonic() + _DIFF_S
    listed = list(islice(found, MOST_CHANGES + 1))
    if len(listed) > MOST_CHANGES:
        raise Conflict(f"more than {MOST_CHANGES:,} paths differ, too many to be shown; compare a nearer checkpoint")
    filled = {difference.path.rpartition(b"/")[0] for difference in listed}
    for path, old, new in listed:
        if path in filled and "folder" in (old.kind if old else "", new.kind if new else "") and not (old and new):
            continue  # a folder that came or went shows in what is in it
        made.append(change(path, old, new, before, after, diff=room > 0 and time.monotonic() < deadline))
        room -= len(made[-1].diff)
    return tuple(sorted(made, key=lambda change: change.path))


def from_store(store: ContentStore) -> Text:
    """Texts that are kept. One that is not kept any more raises ``NotFound``, a damaged one ``StorageFault``."""

    def text(_path: bytes, entry: Entry) -> str | None:
        return None if entry.size > _DIFF_BYTES else _text(b"".join(store.read(entry.ref)))

    return text


def from_folder(top: int) -> Text:
    """Texts as they are in an open folder now."""

    def text(path: bytes, entry: Entry) -> str | None:
        if entry.size > _DIFF_BYTES:
            return None
        try:
            with opened_above(top, os.fsdecode(path)) as (folder, name), regular(folder, os.fsencode(name)) as file:
                return _text(os.read(file, _DIFF_BYTES))
        except OSError:
            return None

    return text


def change(path: bytes, old: Entry | None, new: Entry | None, before: Text, after: Text, *, diff: bool) -> FileChange:
    """One change of a path.

    Args:
        path: relative.
        old: what was there.
        new: what is there.
        before: has the text of a file that was there.
        after: has that of one that is.
        diff: whether to look at them.
    """
    name, entry = shown(os.fsdecode(path)), new or old
    if entry is None:
        return FileChange(name, "changed", "file", note="there was none and there is none")
    if old and new and old.kind == new.kind and old.ref == new.ref:
        return FileChange(name, "mode", entry.kind, entry.size, note=_modes(old, new), cut=0)
    notes = []
    if old and new and old.kind != new.kind:
        notes.append(f"was a {old.kind}")
    elif old and new and old.mode != new.mode:
        notes.append(_modes(old, new))
    elif old is None and entry.kind == "file" and entry.mode & 0o111:
        notes.append("can be run")
    made, cut, added, removed = "", 0 if entry.kind == "folder" else -1, 0, 0
    if entry.kind == "link":
        notes.append(f"leads to {shown(os.fsdecode(entry.ref))}")
        cut = 0
    elif entry.kind == "file" and diff:
        try:
            was = before(path, old) if old and old.kind == "file" else ""
            now = after(path, new) if new and new.kind == "file" else ""
        except Damaged as damage:
            notes.append(str(damage))
        else:
            if was is None or now is None:
                notes.append("binary, or too large to be shown")
            else:
                made, cut = unified(was, now)
                added, removed = _counted(made, cut, was, now)
    kind: Literal["added", "changed", "deleted"] = "deleted" if new is None else "added" if old is None else "changed"
    return FileChange(name, kind, entry.kind, entry.size, added, removed, "; ".join(notes), made, cut)


def reverted(was: str, now: str, part: str) -> str | None:
    """The new text with one hunk of its diff put back, None where the diff has no such hunk."""
    hunks = re.split(r"\n(?=@@ )", unified(was, now)[0])
    ranges = re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n", part)
    if part not in hunks or ranges is None:
        return None
    old, old_count, new, new_count = map(int, ranges.groups())
    before, after = was.split("\n"), now.split("\n")
    end = new - 1 + new_count
    # What follows the last line, an end of line or nothing, is part of no hunk; it stays as it is.
    return "\n".join(after[: new - 1] + before[old - 1 : old - 1 + old_count] + after[end:])


def _text(content: bytes) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _counted(diff: str, cut: int, before: str, after: str) -> tuple[int, int]:
    """Lines that came and went: those of the diff, or, where it is cut short, those that only one side has."""
    if not cut:
        lines = diff.split("\n")
        return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return sum((new - old).values()), sum((old - new).values())


def _modes(old: Entry, new: Entry) -> str:
    return "" if old.mode == new.mode else f"{old.mode:04o} → {new.mode:04o}"
