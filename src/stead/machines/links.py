"""Where symbolic links of a folder lead.

Layer: machines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from stead.domain.obeyed import PATTERNS, kept
from stead.machines.workspace import opened_above

_MOST_LINKS = 40
"""Followed one after another; the kernel gives up there too."""
_DEEP = tuple("/".join(pattern) for pattern, _ in PATTERNS if len(pattern) > 1 and "*" not in "".join(pattern))


def led_to(directory: str, links: Iterable[str]) -> Callable[[str], bool]:
    """Tells whether a link of the person's whose name programs obey leads to a path, through it, or into it.

    Args:
        directory: absolute and real.
        links: those to look at, relative; at the folder's top, those of names that are further down are added.
    """
    ends = set()
    for link in (*filter(kept, links), *_DEEP):
        at = f"{directory}/{link}"
        for _ in range(_MOST_LINKS):
            if not os.path.islink(at):
                break
            above = os.path.realpath(os.path.dirname(at))
            at = os.path.join(above, os.readlink(at))
            for end in (
                os.path.normpath(at),
                os.path.join(os.path.realpath(os.path.dirname(at)), os.path.basename(at)),
            ):
                if end.startswith(directory + "/"):
                    ends.add(end.removeprefix(directory + "/"))
    return lambda path: any(f"{path}/".startswith(f"{end}/") or end.startswith(f"{path}/") for end in ends)


def leads_out(sides: tuple[int, int], path: str, target: str) -> bool:
    """Whether a link may lead out of the folder, by itself or through others; one that cannot be followed may.

    A target that goes up after a name (``d/..``) counts, wherever it ends: ``d`` may become another link. Names are
    looked up on both sides, as a part of the changes may be applied without the rest.

    Args:
        sides: descriptors of the trial's folder and of the person's.
        path: of the link.
        target: what it holds.
    """
    left = [(path, target)]
    for _ in range(_MOST_LINKS):
        path, target = left.pop()
        at, parts = path.split("/")[:-1], [part for part in target.split("/") if part not in ("", ".")]
        up = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
        if target.startswith("/") or up > len(at) or ".." in parts[up:]:
            return True
        at = at[: len(at) - up]
        for number, part in enumerate(parts[up:], up + 1):
            at.append(part)
            links = {_target(side, at) for side in sides} - {""}
            left += [("/".join(at), "/".join((link, *parts[number:]))) for link in links]
        if not left:
            return False
    return True


def _target(top: int, parts: list[str]) -> str:
    """Where a link leads; "" for what is none, or is reached through another."""
    try:
        with opened_above(top, "/".join(parts)) as (folder, name):
            return os.readlink(name, dir_fd=folder)
    except OSError:
        return ""
