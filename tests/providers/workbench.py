"""A workspace in memory with the real tools over it, to carry a model's calls out without a machine.

The tools are the product's own, so what a model reads here is byte for byte what it reads in a session; only the port
below them is small. The same goals are driven end to end, through a sandbox, in tests/flows.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from stead.domain.errors import FetchFault, InvalidRequest, ToolFault
from stead.domain.events import ModelRef
from stead.domain.ids import CallDigest, CallKey, RequestNo, SessionId
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ResultsMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.permits import Permit
from stead.domain.policies import Integrity, Label
from stead.domain.ports import FileText, Found, ModelRequest, Ran, Reply, Written
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.providers import rehearsal
from stead.providers.rehearsal_steps import matches
from stead.tools.files import EditTool, GlobTool, GrepTool, ReadTool, WriteTool
from stead.tools.output import clip
from stead.tools.shell import ShellTool
from stead.tools.work import Plan
from tests.fakes.attachments import NOTHING_SHOWN
from tests.fakes.world import NoServices

SESSION = SessionId("s_0000000000000001")
REF = ModelRef("rehearsal", "rehearsal")
PERSON = Label(integrity=Integrity.PERSON)
UNKNOWN = "Outcome unknown: Stead was interrupted while this ran. It may have taken full, partial or no effect."
REFUSED = "The person refused this call. Do not repeat it; go another way, or say what cannot be done."


class Folder:
    """Files by path, as the ports ``Files`` and ``Shell`` see them."""

    def __init__(self, files: dict[str, str], commands: dict[str, Ran]) -> None:
        self.files = files
        self.commands = commands
        self.ran: list[str] = []

    async def read(self, permit: Permit, path: str, *, first_line: int, lines: int) -> FileText:
        text = self._text(path)
        every = text.split("\n")
        if not every[-1]:
            del every[-1]
        wanted = "\n".join(every[first_line - 1 : first_line - 1 + lines])
        return FileText(wanted, first_line, len(every), len(text.encode()), truncated=False)

    async def chunk(self, permit: Permit, path: str, start: int) -> tuple[bytes, int]:
        data = self._text(path).encode()
        return data[start:], len(data)

    async def write(self, permit: Permit, path: str, text: str) -> Written:
        created = path not in self.files
        self.files[path] = text
        return Written(created, len(text.encode()), 0, "")

    async def edit(self, permit: Permit, path: str, old: str, new: str, *, every: bool) -> Written:
        text = self._text(path)
        count = text.count(old)
        if count == 0 or (count > 1 and not every):
            raise ToolFault(f"{old!r} occurs {count} times in {path!r}")
        self.files[path] = text.replace(old, new)
        return Written(False, len(self.files[path].encode()), count, "")

    async def glob(self, permit: Permit, pattern: str, *, ignored: bool = False) -> Found:
        rows = sorted(path for path in self.files if matches(path, pattern))
        return Found(tuple(rows), len(rows), timed_out=False)

    async def grep(self, permit: Permit, pattern: str, path: str, include: str, *, ignored: bool = False) -> Found:
        inside = [name for name in sorted(self.files) if path in (".", name) or name.startswith(f"{path.rstrip('/')}/")]
        if not inside:
            raise ToolFault(f"there is no {path!r}")
        rows = [
            f"{name}:{number}:{line}"
            for name in inside
            if not include or matches(name.rpartition("/")[2], include)
            for number, line in enumerate(self.files[name].split("\n"), 1)
            if re.search(pattern, line)
        ]
        return Found(tuple(rows[:200]), len(rows), timed_out=False)

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
        self.ran.append(command)
        return self.commands.get(command, Ran(127, f"bash: {command}: command not found\n", 0, timed_out=False))

    def _text(self, path: str) -> str:
        if any(name.startswith(f"{path.rstrip('/')}/") for name in self.files):
            raise ToolFault(f"{path!r} is a folder; use glob")
        if path not in self.files:
            raise ToolFault(f"there is no {path!r}")
        return self.files[path]


class PagesTool:
    """``fetch`` over pages in memory; its words are those of the real tool."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages

    @property
    def spec(self) -> ToolSpec:
        schema: dict[str, object] = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
        return ToolSpec("fetch", "Get a public web page as text.", schema, Declaration(ToolEffect.FETCH))

    def parse(self, arguments: str) -> Mapping[str, object]:
        return msgspec.json.decode(arguments, type=dict[str, object])

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        url = str(arguments["url"])
        if url not in self.pages:
            raise FetchFault(f"there is no host in {url!r}")
        return ToolOutcome("ok", clip(f"{url} (text/html)\n\n{self.pages[url]}"))


