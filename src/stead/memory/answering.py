"""What is told of the candidates of every index: which of them, in which order, and why.

Layer: memory. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stead.brain.remembering import normal
from stead.domain.memory import Hit, HitReason, Memory, PlaceId, Viewer, visible
from stead.memory.finding import Found
from stead.memory.gathering import Asked, Gathered
from stead.memory.ranking import CONCLUSION_LOST, TURN_LOST, Key, Lead, Ranked, kept, rank

HIT_CHARS = 2_000
"""Of a turn, as it is told; of a memory there is all."""
_DAY_MS = 86_400_000


def answer(gathered: Mapping[PlaceId, Gathered], ask: Asked, always_chars: int) -> tuple[Hit, ...]:
    """Hits, as many as asked for at most: what is always told, then the best.

    Args:
        gathered: of each place that was asked.
        ask: see there.
        always_chars: of what is always told, as many characters at most.
    """
    found = {(place, item): one for place, some in gathered.items() for item, one in some.found.items()}
    found = {key: one for key, one in found.items() if _may_see(one, ask.viewer)}
    ranked = rank(_leads(gathered, found, ask))
    hits: dict[str, Hit] = {}  # by what they say, so that nothing is told twice
    for hit in (*_always(gathered, found, ranked, always_chars), *(_hit(found[one.key], one) for one in ranked)):
        if len(hits) >= ask.query.limit:
            break
        hits.setdefault(normal(hit.text), hit)
    return tuple(hits.values())


def _may_see(found: Found, viewer: Viewer) -> bool:
    """The second lock: what the statements let through is looked at once more."""
    return visible(found.scope, viewer) and (found.row is None or visible(found.row.memory.scope, viewer))


def _leads(gathered: Mapping[PlaceId, Gathered], found: Mapping[Key, Found], ask: Asked) -> Iterator[Lead]:
    named = {who for some in gathered.values() for who in some.speakers}
    speaker = named.pop() if len(named) == 1 else ""
    for key, one in found.items():
        place, item = key
        some = gathered[place]
        yield Lead(
            key=key,
            source=one.source,
            session=one.session,
            beside=tuple((place, other) for other in some.beside.get(item, ())),
            words=max((table.get(item, 0.0) for table in some.words.values()), default=0.0),
            told=some.told.get(item, 0.0),
            meaning=some.near.get(item),
            named=item in some.named,
            speaks=bool(speaker) and one.who == speaker,
            person=one.who == "user",
            kept=_kept(one, ask.now_ms),
        )


def _kept(found: Found, now_ms: int) -> float:
    """What fading leaves. Turns and conclusions fade; not what is pinned, what a person said, what is still to come."""
    if found.row is None:
        return kept((now_ms - found.ts_ms) / _DAY_MS, TURN_LOST)
    memory = found.row.memory
    if memory.origin != "inferred" or memory.pinned or max(memory.valid_from_ms, memory.valid_to_ms) > now_ms:
        return 1.0
    return kept((now_ms - max(found.ts_ms, found.row.last_used_ms)) / _DAY_MS, CONCLUSION_LOST)


def _always(
    gathered: Mapping[PlaceId, Gathered], found: Mapping[Key, Found], ranked: list[Ranked], most_chars: int
) -> Iterator[Hit]:
    """What is always told, while there is room for it."""
    scored = {one.key: one for one in ranked}
    for place, some in gathered.items():
        for item in some.pinned:
            one = found.get((place, item))
            if one is None or len(one.text) > most_chars:
                continue
            most_chars -= len(one.text)
            also = scored.get((place, item), Ranked((place, item), 0.0, ()))
            yield _hit(one, Ranked(also.key, also.score, (HitReason("pinned", 0.0), *also.why)))


def _hit(found: Found, ranked: Ranked) -> Hit:
    memory: Memory | None = found.row.memory if found.row else None
    return Hit(
        ref=found.ref,
        source=found.source,
        place=ranked.key[0],
        text=memory.text if memory else found.text[:HIT_CHARS],
        who=found.who,
        session=found.session,
        ts_ms=found.ts_ms,
        score=round(ranked.score, 4),
        why=ranked.why,
        label=found.label,
        memory=memory,
    )
