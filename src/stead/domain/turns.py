"""How the events of a session change its turns, its queue of calls, its files, its context.

Layer: domain. A part of ``domain.folding``, which sends the events here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar, assert_never

import msgspec

from stead.domain import events as ev
from stead.domain.channels import DOOR
from stead.domain.conversation import append_message, carry_over, close_turn, record_source, rewritten
from stead.domain.memory_events import ContentRedacted
from stead.domain.messages import TERMINAL, WORKSPACE, UserMessage
from stead.domain.policies import Integrity, Label
from stead.domain.remembering import MEMORY_SOURCE, loaded_text, recalled_text, together
from stead.domain.sessions import STEAD, Call, Edit, Mark, Session

Worked = ev.WorkBody | ev.MemoryLoaded | ev.MemoryRecalled | ContentRedacted
_Kept = TypeVar("_Kept")


def receive(session: Session, message: ev.MessageReceived, seq: int) -> None:
    """Apply a message. In an interactive session it begins a turn, or steers the current one."""
    source = "" if message.label.integrity is Integrity.PERSON else f"message:{message.door}"
    if message.material and not message.door.startswith(DOOR):
        source = f"handed:{message.material}"  # what came through a chat is the chat's, which then answers for nothing
    if session.spec.interactive:
        session.resting, session.shortening = session.resting or session.shortening, False
        begin_turn(session, seq)
        session.phase = "active"
    if message.interrupts and (session.calls or session.open_request is not None):
        session.interrupted = True
    given = message.attachments
    said = UserMessage(message.text, message.label, False, source, session.telling, given)
    append_message(session, said)
    session.telling = ""
    if source:
        record_source(session, message.label, source)
    else:
        session.words.append(message.text)
        session.waiting[seq] = said


def shorten(session: Session) -> None:
    """Begin a compaction. Between two turns it is work of its own, and no turn."""
    session.compacting = len(session.messages)
    if session.resting:
        session.resting, session.shortening = False, True
        session.iterations = session.failures = session.not_before_ms = 0


def begin_turn(session: Session, seq: int) -> None:
    """Begin a turn, with limits of its own, unless one is under way."""
    if not session.resting:
        return
    session.resting = session.ran = False
    session.turn += 1
    session.turn_began = seq
    session.iterations = session.failures = session.send_backs = session.worked_ms = 0
    session.same_calls = session.same_texts = session.not_before_ms = session.first_model = 0
    session.last_call = session.last_text = ""
    session.effects, session.acted_from, session.calls_below = 0, len(session.actions), 0


def apply_work(session: Session, body: Worked, seq: int, ts_ms: int) -> None:
    """Apply an event of the session's files, turns or context."""
    match body:
        case ev.ProjectRulesRead(files=files, label=label):
            session.rules = {file.path: file.sha256 for file in files}
            if shown := [file for file in files if not file.left_out]:
                append_message(session, UserMessage(_rules_text(shown), label, source=WORKSPACE))
                record_source(session, label, WORKSPACE)
        case ev.MemoryLoaded() | ev.MemoryRecalled():
            _remember(session, body)
        case ev.ConversationSet(carried=carried):
            carry_over(session, carried)
        case ev.CheckpointTaken():
            session.marks.append(Mark(body.id, body.turn, body.at, body.root, seq, ts_ms, body))
        case ev.CheckpointFailed() | ev.IntentAnswered():  # no model reads it
            return
        case ev.CheckpointRestored(files=files, conversation=conversation, id=id, changed=changed):
            if files and not conversation and session.messages:
                _notify(session, f"The person put {changed} files back to checkpoint {id}. Read before you edit.")
        case ev.FileChanged(key=key, before=before, after=after, change=change):
            session.edits.append(Edit(key, session.turn, before, after, change, seq, ts_ms))
        case ev.EditUndone(key=key, path=path, again=again):
            session.edits = [
                msgspec.structs.replace(edit, undone=not again) if (edit.key, edit.before.path) == (key, path) else edit
                for edit in session.edits
            ]
            what = "made your edit again that they had undone" if again else "undid your edit"
            _notify(session, f"The person {what}: {path!r}. Read it before you edit it.")
        case ev.TurnEnded():
            heard = any(not message.notice and message.source != TERMINAL for message in session.inbox)
            session.resting = True
            session.compacting, session.shortening = 0, False
            close_turn(session, "Not run: the turn had ended.")
            if heard:  # a limit ended the turn before it came to these words
                begin_turn(session, seq)
        case ev.SessionClosed():
            session.phase, session.resting, session.compacting, session.shortening = "ended", True, 0, False
            close_turn(session, "Not run: the session was closed.")
        case ev.SessionLabelled(title=title, trashed=trashed):
            session.spec = msgspec.structs.replace(session.spec, title=title or session.spec.title)
            session.trashed = session.trashed if trashed is None else trashed
        case ev.MessageChanged(message=message, text=text):
            _change_message(session, message, text)
        case ev.BudgetRaised(budget=budget):
            session.budget = budget
        case ev.ModelSwitched(chain=chain, effort=effort):
            session.spec = msgspec.structs.replace(session.spec, chain=chain, effort=effort)
            session.first_model = session.failures = session.not_before_ms = 0
            session.switched = True
        case ev.TierSet(tier=tier):
            session.tier = tier
            session.offered_by = session.offered_by if session.sent else tier
        case ev.ProfileSet(profile=profile):
            session.spec = msgspec.structs.replace(session.spec, profile=profile)
        case ev.ContextTrimmed(upto=upto, counted_percent=percent):
            session.trimmed, session.counted_percent = upto, percent
            rewritten(session)
        case ev.ContextCompacted():
            _compact(session, body)
        case ev.InstructionsSet(text=text):
            session.instructions = text
            rewritten(session)
        case ContentRedacted():
            rewritten(session)
        case _:
            assert_never(body)


