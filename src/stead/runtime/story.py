"""A session as a story for people: who said what, which calls with what outcome, which files changed.

Layer: runtime. A function of the events and nothing else. What anybody but Stead wrote stands in fences, quotes and
spans of code (``runtime.markdown``); the words between them are Stead's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import assert_never

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange
from stead.domain.ids import CallKey
from stead.domain.memory_events import ContentRedacted
from stead.domain.messages import Text, ToolCall, meant
from stead.runtime.markdown import fenced, said, span
from stead.storage.talk import Talk, followed

_SIGNS = {"todo": " ", "doing": "-", "done": "x", "skipped": "~"}
_ANSWERS = ev.ApprovalRequested | ev.ApprovalGiven | ev.ApprovalDenied | ev.ApprovalLapsed
_QUEUE = ev.CallEdited | ev.CallCancelled | ev.CallRetried
_FILES = (
    ev.FileChanged
    | ev.EditUndone
    | ev.CheckpointTaken
    | ev.CheckpointFailed
    | ev.CheckpointRestored
    | ev.ProjectRulesRead
)


def told(events: Iterable[ev.Event]) -> Iterator[str]:
    """The story, piece by piece, as Markdown.

    Args:
        events: of one session or objective, from the first one on.
    """
    teller = _Teller()
    for event in events:
        yield from teller.tell(event)
    yield from teller.end()


class _Teller:
    """Knows, at each event, which turn it belongs to and what the calls are."""

    def __init__(self) -> None:
        self._talk = Talk()
        self._calls: dict[CallKey, tuple[str, str]] = {}

    def tell(self, event: ev.Event) -> Iterator[str]:
        """What one event adds."""
        body = event.body
        if isinstance(body, ev.SessionOpened):
            self._talk = Talk(interactive=body.interactive, resting=body.interactive)
            yield _opening(event, body)
        after = followed(self._talk, body)
        ending = isinstance(body, ev.TurnEnded)
        if after.turn != self._talk.turn and not ending:
            yield f"## Turn {after.turn}\n\n"
        yield self._told(event)
        if after.turn != self._talk.turn and ending:
            yield f"## Turn {after.turn}\n\n"
        self._talk = after

    def end(self) -> Iterator[str]:
        """What is still open."""
        for key in self._talk.unanswered:
            tool, arguments = self._calls.get(key, ("", ""))
            yield f"**Call** {span(tool)} ({span(key)}) has not ended.\n\n{fenced(arguments, 'json')}"

    def _told(self, event: ev.Event) -> str:
        body = event.body
        match body:
            case ev.MessageReceived(text=text, door=door, interrupts=interrupts):
                how = ", interrupting" if interrupts else ""
                return f"**Said** through {span(door)} at {_at(event.ts_ms)}{how}:\n\n{said(text)}"
            case ev.NoticeGiven(text=text):
                return f"**Stead** told the model:\n\n{said(text)}"
            case ev.ModelReplied(parts=parts, model=model):
                self._calls |= {part.key: meant(part) for part in parts if isinstance(part, ToolCall)}
                words = "\n\n".join(part.text for part in parts if isinstance(part, Text)).strip()
                return f"**Model** {span(f'{model.provider}/{model.model}')}:\n\n{said(words)}" if words else ""
            case ev.ModelFailed(kind=kind, error=error):
                return f"A request brought nothing ({span(kind)}): {span(error)}.\n\n"
            case ev.ToolStarted(key=key, tool=tool, arguments=arguments):
                self._calls[key] = (tool, arguments)
                return ""
            case ev.ToolFinished():
                return self._ended(body)
            case ev.CallEdited() | ev.CallCancelled() | ev.CallRetried():
                return self._changed(body)
            case ev.ApprovalRequested() | ev.ApprovalGiven() | ev.ApprovalDenied() | ev.ApprovalLapsed():
                return _answer(body)
            case (
                ev.FileChanged()
                | ev.EditUndone()
                | ev.CheckpointTaken()
                | ev.CheckpointFailed()
                | ev.CheckpointRestored()
                | ev.ProjectRulesRead()
            ):
                return _files(body)
            case ev.TerminalOpened(door=door):
                return f"The person opened a terminal through {span(door)}.\n\n"
            case ev.TerminalClosed(exit_code=code, why=why):
                return f"A terminal of the person's ended ({why}, {code}).\n\n"
            case _:
                return _course(body)

    def _ended(self, body: ev.ToolFinished) -> str:
        tool, arguments = self._calls.get(body.key, (body.tool, ""))
        head = f"**Call** {span(tool)} ({span(body.key)}): **{body.outcome}**, {body.duration_ms} ms\n\n"
        return head + fenced(arguments, "json") + (fenced(body.text) if body.text.strip() else "")

    def _changed(self, body: _QUEUE) -> str:
        call = f"the call {span(body.tool)} ({span(body.key)})"
        match body:
            case ev.CallEdited(arguments=arguments, door=door):
                self._calls[body.key] = (body.tool, arguments)
                return f"The person changed {call} through {span(door)}.\n\n"
            case ev.CallCancelled(reason=reason, door=door):
                return f"The person cancelled {call} through {span(door)}: {span(reason)}.\n\n"
            case ev.CallRetried(door=door):
                return f"The person had {call} run again, through {span(door)}.\n\n"
            case _:
                assert_never(body)


def _opening(event: ev.Event, body: ev.SessionOpened) -> str:
    models = ", ".join(span(f"{ref.provider}/{ref.model}") for ref in body.chain)
    head = f"# {span(body.title)}\n\nIn {span(body.directory)} since {_at(event.ts_ms)}, with {models}.\n\n"
    if body.contract is None:
        return head
    limits = "".join(f"- {span(constraint)}\n" for constraint in body.constraints)
    return f"{head}**Goal**:\n\n{said(body.contract.goal)}" + (f"Constraints:\n\n{limits}\n" if limits else "")


def _answer(body: _ANSWERS) -> str:
    match body:
        case ev.ApprovalRequested(tool=tool, key=key, reason=reason, arguments=arguments):
            asked = f"**Asked** whether {span(tool)} ({span(key)}) may run: {span(reason.text)} ({span(reason.rule)})"
            return f"{asked}\n\n{fenced(arguments, 'json')}"
        case ev.ApprovalGiven(key=key, door=door):
            return f"**Allowed** {span(key)} through {span(door)}.\n\n"
        case ev.ApprovalDenied(key=key, door=door, reason=reason):
            return f"**Refused** {span(key)} through {span(door)}: {span(reason)}.\n\n"
        case ev.ApprovalLapsed(key=key, why=why):
            return f"The question about {span(key)} lapsed ({why}).\n\n"
        case _:
            assert_never(body)


def _files(body: _FILES) -> str:
    match body:
        case ev.FileChanged(key=key, change=change):
            shown = fenced(change.diff, "diff") if change.diff else ""
            return f"**Changed** {_change(change)} by {span(key)}.\n\n{shown}"
        case ev.EditUndone(path=path, key=key, again=again, door=door):
            what = "had the change back of" if again else "undid the change of"
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
        case _:
            assert_never(body)


def _course(body: ev.Body) -> str:
    """The turns that a session's life takes; "" for what is no part of the story."""
    match body:
        case ev.PlanMade(steps=steps, by=by):
            lines = "".join(f"- \\[{_SIGNS[step.status]}\\] {span(step.title)}\n" for step in steps)
            return f"**Plan**, by the {by}:\n\n{lines or '(empty)'}\n\n" if by != "stead" else ""
        case ev.TurnEnded(turn=turn, reason=reason, changes=changes, changed=changed):
            known = {-1: "Nobody could look what differs", 0: "Nothing differs", 1: "1 path differs"}
            how = known.get(changed, f"{changed} paths differ")
            lines = "".join(f"- {_change(change)}\n" for change in changes)
            return f"**Turn {turn} ended**: {span(reason)}. {how} from before it.\n\n" + (f"{lines}\n" if lines else "")
        case ev.ConversationSet(source=source, at=at):
            return f"**The conversation goes on** from event {at} of {span(source)}.\n\n"
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
