"""What the person tells a model always: directives, in an order, each switched on or off, each with its versions.

Layer: domain. A directive is the person's word to the model and no policy: what must hold whatever a model makes of
its words is a standing rule (``brain.standing``). Kinds as in the seed of directives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NewType

import msgspec

DirectiveId = NewType("DirectiveId", str)
"""``d_`` and 16 hex digits."""

DirectiveKind = Literal["soul", "coding_style", "communication", "project_context", "behavioral_rules", "custom"]

MOST = 1000
"""Directives of a home."""
TEXT_CHARS = 20_000
TITLE_CHARS = 80
IN_FORCE_CHARS = 60_000
"""Of all that one session reads of them: every request carries it."""
KEPT_CHARS = 2_000_000
"""Of all together, those that are off included."""


class Directive(msgspec.Struct, frozen=True):
    """One directive.

    Args:
        id: of the directive; kept by all its versions.
        kind: what it is about. There is one soul for everywhere, and one for each folder.
        title: one line, 1 to 80 characters.
        text: Markdown, 1 to 20,000 characters.
        enabled: whether models read it.
        order: the lower, the earlier a model reads it.
        directory: the folder that it holds for, absolute; "" for every one.
        version: from 1; each change makes the next one.
    """

    id: DirectiveId
    kind: DirectiveKind
    title: str
    text: str
    enabled: bool
    order: int
    directory: str
    version: int


class DirectiveRow(msgspec.Struct, frozen=True):
    """A directive as shown to people.

    Args:
        directive: as it is.
        changed_ms: when it became so.
        door: where that was said; "stead" for one that Stead brought.
        tokens: what a model reads of it comes to at most.
    """

    directive: Directive
    changed_ms: int
    door: str
    tokens: int


class DirectiveVersion(msgspec.Struct, frozen=True):
    """What a directive became once.

    Args:
        directive: as it was then.
        ts_ms: when.
        door: where it was said.
        why: the note that came with it, or "".
        added: lines that the version before had not.
        removed: lines of that one that are gone.
        diff: from the version before to this one, unified and without names of files; "" where no line differs.
    """

    directive: Directive
    ts_ms: int
    door: str
    why: str
    added: int
    removed: int
    diff: str


class Template(msgspec.Struct, frozen=True):
    """A starting point for a directive."""

    kind: DirectiveKind
    title: str
    text: str


class PromptPart(msgspec.Struct, frozen=True):
    """A part of what a model reads before all else.

    Args:
        source: "core" for Stead's own words, which are first and cannot be changed.
        id: the directive's; "" for the core.
        kind: the directive's; "" for the core.
        title: of the directive; "" for the product's own.
        text: word for word, its heading included.
        tokens: an upper bound.
    """

    source: Literal["core", "directive"]
    id: str
    kind: DirectiveKind | Literal[""]
    title: str
    text: str
    tokens: int


class Prompt(msgspec.Struct, frozen=True):
    """The instructions, as a session of a folder would read them.

    Args:
        parts: in order; ``text`` is made of theirs.
        text: word for word.
        tokens: an upper bound.
    """

    parts: tuple[PromptPart, ...]
    text: str
    tokens: int


class Kept(msgspec.Struct, frozen=True):
    """A directive, and when and where it became what it is."""

    directive: Directive
    changed_ms: int
    door: str


class Directives(msgspec.Struct, frozen=True):
    """Every directive of a home. Changed by the fold of its stream alone.

    Args:
        kept: by id.
        versions: the newest version of each that there ever was, so that none is given twice.
        left: the order of those that were removed, for their coming back.
    """

    kept: dict[DirectiveId, Kept] = {}
    versions: dict[DirectiveId, int] = {}
    left: dict[DirectiveId, int] = {}

    def in_order(self) -> tuple[Kept, ...]:
        """In the order of the instructions: souls first, then the others, each by its ``order``."""
        return tuple(sorted(self.kept.values(), key=_place))

    def in_force(self, directory: str) -> tuple[Directive, ...]:
        """Those that a session of a folder reads, in order."""
        found = (kept.directive for kept in self.in_order())
        return tuple(each for each in found if each.enabled and each.directory in ("", directory))

    def with_one(self, directive: Directive, changed_ms: int, door: str) -> Directives:
        """With one that is new, or in place of the one of its id."""
        id = directive.id
        kept = {**self.kept, id: Kept(directive, changed_ms, door)}
        return Directives(kept, {**self.versions, id: directive.version}, self.left)

    def without(self, id: DirectiveId) -> Directives:
        """Without one."""
        if id not in self.kept:
            return self
        left = {**self.left, id: self.kept[id].directive.order}
        return Directives({other: kept for other, kept in self.kept.items() if other != id}, self.versions, left)

    def ordered(self, ids: Iterable[DirectiveId]) -> Directives:
        """With these first, in this order; the others after them, as they were."""
        wanted = dict.fromkeys(id for id in ids if id in self.kept)
        rest = (kept.directive.id for kept in self.in_order() if kept.directive.id not in wanted)
        places = {id: place for place, id in enumerate((*wanted, *rest))}
        replace = msgspec.structs.replace
        kept = {id: replace(one, directive=replace(one.directive, order=places[id])) for id, one in self.kept.items()}
        return Directives(kept, self.versions, self.left)


def _place(kept: Kept) -> tuple[bool, int, str]:
    return kept.directive.kind != "soul", kept.directive.order, kept.directive.id
