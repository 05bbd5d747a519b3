"""Telling people how two trees, or two versions of a file, differ.

Layer: machines. Contents are read from the store, or, for a folder as it is now, from the folder by descriptors; what
cannot be read is said, and shown without a diff.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec.structs import replace

from stead.domain.checkpoints import FileChange
from stead.domain.errors import Conflict
from stead.machines.left_out import shown
from stead.machines.runner.files import unified
from stead.machines.workspace import opened_above
from stead.machines.writing import regular
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
    listed = list(_bounded(found))
    filled = {difference.path.rpartition(b"/")[0] for difference in listed}
    for path, old, new in listed:
        if path in filled and not (old and new):
            continue  # a folder that came or went shows in what is in it
        if old and new and old.kind != new.kind and "folder" in (old.kind, new.kind):
            if old.kind != "folder" or path not in filled:
                made.append(_change(path, old, None, before, after, diff=False))
            if new.kind == "folder" and path in filled:
                continue
            old = None
        diff = room > 0 and time.monotonic() < deadline
        made.append(_change(path, old, new, before, after, diff=diff))
        room -= len(made[-1].diff)
    return tuple(sorted(made, key=lambda change: change.path))


def from_store(store: ContentStore) -> Text:
    """Texts that are kept."""

    def text(_path: bytes, entry: Entry) -> str | None:
        return kept_text(store, entry.ref, entry.size)

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


def kept_text(store: ContentStore, content: bytes, size_bytes: int) -> str | None:
    """A kept content, if it is text of a size that can be shown.

    Raises:
        NotFound: it is not kept.
        StorageFault: it is damaged.
    """
    if size_bytes > _DIFF_BYTES:
        return None
    return _text(b"".join(store.read(content)))


def described(path: str, old: Entry | None, new: Entry | None, before: str | None, after: str | None) -> FileChange:
    """One change of a path, of the same kind on both sides or on one side alone.

    Args:
        path: as it is shown.
        old: what was there.
        new: what is there.
        before: the text of a file that was there; "" when there was none, None when it cannot be shown.
        after: likewise.
    """
    entry = new or old
    if entry is None:
        return FileChange(path, "changed", "file", note="there was none and there is none")
    if old and new and old.kind == new.kind and old.ref == new.ref:
        return FileChange(path, "mode", entry.kind, entry.size, note=_modes(old, new), cut=0)
    notes = []
    if old and new and old.kind != new.kind:
        notes.append(f"was a {old.kind}")
    elif old and new and old.mode != new.mode:
        notes.append(_modes(old, new))
    elif old is None and entry.kind == "file" and entry.mode & 0o111:
        notes.append("can be run")
    diff, cut, added, removed = "", 0, 0, 0
    if entry.kind == "link":
        notes.append(f"leads to {shown(os.fsdecode(entry.ref))}")
    elif before is None or after is None:
        notes.append("binary, or too large to be shown")
        cut = -1
    else:
        diff, cut = unified(before, after)
        added, removed = _counted(diff, cut, before, after)
    kind: Literal["added", "changed", "deleted"] = "deleted" if new is None else "added" if old is None else "changed"
    return FileChange(path, kind, entry.kind, entry.size, added, removed, "; ".join(notes), diff, cut)


def _bounded(found: Iterable[Difference]) -> Iterable[Difference]:
    for number, difference in enumerate(found):
        if number >= MOST_CHANGES:
            raise Conflict(
                f"more than {MOST_CHANGES:,} paths differ, too many to be shown; compare a nearer checkpoint"
            )
        yield difference


def _change(path: bytes, old: Entry | None, new: Entry | None, before: Text, after: Text, *, diff: bool) -> FileChange:
    texts: list[str | None] = ["", ""]
    shown_path = shown(os.fsdecode(path))
    if diff and not (old and new and old.ref == new.ref):
        try:
            if old and old.kind == "file":
                texts[0] = before(path, old)
            if new and new.kind == "file":
                texts[1] = after(path, new)
        except Damaged as damage:
            plain = described(shown_path, old, new, "", "")
            return replace(plain, note="; ".join(filter(None, (plain.note, str(damage)))), cut=-1)
    change = described(shown_path, old, new, *texts)
    return change if diff else replace(change, cut=-1)


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
