"""Where a session's words bear a statement out.

Layer: memory. Pure. A model may only have remembered what somebody said: the span of an event that has most of the
statement's own words, the person's before anybody else's. A question states nothing. What Stead itself put before the
model (recalled memories, notices) is no evidence, or memory would feed on itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from stead.brain.sentences import NO_END, others_blank
from stead.domain import events as ev
from stead.domain.agents import Parent
from stead.domain.ids import SessionId
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.memory import Evidence
from stead.domain.memory_ports import Said
from stead.domain.messages import Text, ToolCall
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON
from stead.memory.assertion import asserts
from stead.memory.polarity import DENIED, contradicts, kept, signed
from stead.memory.words import spoken as spoken_words

LEAST_SHARE = 0.5
"""Of a statement's own words that have to stand in what was said."""
_TEXT_CHARS = 200_000
OWN_TOOLS = frozenset({"recall", "remember", "correct_memory", "forget_memory", "history", "history_all", "recall_all"})
"""What they say, memory or the model has said."""
_SENTENCE = lazy_pattern(rf"[^\n]*?(?:{NO_END}[.!?\u061f\u0964\u06d4](?=\s)|[\u3002\uff01\uff1f]|\n|$)")
_ASKS = lazy_pattern(r"\?(?![\w=&])|[\uff1f\u061f]")
"""A question mark that is none of an address."""
_STRING = lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_WORD = lazy_pattern(r"[^\W_]+")


class Spoken(msgspec.Struct, frozen=True):
    """What one event of a session says.

    Args:
        seq: of the event.
        session: whose.
        ts_ms: when.
        who: "user", "assistant", or a tool's name; a participant's where others talk along.
        text: as it was said.
        label: of the words.
        known: how much of a statement the model or memory had said before, 0 to 1; a stranger's words that have no more
            of it may be an echo.
    """

    seq: int
    session: SessionId
    ts_ms: int
    who: str
    text: str
    label: Label
    known: float = 0.0


def spoken(event: ev.Event, *, tainted: bool) -> Spoken | None:
    """What an event says that somebody said; nothing for what Stead says, and for what only repeats memory.

    Args:
        event: of a session.
        tainted: the session had read strangers' words before it, so that the model's may be theirs.
    """

    def said(who: str, text: str, label: Label) -> Spoken | None:
        return Spoken(event.seq, event.session, event.ts_ms, who, text, label) if text.strip() else None

    match event.body:
        case ev.SessionOpened(contract=contract, parent=None) if contract:
            return said("user", contract.goal, PERSON)
        case ev.GoalChanged(goal=text) | ev.MessageChanged(text=text):
            return said("user", text, PERSON)
        case ev.MessageReceived(text=text, label=label, door=door):
            return said("user" if label.integrity is Integrity.PERSON else door, text, label)
        case ev.ModelReplied(parts=parts):
            words = "\n".join(part.text for part in parts if isinstance(part, Text))
            integrity = Integrity.UNTRUSTED if tainted else Integrity.TRUSTED
            return said("assistant", words, Label(integrity, Confidentiality.PRIVATE))
        case ev.ToolFinished(tool=tool, text=text, label=label, outcome="ok") if tool not in OWN_TOOLS:
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
        case ev.SessionOpened(parent=Parent(taint=taint)) | ev.AgentEnded(taint=taint):
            return bool(taint.sources)
        case _:
            return False


def witness(event: ev.Event) -> Spoken | None:
    """What an event says that a statement may rest on: the person's words, and strangers', which stay theirs.

    Not what a model says, be it in a reply or as the output of a tool that was trusted to repeat it.
    """
    said = None if isinstance(event.body, ev.ModelReplied) else spoken(event, tainted=True)
    if said is None or said.label.integrity is Integrity.PERSON:
        return said
    return replace(said, label=replace(said.label, integrity=Integrity.UNTRUSTED))


def told(event: ev.Event, statement: str) -> float:
    """How much of a statement the model or memory says in an event, so that a tool's output may only repeat it."""
    match event.body:
        case ev.ModelReplied(parts=parts):
            calls = [part for part in parts if isinstance(part, ToolCall) and part.tool not in OWN_TOOLS]
            texts = [part.text for part in parts if isinstance(part, Text)]
            texts += [text for call in calls for text in _strings(call.arguments)]
        case ev.MemoryLoaded(files=files):
            texts = [file.text for file in files]
        case ev.MemoryRecalled(told=told):
            texts = [one.text for one in told]
        case ev.ToolFinished(tool=tool, text=text) if tool in OWN_TOOLS:
            texts = [text]
        case _:
            return 0.0
    wanted = signed(statement)
    return max((found for text in texts for _, _, found in _spans(text[:_TEXT_CHARS], wanted)), default=0.0)


def borne_out(statement: str, said: Iterable[Spoken]) -> Said | None:
    """Where a statement is best borne out, in as few words as do; nothing when nobody said half of it.

    What the person says bears it out where they assert it (``assertion``). What they quote or hand over was said by
    them and is not their word: it is a stranger's.

    Args:
        statement: what is to be remembered.
        said: what was said, oldest first; the newer of two equal ones counts.
    """
    wanted = signed(statement)
    if not wanted:
        return None
    best: tuple[tuple[float, bool, int], Said] | None = None
    for one in said:
        for start, end, found in _spans(one.text[:_TEXT_CHARS], wanted):
            label = _label(one, start, end)
            if found < LEAST_SHARE or (label.taints and found <= one.known):
                continue
            if not label.taints and not asserts(one.text, *_fragment(one.text, start, end, wanted), statement):
                continue
            rank = (found, one.who == "user", start - end)
            if best is None or rank >= best[0]:
                evidence = Evidence(one.session, one.seq, start, end)
                best = (rank, Said(evidence, one.text[start:end], one.who, label, found, one.ts_ms))
    return best[1] if best else None


def share(statement: str, quote: str) -> float:
    """How much of a statement's own words stand in others, 0 to 1, affirmed or denied as there."""
    wanted = signed(statement)
    found = signed(quote)
    return sum(kept(word, found) for word in wanted) / len(wanted) if wanted else 0.0


def _label(one: Spoken, start: int, end: int) -> Label:
    if one.label.integrity is not Integrity.PERSON or others_blank(one.text)[start:end] == one.text[start:end]:
        return one.label
    return replace(one.label, integrity=Integrity.UNTRUSTED)


def _strings(arguments: str) -> Iterator[str]:
    """Every text in the arguments of a call, as it would come back from wherever it was put."""
    return (msgspec.json.decode(match[0]) for match in _STRING.finditer(arguments))


def _fragment(text: str, start: int, end: int, wanted: frozenset[str]) -> tuple[int, int]:
    """From the first to the last word of a sentence that a statement has."""
    plain = [word.lstrip(DENIED) for word in wanted]
    spots = [one for one in _WORD.finditer(text, start, end) if any(kept(part, plain) for part in spoken_words(one[0]))]
    return (spots[0].start(), spots[-1].end()) if spots else (start, end)


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
