"""What a session did that has not reached the folder: applying it, throwing it away, putting back what was moved out.

Layer: runtime. A person's word, carried out while nothing of the session is under way; the outcome is a fact.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict
from stead.domain.sessions import Session
from stead.domain.trials import Quarantine, Swept, Trials

_NAMED = 100


def on_trial(
    trials: Trials, command: cmd.ApplyTrial | cmd.DiscardTrial, door: str, *, performing: Callable[[], bool]
) -> Callable[[Session], Awaitable[tuple[ev.Body, ...]]]:
    """What carries the command out and gives the fact; to be called with the session's lock held.

    It raises:
        Conflict: the session is still at work (``performing`` tells whether a step is under way).
        NotFound: it has nothing on trial, or a path is not among the changes.
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


async def settled(quarantine: Quarantine, command: cmd.SettleQuarantined, door: str) -> ev.QuarantineSettled:
    """Puts back or removes, and gives the fact.

    Raises:
        NotFound, Conflict: as ``Quarantine.settle_quarantined``.
    """
    row = await quarantine.settle_quarantined(command.id, restore=command.restore)
    return ev.QuarantineSettled(id=row.id, directory=row.directory, path=row.path, restored=command.restore, door=door)


def swept_up(swept: Swept) -> ev.ProtectedQuarantined:
    """The fact about what was found at a machine's end."""
    return ev.ProtectedQuarantined(
        moved=tuple((row.id, row.path) for row in swept.moved[:_NAMED]),
        changed=swept.changed[:_NAMED],
        unseen=swept.unseen,
        where=swept.where,
        stripped=swept.stripped[:_NAMED],
        rules=tuple((row.id, row.path) for row in swept.rules[:_NAMED]),
    )
