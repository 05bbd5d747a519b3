"""One form for everything that a watcher is sent: the envelope, version 1.

Layer: a door. Events get their place (``seq``) and cause, transients have neither, and two words of the stream itself
say where it stands. Each is encoded once, however many watch. It must not know how they travel.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.events import Body, Erased, Event
from stead.domain.ids import DEFAULT_WORKSPACE, CommandId, SessionId, WorkspaceId
from stead.domain.live import TextDelta, Transient
from stead.domain.memory_events import ContentRedacted
from stead.domain.ports import Clock

CACHE_LIMIT_BYTES = 256 * 1024


class ErasedBody(msgspec.Struct, frozen=True, tag="erased"):
    """What stands where a payload was deleted on purpose. ``was``: the type of the event that stood there."""

    was: str


class Envelope(msgspec.Struct, frozen=True):
    """An event on the wire. ``ts``: milliseconds since 1970; ``actor`` is "" where the payload was erased."""

    v: Literal[1]
    seq: int
    ts: int
    workspace: WorkspaceId
    stream: SessionId
    actor: Literal["person", "model", "stead", ""]
    cause: CommandId
    body: Body | ErasedBody


class TransientEnvelope(msgspec.Struct, frozen=True):
    """A piece of something under way; the event that follows has the whole.

    A watcher that begins to look at a session, or may have lost pieces, is sent the reply so far as one piece from 0.
    """

    v: Literal[1]
    ts: int
    workspace: WorkspaceId
    stream: SessionId
    actor: Literal["model", "stead"]
    body: Transient


class Identity(msgspec.Struct, frozen=True):
    """Who is speaking.

    Args:
        server_id: names this run of the daemon.
        epoch: names the journal; it must change when another one takes its place, a restored backup for one.
        build: names the code. On the wire (``Hello``, ``GET /status``) the page that is served now follows after a "+",
            by the first digits of a hash of its index, which names every file by its content.
    """

    server_id: str
    epoch: str
    build: str


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """The first word of every stream.

    Args:
        server_id: another one means that the daemon was restarted.
        epoch: another one means another journal: forget what was seen and read again.
        head_seq: the journal's last event as the stream begins.
        oldest_seq: its first event, 0 for none.
        build: names the code and the page, as ``Identity`` says. The first one that a tab hears is its own; another one
            later, after it came back, means that the tab shows an older page than the daemon serves: reload it.
    """

    server_id: str
    epoch: str
    head_seq: int
    oldest_seq: int
    build: str


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """The watcher claims events that this journal does not have. Read again; the stream goes on after ``head_seq``."""

    why: Literal["ahead"]
    head_seq: int


class ControlEnvelope(msgspec.Struct, frozen=True):
    """A word about the stream itself."""

    v: Literal[1]
    body: Hello | Reset


_encoder = msgspec.json.Encoder()


def encode_event(event: Event | Erased) -> bytes:
    """An event's envelope."""
    if isinstance(event, Erased):
        left = ErasedBody(event.tag)
        return _encoder.encode(
            Envelope(1, event.seq, event.ts_ms, DEFAULT_WORKSPACE, event.session, "", CommandId(""), left)
        )
    return _encoder.encode(
        Envelope(1, event.seq, event.ts_ms, DEFAULT_WORKSPACE, event.session, event.actor, event.cause, event.body)
    )


def encode_control(body: Hello | Reset) -> bytes:
    """The envelope of a word about the stream."""
    return _encoder.encode(ControlEnvelope(1, body))


class Encoded:
    """Envelopes of what is happening now, each made once and shared by all who watch.

    Args:
        clock: stamps transients, which have no time of their own.
        limit_bytes: what is kept; the oldest goes first. Twelve tabs read the same event within a tick or two.
    """

    def __init__(self, clock: Clock, limit_bytes: int = CACHE_LIMIT_BYTES) -> None:
        self._clock = clock
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        # By identity: all watchers are handed the same object. It is held, so that its id is not used for another.
        self._held: dict[int, tuple[Event | Transient, bytes]] = {}

    def of(self, item: Event | Transient) -> bytes:
        """The item's envelope."""
        if isinstance(item, Event) and isinstance(item.body, ContentRedacted) and id(item) not in self._held:
            self._held.clear()  # the words that were just forgotten may be among it
            self._size_bytes = 0
        if held := self._held.get(id(item)):
            return held[1]
        data = encode_event(item) if isinstance(item, Event) else self.transient(item)
        self._held[id(item)] = (item, data)
        self._size_bytes += len(data)
        while self._size_bytes > self._limit_bytes:
            _, oldest = self._held.pop(next(iter(self._held)))
            self._size_bytes -= len(oldest)
        return data

    def transient(self, item: Transient) -> bytes:
        """The envelope of a piece, made anew each time: for one that only a single watcher is sent."""
        actor: Literal["model", "stead"] = "model" if isinstance(item, TextDelta) else "stead"
        return _encoder.encode(TransientEnvelope(1, self._clock.now_ms(), DEFAULT_WORKSPACE, item.session, actor, item))
