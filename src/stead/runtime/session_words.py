"""What a person tells a session, as facts: pause, resume, stop, messages, changes of its calls, plan and budget.

Layer: runtime. Decided from the folded session alone, so that what is refused is refused before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import msgspec

from stead.brain import summarising
from stead.brain.ends import end
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checking import with_checks
from stead.domain.checks import CheckResult, all_checked
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import CallKey
from stead.domain.messages import AssistantMessage, Material, ToolCall, UserMessage
from stead.domain.objectives import require_budget
from stead.domain.policies import Label, Profile
from stead.domain.ports import Models
from stead.domain.sessions import PERSON, Call, Session, status
from stead.runtime.pricing import unpriced
from stead.runtime.steps import ending, lapsed

_MOST_STEPS = 30
_TITLE_CHARS = 80
Facts = tuple[ev.Body, ...]


def facts_of(command: cmd.SessionWord, session: Session, door: str, models: Models) -> Facts:
    """The facts that a person's word makes in a session.

    Args:
        command: the word.
        session: as it is.
        door: where it was said.
        models: says which there are, and what is known of their prices.

    Raises:
        Conflict: the session is not in a state where it means anything.
        InvalidRequest: the word itself cannot be.
        NotFound: it is about a call or a model that there is not.
    """
    match command:
        case cmd.Delete():
            return (_deleted(session, command, door),)
        case _ if session.trashed and not isinstance(command, cmd.LabelSession):
            raise Conflict(f"it is in the trash; take it out first: stead session restore {session.id}")
        case cmd.Retry(budget=budget, limits=limits):
            if session.end is None or session.end.status in ("verified", "answered"):
                raise Conflict("only an objective that ended without being verified or answered can be tried again")
            _require_root(session)
            require_budget(budget)
            return (ev.ObjectiveRetried(budget=budget, limits=limits),)
        case cmd.Revoke(tool=tool):
            return (ev.GrantRevoked(tool=tool, directory="", door=door),)
        case cmd.LabelSession():
            return (_labelled(session, command, door),)
        case cmd.CloseSession():
            require_interactive(session)
            if session.phase == "ended":
                raise Conflict("it is closed already; a message opens it again")
            return (*lapsed(session), ev.SessionClosed(door=door))
        case cmd.AnswerCheck(id=id, holds=holds):
            return _answered(session, id, holds=holds, door=door)
        case cmd.SwitchModel():
            return (_switched(session, command, door, models),)
        case cmd.SetProfile(profile=profile):
            return (_strictness(session, profile, door),)
        case _ if session.end is not None:
            raise Conflict(f"the objective has ended ({session.end.status}); `retry` runs a failed one again")
        case cmd.SendMessage():
            return _heard(command, door)
        case cmd.ChangeMessage():
            return (_changed(session, command, door),)
        case cmd.ChangeGoal(goal=goal):
            return (_other_goal(session, goal, door),)
        case cmd.EditCall() | cmd.CancelCall() | cmd.RetryCall():
            return _on_call(command, session, door)
        case cmd.SetPlan(steps=steps):
            _check_plan(steps)
            return (ev.PlanMade(steps=steps, by="person"),)
        case cmd.SetChecks(checks=checks, dropped=dropped):
            if session.spec.interactive:
                raise Conflict("acceptance checks belong to a goal; an interactive session has none")
            return (ev.ChecksSet(with_checks(session, all_checked(checks), dropped), "person"),)
        case cmd.RaiseBudget(budget=budget):
            _require_root(session)
            require_budget(budget)
            return (ev.BudgetRaised(budget=budget, door=door),)
        case _ if session.phase == "ended":
            raise Conflict("the session is closed; a message opens it again")
        case cmd.Compact():
            return (_shortened(session),)
        case cmd.Pause() | cmd.Resume() | cmd.Stop() | cmd.Cancel():
            return _on_run(command, session, door)
        case _:
            assert_never(command)


def _switched(session: Session, command: cmd.SwitchModel, door: str, models: Models) -> ev.ModelSwitched:
    chain = command.chain or session.spec.chain
    effort = session.spec.effort if command.effort is None else command.effort
    if (chain, effort) == (session.spec.chain, session.spec.effort):
        raise Conflict("it uses these models already, with this effort")
    return ev.ModelSwitched(chain, effort, unpriced(chain, models), door)


def _heard(command: cmd.SendMessage, door: str) -> Facts:
    """The person's words, and what they hand over with them, which is nobody's word."""
    if command.text.strip() or not command.attachments:
        check_text(command.text)
    label = Label() if command.foreign else PERSON
    words = ev.MessageReceived(text=command.text, door=door, label=label, interrupts=command.interrupt)
    return (words, *handed_over(command.context, door))


def handed_over(context: Sequence[Material], door: str) -> Facts:
    """What is handed over with words, which is nobody's word."""
    return tuple(ev.MessageReceived(one.text, door, Label(), material=one.name) for one in context)


