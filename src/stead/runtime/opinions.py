"""Asking a second model what it makes of a run that has come to its end.

Layer: runtime. It is a reading in quarantine: no tools, no history, values of fixed types. It costs the run's own
budget, and where it cannot be had the end says why and stands as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.ids import CallKey
from stead.domain.opinions import FIELDS, WANTED, Opinion, opinion
from stead.domain.policies import Label
from stead.domain.readings import TEXT_LIMIT, Question
from stead.domain.sessions import Session
from stead.runtime import reading
from stead.runtime.deps import Deps
from stead.runtime.outgoing import outgoing
from stead.runtime.performing import Cancelled, Perform
from stead.runtime.stream import Stream

_CHARS = 2000
"""Of one event, and of the goal four times as many."""


async def second_opinion(stream: Stream, world: World | None, deps: Deps, perform: Perform) -> Opinion | None:
    """The opinion, or why there is none; nothing when the person stopped it.

    Raises:
        Fenced, StorageFault: as ``Stream.commit``.
    """
    await stream.commit()
    session = stream.session
    events = await asyncio.to_thread(lambda: dict(_events(deps, session)))
    question = Question(FIELDS, WANTED, outgoing(_evidence(session, events)).text[:TEXT_LIMIT])
    read = await reading.answer(stream, CallKey("opinion"), question, Label(), world, deps, perform)
    if isinstance(read, Cancelled):
        return None
    return opinion(read.values, events) if read.ok else Opinion("void", why=read.text)


def _events(deps: Deps, session: Session) -> Iterator[tuple[int, str]]:
    """What the run did and what its checks came to, each with the number of its event."""
    asked: dict[CallKey, str] = {}
    for event in deps.journal.events(session=session.id):
        match getattr(event, "body", None):
            case ev.ToolStarted(key=key, arguments=arguments):
                asked[key] = arguments
            case ev.ToolFinished(effect=effect) as done if effect not in ("think", "read"):
                code = "" if done.exit_code is None else f", exit code {done.exit_code}"
                paths = f", changed {', '.join((*done.changed, *done.removed))}" if done.changed or done.removed else ""
                yield event.seq, f"{done.tool} {asked.get(done.key, '')[:_CHARS]}: {done.outcome}{code}{paths}"[:_CHARS]
            case ev.ChecksRun(when=when, results=results):
                states = {True: "holds", False: "fails", None: "could not be judged"}
                said = "; ".join(f"{result.words}: {states[result.holds]}" for result in results)
                yield event.seq, f"checks {'before the work' if when == 'before' else 'at the end'}: {said}"[:_CHARS]
            case _:
                continue


def _evidence(session: Session, events: Mapping[int, str]) -> str:
    """The latest events, as many as there is room for."""
    goal = session.spec.contract.goal if session.spec.contract else ""
    lines, room = list[str](), TEXT_LIMIT - 5 * _CHARS
    for seq, words in reversed([*events.items()]):
        room -= len(words) + 20
        if room < 0:
            break
        lines.append(f"#{seq} {words}")
    return "\n".join([f"Goal: {goal[: 4 * _CHARS]}", "Events:", *reversed(lines)])
