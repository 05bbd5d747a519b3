"""What a forgetting would take away: which memories, and which events in which other words.

Layer: runtime. It reads the journal and changes nothing; a preview shows exactly what is then done. It blocks.

Words are looked for in every text. A memory that has one goes with every version of what it says. A memory that is
named goes likewise, and its texts, and the words that it rests on, are looked for as well; so does a memory that rests
on forgotten words alone. Names of fields, numbers and ids are no texts, however much they look like words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from stead.domain import events as ev
from stead.domain.errors import NotFound
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import FORGOTTEN, Occurrence, Preview, RedactableJournal
from stead.domain.ids import HOME, SessionId
from stead.domain.memory import MEMORY, Evidence, Memory, MemoryId
from stead.domain.messages import ToolCall
from stead.domain.near_words import Near
from stead.domain.needles import LEAST_CHARS, MOST_CHARS, Needles
from stead.domain.redacting import Clean, blank, has, redacted, texts

PLACES = 100
SPELLINGS = 50
WHOLE_CHARS = 12
"""Words of this length are looked for everywhere; shorter ones, as "yes", only go where they were pointed at."""
STATEMENT_CHARS = 6
"""A memory's text of two words and this length is looked for everywhere too; a shorter one goes where it was told."""
MEMORY_TOOLS = frozenset({"remember", "recall", "recall_all", "correct_memory", "forget_memory"})
"""In whose calls and results memories are told."""
_AROUND = 60
_WORD = re.compile(r"\w+")

Gone = Literal["no", "before", "now"]
"""Whether words that something rests on are gone: by this forgetting, or since longer."""

Words = Callable[[Evidence], str]
"""The whole of what was said where evidence points at some of it; "" where it is gone."""


@dataclass
class Forgettable:
    """What would be forgotten.

    Args:
        needles: the words, everywhere.
        memories: by id, with every version of each.
        read: the last event that was looked at.
        events: by seq, what is read from then on; None for nothing.
        sessions: whose they are, with the first of each.
        places: of the first of them.
        kept: what stays, and what the person can do.
    """

    needles: Needles
    memories: dict[MemoryId, list[Memory]]
    read: int
    events: dict[int, ev.Body | None] = field(default_factory=dict)
    sessions: dict[SessionId, int] = field(default_factory=dict)
    places: list[Occurrence] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def preview(self) -> Preview:
        """As people are shown it."""
        shown = tuple((id, versions[-1].text) for id, versions in self.memories.items())
        return Preview(self.needles.words, shown, tuple(self.places), len(self.events), tuple(self.kept))

    def fingerprinted(self) -> Iterator[str]:
        """The texts by which it is known if it comes back."""
        yield from self.needles.words
        for versions in self.memories.values():
            for memory in versions:
                yield memory.text
                if memory.key and memory.value:
                    yield f"{memory.key} {memory.value}"

    def take(self, event: ev.Event, body: ev.Body | None) -> None:
        """Let an event be read otherwise."""
        self.events[event.seq] = body
        self.sessions.setdefault(event.session, event.seq)
        if len(self.places) < PLACES:
            self.places.append(_place(event, self.needles))


def forgettable(journal: RedactableJournal, wanted: Forget, words_of: Words) -> Forgettable:
    """Find all of it.

    Args:
        journal: see there.
        wanted: what is asked for.
        words_of: see there.

    Raises:
        NotFound: a memory or an event that is named is not there.
        InvalidRequest: as ``Needles``.
    """
    read = journal.head()
    memories = _Memories(journal)
    pointed = {seq: _require_event(journal, seq) for seq in wanted.events}
    whole = memories.chain(map(memories.require, wanted.memories))
    versions = [memory for id in whole for memory in memories.versions[id]]
    spans = [(one.seq, words_of(one)[one.start : one.end].strip()) for memory in versions for one in memory.evidence]
    long = [words for _, words in spans if len(words) >= WHOLE_CHARS]
    long += [text for event in pointed.values() for text in texts(event.body) if len(text.strip()) >= WHOLE_CHARS]
    held = {memory.text.strip() for memory in versions}
    told = {text for text in held if not _stands_alone(text)}
    words = [*wanted.words, *(part for text in (*long, *sorted(held - told)) for part in _parts(text))]
    needles = Needles(words, exact=wanted.match == "exact")
    places = _Places(pointed, Needles([text for text in told if len(text) >= LEAST_CHARS]))
    for seq, text in spans:
        if text and len(text) < WHOLE_CHARS:
            places.short.setdefault(seq, set()).add(text)
    touched = [id for id, every in memories.versions.items() if any(_says(memory, needles) for memory in every)]
    resting = memories.resting_on(lambda one: _gone(one, words_of(one), needles, places))
    chosen = whole | memories.chain([*touched, *resting])
    found = Forgettable(needles, {id: memories.versions[id] for id in sorted(chosen)}, read)
    _take_events(found, journal, places)
    return found


