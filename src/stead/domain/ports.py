"""What the runtime and the tools need from the world, as narrow protocols.

Layer: domain. Adapters implement them; ``daemon.py`` puts them together. At most five methods each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

from stead.domain.checks import Check
from stead.domain.commands import Answer
from stead.domain.events import Draft, Erased, Event, ModelRef, RulesFile, Spend
from stead.domain.ids import CommandId, RequestNo, SessionId
from stead.domain.messages import Message, Repair, ReplyPart, Usage
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality
from stead.domain.providers import Effort, Role
from stead.domain.rows import HistoryRow
from stead.domain.tools import ToolSpec
from stead.domain.trials import Barred, Hold, Landing, unbarred


class Clock(Protocol):
    """Time, handed in. Simulated in tests."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 (UTC)."""


# -- the journal ----------------------------------------------------------------------------------------------------


class Claimed(msgspec.Struct, frozen=True):
    """A command's id, what it asked (a digest) and its answer; written with the events that it makes."""

    id: CommandId
    digest: str
    answer: Answer


class Journal(Protocol):
    """The append-only record. One writer; an append returns only when it is durable."""

    async def append(self, drafts: Sequence[Draft], *, claim: Claimed | None = None) -> tuple[Event, ...]:
        """Write all drafts, or none, in one transaction.

        A ``ModelRequested`` or ``ReadingRequested`` among them is charged to the home's day in the same transaction,
        what came of it settles it. The claim's ``answer.seq`` is filled in with the last new seq.

        Raises:
            Fenced: a ``session_seq`` is not the next one of its stream.
            BudgetRefused: the home's daily cap would be passed.
            Conflict: the claim's id is taken.
            StorageFault: the disk is full or the database is damaged; nothing was written.
        """

    def events(self, *, after: int = 0, session: SessionId | None = None) -> Iterator[Event | Erased]:
        """Events with ``seq > after``, in order; of one stream if named. Reads its own snapshot of the database."""

    def head(self) -> int:
        """The seq of the last event, 0 when there is none."""

    def claimed(self, command: CommandId) -> Claimed | None:
        """What was answered to this id, if anything was."""

    async def erase(self, session: SessionId) -> int:
        """Delete payload and salt of every event of the stream but its last; gives how many. The chain stays whole."""


class HistoryQuery(msgspec.Struct, frozen=True):
    """What is looked for in the record.

    Args:
        words: all of which have to stand there, the last may be a beginning; "" for everything.
        session: whose; "" for every one of the workspace.
        since_ms: from then on.
        until_ms: to before then.
        skip: so many of the hits.
        viewer: the session that looks; it sees those of its own folder, and what the person works in themselves only
            if they work in it too. "" for the person, who sees all.
    """

    words: str
    session: SessionId | Literal[""]
    since_ms: int
    until_ms: int
    skip: int = 0
    viewer: SessionId | Literal[""] = ""


class History(Protocol):
    """What was said and done in the sessions of one workspace; nothing of those that were deleted. It blocks."""

    def search(self, query: HistoryQuery, limit: int) -> Sequence[HistoryRow]:
        """Hits with an excerpt, best first; newest first where no words are given."""

    def said(self, seq: int, viewer: SessionId) -> HistoryRow:
        """The whole text of one, for a session that looks.

        Raises:
            NotFound: nothing was said or done at this event that it may see.
        """


class Snapshots(Protocol):
    """Folded states, so that a long session need not be read from its start. Never the truth."""

    def load(self, session: SessionId) -> tuple[int, bytes] | None:
        """(session_seq, state) of the newest one whose chain hash still matches the journal, else nothing."""

    async def save(self, session: SessionId, session_seq: int, state: bytes) -> None:
        """Keep it in place of the older one."""


class Secrets(Protocol):
    """Values by name, encrypted one by one within the encrypted database."""

    async def put(self, name: str, value: str) -> int:
        """Store or replace; gives the version, which rises with every change."""

    def get(self, name: str) -> str | None:
        """The value, or nothing."""

    async def remove(self, name: str) -> bool:
        """Erase; false when there was none."""