def _compact(session: Session, body: ev.ContextCompacted) -> None:
    """Put the summary in place of what it sums up; what came while it was made stays behind it."""
    asked = session.compacting or len(session.messages)
    session.messages = [*body.head, *session.messages[body.upto : asked], *_heard_meanwhile(session, asked)]
    session.trimmed, session.counted_percent = 0, body.counted_percent
    session.compacting = 0
    session.resting, session.shortening = session.resting or session.shortening, False
    session.waiting = {seq: said for seq, said in session.waiting.items() if said in session.messages}
    session.recalled = []
    rewritten(session)


def apply_terminal(session: Session, body: ev.TerminalOpened | ev.LineRan | ev.TerminalClosed) -> None:
    """Apply an event of the person's terminals; what a line of theirs printed is data, and vouches for nothing."""
    if isinstance(body, ev.TerminalOpened):
        session.terminals.append(body.id)
        return
    session.terminals = [id for id in session.terminals if id != body.id]
    if isinstance(body, ev.LineRan):
        record_source(session, body.label, body.source)
        how = f"it ended with exit code {body.exit_code}" if body.why == "exited" else f"it was cut off ({body.why})"
        before = (
            f"The person ran a command in the project themselves; {how}. Below are the command and what it printed."
        )
        said = f"$ {body.line}\n{body.text}".rstrip()
        append_message(session, UserMessage(said, body.label, source=TERMINAL, told=before))


def _change_message(session: Session, number: int, text: str) -> None:
    """Put other words in place of a message that waits, or take it away: its old ones vouch for nothing any more."""
    old = session.waiting.pop(number, None)
    if old is None:
        return
    new = [msgspec.structs.replace(old, text=text)] if text else []
    if old in session.inbox:
        session.inbox = _with_last(session.inbox, old, new)
    else:
        session.messages = _with_last(session.messages, old, new)
    session.words = _with_last(session.words, old.text, [text] if text else [])
    if new:
        session.waiting[number] = new[0]
    elif old.told:
        session.telling = together(old.told, session.telling)


def _with_last(kept: Sequence[_Kept], old: _Kept, new: Sequence[_Kept]) -> list[_Kept]:
    """A list with other things in place of the last ``old``."""
    place = len(kept) - 1 - kept[::-1].index(old)
    return [*kept[:place], *new, *kept[place + 1 :]]