def nearly(journal: RedactableJournal, near: Near) -> tuple[str, ...]:
    """The first fifty spellings in which the record says it, the most frequent first."""
    found: Counter[str] = Counter()
    for event in journal.events():
        if isinstance(event, ev.Event):
            found.update(text for said in texts(event.body) for text in near.found(said))
    return tuple(text for text, _ in found.most_common(SPELLINGS))


@dataclass
class _Places:
    """Where more goes than what is looked for everywhere.

    Args:
        pointed: events that go whole, by seq.
        told: texts of memories that are too short to be looked for everywhere; they go where memories are told.
        short: words too short for it, that a memory rests on; they go in these events.
    """

    pointed: Mapping[int, ev.Event]
    told: Needles
    short: dict[int, set[str]] = field(default_factory=dict)

    def cleaner(self, event: ev.Event, needles: Needles) -> Clean:
        """What takes words out of an event."""
        if event.seq in self.pointed:
            return blank
        told = self.told if self.told and _tells(event.body) else Needles([])
        short = self.shorter(event.seq)
        return lambda text: told.cleaned(needles.cleaned(short.sub(FORGOTTEN, text)))

    def shorter(self, seq: int) -> re.Pattern[str]:
        """Finds what is too short, in one event."""
        return re.compile("|".join(map(re.escape, sorted(self.short.get(seq, ()), key=len, reverse=True))) or "(?!)")


def _take_events(found: Forgettable, journal: RedactableJournal, places: _Places) -> None:
    refs, needles = tuple(id.encode() for id in found.memories), found.needles
    touched = journal.touched(lambda it: needles.touches(it) or places.told.touches(it) or _any(refs, it))
    events = {event.seq: event for event in touched}
    events |= {**places.pointed, **{seq: _require_event(journal, seq) for seq in places.short}}
    for _, event in sorted(events.items()):
        body = _redacted(event, found, places.cleaner(event, needles))
        if body is None or body != event.body:
            found.take(event, body)
        if body is not None and has(body, needles.spans):
            found.kept.append(_why_kept(event))


def _redacted(event: ev.Event, found: Forgettable, clean: Clean) -> ev.Body | None:
    match event.body:
        case ev.MemoryMade(memory=memory) | ev.MemoryAmended(memory=memory) if memory.id in found.memories:
            return None
        case ev.MemoryProposed(memories=memories) if any(id in found.memories for id in memories):
            return redacted(event.body, blank)
        case _:
            return redacted(event.body, clean, found.memories)


class _Memories:
    """Every version of everything that is remembered, and what took the place of what."""

    def __init__(self, journal: RedactableJournal) -> None:
        self.versions: dict[MemoryId, list[Memory]] = {}
        self._beside: dict[MemoryId, set[MemoryId]] = {}
        for event in journal.events(session=MEMORY):
            match event:
                case ev.Event(body=ev.MemoryMade(memory=memory) | ev.MemoryAmended(memory=memory)):
                    self.versions.setdefault(memory.id, []).append(memory)
                    for older in memory.supersedes:
                        self._link(memory.id, older)
                case ev.Event(body=ev.MemoryRetired(id=id, by=by)) if by:
                    self._link(id, by)
                case _:
                    continue

    def require(self, id: MemoryId) -> MemoryId:
        """The id, if there is such a memory."""
        if id not in self.versions:
            raise NotFound(f"there is no memory {id!r}, or it is forgotten already; see `stead memory`")
        return id

    def chain(self, ids: Iterable[MemoryId]) -> set[MemoryId]:
        """These, and all that they took the place of or that took theirs."""
        todo, seen = list(ids), set[MemoryId]()
        while todo:
            id = todo.pop()
            if id in self.versions and id not in seen:
                seen.add(id)
                todo += self._beside.get(id, ())
        return seen

    def resting_on(self, gone: Callable[[Evidence], Gone]) -> list[MemoryId]:
        """Those that lose by it the last words that they rested on."""
        found = []
        for id, versions in self.versions.items():
            left = {gone(evidence) for evidence in versions[-1].evidence}
            if "now" in left and "no" not in left:
                found.append(id)
        return found

    def _link(self, one: MemoryId, other: MemoryId) -> None:
        self._beside.setdefault(one, set()).add(other)
        self._beside.setdefault(other, set()).add(one)


