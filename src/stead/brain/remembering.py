"""What is to become of a new statement, given those that are there: nothing, a new memory, or one in another's place.

Layer: brain. Pure. Ids and the time are handed in. What strangers' words made may stand next to a person's own
statement and never takes its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.errors import InvalidRequest
from stead.domain.memory import ALIASES, KEY_CHARS, KINDS, TEXT_CHARS, Level, Memory, MemoryId, MemoryRow, RunId
from stead.domain.memory_commands import Change
from stead.domain.memory_events import MemoryFact, MemoryRetired
from stead.domain.memory_ports import Said
from stead.domain.policies import Integrity
from stead.domain.stop_words import STOP

_WIDE: dict[Level, int] = {"global": 2, "workspace": 1, "private": 0, "channel": 0}
_RANK = {"user_said": 3, "file_edit": 3, "imported": 1, "tool": 1, "inferred": 1}
LAST_MS = 253_370_764_800_000
"""The last moment that everybody can date: in a few years more, dates have five digits."""
_RAW_CHARS = 10 * TEXT_CHARS
"""What is longer is too long, whatever cleaning would leave of it."""
_HIDDEN = ("Cc", "Cf", "Cs")
_JOINERS = "\n\u200c\u200d"
_TELLING = 4
"""Letters from which on a word is hardly one of grammar."""
_ABOUT_NOTHING = STOP | {"person"}
"""Words of grammar, and the one that says whose something is."""
_WORD = re.compile(r"[^\W_]+")
_KEY_SIGNS = re.compile(r"[^\w.]+")


class TakenIn(msgspec.Struct, frozen=True):
    """What a statement changes.

    Args:
        change: in a word.
        memory: the one that now says it.
        facts: to be recorded, in order; empty when nothing changes.
        contradicts: ids of memories with the same key that it contradicts and does not replace.
    """

    change: Change
    memory: Memory
    facts: tuple[MemoryFact, ...]
    contradicts: tuple[str, ...] = ()


def take_in(new: Memory, alike: Sequence[MemoryRow], door: str, run: RunId | Literal[""] = "") -> TakenIn:
    """Decide about a statement.

    Args:
        new: the memory that it would be.
        alike: the live memories of its scope with its key or its words, and those at its key that were superseded and
            held after it began to, each kind newest last.
        door: for the facts.
        run: for the facts, "" for none.
    """
    live = [row.memory for row in alike if row.status == "live"]
    ended = [row.memory for row in alike if row.status == "superseded" and may_replace(new, row.memory)]
    for old in live:
        if says_the_same(old, new) and not _outdone(old, new):
            return _again(new, old, door, run)
    then = [old for old in ended if old.valid_from_ms <= new.valid_from_ms < old.valid_to_ms]
    if known := next((old for old in then if says_the_same(old, new)), None):
        return TakenIn("same", known, ())
    rivals = [old for old in live if (new.key and old.key == new.key) or _outdone(old, new)]
    weaker = [old for old in rivals if may_replace(new, old)]
    later = [old for old in weaker if old.valid_from_ms > new.valid_from_ms and not _outdone(old, new)]
    earlier = [old for old in weaker if old not in later and not held_fast(old, door, run)]
    earlier += [old for old in then if not held_fast(old, door, run)]
    later += [old for old in ended if new.valid_from_ms < old.valid_from_ms < old.valid_to_ms]
    contradicts = tuple(old.id for old in rivals if old not in later and old not in earlier)
    until = min(later, key=lambda old: old.valid_from_ms, default=None)
    if until:  # news of the past: it held until what is known to hold now began to
        new = replace(new, valid_to_ms=until.valid_from_ms)
    made = ev.MemoryMade(replace(new, supersedes=tuple(old.id for old in earlier)), door, run)
    facts: list[MemoryFact] = [made]
    facts += [ev.MemoryRetired(old.id, "superseded", new.id, new.valid_from_ms, door, run) for old in earlier]
    if until:
        facts.append(ev.MemoryRetired(new.id, "superseded", until.id, until.valid_from_ms, door, run))
    return TakenIn("superseded" if earlier else "made", made.memory, tuple(facts), contradicts)


def may_replace(new: Memory, old: Memory) -> bool:
    """Whether a statement may take another's place: no worse a source, and none that strangers had a hand in."""
    if _outdone(new, old):
        return False
    if _outdone(old, new) and not old.pinned:
        return True
    if old.pinned and _RANK[new.origin] < _RANK["user_said"]:
        return False
    return _RANK[new.origin] >= _RANK[old.origin]


