"""Where a session's words bear a statement out.

Layer: memory. Pure. A model may only have remembered what somebody said: the span of an event that has most of the
statement's own words, the person's before anybody else's. A question states nothing. What Stead itself put before the
model (recalled memories, notices) is no evidence, or memory would feed on itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from stead.brain.sentences import others_blank
from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.memory import Evidence
from stead.domain.memory_ports import Said
from stead.domain.messages import Text
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON
from stead.memory.polarity import contradicts, signed

LEAST_SHARE = 0.5
"""Of a statement's own words that have to stand in what was said."""
_TEXT_CHARS = 200_000
_OWN_TOOLS = frozenset({"recall", "remember", "correct_memory", "forget_memory", "history", "history_all"})
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?\u061f\u0964\u06d4](?=\s)|[\u3002\uff01\uff1f]|\n|$)")
_ASKS = re.compile(r"\?(?![\w=&])|[\uff1f\u061f]")
"""A question mark that is none of an address."""
_ORDER = {"user": 0}


class Spoken(msgspec.Struct, frozen=True):
    """What one event of a session says.

    Args:
        seq: of the event.
        session: whose.
        ts_ms: when.
        who: "user", "assistant", or a tool's name; a participant's where others talk along.
        text: as it was said.
        label: of the words.
    """

    seq: int
    session: SessionId
    ts_ms: int
    who: str
    text: str
    label: Label


def spoken(event: ev.Event, *, tainted: bool) -> Spoken | None:
    """What an event says that somebody said; nothing for what Stead says, and for what only repeats memory.

    Args:
        event: of a session.
        tainted: the session had read strangers' words before it, so that the model's may be theirs.
    """

    def said(who: str, text: str, label: Label) -> Spoken | None:
        return Spoken(event.seq, event.session, event.ts_ms, who, text, label) if text.strip() else None

    match event.body:
        case ev.ObjectiveCreated(goal=goal):
            return said("user", goal, PERSON)
        case ev.MessageReceived(text=text, label=label, door=door):
            return said("user" if label.integrity is Integrity.PERSON else door, text, label)
        case ev.ModelReplied(parts=parts):
            words = "\n".join(part.text for part in parts if isinstance(part, Text))
            integrity = Integrity.UNTRUSTED if tainted else Integrity.TRUSTED
            return said("assistant", words, Label(integrity, Confidentiality.PRIVATE))
        case ev.ToolFinished(tool=tool, text=text, label=label, outcome="ok") if tool not in _OWN_TOOLS:
            return said(tool, text, label)
        case _:
            return None


def taints(event: ev.Event) -> bool:
    """Whether a model that was told of an event has read strangers' words."""
    match event.body:
        case ev.ToolFinished(label=label, source=source) if source:
            return label.taints
        case ev.MessageReceived(label=label) | ev.ProjectRulesRead(label=label):
            return label.taints
        case ev.MemoryLoaded(label=label) | ev.MemoryRecalled(label=label):
            return label.taints
        case ev.ConversationSet(carried=carried):
            return bool(carried.sources)
        case _:
            return False


def borne_out(statement: str, said: Iterable[Spoken]) -> Said | None:
    """Where a statement is best borne out, in as few words as do; nothing when nobody said half of it.

    What the person quotes, or hands over, was said by them and is not their word: it has not their label.

    Args:
        statement: what is to be remembered.
        said: what was said, oldest first; the newer of two equal ones counts.
    """
    wanted = signed(statement)
    if not wanted:
        return None
    best: tuple[tuple[float, int, int], Said] | None = None
    for one in said:
        for start, end, share in _spans(one.text[:_TEXT_CHARS], wanted):
            if share < LEAST_SHARE:
                continue
            rank = (share, -_ORDER.get(one.who, 1), start - end)
            if best is None or rank >= best[0]:
                evidence = Evidence(one.session, one.seq, start, end)
                best = (rank, Said(evidence, one.text[start:end], one.who, _label(one, start, end), share))
    return best[1] if best else None


def asks(text: str, start: int, end: int) -> bool:
    """Whether a question has any of these words of a text."""
    sentences = (match for match in _SENTENCE.finditer(text) if match.start() < end and match.end() > start)
    return any(_ASKS.search(match[0]) for match in sentences)


def _label(one: Spoken, start: int, end: int) -> Label:
    if one.label.integrity is not Integrity.PERSON or others_blank(one.text)[start:end] == one.text[start:end]:
        return one.label
    return replace(one.label, integrity=Integrity.TRUSTED)


def _spans(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int, float]]:
    """Sentences, and pairs of them that follow each other, with the share of the wanted words that they have.

    A question says nothing, and what denies a word that the statement affirms, or affirms one that it denies, bears
    nothing of it out.
    """
    before: tuple[int, frozenset[str]] | None = None
    for match in _SENTENCE.finditer(text):
        if not match[0].strip() or _ASKS.search(match[0]):
            before = None
            continue
        found = signed(match[0])
        if contradicts(found, wanted):
            before = None
            continue
        yield match.start(), match.end(), len(found & wanted) / len(wanted)
        if before is not None and (before[1] - found) & wanted and not contradicts(found | before[1], wanted):
            yield before[0], match.end(), len((found | before[1]) & wanted) / len(wanted)
        before = (match.start(), found)
