"""What waits of a session's changes, for people to look at: each with its diff and why it waits.

Layer: machines. What a machine made is hostile; see ``layers`` for how it is walked. Number, sizes and time of diffs
are bounded.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from msgspec.structs import replace

from stead.domain.errors import Conflict
from stead.domain.shown import hidden
from stead.domain.trials import Change
from stead.machines.classes import Classes, Pending, in_git, opened_changes
from stead.machines.layers import Delta, Side, side
from stead.machines.left_out import shown
from stead.machines.runner.files import unified
from stead.machines.space import Space
from stead.machines.workspace import opened_above

MOST_CHANGES = 20_000
_DIFF_BYTES, _DIFF_CHARACTERS, _DIFF_S = 256 << 10, 1 << 20, 5.0
_WHOLE_BYTES, _WHOLE_CHARACTERS = 8 << 20, 32 << 20
_NO_DIFF = "binary, or too large to be shown"
_CONFLICT = "you changed yours since; --force replaces it"


@dataclass
class _Telling:
    diffs: bool
    whole: str
    seen: Collection[str]
    room: int
    diff_deadline: float = field(default_factory=lambda: time.monotonic() + _DIFF_S)

    def wants_whole(self, path: str) -> bool:
        """Whether the diff of a path was asked for in full."""
        return self.whole != "" and f"{path}/".startswith(f"{self.whole}/")


def changes(space: Space, *, diffs: bool = True, whole: str = "", seen: Collection[str] = ()) -> list[Change]:
    """Every change that waits, in order of path; with unified diffs as far as time and size allow.

    Args:
        space: no machine may be at work in it.
        diffs: without them, no change counts as shown.
        whole: a path; the diffs there and below it are given in full.
        seen: digests of changes that the person has seen in full; these are not ``unseen``.

    Raises:
        Conflict: there are too many to be shown.
        OSError: the person's folder cannot be opened.
    """
    telling = _Telling(diffs, whole.strip("/"), seen, _WHOLE_CHARACTERS if whole.strip("/") else _DIFF_CHARACTERS)
    noted = space.noted()

    def conflict(delta: Delta) -> str:
        old = delta.old
        if old is None or delta.what == "folder" or noted.applied.get(delta.path) == old.st_ctime_ns:
            return ""
        return _CONFLICT if old.st_ctime_ns > noted.began_ns else ""

    with opened_changes(space, space.pending) as at:
        found = sorted(at.deltas.found, key=lambda delta: delta.path)
        if len(found) > MOST_CHANGES:
            raise Conflict(
                f"more than {MOST_CHANGES} changes wait; discard them, or fetch what you need from "
                f"{str(space.pending)!r} by hand"
            )
        classes = Classes(at, conflict)
        return [
            _change(telling, delta, classes)
            for delta, after in zip(found, [*found[1:], None], strict=True)
            if not (
                delta.what == "folder" and delta.kind == "added" and after and after.path.startswith(delta.path + "/")
            )
        ]  # a new folder shows in what is in it


def _change(c: _Telling, delta: Delta, classes: Classes) -> Change:
    change = Change(shown(delta.path), delta.kind, delta.what, cut=0, unseen="")
    if delta.bad or hidden(delta.path):
        return replace(change, held="impossible", why=delta.bad or "its name holds hidden characters", cut=-1)
    if delta.what == "file":
        status = delta.new or delta.old
        change = replace(change, size_bytes=status.st_size if status else 0)
    if delta.kind == "mode" and delta.new and delta.old:
        change = replace(change, note=f"{delta.old.st_mode & 0o7777:04o} → {delta.new.st_mode & 0o7777:04o}")
    elif delta.kind != "deleted" and delta.what != "folder":
        change = _with_diff(c, change, classes.at)
    decided, why = classes.by_structure(delta)
    if decided == "refused":
        return replace(change, held="impossible", why=why)
    if decided == "held":
        return replace(change, held="protected", why=why)
    if in_git(delta.path)[1]:  # what git keeps as data has no text that a person could look at
        change = replace(change, note="git's own data", diff="", cut=0, unseen="")
    why = classes.conflict(delta)
    return replace(change, held="conflict", why=why) if why else change


def _with_diff(c: _Telling, change: Change, at: Pending) -> Change:
    with opened_above(at.layer, change.path) as (above, name):
        new = side(above, name)
        if new is None or new.what != change.what:
            return replace(change, cut=-1, unseen=_NO_DIFF)
        try:
            with opened_above(at.folder, change.path) as (under, same_name):
                old = side(under, same_name)
                note, diff, cut = _shown(c, change.path, new, old)
        except OSError:  # the folder above is new too
            note, diff, cut = _shown(c, change.path, new, None)
        return _looked_at(c, replace(change, note=note, diff=diff, cut=cut), new)


def _looked_at(c: _Telling, change: Change, new: Side) -> Change:
    """The change of a file or link, with the parts that are not shown here; with its digest if it is shown whole."""
    unseen = _NO_DIFF
    if change.cut >= 0:
        count = hidden(change.diff)
        unseen = f"{change.cut} lines of its diff are left out" if change.cut else ""
        unseen = unseen or (f"it has {count} hidden characters" if count else "")
    if not (c.wants_whole(change.path) or (unseen and (change.cut == 0 or c.seen))):
        return replace(change, unseen=unseen)
    digest = hashlib.sha256(repr((change.path, change.kind, change.what, new.mode)).encode())
    digest.update(new.hashed() if new.what == "file" else new.target().encode("utf-8", "surrogateescape"))
    named = digest.hexdigest()
    return replace(change, unseen="" if named in c.seen else unseen, digest=named)


def _shown(c: _Telling, path: str, new: Side, old: Side | None) -> tuple[str, str, int]:
    """Note and diff of a change, and how many lines of that are left out."""
    if new.what == "link":
        return f"leads to {ascii(new.target())[1:-1]}", "", 0
    whole = c.wants_whole(path)
    note = "" if old is None or old.what == "file" else f"was a {old.what}"
    if old is not None and old.what == "file" and old.mode != new.mode:
        note = f"{old.mode:04o} → {new.mode:04o}"
    if old is None and new.mode & 0o111:
        note = "can be run"
    most = _WHOLE_BYTES if whole else _DIFF_BYTES
    texts = [_text(entry, most) for entry in (old, new) if entry is not None and entry.what == "file"]
    if None in texts:
        return "; ".join(filter(None, (note, _NO_DIFF))), "", -1
    if not c.diffs or c.room <= 0 or time.monotonic() > c.diff_deadline:
        return note, "", -1
    before, after = ("", texts[0]) if len(texts) == 1 else texts
    diff, cut = unified(before, after or "", whole=whole)
    c.room -= len(diff)
    return note, diff, cut


def _text(entry: Side, most: int) -> str | None:
    if entry.status.st_size > most:
        return None
    try:
        text = entry.content(most).decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text
