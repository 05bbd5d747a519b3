"""What watchers get in addition to events: pieces of a reply or of a command's output as they come, and presence.

Layer: domain. Transient: never recorded, may be dropped for a slow watcher, made up for by the durable event that
follows (``model.replied``, ``tool.finished``) or by the next of its kind.
"""

from __future__ import annotations

import msgspec

from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.work_rows import Watcher


class TextDelta(msgspec.Struct, frozen=True, tag="text.delta"):
    """More of the reply to a request. ``offset`` is where it goes, in characters from the start of the reply."""

    session: SessionId
    number: RequestNo
    offset: int
    text: str


class OutputDelta(msgspec.Struct, frozen=True, tag="output.delta"):
    """More of a running call's output; ``offset`` in characters from its start."""

    session: SessionId
    key: CallKey
    offset: int
    text: str


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """How far a session's long work outside of calls is.

    Args:
        session: whose.
        what: "checkpoint", or "checks" that are run.
        done: files, or checks, so far.
        total: as far as is known, and never less than ``done``.
    """

    session: SessionId
    what: str
    done: int
    total: int


class Presence(msgspec.Struct, frozen=True, tag="presence"):
    """Who has a session before their eyes, whenever that changes. ``watchers``: the first of ``count``."""

    session: SessionId
    watchers: tuple[Watcher, ...]
    count: int


Transient = TextDelta | OutputDelta | Progress | Presence
