"""A session as Markdown for people: who said what, which calls with what outcome, which files changed.

Layer: runtime. Renders the items of its timeline and nothing else. What others wrote stands in fences, quotes
and spans of code (``runtime.markdown``); the words between them are Stead's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange
from stead.domain.memory_events import ContentRedacted
from stead.domain.timeline import (
    CarriedItem,
    FailedItem,
    Item,
    LineItem,
    MessageItem,
    OpenedItem,
    PlanItem,
    Question,
    ReplyItem,
    StepItem,
)
from stead.runtime.markdown import fenced, said, span

_SIGNS = {"todo": " ", "doing": "-", "done": "x", "skipped": "~"}


def told(items: Iterable[Item]) -> Iterator[str]:
    """The story, piece by piece, as Markdown.

    Args:
        items: of one session or objective, in order.
    """
    turn = 0
    for item in items:
        ending = isinstance(item, LineItem) and isinstance(item.body, ev.TurnEnded)
        if ending:
            yield _told(item)
        if item.turn != turn:
            turn = item.turn
            yield f"## Turn {turn}\n\n"
        if not ending:
            yield _told(item)


def _told(item: Item) -> str:
    match item:
        case OpenedItem():
            return _opening(item)
        case MessageItem(body=ev.MessageReceived(text=text, door=door, interrupts=interrupts)):
            how = ", interrupting" if interrupts else ""
            return f"**Said** through {span(door)} at {_at(item.ts_ms)}{how}:\n\n{said(text)}"
        case ReplyItem(text=text, model=model):
            words = text.strip()
            return f"**Model** {span(f'{model.provider}/{model.model}')}:\n\n{said(words)}" if words else ""
        case StepItem():
            return _step(item)
        case FailedItem(body=ev.ModelFailed(kind=kind, error=error)):
            return f"A request brought nothing ({span(kind)}): {span(error)}.\n\n"
        case PlanItem(body=ev.PlanMade(steps=steps, by=by)):
            lines = "".join(f"- \\[{_SIGNS[step.status]}\\] {span(step.title)}\n" for step in steps)
            return f"**Plan**, by the {by}:\n\n{lines or '(empty)'}\n\n" if by != "stead" else ""
        case CarriedItem(source=source, at=at):
            return f"**The conversation goes on** from event {at} of {span(source)}.\n\n"
        case LineItem(body=body):
            return _line(body)


def _step(step: StepItem) -> str:
    finished = step.finished
    how = f": **{finished.outcome}**, {finished.duration_ms} ms" if finished else " has not ended."
    changes = [
        f"The person changed the call through {span(step.edited)}.\n\n" if step.edited else "",
        f"The person cancelled the call: {span(step.cancel_reason)}.\n\n" if step.cancelled else "",
        f"The person had the call run again, {step.retries} times in all.\n\n" if step.retries else "",
    ]
    edits = "".join(
        f"**Changed** {_change(edit.change)}{', and undone' if edit.undone else ''}.\n\n"
        + (fenced(edit.change.diff, "diff") if edit.change.diff else "")
        for edit in step.edits
    )
    return (
        f"**Call** {span(step.tool)} ({span(step.key)}){how}\n\n{fenced(step.arguments, 'json')}"
        + (_question(step.question) if step.question else "")
        + "".join(changes)
        + edits
        + (fenced(finished.text) if finished and finished.text.strip() else "")
    )


def _question(question: Question) -> str:
    reason = question.asked.reason
    asked = f"**Asked** whether it may run: {span(reason.text)} ({span(reason.rule)})\n\n"
    match question.status:
        case "pending":
            return asked
        case "given":
            return f"{asked}**Allowed** through {span(question.door)}.\n\n"
        case "denied":
            return f"{asked}**Refused** through {span(question.door)}: {span(question.why)}.\n\n"
        case "lapsed":
            return f"{asked}The question lapsed ({question.why}).\n\n"


def _opening(item: OpenedItem) -> str:
    body = item.body
    models = ", ".join(span(f"{ref.provider}/{ref.model}") for ref in body.chain)
    head = f"# {span(body.title)}\n\nIn {span(body.directory)} since {_at(item.ts_ms)}, with {models}.\n\n"
    if isinstance(body, ev.SessionOpened):
        return head
    limits = "".join(f"- {span(constraint)}\n" for constraint in body.constraints)
    return f"{head}**Goal**:\n\n{said(body.goal)}" + (f"Constraints:\n\n{limits}\n" if limits else "")


def _line(body: ev.Body) -> str:
    """What has no item of its own; "" for what is no part of the story."""
    match body:
        case ev.EditUndone(path=path, key=key, again=again, door=door):
            what = "made the change again of" if again else "undid the change of"
            return f"The person {what} {span(path)} by {span(key)}, through {span(door)}.\n\n"
        case ev.CheckpointTaken(id=id, why=why, files=files, changed=changed, note=note):
            named = f", {span(note)}" if note else ""
            return f"**Checkpoint** {span(id)} ({why}{named}): {files} files, {changed} of them changed.\n\n"
        case ev.CheckpointFailed(why=why):
            return f"No checkpoint could be taken: {span(why)}.\n\n"
        case ev.CheckpointRestored(id=id, before=before, files=files, conversation=conversation, changed=changed):
            both = " and ".join(name for name, put in (("files", files), ("conversation", conversation)) if put)
            return (
                f"**Restored** {both} of {span(id)}, {changed} files changed. "
                f"How things were is kept as {span(before)}.\n\n"
            )
        case ev.ProjectRulesRead(files=read):
            names = ", ".join(span(file.path) for file in read if not file.left_out) or "none"
            left = "".join(f"- {span(file.path)} was left out: {file.left_out}\n" for file in read if file.left_out)
            return f"The project's own rules as the model was told them: {names}.\n\n{left}\n"
        case ev.TerminalOpened(door=door):
            return f"The person opened a terminal through {span(door)}.\n\n"
        case ev.TerminalClosed(exit_code=code, why=why):
            return f"A terminal of the person's ended ({why}, {code}).\n\n"
        case ev.NoticeGiven(text=text):
            return f"**Stead** told the model:\n\n{said(text)}"
        case _:
            return _course(body)


def _course(body: ev.Body) -> str:
    """The turns that a session's life takes; "" for what is no part of the story."""
    match body:
        case ev.TurnEnded(turn=turn, reason=reason, changes=changes, changed=changed):
            known = {-1: "Nobody could look what differs", 0: "Nothing differs", 1: "1 path differs"}
            how = known.get(changed, f"{changed} paths differ")
            lines = "".join(f"- {_change(change)}\n" for change in changes)
            return f"**Turn {turn} ended**: {span(reason)}. {how} from before it.\n\n" + (f"{lines}\n" if lines else "")
        case ev.ObjectiveEnded(status=status, reason=reason, summary=summary):
            return f"**Ended** {status} ({span(reason)}):\n\n{said(summary)}"
        case ev.SessionPaused(why=why):
            return f"**Paused**: {span(why)}.\n\n"
        case ev.SessionStopped(why=why, surface=surface):
            return f"**Stopped** through {span(surface)}: {span(why)}.\n\n"
        case ev.SessionResumed():
            return "**Resumed.**\n\n"
        case ev.SessionClosed(door=door):
            return f"**Closed** through {span(door)}.\n\n"
        case ev.ContextTrimmed() | ev.ContextCompacted():
            return "The model is no longer sent the oldest part of this; the record keeps it.\n\n"
        case ev.MemoryLoaded(files=files):
            return f"The model was told what is remembered: {', '.join(span(file.path) for file in files)}.\n\n"
        case ev.MemoryRecalled(told=remembered):
            lines = "".join(f"- {span(one.ref)} {span(one.text)}\n" for one in remembered)
            return f"**Remembered**, and told to the model:\n\n{lines}\n"
        case ContentRedacted(events=redacted):
            return f"Words in {len(redacted)} events here were forgotten.\n\n"
        case ev.InstructionsSet():
            return "The person's directives had changed; the model is told the new ones from here on.\n\n"
        case _:
            return ""


def _change(change: FileChange) -> str:
    lines = f", +{change.added} -{change.removed}" if change.added or change.removed else ""
    return f"{span(change.path)} ({change.kind}{lines})"


def _at(ts_ms: int) -> str:
    return datetime.fromtimestamp(ts_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
