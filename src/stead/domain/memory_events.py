"""Events of memory: memories made and changed, recalled into a session's prompt, and forgotten.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too. Most are in the
stream ``memory``; ``memory.loaded`` and ``memory.recalled`` are in a session's, and ``content.redacted`` in any.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.memory import Leg, Memory, MemoryId, PlaceId, ProposalId, RunId
from stead.domain.policies import Label


class MemoryMade(msgspec.Struct, frozen=True, tag="memory.made", omit_defaults=True):
    """Something is remembered. Those that it supersedes hold no longer from its ``valid_from_ms`` on."""

    memory: Memory
    door: str
    """Where it was said: a door, "tool", "mirror", "import"; "stead" for consolidation."""
    run: RunId | Literal[""] = ""


class MemoryAmended(msgspec.Struct, frozen=True, tag="memory.amended", omit_defaults=True):
    """The same words with other marks: kind, key, value, aliases, evidence, confidence, pin, expiry, scope's level."""

    memory: Memory
    door: str
    run: RunId | Literal[""] = ""


class MemoryRetired(msgspec.Struct, frozen=True, tag="memory.retired", omit_defaults=True):
    """A memory is recalled no longer. It is kept, since questions about the past need it.

    Args:
        id: which.
        why: the reason; "superseded" has ``by``.
        by: what took its place, "" for nothing.
        valid_to_ms: until when it held in the world; 0 when it never did.
        door: as of ``MemoryMade``.
        run: as of ``MemoryMade``.
    """

    id: MemoryId
    why: Literal["superseded", "duplicate", "expired", "reverted", "removed"]
    by: MemoryId | Literal[""]
    valid_to_ms: int
    door: str
    run: RunId | Literal[""] = ""


class MemoryRestored(msgspec.Struct, frozen=True, tag="memory.restored", omit_defaults=True):
    """A retired memory holds again, as it was."""

    id: MemoryId
    door: str
    run: RunId | Literal[""] = ""


class ForgetReceipt(msgspec.Struct, frozen=True):
    """Proof that words were forgotten, without any of them.

    Args:
        memories: ids that were forgotten.
        events: seqs of the events that were redacted.
        fingerprints: HMACs of the normalised texts under a key of the home, which stop them from coming back; see
            ``domain.fingerprints``.
        scanned: what was searched for the bytes afterwards, by name.
        left: where they were still found, with what the person can do; empty when they are gone.
        backups: files that were made before and still hold them, with until when they are kept.
        signature: Ed25519 (hex) over all of the above, by the home's audit key.
    """

    memories: tuple[MemoryId, ...]
    events: tuple[int, ...]
    fingerprints: tuple[str, ...]
    scanned: tuple[str, ...]
    left: tuple[str, ...]
    backups: tuple[str, ...]
    signature: str = ""


class ForgettingBegun(msgspec.Struct, frozen=True, tag="memory.forgetting"):
    """The person wants something gone. Whatever a crash cuts off after this is taken up again by these numbers alone.

    Args:
        memories: to be forgotten.
        events: seqs of events whose words are to go.
        fingerprints: as of ``ForgetReceipt``.
        door: where it was said.
    """

    memories: tuple[MemoryId, ...]
    events: tuple[int, ...]
    fingerprints: tuple[str, ...]
    door: str


class MemoryForgotten(msgspec.Struct, frozen=True, tag="memory.forgotten"):
    """It is gone everywhere but where the receipt says; ``begun`` is the seq of the ``memory.forgetting`` before."""

    begun: int
    receipt: ForgetReceipt


class Redacted(msgspec.Struct, frozen=True):
    """One event that was redacted.

    Args:
        seq: of it.
        commitment: HMAC-SHA256 (hex) of what is read in its place, under a salt that goes with that; "" for nothing.
    """

    seq: int
    commitment: str


class ContentRedacted(msgspec.Struct, frozen=True, tag="content.redacted"):
    """Words in events of this stream were forgotten: their payloads are gone, and what is read instead is fixed here.

    Args:
        events: which; of one that stands in several such facts the last one counts.
    """

    events: tuple[Redacted, ...]


class MemoryProposed(msgspec.Struct, frozen=True, tag="memory.proposed", omit_defaults=True):
    """Stead or the model would change what only the person may.

    Args:
        id: as ``ProposalId``.
        what: "forget": the memories (a line was deleted in a file); "skill": text of a skill made of a procedure;
            "soul": text of soul.md; "scope": a memory that should be seen wider.
        memories: that it is about.
        text: the proposed text, "" where there is none.
        why: for the person, one sentence.
        label: of what it was made of.
        run: as of ``MemoryMade``.
    """

    id: ProposalId
    what: Literal["forget", "skill", "soul", "scope"]
    memories: tuple[MemoryId, ...]
    text: str
    why: str
    label: Label
    run: RunId | Literal[""] = ""


class ProposalSettled(msgspec.Struct, frozen=True, tag="memory.settled"):
    """The person's answer to a proposal; an accepted one's facts are recorded with it."""

    id: ProposalId
    accepted: bool
    door: str


class MemoryConsolidated(msgspec.Struct, frozen=True, tag="memory.consolidated", omit_defaults=True):
    """One run came to its end, or to the end of its budget; its other facts carry its id.

    Args:
        run: its id.
        place: the place whose memories it consolidated.
        upto: seq of the last event that it has processed.
        read: how many events it read.
        made: memories made.
        retired: memories retired.
        proposed: proposals made.
        tokens: that models used.
        by: what extracted: "rules", or the model's name.
        reverted: the run that this one took back, "" for none.
    """

    run: RunId
    place: PlaceId
    upto: int
    read: int
    made: int
    retired: int
    proposed: int
    tokens: int
    by: str
    reverted: RunId | Literal[""] = ""


class LoadedFile(msgspec.Struct, frozen=True):
    """A file of memory as it was put before a model: its name as the mirror has it, and its text."""

    path: str
    text: str
    sha256: str


class MemoryLoaded(msgspec.Struct, frozen=True, tag="memory.loaded"):
    """The files of memory in a session's first prompt, in the prompt's order."""

    files: tuple[LoadedFile, ...]
    label: Label


class Told(msgspec.Struct, frozen=True):
    """One memory or turn that was recalled into a prompt: its reference, its words, and the legs that found it."""

    ref: str
    text: str
    by: tuple[str, ...]


class MemoryRecalled(msgspec.Struct, frozen=True, tag="memory.recalled", omit_defaults=True):
    """What was recalled into a session's prompt, for the person's next words; recorded for every such recall.

    Args:
        told: the recalled items, best first; none that this session's prompt has already.
        dead: legs that did not work.
        label: of all of them together.
    """

    told: tuple[Told, ...]
    dead: tuple[Leg, ...]
    label: Label


MemoryFact = (
    MemoryMade
    | MemoryAmended
    | MemoryRetired
    | MemoryRestored
    | ForgettingBegun
    | MemoryForgotten
    | MemoryProposed
    | ProposalSettled
    | MemoryConsolidated
)
"""What stands in the stream ``memory``."""

MemoryBody = MemoryFact | MemoryLoaded | MemoryRecalled | ContentRedacted
"""In the order in which docs/generated lists them."""
