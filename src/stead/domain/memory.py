"""Memories: kinds, scopes, evidence, and who may see what.

Layer: domain. A memory is a fact with an owner, a validity and events that it rests on; the journal holds it, an index
per place makes it findable. Who may see one is decided here, by ``visible`` alone, from what a session *is*; no
argument of a model takes part.
"""

from __future__ import annotations

import hashlib
from typing import Literal, NewType, get_args

import msgspec

from stead.domain.ids import SessionId
from stead.domain.policies import Confidentiality, Integrity, Label

MemoryId = NewType("MemoryId", str)
"""One memory: ``m_`` and 16 hex digits. A corrected one is another memory, which supersedes it."""

ProposalId = NewType("ProposalId", str)
"""One proposal to the person: ``p_`` and 16 hex digits."""

RunId = NewType("RunId", str)
"""One run of consolidation: ``c_`` and 16 hex digits."""

PlaceId = NewType("PlaceId", str)
"""Where things are remembered, each with an index of its own: "global", ``w_`` and 16 hex digits for a workspace,
``c_`` and 16 hex digits for a channel."""

GLOBAL = PlaceId("global")

MEMORY = SessionId("memory")
"""The stream of facts about what is remembered."""

Kind = Literal["knowledge", "preference", "pattern", "context", "skill", "correction", "person", "procedure"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Origin = Literal["user_said", "tool", "inferred", "imported", "file_edit"]
"""Who it is from: the person's words, a tool's output, a conclusion, a file taken in, the person's own edit."""

Level = Literal["global", "workspace", "private", "channel"]
"""How far a memory reaches, see ``visible``."""

TEXT_CHARS = 4_000
"""Of one memory at most; longer knowledge belongs into a file, and a memory says where it is."""
KEY_CHARS = 120
ALIASES = 20


class Scope(msgspec.Struct, frozen=True, order=True):
    """Where a memory may be seen.

    Args:
        level: "global": in every session of the person's; "workspace": in those of one workspace; "private": in those
            of one workspace that are interactive, not in objectives; "channel": in one channel alone.
        place: of which workspace or channel; "global" for the level of that name.
    """

    level: Level = "global"
    place: PlaceId = GLOBAL


class Viewer(msgspec.Struct, frozen=True):
    """For whom memory is read: what the daemon knows of the session that asks.

    Args:
        workspace: the place of the session's workspace.
        channel: the place of the channel that it talks in; "" at the person's own doors.
        interactive: whether the session is interactive; an objective is not.
    """

    workspace: PlaceId
    channel: PlaceId | Literal[""] = ""
    interactive: bool = False

    @property
    def places(self) -> tuple[PlaceId, ...]:
        """The indexes that hold anything for this viewer; what is in another one cannot be reached."""
        return (self.channel,) if self.channel else (GLOBAL, self.workspace)


def visible(scope: Scope, viewer: Viewer) -> bool:
    """Whether a memory of this scope may be shown. A channel, in which others read along, has its own and no other."""
    if viewer.channel:
        return scope.level == "channel" and scope.place == viewer.channel
    match scope.level:
        case "global":
            return scope.place == GLOBAL
        case "workspace":
            return scope.place == viewer.workspace
        case "private":
            return scope.place == viewer.workspace and viewer.interactive
        case "channel":
            return False


def workspace_place(workspace: str, directory: str) -> PlaceId:
    """The place of the sessions that work in a folder."""
    return PlaceId("w_" + hashlib.sha256(f"{workspace}\0{directory}".encode()).hexdigest()[:16])


def channel_place(workspace: str, channel: str) -> PlaceId:
    """The place of a channel's sessions."""
    return PlaceId("c_" + hashlib.sha256(f"{workspace}\0{channel}".encode()).hexdigest()[:16])


class Evidence(msgspec.Struct, frozen=True):
    """The words that a memory rests on; they stay in the event, so that forgetting one place is enough.

    Args:
        session: whose event.
        seq: of it, in the journal.
        start: of the words, in characters of the event's text as the index has it.
        end: behind the last of them.
    """

    session: SessionId
    seq: int
    start: int
    end: int


class Memory(msgspec.Struct, frozen=True):
    """One thing that is remembered.

    Args:
        id: as ``MemoryId``.
        kind: one of ``KINDS``.
        text: one statement, 1 to ``TEXT_CHARS`` characters.
        scope: who sees it.
        origin: who it is from.
        label: as of the values that it was made of; what came from strangers stays untrusted.
        valid_from_ms: since when it holds in the world, milliseconds since 1970.
        valid_to_ms: until when; 0 while it holds.
        key: canonical, as ``person.timezone``: two memories of a scope with the same key speak of the same thing.
        value: what stands at the key, as short as it can be said; "" when the text alone says it.
        aliases: names that it is asked for by.
        evidence: what it rests on; empty only for what a person wrote themselves.
        confidence: 0 to 1.
        pinned: in every prompt; never decays, never expires.
        standing: an instruction for how to work, in every prompt.
        expires_ms: when it is to be dropped; 0 for never.
        supersedes: the memories that it took the place of.
        source: the file that it was taken from, "" for none.
    """

    id: MemoryId
    kind: Kind
    text: str
    scope: Scope
    origin: Origin
    label: Label
    valid_from_ms: int
    valid_to_ms: int = 0
    key: str = ""
    value: str = ""
    aliases: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 1.0
    pinned: bool = False
    standing: bool = False
    expires_ms: int = 0
    supersedes: tuple[MemoryId, ...] = ()
    source: str = ""


Standing = Literal["live", "superseded", "expired", "retired", "forgotten"]
"""Where a memory stands: a "retired" one was taken back (a duplicate, a reverted run), with no other in its place."""


class MemoryRow(msgspec.Struct, frozen=True):
    """A memory with its state in the record.

    Args:
        memory: as it was last recorded.
        status: where it stands.
        recorded_ms: when it was recorded.
        retired_ms: when it was retired in the record; 0 while it is live.
        superseded_by: the memory in its place, "" for none.
        uses: how often it went into a prompt.
        last_used_ms: when it last did, 0 for never.
        run: the consolidation that made it, "" for none.
    """

    memory: Memory
    status: Standing
    recorded_ms: int
    retired_ms: int = 0
    superseded_by: MemoryId | Literal[""] = ""
    uses: int = 0
    last_used_ms: int = 0
    run: RunId | Literal[""] = ""


Source = Literal["memory", "chat", "talk"]
"""What an index holds: memories, turns with the assistant, conversations among people. They are weighed differently."""


class Episode(msgspec.Struct, frozen=True):
    """One turn of a conversation, as it is indexed, word for word.

    Args:
        seq: of its event.
        session: whose.
        source: "chat" or "talk".
        who: who said it: "user", "assistant", a tool's name, or a participant's name.
        text: as it was said.
        ts_ms: when.
        private: said in an interactive session.
        label: of the words.
    """

    seq: int
    session: SessionId
    source: Literal["chat", "talk"]
    who: str
    text: str
    ts_ms: int
    private: bool = False
    label: Label = Label(Integrity.TRUSTED, Confidentiality.PRIVATE)


Leg = Literal["pinned", "alias", "words", "meaning"]
"""A retrieval leg: pinned memories, names (aliases), words (BM25), or meaning (embeddings)."""


class HitReason(msgspec.Struct, frozen=True):
    """Why something was found, and how much of the score came by it.

    ``by`` is a leg, or a weight on top: ``neighbour``, ``session``, ``speaker``, ``person``.
    """

    by: str
    score: float


class Hit(msgspec.Struct, frozen=True):
    """One thing that was found.

    Args:
        ref: the memory's id, or ``e_`` and the event's seq.
        source: as ``Source``.
        place: whose index.
        text: what goes into the prompt: all of it, or the passage around the words of the query.
        who: who said it; "" for memories.
        session: of an episode; "" for memories.
        ts_ms: when it was said, or recorded.
        score: 0 to about 2, comparable among memories and among turns of one answer.
        why: what it was found by, the weightiest first; never empty.
        label: of it.
        memory: the memory, for those.
    """

    ref: str
    source: Source
    place: PlaceId
    text: str
    who: str
    session: SessionId | Literal[""]
    ts_ms: int
    score: float
    why: tuple[HitReason, ...]
    label: Label
    memory: Memory | None = None


class LegState(msgspec.Struct, frozen=True):
    """Whether a leg works; ``text`` says why not and what to do, or how far it has come."""

    leg: Leg
    alive: bool
    text: str


class Query(msgspec.Struct, frozen=True):
    """What is looked for.

    Args:
        text: words, a question; "" for pinned and standing memories alone.
        limit: hits at most that the text retrieves, 1 to 100; pinned and standing memories come on top.
        as_of_ms: as it was in the world at that moment; 0 for now.
        known_ms: as the record stood at that moment; 0 for now.
        sources: of which kinds; empty for all.
        kinds: of memories; empty for all.
        session: whose turns are left out, since their model has them before it; "" for none.
        trusted: leave out what came from strangers.
        clearance: nothing more confidential than this.
        superseded: also what no longer holds.
        overtaken: also memories that a newer one at the same key hides from this viewer.
        looked_up: an explicit search: pinned memories must match like others, and one common word is enough to match.
        nearest: where nothing speaks for any memory, those that come nearest by meaning all the same; a model is never
            told them.
        told: refs that the model has had already; they are left out.
        chars: of a hit's text at most; of more, those around what was looked for.
    """

    text: str
    limit: int = 10
    as_of_ms: int = 0
    known_ms: int = 0
    sources: tuple[Source, ...] = ()
    kinds: tuple[Kind, ...] = ()
    session: SessionId | Literal[""] = ""
    trusted: bool = False
    clearance: Confidentiality = Confidentiality.PRIVATE
    superseded: bool = False
    overtaken: bool = False
    looked_up: bool = False
    nearest: bool = False
    told: tuple[str, ...] = ()
    chars: int = TEXT_CHARS


class Recalled(msgspec.Struct, frozen=True):
    """What was found, best first; nothing is an answer too.

    Args:
        hits: pinned and standing memories, then at most ``Query.limit`` others; memories before turns.
        legs: of every way of finding, whether it was alive.
        withheld: how many were left out because strangers' words made them.
        duration_ms: that it took.
    """

    hits: tuple[Hit, ...]
    legs: tuple[LegState, ...]
    withheld: int = 0
    duration_ms: float = 0.0
