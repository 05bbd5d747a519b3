"""Services: processes of a session's machine that run on under a name, such as a development server.

Layer: domain. A model starts them under a permit; the model and the person look at them and stop them, and the person
opens what they serve. Nothing of them is kept once their machine is gone.
"""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

import msgspec

from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.trials import Landing

NAME = r"^[a-z][a-z0-9-]{0,30}$"
"""What a service may be called."""
MOST = 8
"""Services of a session, those that have ended included."""
_MOST_PORTS = 16

Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
Why = Literal["exit", "stopped", "disk", "entries", "memory"]
"""Why one ended: by itself, it was stopped, or its machine used up the disk, the inodes or the memory."""


class ServiceRow(msgspec.Struct, frozen=True):
    """A service as its machine describes it, within these bounds.

    Args:
        name: see ``NAME``.
        id: of this start of it.
        status: "running" as long as any of its processes is.
        ports: where it accepts TCP connections, lowest first; the first of many.
        exit_code: of its first process, 128 and the signal when it was killed; 0 while that runs.
        why: it ended; "exit" while it runs.
        size_bytes: of all that it printed.
        command: how it was started; the beginning of a long one.
    """

    name: Annotated[str, msgspec.Meta(pattern=NAME)]
    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]
    status: Literal["running", "ended"]
    ports: Annotated[tuple[Port, ...], msgspec.Meta(max_length=_MOST_PORTS)]
    exit_code: Annotated[int, msgspec.Meta(ge=0, le=255)]
    why: Why
    size_bytes: Annotated[int, msgspec.Meta(ge=0)]
    command: Annotated[str, msgspec.Meta(max_length=300)]


class ServiceLog(msgspec.Struct, frozen=True):
    """A service, and the end of what it printed: at most 64 KiB."""

    service: ServiceRow
    text: str


class ServicePreview(msgspec.Struct, frozen=True):
    """Where the person's browser finds what a service serves. The URL is all that is needed, on this computer alone."""

    url: str


class Services(Protocol):
    """The services of every session."""

    async def start(self, permit: Permit, name: str, command: str) -> tuple[ServiceLog, Landing]:
        """Start a bash command line in ``/work``; returns when it listens or ended, at most some seconds later.

        Raises:
            PermitRefused: the permit is not live for this session.
            ToolFault: one of that name is running, or as many as may be.
            MachineUnavailable, MachineDied: no machine, or it went away.
        """

    async def rows(self, session: SessionId) -> tuple[ServiceRow, ...]:
        """Those of a session's machine, in the order of their first starts; none when it has no machine."""

    async def log(self, session: SessionId, name: str) -> ServiceLog:
        """One of them.

        Raises:
            NotFound: there is none of this name, or no longer.
        """

    async def stop(self, session: SessionId, name: str, *, record: bool = False) -> tuple[ServiceLog, Landing]:
        """Kill all processes of one, and land what they changed; ``NotFound`` as for ``log``.

        With ``record``, what landed is put on record, as no call says it.
        """

    async def preview(self, session: SessionId, name: str, port: int) -> ServicePreview:
        """Let the person's browser reach a port of one, 0 for its lowest, until it ends.

        Raises:
            NotFound: as for ``log``.
            Conflict: it has ended, or does not listen there.
        """
