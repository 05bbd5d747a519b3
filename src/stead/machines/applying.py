"""Putting changes that wait into the person's folder, as the person chose.

Layer: machines. What is chosen is carried over as ``landing`` does it, and only that.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.errors import NotFound
from stead.domain.trials import Applied, Change, Choice, Held
from stead.machines.changes import changes
from stead.machines.landing import carry_over
from stead.machines.space import Space

_LOOK = "look at the whole of it first (`stead held diff ID --path PATH`)"


def apply(space: Space, choice: Choice) -> Applied:
    """Apply what is chosen and not held back. No machine may be at work in it.

    Raises:
        NotFound: a path is not among the changes.
        Conflict, OSError: as ``changes``.
    """
    found = changes(space, seen=choice.seen)
    chosen = chosen_of(found, choice.paths)
    over = {"protected": choice.include_protected, "conflict": choice.force, "": True, "impossible": False}
    held = [Held(change.path, change.why) for change in chosen if not over[change.held]]
    free = [change for change in chosen if over[change.held]]
    unseen = [change for change in free if change.unseen]
    held += [Held(change.path, f"{change.unseen}; {_LOOK}") for change in unseen]
    paths = [change.path for change in free if change not in unseen]
    done, failed = carry_over(space, paths)
    left = len(done) < len(found)
    if not left:
        space.discard()
    return Applied(done, (*held, *failed), left)


def chosen_of(found: list[Change], paths: Sequence[str]) -> list[Change]:
    """The changes at these paths and below them; no path means all.

    Raises:
        NotFound: a path is not among the changes.
    """
    wanted = [path.strip("/") for path in paths]
    for path in wanted:
        if not any(change.path == path or change.path.startswith(path + "/") for change in found):
            raise NotFound(f"{path!r} is not among the changes; see `stead held diff`")
    if not wanted:
        return found
    return [c for c in found if any(c.path == path or c.path.startswith(path + "/") for path in wanted)]
