"""What the doors may call: one protocol, so that no door needs to know how the work is done.

Layer: runtime.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from stead.domain.checkpoints import FileChange
from stead.domain.commands import Answer, Command
from stead.domain.context_rows import ContextRow
from stead.domain.events import ModelRef
from stead.domain.folders import FileContent, FileListing, FolderListing
from stead.domain.ids import CommandId, SessionId
from stead.domain.messages import Attachment
from stead.domain.ports import Isolation
from stead.domain.providers import ProviderCheck, ProviderRow
from stead.domain.schedule_rows import AgendaRow, ScheduleRow
from stead.domain.schedules import ScheduleRun
from stead.domain.services import Services
from stead.domain.terminals import Terminal, TerminalRow
from stead.domain.trials import Stay, Trial
from stead.domain.triggers import TriggerRow, TriggerTest
from stead.domain.watches import WatchCheck
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow, WaitingRow
from stead.runtime.bus import Bus
from stead.runtime.deps import ChannelService, NotificationService, TrustService
from stead.runtime.directives import DirectiveRoom
from stead.runtime.mcp import McpRoom
from stead.runtime.memory_service import MemoryQueries
from stead.runtime.rules import RuleBook
from stead.runtime.searching import SearchCheck, SearchSetup
from stead.runtime.settings_file import SettingsRoom


class ReadyPart(msgspec.Struct, frozen=True):
    """One thing that work needs. ``warn``: it works, but is not what most people want. ``fix`` is "" when it is ok."""

    name: Literal["model", "sandbox"]
    verdict: Literal["ok", "warn", "fail"]
    text: str
    fix: str


class Readiness(msgspec.Struct, frozen=True):
    """Whether Stead can do its work, the same for CLI, page and doctor.

    Args:
        chosen: a person chose the chain; otherwise it is whatever was found.
        ready: no part has failed.
        parts: what work needs, one by one.
    """

    version: str
    build: str
    started_ms: int
    head: int
    chain: tuple[ModelRef, ...]
    rehearsal: bool
    isolation: Isolation
    live_sessions: int
    watchers: int
    chosen: bool = False
    ready: bool = True
    parts: tuple[ReadyPart, ...] = ()


class AttachmentService(Protocol):
    """Pictures and documents for messages, and of them."""

    async def give(self, name: str, data: bytes) -> Attachment:
        """Take a file for a message to come; see ``domain.attachments.Attachments.take`` for its faults."""

    def load(self, content: str) -> bytes:
        """The bytes of one; raises ``NotFound`` where they are not kept. It blocks."""


class Holdings(Protocol):
    """The home's providers and search engine, with a live test of each, and the files for messages to come."""

    @property
    def attachments(self) -> AttachmentService:
        """Pictures and documents for messages."""

    async def providers(self) -> tuple[ProviderRow, ...]:
        """Configured providers, then those that were found."""

    async def check_provider(self, name: str) -> ProviderCheck:
        """Send the provider one real, tiny request, within 15 s.

        Raises:
            NotFound: no such provider.
        """

    async def search_setup(self) -> SearchSetup:
        """Which engine searches the web; "" when none does."""

    async def check_search(self) -> SearchCheck:
        """Send the engine one real search, within 15 s."""


class ChangeQueries(Protocol):
    """Changes of sessions that wait for the person."""

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """What a session changed that waits, with diffs as far as there is room; in full at a path and below it.

        Raises:
            NotFound: it has none.
            Conflict: there is too much to be shown.
        """

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        """What stays in the machines of the session's folder.

        Raises:
            NotFound: the session has had no machine.
        """


class Queue(Protocol):
    """What waits in a session. Each method raises ``NotFound`` for one that there is not."""

    async def calls(self, session: SessionId) -> tuple[CallRow, ...]:
        """The calls of the reply that is being worked off, in the model's order; none between replies."""

    async def waiting(self, session: SessionId) -> tuple[WaitingRow, ...]:
        """The person's messages that no model has read yet, oldest first."""


class Work(Queue, Protocol):
    """What a session's page shows beyond its row. Every method raises ``NotFound`` for one that there is not."""

    async def checkpoints(self, session: SessionId) -> tuple[CheckpointRow, ...]:
        """Its checkpoints, oldest first."""

    async def edits(self, session: SessionId) -> tuple[EditRow, ...]:
        """The files that its calls changed by name, oldest first, each with its diff."""

    async def differences(self, session: SessionId, old: str, new: str) -> tuple[FileChange, ...]:
        """What differs in its folder between two checkpoints, by whatever hand.

        Args:
            session: whose folder.
            old: a checkpoint; "" for the first one.
            new: another; "" for the folder as it is now.

        Raises:
            NotFound: there is no such checkpoint, or none at all.
            Conflict: more differs than can be shown.
        """

    async def context(self, session: SessionId) -> ContextRow:
        """What its next request would carry, part by part, and what that costs."""


