"""A session's changes that wait for the person: reporting, applying and discarding them.

Layer: runtime. A person's word, carried out while nothing of the session is under way; the outcome is a fact.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.sessions import Session
from stead.domain.trials import Held, Review, Trials

_NAMED = 100
_LISTED = 10


def settled(
    trials: Trials, command: cmd.ApplyTrial | cmd.DiscardTrial, door: str, *, performing: Callable[[], bool]
) -> Callable[[Session], Awaitable[tuple[ev.Body, ...]]]:
    """What carries the command out and gives the fact; to be called with the session's lock held.

    It raises:
        Conflict: the session is still at work (``performing``: whether a step is under way).
        NotFound: nothing of it waits, or a path is not among the changes.
    """

    async def work(session: Session) -> tuple[ev.Body, ...]:
        if (session.phase == "active" and not session.resting) or performing():
            raise Conflict("it is still at work on it; wait for its end, or hold it with `stead pause`")
        match command:
            case cmd.ApplyTrial(choice=choice):
                done = await trials.apply_trial(session.id, choice)
                fact = ev.TrialApplied(
                    applied=len(done.done),
                    paths=done.done[:_NAMED],
                    held_back=len(done.held),
                    held=done.held[:_NAMED],
                    left=done.left,
                    door=door,
                )
                return (fact,)
            case cmd.DiscardTrial():
                return (ev.TrialDiscarded(changes=await trials.discard_trial(session.id), door=door),)

    return work


async def reviewed(trials: Trials, session: Session) -> tuple[ev.ReviewWanted, ...]:
    """The event about waiting changes as the session becomes idle; empty when the last one says the same."""
    if session.deleted:
        return ()
    try:
        changes = (await trials.trial(session.id)).changes
        found = Review(len(changes), tuple(Held(change.path, change.why) for change in changes[:_LISTED]))
    except NotFound:
        found = Review()
    except Conflict as too_many:
        found = Review(-1, (Held(".", str(too_many)),))
    if found == session.review and not session.runnable:
        return ()
    return (ev.ReviewWanted(found, tuple(session.runnable)),)
