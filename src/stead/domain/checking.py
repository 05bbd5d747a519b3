"""How the events of acceptance checks change a session.

Layer: domain. A part of ``domain.folding``, which sends the events here.
"""

from __future__ import annotations

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.checks import MOST, Check, CheckItem, CheckResult
from stead.domain.conversation import append_message, record_source
from stead.domain.messages import UserMessage
from stead.domain.policies import Label
from stead.domain.sessions import STEAD, Action, Session


def owned(checks: tuple[Check, ...]) -> tuple[CheckItem, ...]:
    """The person's own, as an objective begins with them."""
    return tuple(CheckItem(f"c{number}", check) for number, check in enumerate(checks, 1))


def apply_checks(session: Session, body: ev.CheckBody) -> None:
    """Apply an event of the session's checks."""
    if isinstance(body, ev.ChecksRun):
        session.worked_ms += body.duration_ms
    match body:
        case ev.ChecksSet(items=items, by=by):
            old = {item.id: item for item in session.checks}
            session.checks = items
            session.results = {}
            session.before = {
                item.id: before
                for item in items
                if (before := session.before.get(item.id)) and _still_about(before, item, old.get(item.id))
            }
            if by == "person":
                append_message(session, UserMessage(checks_text(items), STEAD, notice=True))
        case ev.ChecksRun(when="before", results=results):
            session.before |= {result.id: result for result in results}
        case ev.ChecksRun(results=results):
            session.results |= {result.id: result for result in results}
        case ev.CheckAnswered(id=id, holds=holds):
            session.results[id] = CheckResult(id, holds, "the person's answer")


def _still_about(before: CheckResult, item: CheckItem, old: CheckItem | None) -> bool:
    """Whether a look before the work is one at this check: it is as it was, and could be looked at as it was."""
    if old is None or old.check != item.check:
        return False
    return before.holds is not None or bool(before.state) or old.accepted == item.accepted


def append_findings(session: Session) -> None:
    """Give the model what the failed checks found, each as data: it quotes programs, files and accounts."""
    for item in session.checks:
        result = session.results.get(item.id)
        if result is not None and not result.holds and result.detail:
            said = f"{item.id}: {'could not be judged: ' if result.holds is None else ''}{result.detail}"
            record_source(session, Label(), result.source)
            append_message(session, UserMessage(said, Label(), source=result.source))


def planned(session: Session, checks: tuple[Check, ...]) -> tuple[CheckItem, ...]:
    """The session's checks with those of a new plan of the model's in place of those of its last one.

    Once something had an effect they stay as they are: the work does not choose by what it is judged.
    """
    if not checks or session.effects:
        return session.checks
    kept = [item for item in session.checks if item.by != "model" or item.accepted]
    known = {item.check.key: item for item in session.checks}
    free = max((int(item.id[1:]) for item in session.checks), default=0)
    for check in checks:
        if all(item.check != check for item in kept) and len(kept) < MOST:
            free += check.key not in known
            kept.append(known.get(check.key) or CheckItem(f"c{free}", check, "model", accepted=False))
    return tuple(kept)


def acted(session: Session, action: Action) -> None:
    """Count a finished call among the run's."""
    session.actions.append(action)
    left = action.effect == "send" or (action.effect in ("execute", "write") and bool(action.reached))
    ran = action.outcome in ("ok", "error", "cancelled")
    unknown = action.outcome == "unknown" and action.effect not in ("think", "read")
    session.effects += bool(action.changed or action.removed or (left and ran) or unknown)


def checks_text(items: tuple[CheckItem, ...]) -> str:
    """What the model is given of the checks that its work has to pass."""
    lines = "".join(f"\n- {item.check.words}" for item in items if item.accepted)
    return f"Done when:{lines}" if lines else "The person took the acceptance checks back."


def undone(session: Session) -> None:
    """The run goes on, so what its checks came to at its end says nothing any more."""
    answered = {item.id for item in session.checks if item.check.kind == "person"}
    session.results = {id: result for id, result in session.results.items() if id in answered}


def with_checks(session: Session, checks: tuple[Check, ...], dropped: tuple[str, ...] = ()) -> tuple[CheckItem, ...]:
    """The session's checks with these in place of the person's.

    Proposals among them are accepted, those that are ``dropped`` by their id go, and others stay proposals.
    """
    known = {item.check.key: item for item in session.checks}
    free = max((int(item.id[1:]) for item in session.checks), default=0)
    items: list[CheckItem] = []
    for check in checks:
        free += check.key not in known
        items.append(replace(known[check.key], accepted=True) if check.key in known else CheckItem(f"c{free}", check))
    open_still = (item for item in session.checks if not item.accepted and item.check not in checks)
    return (*items, *(item for item in open_still if item.id not in dropped))
