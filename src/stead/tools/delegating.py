"""Handing a task to an external coding agent, which works in a machine of its own over the session's folder.

Layer: tools. The agent reaches its vendor's hosts alone and holds placeholders in place of keys; what it changes lands
when it ends, as a command's changes do. What it asks leave for is judged as a call of Stead's own would be. What it
says is a stranger's word.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec

from stead.domain.errors import FetchFault, InvalidRequest, MachineError, SteadError
from stead.domain.external_agents import (
    DELEGATE,
    AgentHouse,
    AgentPrograms,
    AgentReport,
    AgentRunEnded,
    AgentRunStarted,
    ExternalAgent,
    WorkProgram,
)
from stead.domain.ids import HOME
from stead.domain.mcp import Json, McpServer, Programs
from stead.domain.permits import Permit
from stead.domain.secrets import PLACEHOLDER
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.domain.trials import Landing
from stead.tools.acp_client import AcpClient
from stead.tools.agent_requests import OTHER, wanted
from stead.tools.landing import landing_notes
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

Hidden = Callable[[str], str]
MOST_REQUESTS = 500
"""For leave, in one run."""
_WORK = "/work"
_MOST_PATHS = 50
_ENDS = {
    "done": "it says that it is done",
    "time": "ended: its time was up",
    "requests": f"ended: it asked for leave more than {MOST_REQUESTS} times",
}


class DelegateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is to do what, in how many minutes at most. ``hosts`` are what the agent reaches, filled in by the tool."""

    agent: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    task: Annotated[str, msgspec.Meta(min_length=1, max_length=50_000)]
    minutes: Annotated[int, msgspec.Meta(ge=1, le=240)] = 30
    hosts: list[str] = []


class ActionArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent asks leave for, in its own words."""

    agent: str
    asks: str
    request: str = ""


class DelegateTool(StructTool[DelegateArguments]):
    """``delegate``.

    Args:
        agents: those that the person set up.
        programs: starts them.
    """

    def __init__(self, agents: AgentHouse, programs: AgentPrograms) -> None:
        declared = Declaration(
            ToolEffect.EXECUTE,
            authority_args=("agent", "task"),
            content_args=("task",),
            host_args=("hosts",),
            service_args=("hosts",),
        )
        says = "Hand a coding task to another agent; it works in this folder, and you get its report."
        super().__init__(DELEGATE, says, DelegateArguments, declared, deferred=True)
        self._agents = agents
        self._programs = programs

    def parse(self, arguments: str) -> Mapping[str, object]:
        """As every tool, with the hosts that the agent reaches filled in, so that they are shown and judged.

        Raises:
            InvalidRequest: also when there is no such agent, or it reaches others than the call was made for.
        """
        parsed = super().parse(arguments)
        agent = self._agents.find(str(parsed["agent"]))
        if agent is None:
            known = ", ".join(self._agents.names()) or "none; the person sets one up: stead agent add"
            raise InvalidRequest(f"there is no agent {str(parsed['agent'])[:40]!r}; there are: {known}")
        hosts = [*agent.hosts]
        if parsed["hosts"] and parsed["hosts"] != hosts:
            raise InvalidRequest(f"'hosts' is not yours to choose, and it is {', '.join(hosts)} now; leave it out")
        return {**parsed, "hosts": hosts}

    async def work(self, permit: Permit, arguments: DelegateArguments, context: ToolContext) -> ToolOutcome:
        """Hand it over, and wait until the agent ends or a limit ends it."""
        agent = self._agents.find(arguments.agent)
        if agent is None:
            return ToolOutcome("error", "The agent was removed meanwhile.")
        environment = await self._agents.environment(agent, context.session)
        await self._agents.started(AgentRunStarted(agent.name, context.session, permit.call))
        run = _Run(agent, arguments, context, lambda text: _hidden(text, environment))
        try:
            program = await self._programs.start_agent(context.session, agent, environment)
            try:
                await run.carry_out(program)
            except BaseException:
                await program.end()
                program.record()
                raise
            run.landing = program.landing
        finally:
            report = run.report()
            self._agents.ended(AgentRunEnded(context.session, permit.call, report))
        return run.outcome(report)


async def meet(agent: ExternalAgent, programs: Programs) -> str:
    """Start an agent in a machine that shows no folder, and have it say who it is.

    Raises:
        FetchFault, MachineError: it cannot be started, does not speak the protocol, or says nothing in time.
    """
    server = McpServer(agent.name, agent.command, hosts=agent.hosts)
    program = await programs.start(HOME, server, agent.settings)
    client = AcpClient(program, _refused, lambda _: None)
    try:
        return await client.meet()
    except TimeoutError as error:
        raise FetchFault("it did not answer in time") from error
    finally:
        await client.close()


async def _refused(_call: Json) -> bool:
    return False


class AgentActionTool(StructTool[ActionArguments]):
    """``agent_action``: stands for what an agent asks leave for that no other tool would do. It does nothing itself."""

    def __init__(self) -> None:
        declared = Declaration(ToolEffect.SEND, authority_args=("agent", "asks", "request"), unplanned=True)
        says = "Something else that an external agent asks leave for; only agents ask it."
        super().__init__(OTHER, says, ActionArguments, declared, deferred=True)

    async def work(self, permit: Permit, arguments: ActionArguments, context: ToolContext) -> ToolOutcome:
        """Say so."""
        return ToolOutcome("error", "Only an external agent can ask for this; nothing was done.")


class _Run:
    """One task in one agent's hands, and what is counted of it."""

    def __init__(self, agent: ExternalAgent, task: DelegateArguments, context: ToolContext, hidden: Hidden) -> None:
        self._agent = agent
        self._task = task
        self._context = context
        self._hidden = hidden
        self._clock = asyncio.timeout(None)
        self._left_s = task.minutes * 60.0
        self._open, self._running = 0, False
        self._began = time.monotonic()
        self._waited_ms = 0
        self._asked = self._refused = 0
        self._end = "stopped"
        self._fault = ""
        self._said = ""
        self.landing = Landing()

    async def carry_out(self, program: WorkProgram) -> None:
        """Have it done; the program has ended, and its changes have landed, when this returns."""
        client = AcpClient(program, self._leave, lambda text: self._context.progress(self._hidden(text)))
        try:
            async with self._clock:
                self._running = True
                self._clock.reschedule(asyncio.get_running_loop().time() + self._left_s)
                await client.start(_WORK, self._agent.method, self._agent.mode)
                self._end = await client.prompt(self._task.task)
        except TimeoutError:
            self._end = "time"
            await _cancel(client)
        except (FetchFault, MachineError) as fault:
            self._end, self._fault = ("requests" if self._asked > MOST_REQUESTS else "fault"), str(fault)
        finally:
            self._running, self._said = False, client.said
            await client.close()

    async def _leave(self, call: Json) -> bool:
        """Whether the agent may do what it asks for; the clock of its run stands still while a person is asked."""
        self._asked += 1
        if self._asked > MOST_REQUESTS:
            raise FetchFault("it asked for leave more than {} times", MOST_REQUESTS)
        ask = self._context.ask
        if ask is None:
            self._refused += 1
            return False
        given = True
        self._hold()
        try:
            for one in wanted(self._agent.name, call):
                leave = await ask(one)
                self._waited_ms += leave.waited_ms
                given = given and leave.given
                if not given:
                    break
        finally:
            self._go_on()
        self._refused += not given
        return given

    def _hold(self) -> None:
        self._open += 1
        when = self._clock.when()
        if self._running and self._open == 1 and when is not None:
            self._left_s = when - asyncio.get_running_loop().time()
            self._clock.reschedule(None)

    def _go_on(self) -> None:
        self._open -= 1
        if self._running and self._open == 0:
            self._clock.reschedule(asyncio.get_running_loop().time() + max(0.0, self._left_s))

    def report(self) -> AgentReport:
        """What the run came to, by Stead's own count."""
        took_ms = int((time.monotonic() - self._began) * 1000) - self._waited_ms
        return AgentReport(self._end, max(0, took_ms), self._asked, self._refused, len(self._paths()))

    def outcome(self, report: AgentReport) -> ToolOutcome:
        """What the model reads: the report first, then the agent's words as they are."""
        said = self._hidden(self._said).strip()
        paths = self._paths()
        more = [f"{len(paths) - _MOST_PATHS} more"] if paths[_MOST_PATHS:] else []
        shown = ", ".join([*paths[:_MOST_PATHS], *more])
        lines = [
            f"[{self._agent.name}: {_ENDS.get(report.end, f'ended: {report.end}')}]",
            *([f"[{self._hidden(self._fault)}]"] if self._fault else []),
            f"[it worked {report.duration_ms / 1000:.0f} s, asked for leave {report.asked} times, was refused "
            f"{report.refused} times]",
            f"[it changed: {shown or 'nothing'}]",
            *landing_notes(self.landing),
        ]
        head = "\n".join(lines) + "\nIts last words, which are its own and may be wrong:\n"
        text = head + clip(said or "(none)", max(1000, OUTPUT_CAP - len(head)))
        return ToolOutcome(
            "ok" if report.end == "done" else "error",
            text,
            size_bytes=len(said.encode("utf-8", "replace")),
            reached=tuple(host.partition(":")[0] for host in self._agent.hosts),
            quoted=True,
            landing=self.landing,
        )

    def _paths(self) -> list[str]:
        held = [one.path for one in self.landing.held]
        landed = [path for path in self.landing.landed if not path.endswith("/")]
        return [*dict.fromkeys((*landed, *held))]


def _hidden(text: str, environment: Mapping[str, str]) -> str:
    """A text of the agent's without the placeholders that it was given."""
    for name, value in environment.items():
        text = text.replace(value, f"[{name}]") if PLACEHOLDER.fullmatch(value) else text
    return text


async def _cancel(client: AcpClient) -> None:
    try:
        await client.cancel()
    except (SteadError, TimeoutError):
        return  # it is ended next
