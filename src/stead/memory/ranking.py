"""How what speaks for a memory or a turn is weighed, and what is left out.

Layer: memory. Pure: no table, no clock, no text. The weights were published with measurements on conversations among
people (LoCoMo) and with an assistant (BEAM); those of each kind of text are in ``WEIGHTS`` alone.

1. Words (BM25) and meaning (cosine) are each brought to 0..1 over the candidates of a kind of text, and mixed. Ranks
   are not: with a small model, reciprocal ranks are no better than words alone.
2. A turn gets a share of its neighbours, because an answer seldom repeats the words of its question.
3. A turn gets a share of its session's best one, because people ask about what was talked about.
4. A turn of the one participant who is named gets something on top, and the person's own words before an assistant's.
5. A memory that neither a name, nor enough of the words, nor the meaning speaks for is left out, unless nothing speaks
   for any: then those that stand out may be meant in other words. All turns are left out when nothing speaks for one
   of them. What a model is told unasked of a chat has to be good turn by turn, or one good turn would bring nine that
   are only the person's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Final

import msgspec

from stead.domain.ids import SessionId
from stead.domain.memory import HitReason, PlaceId, Source

Key = tuple[PlaceId, int]
"""An item of an index."""


class Weights(msgspec.Struct, frozen=True):
    """How one kind of text is weighed.

    Args:
        meaning: the share of the meaning in the mix; the words have the rest.
        neighbour: of each turn beside it.
        session: of the best turn of its session.
        speaker: said by the one participant whom the query names.
        person: said by the person, to an assistant.
        told: how much of what the query's words tell apart has to be there for the words alone to be reason enough.
        near: the cosine from which on the meaning alone is.
    """

    meaning: float
    told: float
    near: float
    neighbour: float = 0.0
    session: float = 0.0
    speaker: float = 0.0
    person: float = 0.0


WEIGHTS: Final[Mapping[Source, Weights]] = {
    "memory": Weights(meaning=0.3, told=0.6, near=0.45),
    "chat": Weights(meaning=0.5, told=0.25, near=0.4, neighbour=0.1, session=0.2, person=0.3),
    "talk": Weights(meaning=0.3, told=0.35, near=0.4, neighbour=0.3, session=0.4, speaker=0.2),
}
WITHOUT_MEANING = 0.5
"""Of ``Weights.told`` for turns, when only the words can speak for them. A memory has its names besides."""
NAMED = 1.25
"""For a memory that is asked for by a name of it: more than words and meaning are together."""
LEAST_TOLD = 0.3
"""Of the words, for a memory without a name, whatever turns have."""
NEAREST, STANDS_OUT, FLOOR = 2, 0.25, 0.25
"""Where nothing speaks for a memory, so many that are nearer than the middle one by this much of a cosine are taken;
none that is further than the floor, since among a few memories anything stands out."""
SHOWN_NEAREST = 5
"""Memories that a person is shown as the nearest ones, where none is a match."""
ALSO_TOLD, ALSO_NEAR = 0.25, 0.35
"""For a turn of a chat that is told unasked: this part of what the best one has of the words, or this cosine."""


class Lead(msgspec.Struct, frozen=True):
    """A candidate, with what speaks for it.

    Args:
        key: which.
        source: what kind of text.
        session: of a turn.
        beside: the turns before and after.
        words: BM25 above 0, 0 for none.
        told: as of ``Weights``.
        meaning: cosine, nothing when it is not known.
        named: the query has a name of it.
        speaks: the one participant whom the query names said it.
        person: the person said it.
    """

    key: Key
    source: Source
    session: SessionId = SessionId("")
    beside: tuple[Key, ...] = ()
    words: float = 0.0
    told: float = 0.0
    meaning: float | None = None
    named: bool = False
    speaks: bool = False
    person: bool = False


class Ranked(msgspec.Struct, frozen=True):
    """A candidate with its score, and of what that is made."""

    key: Key
    score: float
    why: tuple[HitReason, ...]


def rank(leads: Iterable[Lead], *, looked_up: bool = False, nearest: bool = False) -> list[Ranked]:
    """Weigh candidates, the best first; of equals the one with the smaller key.

    Args:
        leads: see there.
        looked_up: somebody asked for it, so turns of a chat are not left out one by one.
        nearest: where no memory is good enough, the nearest by meaning are taken, however far they are.
    """
    groups: dict[Source, list[Lead]] = {"memory": [], "chat": [], "talk": []}
    for lead in leads:
        groups[lead.source].append(lead)
    chat = _turns(groups["chat"], WEIGHTS["chat"], each=not looked_up)
    talk = _turns(groups["talk"], WEIGHTS["talk"], each=False)
    memories = _memories(groups["memory"], max((lead.told for lead in (*chat, *talk)), default=1.0))
    good = ((memories, WEIGHTS["memory"]), (chat, WEIGHTS["chat"]), (talk, WEIGHTS["talk"]))
    if nearest and not memories:
        close = sorted((lead for lead in groups["memory"] if _near(lead) > 0), key=_near)[-SHOWN_NEAREST:]
        good = ((close, WEIGHTS["memory"]), *good[1:])
    ranked = [one for some, weights in good for one in _rank(some, weights)]
    return sorted(ranked, key=lambda one: (-one.score, one.key))


def _memories(leads: list[Lead], turns: float) -> list[Lead]:
    """Those that something speaks for; where nothing does for any, those that stand out.

    As much of the words as the best turn has is enough for a memory too.
    """
    weights = WEIGHTS["memory"]
    told = min(weights.told, max(turns, LEAST_TOLD))
    good = [lead for lead in leads if lead.named or lead.told >= told or _near(lead) >= weights.near]
    middle = median(map(_near, leads)) if leads else 0.0
    return (
        good or sorted((lead for lead in leads if _near(lead) >= max(middle + STANDS_OUT, FLOOR)), key=_near)[-NEAREST:]
    )


def _turns(leads: list[Lead], weights: Weights, *, each: bool) -> list[Lead]:
    """Turns, if something speaks for one of them; with ``each``, those that are good themselves."""
    told = weights.told * (WITHOUT_MEANING if all(lead.meaning is None for lead in leads) else 1)
    if not any(lead.told >= told or _near(lead) >= weights.near for lead in leads):
        return []
    if not each:
        return leads
    told = max(told, ALSO_TOLD * max(lead.told for lead in leads))
    return [lead for lead in leads if lead.told >= told or _near(lead) >= ALSO_NEAR]


def _near(lead: Lead) -> float:
    return lead.meaning or 0.0


def _rank(leads: list[Lead], weights: Weights) -> list[Ranked]:
    share = weights.meaning if any(lead.meaning is not None for lead in leads) else 0.0
    words = _spread({lead.key: lead.words for lead in leads if lead.words > 0})
    meaning = _spread({lead.key: lead.meaning for lead in leads if lead.meaning is not None})
    base = {
        key: (1 - share) * words.get(key, 0.0) + share * meaning.get(key, 0.0) for key in (lead.key for lead in leads)
    }
    near = {lead.key: weights.neighbour * sum(base.get(key, 0.0) for key in lead.beside) for lead in leads}
    together = {key: base[key] + near[key] for key in base}
    sessions = _sessions(leads, together) if weights.session else {}
    ranked = []
    for lead in leads:
        parts = {
            "alias": NAMED * lead.named,
            "words": (1 - share) * words.get(lead.key, 0.0),
            "meaning": share * meaning.get(lead.key, 0.0),
            "neighbour": near[lead.key],
            "session": weights.session * sessions.get(lead.session, 0.0),
            "speaker": weights.speaker * lead.speaks,
            "person": weights.person * lead.person,
        }
        legs = {"alias": lead.named, "words": lead.words > 0, "meaning": lead.meaning is not None}
        if not any(legs.values()) and not near[lead.key]:
            continue  # who said it, and in which session, says nothing by itself
        why = [HitReason(by, round(score, 4)) for by, score in parts.items() if score > 0 or legs.get(by)]
        ranked.append(Ranked(lead.key, sum(parts.values()), tuple(sorted(why, key=lambda part: -part.score))))
    return ranked


def _spread(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Brought to 0..1, the worst to the best; all 1 when they are alike."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    return {key: (score - low) / (high - low) if high > low else 1.0 for key, score in scores.items()}


def _sessions(leads: list[Lead], scores: Mapping[Key, float]) -> dict[SessionId, float]:
    """Of each session, its best turn's part of the best of all."""
    best: dict[SessionId, float] = {}
    for lead in leads:
        best[lead.session] = max(best.get(lead.session, 0.0), scores[lead.key])
    top = max(best.values(), default=0.0)
    return {session: score / top for session, score in best.items()} if top > 0 else {}