def says_otherwise(old: Memory, new: Memory, said: Said) -> bool:
    """Whether the person's own words alone make a statement supersede a memory.

    They were said after it and have the whole of the statement, which is about the same: it has most of what the old
    one says apart from its value, as what is new of the dentist names the dentist.

    Args:
        old: the memory.
        new: the statement.
        said: the words that the new statement rests on.
    """
    kept = _words(old.text) - _words(old.value) or _words(old.key.rpartition(".")[2].replace("_", " "))
    about = {word[:_TELLING] for word in kept - _ABOUT_NOTHING if len(word) >= _TELLING}
    named = 2 * len(about & {word[:_TELLING] for word in _words(new.text)}) >= max(1, len(about))
    return said.share == 1 and said.ts_ms > old.valid_from_ms and named


def unsettled(new: Memory, known: Iterable[Memory], said: Said) -> Memory:
    """A statement as a model worded it, without its key where the person's words do not say what holds there now.

    A model chose the key, and with it which of the person's statements it would take the place of.
    """
    rivals = [old for old in known if new.key and old.key == new.key and is_persons(old)]
    agreed = all(says_the_same(old, new) or says_otherwise(old, new, said) for old in rivals)
    return new if agreed else replace(new, key="", value="")


def held_fast(old: Memory, door: str, run: RunId | Literal[""] = "") -> bool:
    """Whether a statement leaves a memory in its place, whatever was said: the person's hand alone takes it away.

    That is what they pinned and what they wrote themselves, for every run and every tool. An instruction of theirs
    holds fast against tools as well: there a model chooses the key, and so what would be replaced.

    Args:
        old: the memory.
        door: by which the statement comes.
        run: by which it comes, "" for none.
    """
    if not run and door != "tool":
        return False
    return old.pinned or written(old) or (door == "tool" and old.standing)


def excludes(other: Memory, memory: Memory) -> bool:
    """Whether two of one scope cannot both hold: one says the same, or both are the person's at one key."""
    both = memory.key and memory.key == other.key and is_persons(memory) and is_persons(other)
    return bool(both) or normal(memory.text) == normal(other.text)


def overtaken(seen: Iterable[Memory]) -> set[MemoryId]:
    """The memories, among those that one viewer sees, that a newer one of the person's own hides.

    Nothing takes another's place across levels, since others see the wider one and not the narrower. A viewer of
    both gets the narrower one, where it is the newer. What is in every prompt gives way only to what is, too.

    Args:
        seen: memories that hold, all of which this viewer sees.
    """
    by_key = defaultdict[str, list[Memory]](list)
    for memory in seen:
        by_key[memory.key].append(memory)
    by_key.pop("", None)
    return {old.id for some in by_key.values() for old in some if any(_overtakes(new, old) for new in some)}


def _overtakes(new: Memory, old: Memory) -> bool:
    newer = new.valid_from_ms > old.valid_from_ms and _WIDE[new.scope.level] < _WIDE[old.scope.level]
    steady = (old.pinned or old.standing) and not (new.pinned or new.standing)
    return newer and is_persons(new) and not steady and not says_the_same(old, new)


def written(memory: Memory) -> bool:
    """Whether the person wrote it themselves, where everything else rests on words that were said."""
    return is_persons(memory) and not memory.evidence


def as_begun(row: MemoryRow, now_ms: int) -> MemoryRow:
    """A memory as it compares with what is said now: what held when it was recorded began before, by any clock."""
    memory = row.memory
    if not now_ms < memory.valid_from_ms <= row.recorded_ms:
        return row
    return replace(row, memory=replace(memory, valid_from_ms=now_ms))


def is_persons(memory: Memory) -> bool:
    """Whether it is the person's own word, of which one alone holds at a key."""
    return _RANK[memory.origin] == _RANK["user_said"] and memory.label.integrity is not Integrity.UNTRUSTED


def _outdone(old: Memory, new: Memory) -> bool:
    """Whether strangers had a hand in one and not in the other.

    Such a memory is never raised to the other's trust, though both say the same: its words, key and kind are theirs.
    """
    return old.label.integrity is Integrity.UNTRUSTED and new.label.integrity is not Integrity.UNTRUSTED


def corrected(
    old: Memory, new: Memory, was_wrong: bool, door: str, alike: Sequence[MemoryRow] = ()
) -> tuple[MemoryFact, ...]:
    """Other words in place of a memory's.

    Args:
        old: the memory.
        new: with the other words.
        was_wrong: the old ones never held.
        door: for the facts.
        alike: as of ``take_in``; the new one takes the place of those at its key, and of those with its words, too.
    """
    until = 0 if was_wrong else max(new.valid_from_ms, old.valid_from_ms)
    since = old.valid_from_ms if was_wrong else until
    kept = replace(new, valid_from_ms=since)
    retired = displaced(kept, [row for row in alike if row.memory.id != old.id], door)
    kept = replace(kept, supersedes=(old.id, *(fact.id for fact in retired)))
    return (ev.MemoryMade(kept, door), ev.MemoryRetired(old.id, "superseded", new.id, until, door), *retired)


