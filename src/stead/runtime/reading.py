"""A call's question is put to a model in quarantine: reserved and recorded before, settled and recorded after.

Layer: runtime. Used by ``Steps`` while its session's lock is held; the request is to the session's own chain of models.
What it may cost is the brain's to say, which values pass is ``domain.readings``'s.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from stead.brain import reading
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.effects import CallModel
from stead.domain.errors import BudgetRefused, ModelFault
from stead.domain.ids import CallKey
from stead.domain.messages import Text
from stead.domain.policies import Label
from stead.domain.ports import ModelRequest, Reply
from stead.domain.readings import Question, Values, values_in
from stead.domain.sessions import STEAD
from stead.runtime import reading_facts
from stead.runtime.deps import Deps
from stead.runtime.performing import Cancelled, Perform
from stead.runtime.stream import Stream


class Answered(msgspec.Struct, frozen=True):
    """What the session's model is told. Without an answer these are Stead's own words, and the label says so."""

    ok: bool
    text: str
    label: Label
    duration_ms: int = 0
    values: Mapping[str, object] = {}


async def answer(
    stream: Stream, key: CallKey, question: Question, label: Label, world: World | None, deps: Deps, perform: Perform
) -> Answered | Cancelled:
    """Put the question, and let through what passes.

    Args:
        stream: the session's, with nothing to be refused in it.
        key: the call that asks.
        question: its text is already cleaned of what must not leave.
        label: the text's.
        world: nothing when the session's model is gone.
        deps: see there.
        perform: see there.

    Raises:
        Fenced, StorageFault: as ``Stream.commit``.
    """
    if world is None:
        return _unanswered("the model of this objective is gone")
    effect = reading.ask(stream.session, world, question, label.confidentiality)
    if isinstance(effect, str):
        return _unanswered(effect)
    intent = ev.ReadingRequested(
        number=effect.number,
        key=key,
        size_bytes=len(question.text.encode()),
        max_output_tokens=effect.max_output_tokens,
        reserved=effect.reserve,
    )
    try:
        await stream.propose(intent)
    except BudgetRefused as refused:
        return _unanswered(str(refused))
    try:
        reply = await perform(deps.models.reply(_request(stream, effect, question), _unheard))
    except ModelFault as fault:
        stream.add(reading_facts.failed(intent, fault))
        return _unanswered(f"no model answered ({fault.kind})")
    if isinstance(reply, Cancelled):
        stream.add(reading_facts.lost(intent, "stopped", "The request was cut off."))
        return reply
    values = _values(question, reply)
    stream.add(reading_facts.replied(intent, reply, values.refused if values else ()))
    if values is None:
        return msgspec.structs.replace(_unanswered("the answer held no values"), duration_ms=reply.duration_ms)
    typed = msgspec.structs.replace(label, typed=question.typed)
    return Answered(True, _shown(values), typed, reply.duration_ms, values.values)


def _request(stream: Stream, effect: CallModel, question: Question) -> ModelRequest:
    return ModelRequest(
        session=stream.session.id,
        number=effect.number,
        chain=effect.chain,
        instructions=reading.READING,
        tools=(),
        messages=(reading.message(question),),
        max_output_tokens=effect.max_output_tokens,
    )


def _unheard(text: str) -> None:
    """Nobody watches what a model says in quarantine."""


def _values(question: Question, reply: Reply) -> Values | None:
    """What passes of a whole reply; of one that was cut off nothing does."""
    if reply.stop in ("length", "content_filter"):
        return None
    return values_in(question, "".join(part.text for part in reply.parts if isinstance(part, Text)))


def _shown(values: Values) -> str:
    text = msgspec.json.encode(values.values).decode()
    return f"{text}\n[not of the type asked for: {', '.join(values.refused)}]" if values.refused else text


def _unanswered(why: str) -> Answered:
    return Answered(False, f"Not read: {why}.", STEAD)
