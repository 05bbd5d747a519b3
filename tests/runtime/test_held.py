"""Changes that wait for the person: told as a session comes to rest, once for each state, till they are settled."""

from __future__ import annotations

import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Applied, Change, Choice, Held, Landing, Review, Stay, Trial
from tests.runtime.conftest import Enter
from tests.runtime.room import Room, Said, calls

HOOK = Held(".githooks/pre-commit", "git would run it")


class Waiting:
    """Implements ``domain.trials.Trials`` over a list of paths for each session; there are too many past nine."""

    def __init__(self) -> None:
        self.of: dict[SessionId, list[Held]] = {}

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        held = self._of(session)
        if len(held) > 9:
            raise Conflict("there are too many")
        changes = tuple(Change(one.path, "added", "file", held="protected", why=one.why) for one in held)
        return Trial(session, "/project", 0, changes)

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        return ()

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        held = self._of(session)
        done = [one for one in held if not choice.paths or one.path in choice.paths]
        self.of[session] = [one for one in held if one not in done]
        return Applied(tuple(one.path for one in done), (), bool(self.of[session]))

    async def discard_trial(self, session: SessionId) -> int:
        self._of(session)
        return len(self.of.pop(session))

    def _of(self, session: SessionId) -> list[Held]:
        if not self.of.get(session):
            raise NotFound("nothing waits")
        return self.of[session]


@pytest.fixture
def waiting() -> Waiting:
    """What waits, in place of what the machines keep."""
    return Waiting()


@pytest.fixture
def room(enter: Enter, waiting: Waiting) -> Room:
    read = calls(("read", '{"path":"a"}'))
    return enter(read, Said(("One.",)), read, Said(("Two.",)), trials=waiting)


def reviews(room: Room, id: SessionId) -> list[ev.ReviewWanted]:
    return [body for body in room.bodies(id) if isinstance(body, ev.ReviewWanted)]


async def test_what_waits_is_told_before_the_turns_end_and_again_only_when_it_is_another(
    room: Room, waiting: Waiting
) -> None:
    id = await room.open()
    assert (await room.tell(id)).turn == 1 and reviews(room, id) == [], "nothing waits"
    waiting.of[id] = [HOOK]
    await room.tell(id)
    kinds = [type(body) for body in room.bodies(id)]
    assert kinds[-2:] == [ev.ReviewWanted, ev.TurnEnded]
    await room.tell(id)
    assert reviews(room, id) == [ev.ReviewWanted(Review(1, (HOOK,)))], "the third turn changes nothing of it"
    waiting.of[id] = [HOOK, Held("Makefile", "make would run it")]
    await room.tell(id)
    assert reviews(room, id)[-1].review.waiting == 2
    waiting.of[id] = []
    await room.tell(id)
    assert reviews(room, id)[-1] == ev.ReviewWanted(), "the session itself took them back"
    assert (await room.state(id)).review == Review() and room.world.views.reviews() == []


async def test_the_row_stands_until_the_person_has_settled_all_of_it(room: Room, waiting: Waiting) -> None:
    id = await room.open()
    waiting.of[id] = [HOOK, Held("Makefile", "make would run it")]
    await room.tell(id)
    (row,) = room.world.views.reviews()
    assert (row.id, row.review.waiting, row.review.held[0]) == (id, 2, HOOK)
    await room.do(cmd.ApplyTrial(id, Choice(paths=("Makefile",))))
    await room.settled(id)
    (row,) = room.world.views.reviews()
    assert row.review == Review(1, (HOOK,)), "the rest is counted anew"
    await room.do(cmd.DiscardTrial(id))
    await room.settled(id)
    assert room.world.views.reviews() == [] and room.world.views.objective(id).review == Review()
    assert len(reviews(room, id)) == 2, "what the person settled themselves is not told them"


async def test_new_programs_are_told_at_the_end_of_the_turn_that_made_them(room: Room, waiting: Waiting) -> None:
    first = Landing(landed=("run.sh", "a.md"), count=2, runnable=("run.sh",), held=(HOOK,), holding=1)
    room.tools["read"].landings = [first, Landing()]
    id = await room.open()
    await room.tell(id)
    bodies = room.bodies(id)
    (fact,) = [body for body in bodies if isinstance(body, ev.ChangesLanded)]
    (end,) = [body for body in bodies if isinstance(body, ev.ToolFinished)]
    assert fact == ev.ChangesLanded(end.key, first)
    assert reviews(room, id) == [ev.ReviewWanted(runnable=("run.sh",))] and room.world.views.reviews() == []
    await room.tell(id)
    assert len(reviews(room, id)) == 1, "the second turn made none, and a call that changes nothing is no fact"
    assert len([body for body in room.bodies(id) if isinstance(body, ev.ChangesLanded)]) == 1


@pytest.mark.parametrize("word", [cmd.Stop, cmd.Pause, cmd.CloseSession])
async def test_however_a_session_comes_to_rest_what_waits_is_told(
    room: Room, waiting: Waiting, word: type[cmd.Stop | cmd.Pause | cmd.CloseSession]
) -> None:
    id = await room.open()
    gate = room.hold("read")
    await room.say(id)
    await room.began("read")
    waiting.of[id] = [HOOK]
    await room.do(word(id))
    gate.set()
    await room.settled(id)
    assert reviews(room, id) == [ev.ReviewWanted(Review(1, (HOOK,)))]


async def test_too_many_to_be_counted_wait_all_the_same(room: Room, waiting: Waiting) -> None:
    id = await room.open()
    waiting.of[id] = [Held(f"f{number}", "") for number in range(10)]
    await room.tell(id)
    (row,) = room.world.views.reviews()
    assert row.review == Review(-1, (Held(".", "there are too many"),))


async def test_a_session_that_is_deleted_says_nothing_more(room: Room, waiting: Waiting) -> None:
    id = await room.open()
    await room.do(cmd.CloseSession(id))
    await room.settled(id)
    waiting.of[id] = [HOOK]
    await room.do(cmd.Delete(id, now=True))
    assert not any(isinstance(body, ev.ReviewWanted) for body in room.bodies(id))
    assert id not in waiting.of and room.world.views.reviews() == []
