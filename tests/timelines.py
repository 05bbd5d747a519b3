"""Timelines of events, as the read models keep them."""

from __future__ import annotations

from collections.abc import Iterable

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange, Version
from stead.domain.ids import ApprovalId, CallDigest, CallKey, CheckpointId, SessionId
from stead.domain.objectives import PlanStep
from stead.domain.sessions import PERSON
from stead.domain.timeline import Item, TimelinePage
from stead.domain.timeline_fold import follow
from stead.storage import projection
from tests.build import Story, desk

_KEY = CallKey("call_1_1")


def items_of(events: Iterable[ev.Event]) -> list[Item]:
    """The items of a session's events, in order."""
    items = sorted(page_of(events).items, key=lambda item: item.place)
    assert [item.place for item in items] == list(range(len(items)))
    return items


def page_of(events: Iterable[ev.Event], after: int = 0) -> TimelinePage:
    """The whole page of a session's items that are new or changed since an event."""
    items: dict[str, Item] = {}
    changes: dict[str, int] = {}
    known: projection.Objective | None = None
    seq = 0
    for event in events:
        seq = event.seq
        if known is None:
            assert isinstance(event.body, ev.SessionOpened)
            known = before = projection.opened(event, event.body)
        else:
            before, known = known, projection.advanced(known, event)
        standing = projection.standing(before, known)._replace(items=len(items))
        for item in follow(event, standing, items.get):
            items[item.id], changes[item.id] = item, event.seq
    assert known is not None
    new = [id for id in sorted(changes, key=lambda id: (changes[id], items[id].place)) if changes[id] > after]
    request = projection.request(known)
    return TimelinePage(tuple(items[id] for id in new), seq, False, known.row, request, known.replied)


def everything(said: str) -> Story:
    """A story in which everything that anybody can write is this."""
    change = FileChange(said, "changed", "file", 9, 1, 1, said, said)
    story = Story(desk(said)).tell(
        ev.ProjectRulesRead((ev.RulesFile(said, said, "0" * 64),), PERSON),
        ev.MemoryLoaded((ev.LoadedFile(said, said, "0" * 64),), PERSON),
        ev.MemoryRecalled((ev.Told(said, said, (said,)),), (), PERSON),
        ev.MessageReceived(said, "cli", PERSON),
        ev.PlanMade((PlanStep(said),), "model"),
    )
    story.ask().reply(said, ("shell", said), (said, said)).question()
    story.tell(
        ev.ApprovalDenied(ApprovalId("a_1"), _KEY, "web", said),
        ev.CallEdited(_KEY, said, said, "web"),
        ev.CallCancelled(_KEY, said, said, "web"),
        ev.ToolStarted(_KEY, said, said, CallDigest("d"), idempotent=False),
        ev.FileChanged(_KEY, Version(said, "a"), Version(said, "b"), change),
        ev.EditUndone(_KEY, said, again=False, door="web"),
        ev.CheckpointTaken(CheckpointId(said), 1, 1, "person", "r", 1, 1, 1, 1, (), 0, 1, said),
        ev.CheckpointFailed(1, said),
        ev.CheckpointRestored(CheckpointId(said), CheckpointId(said), True, False, 1, (said,), (), "cli"),
        ev.NoticeGiven(said, "claim"),
        ev.TerminalOpened("t_0000000000000001", 24, 80, said),
    )
    story.finish(_KEY, said, "error", said)
    story.tell(
        ev.SessionPaused(said),
        ev.SessionStopped("cli", said),
        ev.TurnEnded(1, said, said, (change,), 1),
        ev.ConversationSet(SessionId(said), 1, ev.Carried(())),
        ev.SessionClosed("cli"),
    )
    return story
