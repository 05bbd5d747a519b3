"""The report of a subagent: what the record holds of its run, and then its own words.

Layer: brain. Pure. The report is worth as much as the least trusted thing that the subagent has read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from stead.brain.ends import facts
from stead.domain.checks import RunFacts
from stead.domain.ends import WELL
from stead.domain.events import AgentEnded, AgentSpawned, Spend, ToolFinished
from stead.domain.messages import WORKSPACE
from stead.domain.policies import Integrity, Label
from stead.domain.sessions import STEAD, Session, calls_made, taint_of

_WORDS_CHARS = 20_000
_MOST_DROPPED = 20


def ended(spawned: AgentSpawned, child: Session) -> AgentEnded:
    """The end of a subagent as its parent records it.

    Args:
        spawned: its start.
        child: its session, which has ended.
    """
    assert child.end is not None, "the caller has looked"
    return AgentEnded(
        key=spawned.key,
        session=child.id,
        status=child.end.status,
        reason=child.end.reason,
        spend=child.spent,
        iterations=child.iterations,
        worked_ms=child.worked_ms,
        facts=facts(child),
        taint=taint_of(child),
        calls=calls_made(child),
        acted=bool(child.effects),
    )


def lost(spawned: AgentSpawned, parent: Session) -> AgentEnded:
    """The end of a subagent whose session is gone: all that was set aside counts as used."""
    most = spawned.allotment
    usd = 0 if most.usd_micros == "unlimited" else most.usd_micros
    return AgentEnded(
        key=spawned.key,
        session=spawned.session,
        status="cancelled",
        reason="cancelled",
        spend=Spend(most.tokens, usd),
        iterations=most.iterations,
        worked_ms=most.seconds * 1000,
        facts=RunFacts(),
        taint=taint_of(parent),
        calls=most.calls,
        acted=True,
    )


def report(tool: str, spawned: AgentSpawned, end: AgentEnded, child: Session | None) -> ToolFinished:
    """The outcome of the call that started a subagent.

    Args:
        tool: the call's.
        spawned: its start.
        end: its end.
        child: its session; none when that is gone.
    """
    outcome: Literal["ok", "error", "cancelled"] = "ok" if end.status in WELL else "error"
    if end.status == "cancelled":
        outcome = "cancelled"
    # What a name or a command holds can begin no line of the record, and no line of the words looks like one.
    lines = [line.replace("\n", "\\n") for line in _record(spawned, end, child)]
    if child is not None and child.end is not None:
        words = child.end.summary
        said = f"{words[:_WORDS_CHARS]}{'…' if len(words) > _WORDS_CHARS else ''}"
        lines += ["", "Its own words:", *(f"> {line}" for line in said.splitlines())]
    text = "\n".join(lines)
    tainted = bool(end.taint.sources)
    return ToolFinished(
        key=spawned.key,
        tool=tool,
        outcome=outcome,
        text=text,
        label=Label(Integrity.UNTRUSTED, end.taint.held) if tainted else Label(STEAD.integrity, end.taint.held),
        size_bytes=len(text.encode()),
        duration_ms=end.worked_ms,
        source=_source(end) if tainted else "",
        changed=end.facts.paths,
        effect="think",
    )


def _source(end: AgentEnded) -> str:
    """What the report comes from: the one stranger that the subagent has read, if there is one, else itself."""
    foreign = [source for source in end.taint.sources if source != WORKSPACE]
    if not foreign:
        return WORKSPACE
    return foreign[0] if len(foreign) == 1 else f"agent:{end.session}"


def _record(spawned: AgentSpawned, end: AgentEnded, child: Session | None) -> Iterator[str]:
    name = f"{spawned.session} ({spawned.specialist})" if spawned.specialist else spawned.session
    unfinished = "" if end.status in WELL else " The task is NOT done."
    yield f"Subagent {name} ended: {end.status} ({end.reason}).{unfinished}"
    yield f"Used: {end.spend.tokens:,} tokens, {end.iterations} model requests, {end.worked_ms // 1000} s of work."
    if spawned.dropped:
        yield f"Not given to it, as this session has not got them: {', '.join(spawned.dropped[:_MOST_DROPPED])}."
    done = end.facts
    yield f"On record: {done.calls} calls, {done.failed} of them failed; {done.changed} paths changed."
    if done.paths:
        yield f"Changed: {', '.join(done.paths)}"
    for command in done.ran:
        yield f"Ran: `{command.line}` (exit code {'unknown' if command.exit_code is None else command.exit_code})"
    if done.sent:
        yield f"Sent: {', '.join(done.sent)}"
    if child is not None:
        for item in child.checks:
            result = child.results.get(item.id)
            holds = None if result is None else result.holds
            yield f"Check {'not judged' if holds is None else 'holds' if holds else 'FAILS'}: {item.check.words}"
