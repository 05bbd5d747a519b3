"""What a model reads about the changes that its call made and that did not simply land in the person's folder.

Layer: tools. The sentences are Stead's own; paths were chosen by a machine, and stand quoted in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.trials import Held, Landing

_MOST_PATHS = 10
_PATH_CHARS = 200


def landing_notes(landing: Landing) -> tuple[str, ...]:
    """Lines in brackets, for the end of a call's text; none when everything has landed."""
    notes = []
    if landing.merged:
        paths = _named([Held(path, "read it again") for path in landing.merged])
        notes.append(f"merged with what the person changed in the same files meanwhile: {paths}")
    if landing.held:
        notes.append(f"held for the person's review: {_named(landing.held)}")
    if landing.refused:
        notes.append(f"never carried over into the person's folder: {_named(landing.refused)}")
    if landing.failed:
        notes.append(f"not in the person's folder yet, to be tried again: {landing.failed}")
    if landing.stayed:
        notes.append(f"kept in the machine alone, as tools make it again: {landing.stayed} of its changes")
    if landing.open:
        notes.append("a process of this call still works; what it changes lands later")
    return tuple(f"[{note}]" for note in notes)


def _named(held: Sequence[Held]) -> str:
    shown = "; ".join(f"{one.path[:_PATH_CHARS]!r} ({one.why[:_PATH_CHARS]})" for one in held[:_MOST_PATHS])
    return f"{shown}; and {len(held) - _MOST_PATHS} more" if len(held) > _MOST_PATHS else shown