# -- models ---------------------------------------------------------------------------------------------------------


REHEARSAL = "rehearsal"
"""The provider of the built-in rehearsal model; nobody can configure another one of this name."""


class ModelInfo(msgspec.Struct, frozen=True):
    """What is known of a model before it is asked.

    Args:
        window_tokens: input and output together.
        max_output_tokens: what one reply may have.
        input_usd_micros_per_mtok: price of a million input tokens, in millionths of a dollar; 0 for local models.
        output_usd_micros_per_mtok: the same for output (reasoning included).
        price_known: false when no price list has it, then the prices are 0 and mean nothing.
        rehearsal: it is the built-in rehearsal model.
        clearance: the most confidential that its provider may be sent.
        cached_usd_micros_per_mtok: price of a million input tokens that its cache has; input's if unknown.
    """

    ref: ModelRef
    window_tokens: int
    max_output_tokens: int
    input_usd_micros_per_mtok: int
    output_usd_micros_per_mtok: int
    price_known: bool
    rehearsal: bool
    clearance: Confidentiality = Confidentiality.PRIVATE
    cached_usd_micros_per_mtok: int = 0


class ModelRequest(msgspec.Struct, frozen=True):
    """One request, in no provider's dialect."""

    session: SessionId
    number: RequestNo
    chain: tuple[ModelRef, ...]
    instructions: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output_tokens: int
    effort: Effort = ""
    """How hard the model is to think, in place of what is set for it."""


class Reply(msgspec.Struct, frozen=True):
    """A whole reply. Calls are keyed ``call_<number>_<index>``."""

    parts: tuple[ReplyPart, ...]
    stop: Literal["stop", "length", "tool_call", "content_filter"]
    model: ModelRef
    usage: Usage
    spend: Spend
    attempts: tuple[str, ...]
    duration_ms: int
    first_token_ms: int
    repaired: tuple[Repair, ...] = ()


