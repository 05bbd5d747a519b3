"""What doors show of a session in addition to its row: its queue, its files, its context.

Layer: domain. Read from the folded session, so never behind it. Times are milliseconds since 1970.
"""

from __future__ import annotations

import msgspec

from stead.domain.checkpoints import FileChange
from stead.domain.ids import ApprovalId, CallKey, CheckpointId, SessionId


class CallRow(msgspec.Struct, frozen=True):
    """One call of the reply that is being worked off, in the model's order.

    ``step``: "new" (it waits for those before it), "asking" (for an answer to ``approval``), "approved", "refused",
    "lapsed", "started", "done". ``edited``: the person changed its arguments.
    """

    key: CallKey
    tool: str
    arguments: str
    step: str
    approval: ApprovalId
    edited: bool


class CheckpointRow(msgspec.Struct, frozen=True):
    """A checkpoint. ``at``: the last event of its conversation; ``why``: turn, person, restore or fork."""

    id: CheckpointId
    session: SessionId
    turn: int
    at: int
    seq: int
    ts_ms: int
    why: str
    note: str
    files: int
    size_bytes: int
    changed: int
    left_out_count: int


class EditRow(msgspec.Struct, frozen=True):
    """A file that a call changed, and whether the person has undone it."""

    key: CallKey
    turn: int
    seq: int
    ts_ms: int
    undone: bool
    change: FileChange


class WaitingRow(msgspec.Struct, frozen=True):
    """A message that no model has read yet. ``message``: its number in the session."""

    message: int
    text: str


class Watcher(msgspec.Struct, frozen=True):
    """A person who is viewing a session. ``door``: "web", "cli" or a channel's name."""

    door: str
    since_ms: int
