"""How a run ends: what its checks and its record say, whatever the model does.

Layer: brain. Nothing here asks a model or reads its words. A run is ``verified`` when all of its checks hold and one of
the person's did not hold before the work: a check that held anyway proves nothing. Without such a check the model's own
plan can show that it is not done, never that it is.
"""

from __future__ import annotations

import msgspec

from stead.brain.supervision import UNPROVEN, send_backs_left, unproven
from stead.domain.agents import DELEGATES
from stead.domain.checks import AgentRan, CheckItem, CommandRan, RunFacts
from stead.domain.effects import Effect, Finish, Record, RunChecks
from stead.domain.ends import End
from stead.domain.events import NoticeGiven, PlanStep
from stead.domain.messages import AssistantMessage, Text
from stead.domain.plans import planned_calls
from stead.domain.sessions import Action, Session

_MOST, _CHARS = 20, 200
_CUT_OFF = "Your reply was cut off. Say it again, shorter."
_NOT_DELEGATED = (
    "Your plan names a call of {tool}, and the record has none: nothing was handed on, and nobody works on it. "
    "Make the call, or report without it."
)


def owed(session: Session) -> RunChecks | None:
    """The checks that were never looked at before the work that they are about."""
    items = tuple(item for item in _due(session) if item.check.kind != "person" and item.id not in session.before)
    return RunChecks(items, "before") if items else None


def conclude(session: Session) -> Effect:
    """What follows from a reply without calls: a look at the checks, work again, or the end."""
    text = last_text(session)
    left = send_backs_left(session)
    if session.cut_off or not text:
        if left > 0:
            said = _CUT_OFF if session.cut_off else "Your reply was empty. Go on with the goal, or report."
            return Record((NoticeGiven(said, "completion"),))
        cause = "the model's replies were cut off" if session.cut_off else "the model's replies were empty"
        return Finish("failed", "model", f"Stopped: {cause} again and again.")
    if left > 0 and not session.send_backs and (tool := _undelegated(session)):
        return Record((NoticeGiven(_NOT_DELEGATED.format(tool=tool), "claim"),))
    if session.spec.interactive:
        if left > 0 and unproven(session):
            return Record((NoticeGiven(UNPROVEN, "claim"),))
        return Finish("unverified" if session.effects else "answered", "done", text)
    unknown = [item for item in _due(session) if item.id not in session.results]
    if unasked := tuple(item for item in unknown if item.check.kind != "person"):
        return RunChecks(unasked, "end")
    failing = [item for item in _due(session) if item not in unknown and not session.results[item.id].holds]
    if failing and left > 0:
        return Record((NoticeGiven(_send_back(failing), "checks"),))
    status = end(session)
    if left > 0 and status == "unverified" and unproven(session):
        return Record((NoticeGiven(UNPROVEN, "claim"),))
    return Finish(status, _reason(session, status, unknown), text)


def end(session: Session) -> End:
    """What a run that came to its end by itself counts as, by its checks and what it did."""
    due = _due(session)
    if any(item.id in session.results and not session.results[item.id].holds for item in due):
        return "incomplete"
    if any(proves(session, item) for item in due) and all(item.id in session.results for item in due):
        return "verified"
    if _unmet(session):
        return "incomplete"
    return "unverified" if session.effects or due else "answered"


def proves(session: Session, item: CheckItem) -> bool:
    """Whether a check that holds shows that the work brought it about: it is the person's, and did not hold before."""
    if not item.accepted:
        return False
    before = session.before.get(item.id)
    return item.check.kind == "person" or (before is not None and before.holds is False)


def facts(session: Session) -> RunFacts:
    """What the record holds of the run, or of the turn under way."""
    actions = [action for action in session.actions[session.acted_from :] if action.outcome != "denied"]
    paths = dict.fromkeys(path for action in actions for path in (*action.changed, *action.removed))
    ran = [CommandRan(_line(action), action.exit_code) for action in actions if action.effect == "execute"]
    sent = [_sent(action) for action in actions if action.effect == "send" or action.reached]
    agents = [
        AgentRan(agent.spawned.specialist, agent.ended.status if agent.ended else "running")
        for agent in session.agents.values()
        if agent.at >= session.acted_from
    ]
    return RunFacts(
        calls=len(actions),
        failed=sum(action.outcome != "ok" for action in actions),
        changed=len(paths),
        paths=tuple(paths)[:_MOST],
        commands=len(ran),
        ran=tuple(ran[-_MOST:]),
        sent=tuple(dict.fromkeys(sent))[:_MOST],
        agents=tuple(agents[-_MOST:]),
    )


def last_text(session: Session) -> str:
    """The words of the last reply, or "" when the last message is none."""
    last = session.messages[-1]
    if not isinstance(last, AssistantMessage):
        return ""
    return "".join(part.text for part in last.parts if isinstance(part, Text)).strip()


def _due(session: Session) -> list[CheckItem]:
    """The checks that count: the person's, and those of the model's plan. What a file proposes is nothing yet."""
    return [item for item in session.checks if item.accepted or item.by == "model"]


def _unmet(session: Session) -> list[PlanStep]:
    """The steps that the model itself says it left out; one that it forgot to close says nothing."""
    return [step for step in session.plan if step.status == "skipped"] if session.plan_by == "model" else []


def _reason(session: Session, status: End, unknown: list[CheckItem]) -> str:
    if status == "incomplete":
        return "checks" if any(not result.holds for result in session.results.values()) else "plan"
    return "confirm" if unknown else "done"


def _send_back(failing: list[CheckItem]) -> str:
    named = "".join(f"\n- {item.id}: {item.check.words}" for item in failing)
    return f"Not done yet, by checks that Stead ran itself:{named}\nGo on, or say why it cannot be done."


def _undelegated(session: Session) -> str:
    """A tool that hands work on, named by the plan that was made last in this turn or run and never called in it."""
    actions = session.actions[session.acted_from :]
    plan = next((action for action in reversed(actions) if action.tool == "plan" and action.outcome == "ok"), None)
    if plan is None:
        return ""
    called = {action.tool for action in actions}
    named = planned_calls(msgspec.json.decode(plan.arguments))
    return next((call.tool for call in named if call.tool in DELEGATES and call.tool not in called), "")


def _line(action: Action) -> str:
    """The command of a call; its whole arguments where it has none of that name."""
    try:
        decoded = msgspec.json.decode(action.arguments, type=dict[str, object])
        line = str(decoded.get("command") or action.arguments)
    except (msgspec.MsgspecError, RecursionError):
        line = action.arguments
    return line if len(line) <= _CHARS else line[: _CHARS - 1] + "…"


def _sent(action: Action) -> str:
    hosts = f" ({', '.join(action.reached[:5])})" if action.reached else ""
    failed = "" if action.outcome == "ok" else f", {action.outcome}"
    return f"{action.tool}{hosts}{failed}"[:_CHARS]
