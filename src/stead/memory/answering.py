"""What is told of the candidates of every index: which of them, in which order, and why.

Layer: memory. Pure.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from stead.brain.remembering import normal, overtaken
from stead.domain.memory import Hit, HitReason, Memory, PlaceId, Viewer, visible
from stead.memory import words
from stead.memory.finding import Found
from stead.memory.gathering import Asked, Search
from stead.memory.ranking import Key, Lead, Ranked, rank

MEMORIES = 2 / 3
"""Of the hits that were asked for: so many are kept for memories, which were made to be told, before turns fill up."""
NO_LONGER = "[left out here: what no longer holds]"
"""Stands for words of a turn that a newer memory has superseded."""


def answer(searches: Iterable[Search], ask: Asked, always_chars: int) -> tuple[Hit, ...]:
    """What is always told, and then the best others, as many as asked for at most: memories, then turns.

    Scores of the two are not compared: each kind's are brought to 0..1 among themselves, and a turn can win more.

    Args:
        searches: of each place that was asked, complete.
        ask: see there.
        always_chars: of what is always told, as many characters at most.
    """
    query, limit = ask.query, ask.query.limit
    gathered = {search.index.place: search for search in searches}
    found = {(place, item): one for place, some in gathered.items() for item, one in some.found.items()}
    found = {key: one for key, one in found.items() if _may_see(one, ask.viewer)}
    gone = overtaken(one for some in gathered.values() for one in some.keyed if visible(one.scope, ask.viewer))
    found = {key: one for key, one in found.items() if one.ref not in gone}
    found = dict(_still_so(found, [ground for some in gathered.values() for ground in some.grounds]))
    ranked = rank(_leads(gathered, found), looked_up=query.looked_up, nearest=query.nearest)
    said = set(query.told)  # with what hits say, so that nothing is told twice

    def told(some: Iterable[Ranked]) -> Iterator[Hit]:
        for hit in (_hit(found[one.key], one, ask) for one in some):
            told_words = normal(hit.text)
            if told_words not in said and hit.ref not in said:
                yield hit
            said.add(told_words)

    always = tuple(told(_always(gathered, found, ranked, always_chars))) if not query.looked_up else ()
    memories = tuple(itertools.islice(told(one for one in ranked if found[one.key].row), limit))
    turns = tuple(itertools.islice(told(one for one in ranked if not found[one.key].row), limit))
    most = max(limit - len(turns), math.ceil(limit * MEMORIES))
    return (*always, *(*memories[:most], *turns)[:limit])


def _may_see(found: Found, viewer: Viewer) -> bool:
    """The second lock: what the statements let through is looked at once more."""
    return visible(found.scope, viewer) and (found.row is None or visible(found.row.memory.scope, viewer))


def _still_so(found: Mapping[Key, Found], grounds: Iterable[tuple[int, int, int, bool]]) -> Iterator[tuple[Key, Found]]:
    """Turns without the words on which only a memory rests that another one has superseded; none of little else."""
    stale, good = defaultdict[int, list[tuple[int, int]]](list), defaultdict[int, list[tuple[int, int]]](list)
    for seq, start, end, holds in grounds:
        (good if holds else stale)[seq].append((start, end))
    for key, one in found.items():
        text = one.text
        for start, end in sorted(stale[one.seq], reverse=True) if one.row is None else ():
            if not any(start < other_end and other < end for other, other_end in good[one.seq]):
                text = f"{text[:start]}{NO_LONGER}{text[end:]}"
        if text == one.text or len(text.replace(NO_LONGER, "").strip()) > len(one.text) / 2:
            yield key, one if text == one.text else replace(one, text=text)


def _leads(gathered: Mapping[PlaceId, Search], found: Mapping[Key, Found]) -> Iterator[Lead]:
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
            words=some.words.get(item, 0.0),
            told=some.told.get(item, 0.0),
            meaning=some.near.get(item),
            named=item in some.named,
            speaks=bool(speaker) and one.who == speaker,
            person=one.who == "user",
        )


def _always(
    gathered: Mapping[PlaceId, Search], found: Mapping[Key, Found], ranked: list[Ranked], most_chars: int
) -> Iterator[Ranked]:
    """What is always told, while there is room for it: of each place in turn, the narrower one first.

    What was told already takes its room too, so that the room is a session's and not one for each of its turns.
    """
    scored = {one.key: one for one in ranked}
    pinned = [[(place, item) for item in some.pinned] for place, some in reversed(list(gathered.items()))]
    for key in itertools.chain.from_iterable(itertools.zip_longest(*pinned)):
        if key is None or key not in found or len(found[key].text) > most_chars:
            continue
        most_chars -= len(found[key].text)
        also = scored.get(key, Ranked(key, 0.0, ()))
        yield Ranked(key, also.score, (HitReason("pinned", 0.0), *also.why))


def _hit(found: Found, ranked: Ranked, ask: Asked) -> Hit:
    memory: Memory | None = found.row.memory if found.row else None
    return Hit(
        ref=found.ref,
        source=found.source,
        place=ranked.key[0],
        text=words.around(found.text, ask.terms, ask.query.chars),
        who=found.who,
        session=found.session,
        ts_ms=found.ts_ms,
        score=round(ranked.score, 4),
        why=ranked.why,
        label=found.label,
        memory=memory,
    )
