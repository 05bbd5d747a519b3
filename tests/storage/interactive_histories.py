"""What can happen to an interactive session in addition to its work: turns, its queue, checkpoints."""

from __future__ import annotations

from hypothesis import strategies as st

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange, Version
from stead.domain.ids import CallKey, CheckpointId, SessionId
from stead.domain.policies import Label
from stead.domain.sessions import PERSON, Call, Session
from tests.storage.drafts import failed

Bodies = list[ev.Body]
texts = st.sampled_from(["", "tide", "otter ledger", "quince"])
_MARK = CheckpointId("k_0000000000000001")


def beside_the_work(draw: st.DrawFn, state: Session) -> Bodies:
    """What a person does; nothing where the work goes on by itself."""
    if state.phase == "ended":
        return draw(st.sampled_from(_of_closed(draw, state)))
    if state.resting:
        return draw(st.sampled_from([_message(draw), _message(draw), *_anytime(draw, state)]))
    if state.calls and draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from([_message(draw), over(draw, state)]))
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([*_anytime(draw, state), *_of_queue(draw, state)]))
    return []


def over(draw: st.DrawFn, state: Session) -> Bodies:
    """A turn that is broken off, or a session that is put away; nothing for an objective."""
    if not state.spec.interactive:
        return []
    closed: Bodies = [*_lapsed(state), ev.SessionClosed("web")]
    if not _quiet(state) or state.phase != "active":
        return closed
    return draw(st.sampled_from([closed, [*_lapsed(state), ev.TurnEnded(state.turn, "stall", draw(texts))]]))


def _of_closed(draw: st.DrawFn, state: Session) -> list[Bodies]:
    if state.open_request is not None:  # it was cut off, and is told a moment later
        return [[failed(state.open_request.number)]]
    if any(call.step == "started" for call in state.calls.values()) or state.open_reading is not None:
        return [_message(draw)]
    return [_message(draw), [ev.SessionDeleted()]]


def _message(draw: st.DrawFn) -> Bodies:
    told = draw(st.sampled_from([(), (ev.Told("m_0000000000000001", "High water at six.", ("words",)),)]))
    remembered = [ev.MemoryRecalled(told, ("meaning",), Label())] if told else []
    return [*remembered, ev.MessageReceived(draw(texts), "cli", PERSON, draw(st.booleans()))]


def _anytime(draw: st.DrawFn, state: Session) -> list[Bodies]:
    files = (ev.RulesFile("AGENTS.md", "Be kind.", "0" * 64),)
    rules: Bodies = [ev.ProjectRulesRead(draw(st.sampled_from([(), files])), Label())]
    whole, part = draw(st.booleans()), draw(st.booleans())
    restored = ev.CheckpointRestored(_MARK, _MARK, whole, part, 1, ("a",), (), "cli")
    found: list[Bodies] = [
        rules,
        [ev.NoticeGiven("Look.", "files")],
        [ev.PlanMade((ev.PlanStep(draw(texts)),), "person")],
        [ev.BudgetRaised(ev.Budget(draw(st.integers(1, 9000)), "unlimited"), "cli")],
        [ev.EditUndone(CallKey("call_1_0"), "a", draw(st.booleans()), "web")],
        [_changed()],
        [_taken(state)],
        [restored],
        [ev.SessionClosed("cli")] if state.resting else [*_lapsed(state), ev.SessionClosed("cli")],
    ]
    if _quiet(state):
        then = ev.Carried(tuple(state.messages[:2]), plan=(ev.PlanStep(draw(texts)),))
        found.append([*_lapsed(state), ev.ConversationSet(SessionId("s_0000000000000009"), 1, then)])
    return found


def _of_queue(draw: st.DrawFn, state: Session) -> list[Bodies]:
    found: list[Bodies] = []
    for call in state.calls.values():
        if call.step == "done":
            found.append([ev.CallRetried(call.key, call.tool, "web")])
        elif call.step == "started":
            found.append([ev.CallCancelled(call.key, call.tool, draw(texts), "web")])
        else:
            edited: ev.Body = ev.CallEdited(call.key, call.tool, '{"command": "lantern"}', "web")
            found.append([*_lapsed_one(call, "changed"), edited])
            if call.step != "asking":
                found.append([ev.CallCancelled(call.key, call.tool, draw(texts), "cli")])
    return found


def _quiet(state: Session) -> bool:
    started = any(call.step == "started" for call in state.calls.values())
    return state.open_request is None and state.open_reading is None and not started


def _lapsed(state: Session) -> Bodies:
    return [fact for call in state.calls.values() for fact in _lapsed_one(call, "ended")]


def _lapsed_one(call: Call, why: str) -> Bodies:
    if call.step != "asking":
        return []
    return [ev.ApprovalLapsed(call.approval, call.key, "changed" if why == "changed" else "ended")]


def _changed() -> ev.FileChanged:
    before, after = Version("a", ""), Version("a", "c1", 0o644, 3)
    return ev.FileChanged(CallKey("call_1_0"), before, after, FileChange("a", "added", "file", 3, 1))


def _taken(state: Session) -> ev.CheckpointTaken:
    return ev.CheckpointTaken(_MARK, state.turn, state.seq, "person", "r" * 64, 1, 3, 1, 3, (), 0, 5)
