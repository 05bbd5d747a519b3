"""What a crash left open, turned into facts before anything goes on.

Layer: runtime. A request without a reply is lost, and counted in full, because the provider may have served it. A call
that had started and not finished has an unknown outcome: the model and the person are told, and it is not repeated,
unless its tool declared that twice is the same as once.
"""

from __future__ import annotations

from collections.abc import Collection

from stead.domain import events as ev
from stead.domain.ids import RequestNo
from stead.domain.sessions import STEAD, Call, Session, open_agents
from stead.domain.terminals import KILLED
from stead.runtime.delegated import closed
from stead.runtime.reading_facts import lost

UNKNOWN = (
    "Outcome unknown: Stead was interrupted while this ran. It may have taken full, partial or no effect. "
    "Look at the state of things before doing it again."
)


def mend(session: Session, terminals: Collection[str] = ()) -> tuple[ev.Body, ...]:
    """The facts that close what a session's last runner left open; empty for a session that was left in order.

    Args:
        session: as the journal has it.
        terminals: ids of those that are still there, or whose end is about to be written.
    """
    facts: list[ev.Body] = []
    if session.open_request is not None:
        request = session.open_request
        facts.append(
            lost_request(request.number, request.reserved, "lost", "Stead was interrupted during the request.")
        )
    if session.open_reading is not None:
        facts.append(lost(session.open_reading, "lost", "Stead was interrupted during the reading."))
    facts.extend(closed(session))
    if session.phase != "ended":
        waited = {agent.spawned.key for agent in open_agents(session)}  # their subagents go on, and tell how they end
        facts.extend(
            _mend_call(call) for call in session.calls.values() if call.step == "started" and call.key not in waited
        )
    gone = [id for id in session.terminals if id not in terminals]
    facts.extend(ev.TerminalClosed(id=id, exit_code=KILLED, why="lost") for id in gone)
    return tuple(facts)


def lost_request(number: RequestNo, reserved: ev.Spend, kind: str, error: str, partial: str = "") -> ev.ModelFailed:
    """A request whose reply nobody saw the end of; it counts as spent in full."""
    return ev.ModelFailed(number, kind, error, (), reserved, 0, partial)


def _mend_call(call: Call) -> ev.Body:
    if call.idempotent and not call.cancelled:
        return ev.ToolReopened(key=call.key, tool=call.tool)
    return ev.ToolFinished(
        key=call.key, tool=call.tool, outcome="unknown", text=UNKNOWN, label=STEAD, size_bytes=0, duration_ms=0
    )
