"""Names for the ids that pass between layers, so that a type checker keeps them apart.

Layer: domain. Ids are minted by the runtime (which owns randomness) and recorded in events; nothing here makes one.
"""

from __future__ import annotations

from typing import NewType

SessionId = NewType("SessionId", str)
"""One session (an objective, later also a chat): ``s_`` and 16 hex digits. The stream that its events belong to."""

HOME = SessionId("home")
"""The stream of facts about the whole home: providers, caps, the daemon's starts and stops."""

WorkspaceId = NewType("WorkspaceId", str)
"""What owns files, memory and read models. Until workspaces are managed there is one, ``default``."""

DEFAULT_WORKSPACE = WorkspaceId("default")

CallKey = NewType("CallKey", str)
"""One tool call within its session, ``call_<request>_<index>``. A model's own call ids are not unique in a session."""

RequestNo = NewType("RequestNo", int)
"""The number of a model request within its session, from 1."""

ApprovalId = NewType("ApprovalId", str)
"""One question to the person: ``a_`` and 16 hex digits."""

CallDigest = NewType("CallDigest", str)
"""HMAC-SHA256 (hex) under the home key of everything an approval is bound to; see ``guardian.permits``."""

CheckpointId = NewType("CheckpointId", str)
"""One checkpoint of a session: ``k_`` and 16 hex digits."""

CommandId = NewType("CommandId", str)
"""The ``Idempotency-Key`` of a command, and the ``cause`` of every event that the command makes."""
NO_COMMAND = CommandId("")
"""The cause of what no command made."""
