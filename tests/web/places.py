"""What the simulated home has to look at: folders and files of this computer, and terminals that repeat what is typed.

Folders are read by the product's own adapter, and terminals keep what they print as the product does; only the machine
is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import FetchFault, InvalidRequest, NotFound
from stead.domain.folders import FileContent, FileListing, FolderListing
from stead.domain.ids import SessionId
from stead.domain.mcp import McpTool
from stead.domain.messages import Attachment
from stead.domain.sessions import Session
from stead.domain.terminals import Ended, TerminalRow
from stead.domain.trust import TierRow, TrackRecord
from stead.machines.looking import HostFolders
from stead.machines.scrollback import Place, Scrollback


class NoMcpServers:
    """Speaks to MCP servers, none of which can be reached. Implements ``runtime.mcp.McpDoor``."""

    def __init__(self) -> None:
        self.errors: dict[str, str] = {}

    async def test(self, name: str, directory: str = "") -> Sequence[McpTool]:
        raise FetchFault("no server can be reached from here")

    async def login(self, name: str) -> str:
        raise NotFound(f"no MCP server {name!r} is set up")

    def signing_in(self, name: str) -> bool:
        return False


class Looks:
    """Implements ``service.Looks``.

    Args:
        state: the fold of a session; raises ``NotFound``.
    """

    def __init__(self, state: Callable[[SessionId], Session]) -> None:
        self._state = state
        self._host = HostFolders(Path("/nowhere/stead"))

    async def folders(self, path: str) -> FolderListing:
        return await self._host.folders(path)

    async def files(self, session: SessionId, path: str) -> FileListing:
        return await self._host.files(self._state(session).spec.directory, path)

    async def whole(self, session: SessionId, path: str) -> bytes:
        return await self._host.whole(self._state(session).spec.directory, path)

    async def content(self, session: SessionId, path: str) -> FileContent:
        return await self._host.content(self._state(session).spec.directory, path)


class NoAttachments:
    """Implements ``service.AttachmentService`` for a home that keeps nothing."""

    async def give(self, name: str, data: bytes) -> Attachment:
        raise InvalidRequest(f"{name!r} is not taken here")

    def load(self, content: str) -> bytes:
        raise NotFound(f"{content!r} is not kept")


class OneTier:
    """Implements ``deps.TrustService`` for a home with one model, which writes bad calls."""

    async def led(self, session: Session) -> tuple[ev.TierSet, ...]:
        return ()

    def rows(self) -> tuple[TierRow, ...]:
        return (TierRow("lan", "small-1", "strict", "measured", TrackRecord(replies=40, calls=50, malformed=9)),)


class EchoTerminal:
    """Prints what is typed. Implements ``domain.terminals.Terminal``."""

    def __init__(self, row: TerminalRow) -> None:
        self._row = row
        self._ended: Ended | None = None
        self.typed = b""
        self.scrollback = Scrollback()

    @property
    def row(self) -> TerminalRow:
        return replace(self._row, watchers=len(self.scrollback.watchers))

    @property
    def ended(self) -> Ended | None:
        return self._ended

    def watch(self) -> Place:
        return self.scrollback.watch()

    async def type(self, data: bytes) -> None:
        self.typed += data
        self.scrollback.add(data)

    async def resize(self, rows: int, columns: int) -> None:
        self._row = replace(self._row, rows=rows, columns=columns)

    def end(self, ended: Ended) -> None:
        """Its shell ends."""
        self._ended = ended
        self.scrollback.finish()


class TerminalQueries:
    """Implements ``service.TerminalQueries``.

    Args:
        state: as of ``Looks``.
    """

    def __init__(self, state: Callable[[SessionId], Session]) -> None:
        self._state = state
        self.open: dict[str, EchoTerminal] = {}

    async def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        self._state(session)
        return tuple(one.row for one in self.open.values() if one.row.session == session)

    async def terminal(self, session: SessionId, id: str) -> EchoTerminal:
        return self.find(session, id)

    def find(self, session: SessionId, id: str) -> EchoTerminal:
        self._state(session)
        if id not in self.open or self.open[id].row.session != session:
            raise NotFound(f"there is no terminal {id!r}")
        return self.open[id]

    def carried(self, command: cmd.TerminalCommand, door: str) -> tuple[ev.Body, ...]:
        """What a command makes of a session."""
        session = command.session
        if isinstance(command, cmd.CloseTerminal):
            self.find(session, command.terminal).end(Ended(137, "closed"))
            del self.open[command.terminal]
            return (ev.TerminalClosed(command.terminal, 137, "closed", door),)
        self._state(session)
        id = f"t_{len(self.open) + 1:016x}"
        if isinstance(command, cmd.RunLine):
            ran = ev.LineRan(id, command.line, 0, "exited", f"{command.line} printed this", 20, 12, "workspace")
            return (ev.TerminalOpened(id, 50, 120, door, command.line), ran)
        self.open[id] = EchoTerminal(TerminalRow(id, session, command.rows, command.columns, 0))
        return (ev.TerminalOpened(id, command.rows, command.columns, door),)