def displaced(new: Memory, alike: Sequence[MemoryRow], door: str) -> list[MemoryRetired]:
    """The memories that one supersedes in its new scope: those that it may, at its key or with its words."""
    live = [row.memory for row in alike if row.status == "live" and row.memory.id != new.id]
    rivals = [old for old in live if may_replace(new, old)]
    same = [one for one in rivals if (new.key and one.key == new.key) or normal(one.text) == normal(new.text)]
    return [ev.MemoryRetired(one.id, "superseded", new.id, new.valid_from_ms, door) for one in same]


def says_the_same(old: Memory, new: Memory) -> bool:
    """Whether two memories say one thing: in the same words, or the same value at the same key."""
    if normal(old.text) == normal(new.text):
        return True
    return bool(new.key and new.value) and old.key == new.key and normal(old.value) == normal(new.value)


def _again(new: Memory, old: Memory, door: str, run: RunId | Literal[""]) -> TakenIn:
    """A statement that is there already: a person's word for it makes it the person's, anything else adds nothing."""
    better = _RANK[new.origin] > _RANK[old.origin] and new.label.integrity is not Integrity.UNTRUSTED
    marks = new.pinned > old.pinned or new.standing > old.standing
    if not better and not marks:
        return TakenIn("same", old, ())
    raised = replace(
        old,
        origin=new.origin if better else old.origin,
        label=new.label if better else old.label,
        confidence=max(old.confidence, new.confidence),
        evidence=() if written(old) else tuple(dict.fromkeys((*old.evidence, *new.evidence))),
        pinned=old.pinned or new.pinned,
        standing=old.standing or new.standing,
        expires_ms=new.expires_ms if better else old.expires_ms,
    )
    return TakenIn("same", raised, (ev.MemoryAmended(raised, door, run),))


def require_valid(memory: Memory) -> Memory:
    """The memory in its one spelling.

    Raises:
        InvalidRequest: a part of it cannot be; says which and what it may be.
    """
    text = memory.text if len(memory.text) > _RAW_CHARS else clean(memory.text)
    if not text:
        raise InvalidRequest("a memory without words says nothing; say what is to be remembered")
    if len(text) > TEXT_CHARS or len(memory.value) > TEXT_CHARS:
        raise InvalidRequest(
            f"a memory and its value have up to {TEXT_CHARS} characters, this has {max(len(text), len(memory.value))}; "
            "put long material into a file, and remember where it is"
        )
    if not all(0 <= at <= LAST_MS for at in (memory.valid_from_ms, memory.valid_to_ms, memory.expires_ms)):
        raise InvalidRequest(f"a memory's times are milliseconds from 1970 on, up to {LAST_MS} (the year 9999)")
    if memory.kind not in KINDS:
        raise InvalidRequest(f"{memory.kind!r} is no kind of memory; choose one of {', '.join(KINDS)}")
    if not 0 <= memory.confidence <= 1:
        raise InvalidRequest(f"a confidence is 0 to 1, not {memory.confidence}")
    if len(memory.aliases) > ALIASES or any(len(alias) > KEY_CHARS for alias in memory.aliases):
        raise InvalidRequest(f"a memory has up to {ALIASES} aliases of up to {KEY_CHARS} characters")
    aliases = tuple(dict.fromkeys(filter(None, (clean(alias).casefold() for alias in memory.aliases))))
    return replace(memory, text=text, value=clean(memory.value), key=canonical(memory.key), aliases=aliases)


def canonical(key: str) -> str:
    """A key in its one spelling: ``Person / Time zone`` is ``person.time_zone``.

    Raises:
        InvalidRequest: it is too long.
    """
    if len(key) > _RAW_CHARS:
        raise InvalidRequest(f"a key has up to {KEY_CHARS} characters, like person.time_zone")
    parts = re.split(r"[./:>]+", unicodedata.normalize("NFKC", key).casefold())
    spelled = ".".join(part for part in (_KEY_SIGNS.sub("_", part.strip()).strip("_") for part in parts) if part)
    if len(spelled) > KEY_CHARS:
        raise InvalidRequest(f"a key has up to {KEY_CHARS} characters, like person.time_zone")
    return spelled


def clean(text: str) -> str:
    """Words without control characters and with single spaces; line ends stay."""
    if not text.replace("\n", "").isprintable():  # most texts have nothing to take out, and files have thousands
        text = "".join(char if char in _JOINERS or unicodedata.category(char) not in _HIDDEN else " " for char in text)
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def without_hidden(text: str) -> str:
    """A text as people see it, without what they do not; spaces and line ends stay."""
    seen = (char for char in text if char in _JOINERS + "\t" or unicodedata.category(char) not in _HIDDEN)
    return "".join(seen)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def normal(text: str) -> str:
    """Words as they are compared: no case, single spaces, no marks at the ends; within, ``C++`` is not ``C``."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!\"'")
