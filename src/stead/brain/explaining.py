"""What a statement is about, where only what is remembered can tell: it is 5433, not 5432.

Layer: brain. Pure. A correction that names nothing but two values is the easiest way to spoil a memory: in talk about
code such sentences fall all day, and 41 is somebody's age as well as the 41st line. So it has to be near: said in that
session shortly before, or named in it. Of the work a name will do, since "main, not trunk" has few other meanings in
the folder whose branch is trunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from stead.brain.names import is_product
from stead.brain.remembering import canonical, normal
from stead.brain.stating import Stated, slug
from stead.domain.memory import Episode, Memory

LATELY = 4
"""Of a session's turns, the last one among them, are those that a correction may be about."""

_FIGURES = re.compile(r"[\W\d]*\d[\W\d]*(?:\w{1,3})?")
_PROJECT = "project."
_USES = "project.uses."


def needs_explaining(stated: Stated) -> bool:
    """Whether it takes what is remembered to tell what a statement says."""
    return not stated.key or bool(stated.ends) or stated.moved


def explained(stated: Stated, alike: Sequence[Memory], lately: Sequence[Episode]) -> tuple[Stated, ...]:
    """What a statement says, given what is remembered; nothing when nobody can tell.

    Args:
        stated: see there.
        alike: the live memories of its scope that have its key, or may have its value.
        lately: the last turns of its session, its own among them.
    """
    if stated.ends:
        return tuple(_ended(stated, alike))
    if stated.moved:
        return (_moved(stated, alike),)
    if stated.key:
        return (stated,)
    return tuple(_instead(stated, alike, lately))


def _ended(stated: Stated, alike: Sequence[Memory]) -> Iterator[Stated]:
    """What holds no more, where it was known to hold; of the work also where nothing else is known."""
    here = [one for one in alike if one.key == stated.key]
    if stated.key.startswith(_USES):
        yield stated
        for one in alike:
            if _is_held(one, stated.ends) and one.key.startswith(_PROJECT) and not one.key.startswith(_USES):
                text = f"This holds no longer: {one.text}"
                yield replace(stated, key=one.key, value=f"not {stated.ends}", text=text, aliases=one.aliases)
    elif any(_is_held(one, stated.ends) for one in here) or (stated.kind == "context" and not here):
        yield stated


def _moved(stated: Stated, alike: Sequence[Memory]) -> Stated:
    """The appointment at the key of the one that is known, if there is one alone."""
    if any(one.key == stated.key for one in alike):
        return stated
    known = {one.key for one in alike if one.key.startswith(f"{stated.key}.")}
    return replace(stated, key=known.pop()) if len(known) == 1 else stated


def _instead(stated: Stated, alike: Sequence[Memory], lately: Sequence[Episode]) -> Iterator[Stated]:
    """A value in another's place, at the key of the one memory that has that value."""
    held = {one.key: one for one in alike if one.key and _is_held(one, stated.instead_of)}
    if stated.kind == "correction":
        held = {key: one for key, one in held.items() if _is_near(one, stated, lately)}
    if len(held) == 1:
        ((key, memory),) = held.items()
        text = _with(memory.text, memory.value, stated.value) or stated.text
        yield replace(stated, key=key, text=text, kind=memory.kind, aliases=memory.aliases, standing=memory.standing)
    elif not held and stated.kind != "correction" and is_product(stated.value):
        yield replace(stated, key=canonical(f"{_USES}{slug(stated.value)}"), value="yes")
    if stated.kind != "correction":
        used = canonical(f"{_USES}{slug(stated.instead_of)}")
        if any(one.key == used and one.value == "yes" for one in alike):
            old = stated.instead_of
            yield replace(stated, key=used, value="no", text=f"We do not use {old}.", aliases=(old.casefold(),))


def _is_near(memory: Memory, stated: Stated, lately: Sequence[Episode]) -> bool:
    """Whether a correction may mean a memory."""
    figures = _FIGURES.fullmatch(stated.value) is not None or _FIGURES.fullmatch(stated.instead_of) is not None
    if figures and memory.key.startswith("person."):
        return False
    turns = {turn.seq for turn in lately}
    if any(evidence.seq in turns for evidence in memory.evidence):
        return True
    said = normal(" ".join(turn.text for turn in lately))
    names = {memory.key.rpartition(".")[2].replace("_", " "), *memory.aliases} - {normal(memory.value)}
    if any(re.search(rf"\b{re.escape(name)}\b", said) for name in names if len(name) > 2):
        return True
    return memory.key.startswith(_PROJECT) and not figures


def _is_held(memory: Memory, value: str) -> bool:
    return normal(memory.value) == normal(value)


def _with(text: str, old: str, new: str) -> str:
    """A text with a value in another's place; "" when it is not there just once."""
    return text.replace(old, new) if old and text.count(old) == 1 else ""