def _require_root(session: Session) -> None:
    """Refuse what would give a subagent more than its parent has set aside for it."""
    if session.spec.parent:
        raise Conflict(f"{session.id} is a subagent: what it may spend is its parent's, {session.spec.parent.session}")


def _shortened(session: Session) -> ev.NoticeGiven:
    require_interactive(session)
    if session.phase != "active" or not session.resting:
        raise Conflict("the context is made shorter between two turns; wait for the end of this one")
    if not session.requests:
        raise Conflict("nothing has been said yet that could be made shorter")
    return summarising.ask()


def _answered(session: Session, id: str, *, holds: bool, door: str) -> Facts:
    if not any(item.id == id and item.check.kind == "person" for item in session.checks):
        raise NotFound(f"there is no check {id!r} that the person answers; see `stead checks`")
    fact = ev.CheckAnswered(id, holds, door)
    if session.end is None or session.end.status not in ("verified", "unverified", "incomplete"):
        return (fact,)
    results = {**session.results, id: CheckResult(id, holds)}
    status = end(msgspec.structs.replace(session, results=results))
    return fact, msgspec.structs.replace(
        session.end, status=status, reason="checks" if status == "incomplete" else "done"
    )


def _strictness(session: Session, profile: Profile, door: str) -> ev.ProfileSet:
    require_interactive(session)
    if profile is session.spec.profile:
        raise Conflict(f"its profile is {profile.value} already")
    if session.spec.mode == "trial" and profile is Profile.READONLY:
        raise InvalidRequest("a session on trial changes nothing by itself; apply or discard its trial first")
    return ev.ProfileSet(profile, door)


def _labelled(session: Session, command: cmd.LabelSession, door: str) -> ev.SessionLabelled:
    title, tags, trashed = command.title, command.tags, command.trashed
    if trashed is not None:
        if trashed == session.trashed:
            where = "in the trash already" if trashed else "not in the trash; see: stead session --archived trash"
            raise Conflict(f"it is {where}")
        _require_ended(session)
    if title is not None and not 0 < len(title := " ".join(title.split())) <= _TITLE_CHARS:
        raise InvalidRequest(f"a title has 1 to {_TITLE_CHARS} characters")
    for tag in tags or ():
        if len(tag) > 40 or "," in tag or tag.split() != [tag]:
            raise InvalidRequest(f"{tag!r} is no tag: up to 40 characters without spaces and commas")
    if len(tags or ()) > 20:
        raise InvalidRequest("a session has up to 20 tags")
    if (title, tags, command.archived, trashed) == (None, None, None, None):
        raise InvalidRequest("nothing is to change; give a title, tags, or whether it is archived or in the trash")
    tags = None if tags is None else tuple(dict.fromkeys(tags))
    return ev.SessionLabelled(door, title, tags, command.archived, trashed)


def _deleted(session: Session, command: cmd.Delete, door: str) -> ev.SessionDeleted | ev.SessionLabelled:
    if not command.now:
        return _labelled(session, cmd.LabelSession(command.session, trashed=True), door)
    _require_ended(session)
    return ev.SessionDeleted()


def _other_goal(session: Session, goal: str, door: str) -> ev.GoalChanged:
    if session.spec.interactive:
        raise Conflict("an interactive session has no goal; say what you want instead")
    if status(session) not in ("pending", "waiting", "paused"):
        raise Conflict("the goal changes while it waits or is paused: pause it first")
    check_text(goal, "goal")
    return ev.GoalChanged(goal, door)


def _require_ended(session: Session) -> None:
    if session.phase != "ended":
        way = f"a closed session can be deleted; close it first: stead session close {session.id}"
        if not session.spec.interactive:
            way = f"an ended objective can be deleted; cancel it first: stead cancel {session.id}"
        raise Conflict(f"only {way}")


def _changed(session: Session, command: cmd.ChangeMessage, door: str) -> ev.MessageChanged:
    waits = session.waiting.get(command.message)
    if waits is None:
        raise Conflict(f"no message {command.message} waits: the model has read it, or there is none")
    if command.text:
        check_text(command.text)
    elif session.spec.interactive and not session.iterations and waits not in session.inbox:
        raise Conflict("it began the turn that is under way; stop that instead")
    return ev.MessageChanged(command.message, command.text, door)