def apply_queue(session: Session, body: ev.QueueBody) -> None:
    """Apply the person's change of the queue of calls; one of a call that is gone has no effect."""
    if isinstance(body, ev.CallDelegated):
        session.asked_by_agents += 1
        if body.parent in session.calls:  # what an agent wants is a stranger's will
            record_source(session, Label(), f"agent:{body.agent}")
            session.calls[body.key] = Call(body.key, body.tool, body.arguments, True, parent=body.parent)
        return
    call = session.calls.get(body.key)
    if call is None:
        return
    match body:
        case ev.CallAnswered():
            del session.calls[body.key]
        case ev.CallEdited(arguments=arguments, door=door):
            session.words.extend(put_in(call.arguments, arguments))
            call.arguments, call.edited = arguments, door
            call.step, call.result, call.said, call.cancelled = "new", None, "", False
        case ev.CallCancelled(reason=reason):
            call.said, call.cancelled = reason, True
            if call.step not in ("started", "done"):
                call.step = "refused"
        case ev.CallRetried():
            call.step, call.result, call.cancelled = "new", None, False


def _remember(session: Session, body: ev.MemoryLoaded | ev.MemoryRecalled) -> None:
    """Put recalled memory before the next words, or before the goal while no request was made yet.

    It is data; what has a tainted label becomes a message of its own, marked as a stranger's.
    """
    record_source(session, body.label, MEMORY_SOURCE)
    if isinstance(body, ev.MemoryRecalled):
        session.recalled.extend(item.ref for item in body.told)
        text = recalled_text(body.told)
    else:
        text = session.files = loaded_text(body.files)
    if body.label.taints:
        append_message(session, UserMessage(text, body.label, source=MEMORY_SOURCE))
    elif not session.requests and len(session.messages) == 1 and isinstance(goal := session.messages[0], UserMessage):
        session.messages[0] = msgspec.structs.replace(goal, told=together(goal.told, text))
    else:
        session.telling = together(session.telling, text)


def _heard_meanwhile(session: Session, asked: int) -> list[UserMessage]:
    """The person's words, and what they did to files and plan, that came after the question for the summary."""
    return [message for message in session.messages[asked + 1 :] if isinstance(message, UserMessage)]


def put_in(before: str, after: str) -> tuple[str, ...]:
    """The words of edited arguments that are not in the model's own: these alone are the person's.

    A word that the model had stays the model's where the person changes another one next to it, or takes others away.
    """
    model = tuple(text.casefold() for text in _texts(before))
    return tuple(dict.fromkeys(run for text in _texts(after) for run in _new_in(text, model)))


_WORD = re.compile(r"[\w.@/:+%?&=#~$-]+")
"""What lists, commands and sentences are made of; an address, a path and a URL are one each."""
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")
"""Signs at a word's ends. They make no other word of it: the guardian looks for a value between any two signs."""


def _new_in(text: str, model: Sequence[str]) -> Iterator[str]:
    """The runs of words that none of the model's texts has."""
    for new, words in groupby(_WORD.finditer(text), lambda word: _is_new(word[0], model)):
        if new:
            run = [*words]
            yield text[run[0].start() : run[-1].end()]


def _is_new(word: str, model: Sequence[str]) -> bool:
    core = _EDGE.sub("", word).casefold()
    return not any(core in said for said in model)


def _texts(arguments: str) -> Iterator[str]:
    try:
        todo = [msgspec.json.decode(arguments)]
    except (msgspec.MsgspecError, RecursionError):
        return
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str) and value.strip():
            yield value


def plan_text(steps: tuple[ev.PlanStep, ...]) -> str:
    """The notice to the model that the person changed the plan."""
    lines = "\n".join(f"- [{step.status}] {step.title}" for step in steps)
    return f"The person changed the plan. It is now:\n{lines or '(empty)'}"


def _rules_text(files: Sequence[ev.RulesFile]) -> str:
    parts = [
        f"{file.path}:\n{file.text}" + ("\n[cut here; read the file for the rest]" if file.cut else "")
        for file in files
    ]
    return "What the project says of itself:\n\n" + "\n\n".join(parts)


def _notify(session: Session, text: str) -> None:
    append_message(session, UserMessage(text=text, label=STEAD, notice=True))
