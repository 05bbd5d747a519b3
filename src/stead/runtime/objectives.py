"""From a person's request to the first facts of an objective, and from what they say later to further facts.

Layer: runtime. Everything that can be refused is refused here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from stead.brain.directives import instructions
from stead.brain.objective import contract
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.directives import Directives
from stead.domain.errors import Conflict, InvalidRequest
from stead.domain.hosts import parse_host
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.policies import GrantScope, Profile
from stead.domain.registries import spelled_out
from stead.domain.sessions import PERSON, Grant, Session, attended
from stead.runtime import approvals
from stead.runtime.folder import folder
from stead.runtime.home import check_budget
from stead.runtime.steps import ending

_CONSTRAINTS = 100
_TITLE_CHARS = 80
_HOSTS = 100
_LIMIT_RANGES = {
    "iterations": (1, 1000),
    "stall": (2, 100),
    "repetition": (2, 100),
    "wall_s": (1, 30 * 24 * 3600),
    "send_backs": (0, 100),
}

Told = cmd.SendMessage | cmd.Pause | cmd.Resume | cmd.Cancel | cmd.Stop | cmd.Retry | cmd.Revoke | cmd.Delete
"""What a person can tell a session, beside answering its questions."""


def created(
    command: cmd.CreateObjective, chain: tuple[ev.ModelRef, ...], directives: Directives
) -> ev.ObjectiveCreated:
    """The fact that opens an objective.

    Args:
        command: the request.
        chain: the models to use when the request names none; never empty.
        directives: the home's.

    Raises:
        InvalidRequest: the goal, the folder or a figure cannot be; the text says which and what it may be.
    """
    _check_goal(command)
    check_bounds(command)
    goal, directory = command.goal.strip(), folder(command.directory)
    return ev.ObjectiveCreated(
        workspace=DEFAULT_WORKSPACE,
        title=(command.title.strip() or goal.splitlines()[0])[:_TITLE_CHARS],
        goal=goal,
        constraints=tuple(text.strip() for text in command.constraints if text.strip()),
        evidence=contract(goal),
        directory=directory,
        tools=command.tools,
        chain=command.chain or chain,
        budget=command.budget,
        limits=command.limits,
        profile=command.profile,
        mode=command.mode,
        instructions=instructions(directives, directory, attended=False),
        hosts=allowed_hosts(command.hosts),
    )


def check_bounds(command: cmd.CreateObjective | cmd.OpenSession) -> None:
    """Refuse figures that cannot be.

    Raises:
        InvalidRequest: says which, and what it may be.
    """
    check_budget(command.budget)
    for name, (low, high) in _LIMIT_RANGES.items():
        if not low <= getattr(command.limits, name) <= high:
            raise InvalidRequest(f"the limit {name} must be {low} to {high}, not {getattr(command.limits, name)}")
    if command.mode == "trial" and command.profile is Profile.READONLY:
        raise InvalidRequest("the readonly profile changes nothing, so there is nothing to try; leave one of them out")


def granted(
    command: cmd.CreateObjective | cmd.OpenSession,
    directory: str,
    project: Sequence[tuple[str, Grant]],
    now_ms: int,
    door: str,
) -> tuple[ev.GrantMade, ...]:
    """What the objective may do without asking: what the person allows with it, and what its folder was granted."""
    asked = [Grant(tool, approvals.ANY, now_ms + approvals.GRANT_MS) for tool in command.allow]
    held = [grant for folder, grant in project if folder == directory and grant.expires_at_ms > now_ms]
    return tuple(
        ev.GrantMade(
            tool=grant.tool,
            shape=grant.shape,
            scope=GrantScope.SESSION,
            directory="",
            expires_at_ms=grant.expires_at_ms,
            door=door,
            sources=grant.sources,
            bound=grant.bound,
        )
        for grant in dict.fromkeys([*asked, *held])
    )


def told(command: Told, session: Session, door: str) -> tuple[ev.Body, ...]:
    """The facts that a person's word makes in a session.

    Raises:
        Conflict: the session is not in a state where it means anything.
        InvalidRequest: the word itself cannot be.
    """
    match command:
        case cmd.Delete():
            if session.phase != "ended":
                way = "a closed session can be deleted; close it first"
                raise Conflict(
                    "only " + (way if attended(session) else "an ended objective can be deleted; cancel it first")
                )
            return (ev.SessionDeleted(),)
        case cmd.Retry(budget=budget):
            if session.end is None or session.end.status == "completed":
                raise Conflict("only a failed or cancelled objective can be tried again")
            check_budget(budget)
            return (ev.ObjectiveRetried(budget=budget),)
        case cmd.Revoke(tool=tool):
            return (ev.GrantRevoked(tool=tool, directory="", door=door),)
        case _ if session.end is not None:
            raise Conflict(f"the objective has ended ({session.end.status}); `retry` runs a failed one again")
        case cmd.SendMessage(text=text, interrupt=interrupt):
            if not text.strip() or len(text.encode()) >= cmd.GOAL_LIMIT_BYTES:
                raise InvalidRequest("a message has 1 byte to under 1 MB of text")
            return (ev.MessageReceived(text=text, door=door, label=PERSON, interrupts=interrupt),)
        case _ if session.phase == "ended":
            raise Conflict("the session is closed; a message opens it again")
        case cmd.Cancel() if attended(session):
            raise Conflict("a session is not cancelled; stop what is under way, or close it")
        case cmd.Pause():
            if session.phase == "paused":
                raise Conflict("it is paused already")
            return (ev.SessionPaused(why="the person paused it"),)
        case cmd.Resume():
            if session.phase != "paused":
                raise Conflict("it is not paused")
            return (ev.SessionResumed(),)
        case cmd.Stop(why=why):
            return (ev.SessionStopped(surface=door, why=why.strip() or "stopped by the person"),)
        case cmd.Cancel():
            return ending(session, "cancelled", "cancelled", "Cancelled by the person.")
        case _:
            assert_never(command)


def _check_goal(command: cmd.CreateObjective) -> None:
    size_bytes = len(command.goal.encode())
    if not command.goal.strip():
        raise InvalidRequest("the goal is empty; say what to reach")
    if size_bytes >= cmd.GOAL_LIMIT_BYTES:
        raise InvalidRequest(
            f"the goal has {size_bytes} bytes and must stay under {cmd.GOAL_LIMIT_BYTES}; "
            "put long material into a file of the folder and name it in the goal"
        )
    if len(command.constraints) > _CONSTRAINTS or sum(map(len, command.constraints)) >= cmd.GOAL_LIMIT_BYTES:
        raise InvalidRequest(f"at most {_CONSTRAINTS} constraints, under 1 MB together")


def allowed_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Patterns of hosts in their one spelling.

    Raises:
        InvalidRequest: one is none, or there are too many.
    """
    if len(hosts) > _HOSTS:
        raise InvalidRequest(f"an objective may name {_HOSTS} hosts, not {len(hosts)}; *.name stands for all below it")
    return tuple(dict.fromkeys(str(parse_host(host)) for host in spelled_out(hosts)))