def check_text(text: str, what: str = "text") -> None:
    """Refuse words that say nothing, or are too many.

    Raises:
        InvalidRequest: they are; ``what`` names them.
    """
    if not text.strip():
        raise InvalidRequest(f"the {what} is empty; say what there is to say")
    if len(text.encode()) >= cmd.GOAL_LIMIT_BYTES:
        raise InvalidRequest(f"the {what} has 1 MB or more; put long material into a file of the folder and name it")


def require_interactive(session: Session) -> None:
    """Refuse what only an interactive session has.

    Raises:
        Conflict: it is an objective.
    """
    if not session.spec.interactive:
        raise Conflict(f"only available in interactive sessions; {session.id} is an objective")


def _on_run(command: cmd.Pause | cmd.Resume | cmd.Stop | cmd.Cancel, session: Session, door: str) -> Facts:
    match command:
        case cmd.Pause():
            if session.phase == "paused":
                raise Conflict("it is paused already")
            return (ev.SessionPaused(why="the person paused it"),)
        case cmd.Resume():
            again = session.phase != "paused" and _unanswered(session)
            if session.phase != "paused" and not again:
                raise Conflict("it is not paused, and its last turn ended with an answer")
            return (ev.SessionResumed(again),)
        case cmd.Stop(why=why):
            return (ev.SessionStopped(surface=door, why=why.strip() or "stopped by the person"),)
        case cmd.Cancel():
            if session.spec.interactive:
                raise Conflict("only objectives can be cancelled; stop what is running, or close the session")
            return ending(session, "cancelled", "cancelled", "Cancelled by the person.")


def _unanswered(session: Session) -> bool:
    """Whether a session is idle after a turn that a fault or a limit ended before the model had answered."""
    said = (one for one in reversed(session.messages) if not (isinstance(one, UserMessage) and one.notice))
    last = next(said, None)
    return session.resting and last is not None and not isinstance(last, AssistantMessage)


def _on_call(command: cmd.EditCall | cmd.CancelCall | cmd.RetryCall, session: Session, door: str) -> Facts:
    key = command.key
    match command:
        case cmd.EditCall(arguments=arguments):
            return _edited(_open_call(session, key), arguments, door)
        case cmd.CancelCall(reason=reason):
            call = _open_call(session, key, running=True)
            if call.step == "asking":
                return (ev.ApprovalDenied(id=call.approval, key=key, door=door, reason=reason.strip()),)
            return (ev.CallCancelled(key=key, tool=call.tool, reason=reason.strip(), door=door),)
        case cmd.RetryCall():
            return _retried(session, key, door)


def _open_call(session: Session, key: CallKey, *, running: bool = False) -> Call:
    call = session.calls.get(key)
    if call is None:
        raise NotFound(f"there is no open call {key!r}; see `stead session attach`")
    if call.parent:
        raise Conflict(f"the request {key!r} is an external agent's; allow it or refuse it as it is")
    if call.step == "done" or (call.step == "started" and not running):
        raise Conflict(f"the call {key!r} has {'finished' if call.step == 'done' else 'begun'} already")
    return call


def _edited(call: Call, arguments: str, door: str) -> Facts:
    try:
        msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidRequest(f"the arguments must be a JSON object: {error}") from error
    edited = ev.CallEdited(key=call.key, tool=call.tool, arguments=arguments, door=door)
    if call.step == "asking":
        return (ev.ApprovalLapsed(id=call.approval, key=call.key, why="changed"), edited)
    return (edited,)


def _retried(session: Session, key: CallKey, door: str) -> Facts:
    call = session.calls.get(key)
    if call is not None:
        if call.step != "done":
            raise Conflict(f"the call {key!r} has not finished yet")
        return (ev.CallRetried(key=call.key, tool=call.tool, door=door),)
    parts = (part for message in session.messages if isinstance(message, AssistantMessage) for part in message.parts)
    if not any(isinstance(part, ToolCall) and part.key == key for part in parts):
        raise NotFound(f"the conversation has no call {key!r}")
    # Neither tool nor arguments are repeated here: what the person says vouches, and these are the model's words.
    return (ev.MessageReceived(text=f"Make the call {key} again.", door=door, label=PERSON),)


def _check_plan(steps: Sequence[ev.PlanStep]) -> None:
    if len(steps) > _MOST_STEPS or any(not 0 < len(step.title.strip()) <= 200 for step in steps):
        raise InvalidRequest(f"a plan has up to {_MOST_STEPS} steps, each of 1 to 200 characters")