@dataclass
class Run:
    """How a goal went: every call with its result, the last word, the messages, and the files afterwards."""

    calls: list[tuple[str, dict[str, object], str, bool]] = field(default_factory=list)
    text: str = ""
    messages: list[Message] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were called, the plan aside."""
        return [tool for tool, *_ in self.calls if tool != "plan"]


@dataclass
class Bench:
    """A workspace and what befalls calls in it.

    Args:
        files: content by path.
        commands: what becomes of command lines.
        pages: text by address.
        refuse: tools whose calls a person denies.
        without: tools that are not offered.
        lost: tools whose first call is interrupted; with ``takes_effect`` after it did its work.
    """

    files: dict[str, str] = field(default_factory=dict)
    commands: dict[str, Ran] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    refuse: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    takes_effect: bool = True
    max_output_tokens: int = 8192

    def run(self, *goals: str, earlier: Iterable[Message] = (), notice: bool = False) -> Run:
        """Drive the rehearsal model until its last word on each goal (or notice), after what was said earlier."""
        words = [UserMessage(goal, Label() if notice else PERSON, notice) for goal in goals]
        return asyncio.run(self._run(words, list(earlier)))

    async def _run(self, words: list[UserMessage], messages: list[Message]) -> Run:
        folder = Folder(dict(self.files), self.commands)
        files: list[Tool] = [
            ReadTool(folder, folder, NOTHING_SHOWN),
            WriteTool(folder),
            EditTool(folder),
            GlobTool(folder),
            GrepTool(folder),
        ]
        every: list[Tool] = [Plan(), ShellTool(folder, NoServices()), *files, PagesTool(self.pages)]
        tools = {tool.spec.name: tool for tool in every if tool.spec.name not in self.without}
        done = Run(messages=messages)
        lost = list(self.lost)
        for word in words:
            messages.append(word)
            for _ in range(60):  # more than any task takes
                number = RequestNo(len(done.replies) + 1)
                specs = tuple(tool.spec for tool in tools.values())
                asked = ModelRequest(SESSION, number, (REF,), "", specs, tuple(messages), self.max_output_tokens)
                reply = rehearsal.reply(asked, REF, lambda _: None)
                done.replies.append(reply)
                messages.append(AssistantMessage(reply.parts))
                done.text = "".join(part.text for part in reply.parts if isinstance(part, Text))
                calls = [part for part in reply.parts if isinstance(part, ToolCall)]
                if not calls:
                    break
                messages.append(ResultsMessage(tuple([await self._call(call, tools, lost, done) for call in calls])))
        done.files, done.commands = folder.files, folder.ran
        return done

    async def _call(self, call: ToolCall, tools: dict[str, Tool], lost: list[str], done: Run) -> ToolResult:
        text, failed = await self._outcome(call, tools, lost)
        done.calls.append((call.tool, msgspec.json.decode(call.arguments), text, failed))
        return ToolResult(call.key, call.tool, text, Label(), is_error=failed)

    async def _outcome(self, call: ToolCall, tools: dict[str, Tool], lost: list[str]) -> tuple[str, bool]:
        if call.tool in self.refuse:
            return REFUSED, True
        tool = tools[call.tool]
        interrupted = call.tool in lost
        if interrupted:
            lost.remove(call.tool)
            if not self.takes_effect:
                return UNKNOWN, True
        try:
            arguments = tool.parse(call.arguments)
            permit = Permit(
                session=SESSION,
                call=CallKey(call.key),
                tool=call.tool,
                arguments=arguments,
                digest=CallDigest(""),
                nonce=b"0" * 16,
            )
            outcome = await tool.run(permit, arguments, ToolContext(SESSION, lambda _: None))
        except (ToolFault, FetchFault, InvalidRequest) as error:
            return str(error), True
        return (UNKNOWN, True) if interrupted else (outcome.text, outcome.status == "error")