class Models(Protocol):
    """Every configured model behind one door."""

    def info(self, ref: ModelRef) -> ModelInfo:
        """What is known of it.

        Raises:
            NotFound: no such provider is configured.
        """

    def default_chain(self) -> tuple[ModelRef, ...]:
        """What new objectives use: the chosen chain, else what is found, else the rehearsal model. Never empty."""

    def role(self, role: Role) -> tuple[ModelRef, ...]:
        """The models that the person chose for a role; empty where they chose none."""

    async def prepare(self, chain: Sequence[ModelRef]) -> None:
        """Ask servers how large their models' windows are, where that is not known yet; a few seconds at most."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        """Send it to the first model of the chain; go on to the next only while nothing can have been charged.

        Cancelling the task cuts the connection. ``on_text`` gets text as it streams and never blocks.

        Raises:
            ModelFault: no usable reply; ``charged`` says whether it may have cost something.
        """


# -- machines -------------------------------------------------------------------------------------------------------


class Isolation(msgspec.Struct, frozen=True):
    """What the host can offer.

    Args:
        available: whether a machine can be made at all.
        driver: "bubblewrap", or "none".
        statement: one plain sentence on what separates the machine from the host.
        missing: what is missing and how to get it, one line each; empty when available.
        copies: what a command changes is kept apart in a copy of the folder, as no overlay can be laid over it.
    """

    available: bool
    driver: str
    statement: str
    missing: tuple[str, ...]
    copies: bool = False


class Machines(Protocol):
    """The life of machines, for the runtime alone. Machines are made lazily, by the first work under a permit."""

    def isolation(self, *, again: bool = False) -> Isolation:
        """What this host offers; probed once, cached. ``again`` tries again where nothing could be made."""

    def bind(
        self,
        session: SessionId,
        directory: str,
        *,
        writable: bool,
        hold: Hold = "obeyed",
        hosts: Sequence[str] = (),
        barred: Barred = unbarred,
    ) -> None:
        """Say which folder the session's machine shows at ``/work``, how, and what it may reach. Makes nothing yet.

        What is written goes to a layer of the session's, and from there into the folder, as far as it is not to
        ``hold`` or ``barred`` (see ``domain.trials``). Changing what is held restarts nothing.
        """

    async def fingerprint(self, session: SessionId, paths: Sequence[str]) -> Mapping[str, str]:
        """SHA-256 (hex) of each workspace file, "absent" or "folder" else; for the gate's digests, read-only.

        Raises:
            MachineError: as ``Shell.run``.
        """

    async def kill(self, session: SessionId, *, resting: bool = False) -> bool:
        """Kill the session's whole process tree now; true if there was one. Calls under way raise ``MachineDied``.

        Of a session that is only ``resting``, what it left running in the background stays, and so does the page in its
        browser, which is stopped between calls anyway.
        """

    async def close(self) -> None:
        """Kill every machine, and with it what runs in them; the next work makes another."""


class Project(Protocol):
    """What a folder says of itself."""

    async def rules(self, directory: str) -> tuple[RulesFile, ...]:
        """Its files of rules for agents, AGENTS.md and the like, each cut where it is too long; empty for none.

        Read as data, through no link. A folder that cannot be read has none.
        """

    async def proposals(self, directory: str) -> tuple[Check, ...]:
        """Commands that these files show as what has to pass; nothing of it is run or believed."""


class Ingested(Protocol):
    """The search of what was said and done."""

    async def ingest(self, seq: int) -> int:
        """Take in every event up to this one (its global ``seq``); gives how far the search reaches now.

        Raises:
            StorageFault: it cannot.
        """


class Ran(msgspec.Struct, frozen=True):
    """What became of a command. ``output``: stdout and stderr as they came, capped; ``size_bytes``: before the cap."""

    exit_code: int
    output: str
    size_bytes: int
    timed_out: bool
    landing: Landing = Landing()


class Shell(Protocol):
    """Running programs in the permit's session's machine."""

    async def run(
        self,
        permit: Permit,
        command: str,
        *,
        timeout_s: float,
        cap_bytes: int,
        on_output: Callable[[str], None],
        hosts: Sequence[str] = (),
    ) -> Ran:
        """Run a bash command line in ``/work``; past the time or ten times the size cap its process group is killed.

        While it runs, the session may reach ``hosts`` too.

        Raises:
            PermitRefused: the permit is not live for this session.
            MachineUnavailable, MachineDied: no machine, or it went away.
        """


class Egress(Protocol):
    """The one way out of machines: a proxy that each machine reaches through a unix socket of its own."""

    async def open(self, session: SessionId, directory: str, hosts: Sequence[str]) -> str:
        """Listen for a machine; gives the folder to show it, with ``proxy.sock`` and what to trust in ``ca.pem``.

        Args:
            session: whose machine it is.
            directory: what the machine shows; the hosts that are allowed there may be reached.
            hosts: patterns of what its commands may reach in addition to these.
        """

    def grant(self, permit: Permit, hosts: Sequence[str]) -> AbstractContextManager[None]:
        """While entered, and the permit is live, its session may also reach these; then such connections are cut."""

    def close(self, folder: str) -> None:
        """Stop listening in a folder that ``open`` gave, and cut its connections."""


class FileText(msgspec.Struct, frozen=True):
    """A range of a text file. ``lines`` counts the whole file; ``truncated`` when the range was cut by the size cap."""

    text: str
    first_line: int
    lines: int
    size_bytes: int
    truncated: bool


class Written(msgspec.Struct, frozen=True):
    """What a change did. ``replaced`` counts places; ``diff`` is unified, capped."""

    created: bool
    size_bytes: int
    replaced: int
    diff: str
    landing: Landing = Landing()


class Found(msgspec.Struct, frozen=True):
    """Paths or ``path:line:text`` rows, those of shallow folders first, capped.

    ``total`` is before the cap (at least, if ``timed_out``). ``left_out`` counts, at least, the ignored paths that
    match or the ignored files that were not searched. ``unsure``: git did not say what it ignores, so only what tools
    make is left out.
    """

    rows: tuple[str, ...]
    total: int
    timed_out: bool
    left_out: int = 0
    unsure: bool = False


class Files(Protocol):
    """Looking at files in the permit's session's machine; paths are relative to ``/work`` and the kernel confines them.

    Every method raises ``PermitRefused``, ``MachineUnavailable``, ``MachineDied`` as ``Shell.run``, and ``ToolFault``
    when the work cannot be done (no such file, a folder, binary, too large, text not found or not unique).
    """

    async def read(self, permit: Permit, path: str, *, first_line: int, lines: int) -> FileText:
        """Lines of a UTF-8 file, ``first_line`` from 1."""

    async def glob(self, permit: Permit, pattern: str, *, ignored: bool = False) -> Found:
        """Paths that match, ``**`` included; with ``ignored``, also what git ignores and what tools make."""

    async def grep(self, permit: Permit, pattern: str, path: str, include: str, *, ignored: bool = False) -> Found:
        """Rows that a regular expression matches, below ``path``, in files whose name matches ``include``.

        A ``path`` that is ignored itself is searched; ``ignored`` as for ``glob``.
        """


class RawFiles(Protocol):
    """Files of the permit's session's machine, text or not; otherwise as ``Files``."""

    async def chunk(self, permit: Permit, path: str, start: int) -> tuple[bytes, int]:
        """Bytes of a file from ``start`` on: 3 MB, or fewer at its end; and its size."""


class Edits(Protocol):
    """Changing files in the permit's session's machine, each whole and atomically; otherwise as ``Files``."""

    async def write(self, permit: Permit, path: str, text: str) -> Written:
        """Replace or create the file, folders included."""

    async def edit(self, permit: Permit, path: str, old: str, new: str, *, every: bool) -> Written:
        """Replace exact text; unless ``every``, it must occur once."""


class Parser(Protocol):
    """Turning hostile bytes into text, inside the machine."""

    async def html_text(self, permit: Permit, content: bytes) -> str:
        """The readable text of an HTML page, links as ``text (url)``.

        Raises:
            As ``Files``.
        """


class PageShown(msgspec.Struct, frozen=True):
    """A page as a browser shows it; all of it is the page's own, untrusted content.

    Args:
        url: where the browser is now, redirects followed.
        title: of the page, cut at 80 characters.
        text: what a person would see of the whole page, with links, buttons and fields numbered where they stand.
        hidden: parts that a person would not see, which were left out.
        notes: what the browser did not let happen, or could not wait for.
        refused: hosts that the page wanted something from and might not reach, and how often.
    """

    url: str
    title: str
    text: str
    hidden: int
    notes: tuple[str, ...]
    refused: tuple[tuple[str, int], ...]


class Browser(Protocol):
    """A browser of the permit's session, in a machine of its own. It runs only while a call does.

    Every method raises ``PermitRefused``, ``MachineUnavailable``, ``MachineDied`` as ``Shell.run``, and ``ToolFault``
    when the work cannot be done: no page is open, it cannot be had, it is another one than ``url``, it hung or crashed.
    ``hosts`` may be reached for as long as the call lives, in addition to those of the folder and the objective.
    """

    async def open(self, permit: Permit, url: str, hosts: Sequence[str]) -> PageShown:
        """Go to a page; starts the browser where there is none."""

    async def read(self, permit: Permit, url: str) -> PageShown:
        """The open page, as it is now."""

    async def act(
        self,
        permit: Permit,
        url: str,
        element: tuple[int, str],
        hosts: Sequence[str],
        *,
        text: str | None,
        submit: bool,
    ) -> PageShown:
        """Click an element, or fill it with ``text`` and, to ``submit``, press Enter in it.

        ``element`` is its number and its name in the page's text; nothing is done when it has another name now.
        """

    async def shot(self, permit: Permit, url: str, path: str) -> tuple[bytes, Landing]:
        """Save a picture of the window as a PNG file; gives the picture, and what became of the file."""