class Conditions(Protocol):
    """What work needs, and this computer has or has not."""

    async def look_again(self) -> None:
        """Find out again: a sandbox where there was none, model servers. A second or two; forty at most."""


class Looks(Protocol):
    """Folders and files, as a person looks at them. Faults are those of ``domain.folders.Folders``."""

    async def folders(self, path: str) -> FolderListing:
        """The folders in a folder of this computer ("" for the person's home), and which may be a workspace."""

    async def files(self, session: SessionId, path: str) -> FileListing:
        """One level of a session's folder, as it is now; changes on trial are not in it.

        ``NotFound`` too when there is no such session.
        """

    async def content(self, session: SessionId, path: str) -> FileContent:
        """The text of a file of a session's folder, at most two megabytes of it; secrets are taken out.

        ``NotFound`` too when there is no such session.
        """

    async def whole(self, session: SessionId, path: str) -> bytes:
        """Any file of a session's folder, byte for byte, secrets included; at most 64 MB.

        ``NotFound`` too when there is no such session.
        """


class TerminalQueries(Protocol):
    """The person's terminals. Each method raises ``NotFound`` where there is none, or no such session."""

    async def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        """The person's terminals that are open in a session, oldest first."""

    async def terminal(self, session: SessionId, id: str) -> Terminal:
        """One of them, to be watched and typed in."""


class ScheduleQueries(Protocol):
    """What runs by itself, and when."""

    async def rows(self, directory: str = "") -> tuple[ScheduleRow, ...]:
        """The schedules by name: all, or those of a folder."""

    async def agenda(self, days: int) -> tuple[AgendaRow, ...]:
        """What will run on the next days by the person's clocks, today included; a row for each schedule and day."""

    async def runs(self, name: str) -> tuple[ScheduleRun, ...]:
        """What became of a schedule's due times, the newest first; raises ``NotFound`` where there is none."""

    async def check(self, name: str) -> tuple[WatchCheck, ...]:
        """What a look at all that it watches would come to now; nothing runs. Raises ``NotFound``."""


class TriggerQueries(Protocol):
    """What waits for something to come in."""

    async def rows(self) -> tuple[TriggerRow, ...]:
        """The triggers by name: where each listens, and what it refused."""

    async def test(self, name: str) -> TriggerTest:
        """Send a signed request to the listener, as the sender would; its run begins as any other.

        Raises ``NotFound`` where there is no such trigger, ``InvalidRequest`` where it waits for no webhook,
        ``Conflict`` where it cannot listen.
        """


class ServiceAreas(Protocol):
    """The queries of the runtime, one property for each area."""

    @property
    def directives(self) -> DirectiveRoom:
        """What the person tells models always."""

    @property
    def terminals(self) -> TerminalQueries:
        """The person's terminals."""

    @property
    def looks(self) -> Looks:
        """Folders and files."""

    @property
    def conditions(self) -> Conditions:
        """What work needs."""

    @property
    def memory(self) -> MemoryQueries:
        """What is remembered."""


class RuleArea(Protocol):
    """What the person allows and forbids."""

    @property
    def rules(self) -> RuleBook:
        """The person's standing rules."""

    @property
    def trust(self) -> TrustService:
        """The trust tiers of models."""

    @property
    def mcp(self) -> McpRoom:
        """The MCP servers, and which of their tools may be called."""


class SettingArea(Protocol):
    """What the person has run by itself, is reached by, and has set in all."""

    @property
    def settings(self) -> SettingsRoom:
        """Everything that the person has set, as one document."""

    @property
    def schedules(self) -> ScheduleQueries:
        """What runs by itself, and when."""

    @property
    def arrivals(self) -> TriggerQueries:
        """What waits for something to come in."""

    @property
    def notifications(self) -> NotificationService:
        """Where the person is notified."""

    @property
    def channels(self) -> ChannelService:
        """The bots on messaging platforms, and the chats that were paired with them."""


class Service(Holdings, ChangeQueries, ServiceAreas, RuleArea, SettingArea, Protocol):
    """The runtime, as doors see it."""

    @property
    def bus(self) -> Bus:
        """The live stream."""

    @property
    def work(self) -> Work:
        """Queues, files and context of sessions."""

    async def services(self, session: SessionId) -> Services:
        """The services of a session's machine; raises ``NotFound`` where there is no such session."""

    async def handle(self, command: Command, *, id: CommandId, door: str) -> Answer:
        """Carry out a command; it is durable when this returns.

        Args:
            command: what is asked.
            id: its idempotency key.
            door: which door it came through: "cli", "web", later a channel's name.

        Raises:
            CallerError, BudgetRefused, StorageFault, MachineUnavailable.
        """

    async def readiness(self) -> Readiness:
        """Whether Stead can do its work."""
