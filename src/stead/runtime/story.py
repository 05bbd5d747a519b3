"""A session as Markdown for people: who said what, which calls with what outcome, which files changed.

Layer: runtime. Renders the items of its timeline and nothing else. What others wrote stands in fences, quotes
and spans of code (``runtime.markdown``); the words between them are Stead's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange
from stead.domain.event_words import changed_file, step_words, worded
from stead.domain.ids import SessionId
from stead.domain.timeline import (
    CarriedItem,
    FailedItem,
    Item,
    LineItem,
    MessageItem,
    OpenedItem,
    PlanItem,
    ReplyItem,
    StepItem,
)
from stead.runtime.markdown import fenced, fill, said, span

_SIGNS = {"todo": " ", "doing": "-", "done": "x", "skipped": "~"}


def told(session: SessionId, items: Iterable[Item]) -> Iterator[str]:
    """The story, piece by piece, as Markdown.

    Args:
        session: whose it is, an objective's for one.
        items: its own, in order.
    """
    turn = 0
    for item in items:
        ending = isinstance(item, LineItem) and isinstance(item.body, ev.TurnEnded)
        if ending:
            yield _told(session, item)
        if item.turn != turn:
            turn = item.turn
            yield f"## Turn {turn}\n\n"
        if not ending:
            yield _told(session, item)


def _told(session: SessionId, item: Item) -> str:
    match item:
        case OpenedItem():
            return _opening(item)
        case MessageItem(body=ev.MessageReceived(text=text, door=door, interrupts=interrupts) as body):
            how = ", interrupting" if interrupts else ""
            how += "".join(f", with {span(one.name)}" for one in body.attachments)
            if body.material:
                return f"**Handed over** {span(body.material)}:\n\n{said(text)}"
            return f"**Said** through {span(door)} at {_at(item.ts_ms)}{how}:\n\n{said(text)}"
        case ReplyItem(text=text, model=model):
            words = text.strip()
            return f"**Model** {span(f'{model.provider}/{model.model}')}:\n\n{said(words)}" if words else ""
        case StepItem():
            return _step(item)
        case FailedItem(body=ev.ModelFailed(kind=kind, error=error, partial=partial)):
            kept = f"**Interrupted reply**:\n\n{said(partial)}" if partial.strip() else ""
            return f"{kept}A request brought nothing ({span(kind)}): {span(error)}.\n\n"
        case PlanItem(body=ev.PlanMade(steps=steps, by=by)):
            lines = "".join(f"- \\[{_SIGNS[step.status]}\\] {span(step.title)}\n" for step in steps)
            return f"**Plan**, by the {by}:\n\n{lines or '(empty)'}\n\n" if by != "stead" else ""
        case CarriedItem(source=source, at=at):
            return f"**The conversation goes on** from event {at} of {span(source)}.\n\n"
        case LineItem(body=body):
            return _line(session, body)


def _step(step: StepItem) -> str:
    finished = step.finished
    how = f": **{finished.outcome}**, {finished.duration_ms} ms" if finished else " has not ended."
    reason = step.question and step.question.asked.reason
    asked = f"**Asked** whether it may run: {span(reason.text)} ({span(reason.rule)})\n\n" if reason else ""
    words = step_words(msgspec.to_builtins(step), step.key)
    did = "".join(f"*{fill(template, values)}*\n\n" for _, (template, values, _) in words)
    edits = "".join(
        f"**Changed** {_change(edit.change)}{', and undone' if edit.undone else ''}.\n\n"
        + (fenced(edit.change.diff, "diff") if edit.change.diff else "")
        for edit in step.edits
    )
    return (
        f"**Call** {span(step.tool)} ({span(step.key)}){how}\n\n{fenced(step.arguments, 'json')}"
        + asked
        + did
        + edits
        + (fenced(finished.text) if finished and finished.text.strip() else "")
    )


def _opening(item: OpenedItem) -> str:
    body = item.body
    models = ", ".join(span(f"{ref.provider}/{ref.model}") for ref in body.chain)
    head = f"# {span(body.title)}\n\nIn {span(body.directory)} since {_at(item.ts_ms)}, with {models}.\n\n"
    if body.contract is None:
        return head
    limits = "".join(f"- {span(constraint)}\n" for constraint in body.constraints)
    return f"{head}**Goal**:\n\n{said(body.contract.goal)}" + (f"Constraints:\n\n{limits}\n" if limits else "")


def _line(session: SessionId, body: ev.Body) -> str:
    """What has no item of its own, in the words that the terminal has for it; "" for what needs none."""
    match body:
        case ev.NoticeGiven(text=text):
            return f"**Stead** returned to the model:\n\n{said(text)}"
        case ev.ObjectiveEnded(status=status, reason=reason, summary=summary):
            return f"**Ended** {status} ({span(reason)}):\n\n{said(summary)}"
        case _:
            pass
    values = msgspec.to_builtins(body)
    lines = [fill(template, given) for template, given, _ in worded({**values, "session": session})]
    if not lines:
        return ""
    head, *rest = lines
    more = "".join(f"- \\{line.strip()}\n" if line.strip()[0] in "+-~" else f"- {line.strip()}\n" for line in rest)
    return f"*{head.strip()}*\n\n" + (f"{more}\n" if more else "")


def _change(change: FileChange) -> str:
    values = msgspec.to_builtins(change)
    return fill(changed_file(values), values)


def _at(ts_ms: int) -> str:
    return datetime.fromtimestamp(ts_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