def _require_event(journal: RedactableJournal, seq: int) -> ev.Event:
    event = next(iter(journal.events(after=seq - 1)), None) if seq > 0 else None
    if not isinstance(event, ev.Event) or event.seq != seq:
        raise NotFound(f"there is no event {seq} that has any words; see `stead journal`")
    return event


def _says(memory: Memory, needles: Needles) -> bool:
    return needles.touches(msgspec.json.encode(memory)) and any(map(needles.spans, texts(ev.MemoryMade(memory, ""))))


def _tells(body: ev.Body) -> bool:
    """Whether memories are told in an event, or may be."""
    match body:
        case ev.MemoryLoaded() | ev.MemoryRecalled() | ev.ConversationSet():
            return True
        case ev.ModelReplied(parts=parts):
            return any(isinstance(part, ToolCall) and part.tool in MEMORY_TOOLS for part in parts)
        case _:
            return getattr(body, "tool", "") in MEMORY_TOOLS


def _gone(evidence: Evidence, said: str, needles: Needles, places: _Places) -> Gone:
    """Whether every word that something rests on stands in what is forgotten."""
    if not said[evidence.start : evidence.end].strip():
        return "before"
    if evidence.seq in places.pointed:
        return "now"
    spans = [*needles.spans(said), *(match.span() for match in places.shorter(evidence.seq).finditer(said))]
    inside = (
        any(start <= word.start() and word.end() <= end for start, end in spans)
        for word in _WORD.finditer(said, evidence.start, evidence.end)
    )
    return "now" if spans and all(inside) else "no"


def _stands_alone(text: str) -> bool:
    """Whether a memory's text says something wherever it stands."""
    return len(text) >= WHOLE_CHARS or (len(text) >= STATEMENT_CHARS and len(_WORD.findall(text)) > 1)


def _parts(text: str) -> Iterator[str]:
    """A text in pieces of about one length, each short enough to be looked for."""
    text = text.strip()
    size = math.ceil(len(text) / math.ceil(len(text) / MOST_CHARS))
    pieces = (text[at : at + size].strip() for at in range(0, len(text), size))
    return (piece for piece in pieces if len(piece) >= LEAST_CHARS and _WORD.search(piece))


def _any(refs: Collection[bytes], content: bytes) -> bool:
    return any(ref in content for ref in refs)


def _place(event: ev.Event, needles: Needles) -> Occurrence:
    count, excerpt = 0, ""
    for text in texts(event.body):
        spans = needles.spans(text)
        count += len(spans)
        if spans and not excerpt:
            start, end = max(0, spans[0][0] - _AROUND), min(len(text), spans[0][1] + _AROUND)
            excerpt = " ".join(text[start:end].split())[: 4 * _AROUND]
    return Occurrence(event.seq, event.session, str(event.body.__struct_config__.tag), event.ts_ms, excerpt, count)


def _why_kept(event: ev.Event) -> str:
    where = f"event {event.seq} ({event.body.__struct_config__.tag})"
    if isinstance(event.body, ev.BindingFact):
        return f"{where} permits or forbids something in these words, and stays: other words could permit more"
    if event.session in (HOME, MEMORY):
        return f"{where} has them in a name that holds the record together, and stays"
    return (
        f"{where} of session {event.session} has them in a name, as of its folder; delete the session to be rid of it"
    )
