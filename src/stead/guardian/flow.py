"""Information flow: where a call's arguments came from, and what a plan that was made in a clean context grants.

Layer: guardian. Pure. The model is taken to do a stranger's will from the moment it has read something untrusted. From
then on its word counts for nothing, so a call is judged by what can be shown without it:

- The *authority* of a call (whom it reaches, what it acts on) must stand in the person's words, in what a trusted tool
  said, or in a source that the person trusts. It must stand there as a whole: ``b.example`` does not stand in
  ``a@b.example``.
- The *content* that is sent to others carries no link, mail address or account number that the person did not write.
- The *kind* of the call must have been planned before, and a planned call is used up by one call.

The rules follow from declarations and from the text of the session; no tool and no suite of tests is named here. They
are measured by ``bench/s3_injection.py``; the guide's section on prompt injection has the figures of their forerunners.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from stead.domain.messages import WORKSPACE
from stead.domain.policies import Integrity, Origin, PlannedCall
from stead.domain.tools import Declaration, ToolEffect
from stead.guardian import moments


class Context(msgspec.Struct, frozen=True):
    """What the session's model has been told, by whom.

    Args:
        words: what the person said.
        vouched: outputs of trusted tools, and of sources that the person trusts.
        sources: the untrusted sources that it has read, first read first; empty for a clean context.
        outputs: (source, text) of every untrusted output, oldest first.
        planned: the calls that the plan still grants.
        entities: what an id of a kind is called: kind, then id, then the name, as tools gave them.
        ways_out: whether some call could still leave the machine unasked, by the plan or by a grant.
    """

    words: Sequence[str] = ()
    vouched: Sequence[str] = ()
    sources: tuple[str, ...] = ()
    outputs: Sequence[tuple[str, str]] = ()
    planned: Sequence[PlannedCall] = ()
    entities: Mapping[str, Mapping[str, str]] = {}
    ways_out: bool = True


def kind_of(source: str) -> str:
    """The kind of a source: ``web`` for ``web:example.com``."""
    return source.partition(":")[0]


def kinds(sources: Sequence[str]) -> tuple[str, ...]:
    """The kinds of sources, each once, without the workspace, which every grant covers."""
    return tuple(sorted({kind_of(source) for source in sources} - {WORKSPACE}))


def origins(declaration: Declaration, arguments: Mapping[str, object], context: Context) -> tuple[Origin, ...]:
    """Where each part of the call's authority came from; parts that say nothing are left out."""
    return tuple(
        Origin(place, *_origin(value, declaration.identity_args.get(name, ""), context))
        for name in _authority(declaration)
        for place, value in _leaves(name, arguments.get(name))
    )


def planned(
    tool: str, declaration: Declaration, arguments: Mapping[str, object], carries: Sequence[str], context: Context
) -> int:
    """Which planned call covers this one, by its place; -1 for none.

    Args:
        tool: its name.
        declaration: the tool's.
        arguments: the call's.
        carries: the links, mail addresses and account numbers in the arguments that carry content.
        context: what the session has read, and what was planned.
    """
    found = next(
        (place for place, plan in enumerate(context.planned) if plan.tool == tool and _fits(plan, arguments)), -1
    )
    if found < 0 or declaration.unplanned or declaration.effect is ToolEffect.EXECUTE:
        return -1
    pinned = _known(context.planned[found].arguments)
    for name in _authority(declaration):
        entity = declaration.identity_args.get(name, "")
        if name not in pinned and _says_unsaid(arguments.get(name)):
            return -1
        for _, value in _leaves(name, arguments.get(name)):
            integrity, _ = _origin(value, entity, context)
            if integrity is Integrity.UNTRUSTED:
                return -1
            # What the person named was known when the plan was made. Whoever fills a gap of the plan with the person's
            # words now takes them from somewhere else.
            if integrity is Integrity.PERSON and not (entity or name in pinned):
                return -1
    if any(not stands_in(carried, context.words) for carried in carries):
        return -1
    return found


def stands_in(value: str, texts: Sequence[str]) -> bool:
    """Whether a text holds the value as a whole: no word, address, path or number goes on at either end of it.

    A URL may stand there without its scheme, and a day as people write one.
    """
    return _place(value, texts) >= 0


def _place(value: str, texts: Sequence[str]) -> int:
    """The first of the texts that holds the value; -1 for none."""
    wanted = _plain(value)
    if not wanted:
        return -1
    spellings = [wanted]
    if url := _URL.fullmatch(wanted):
        spellings += [url[1] + url[2], url[2]]
    day = moments.is_moment(wanted)
    for place, text in enumerate(texts):
        plain = _plain(text)
        if any(spelling in plain and _stands(spelling, plain) for spelling in spellings):
            return place
        if day and moments.named(wanted, plain):
            return place
    return -1


def _authority(declaration: Declaration) -> tuple[str, ...]:
    named = (*declaration.authority_args, *declaration.host_args, *declaration.identity_args)
    return tuple(dict.fromkeys(named))


def _leaves(place: str, value: object) -> Iterator[tuple[str, str]]:
    """The texts and numbers in an argument, each with its place."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, str):
        if value.strip():
            yield place, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{place}.{name}", inner)
    elif isinstance(value, Sequence):
        for index, inner in enumerate(value):
            yield from _leaves(f"{place}[{index}]", inner)
    else:
        yield place, _number(value)


def _says_unsaid(value: object) -> bool:
    """Whether it holds names of fields, or a yes or no: of these nobody can say where they came from."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(map(_says_unsaid, value))
    return isinstance(value, bool) or (isinstance(value, Mapping) and bool(value))


def _number(value: object) -> str:
    """A number as people write it: 1200 for 1200.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _origin(value: str, entity: str, context: Context) -> tuple[Integrity, str]:
    if entity:
        # An id is what a tool gave the thing. Whether the person meant the thing shows only in what it is called.
        called = context.entities.get(entity, {}).get(value, "")
        spelt = [*_names(called), *([value] if _SERIAL.fullmatch(value) else ())]
        if any(stands_in(name, context.words) for name in spelt):
            return Integrity.PERSON, ""
    elif stands_in(value, context.words):
        return Integrity.PERSON, ""
    if stands_in(value, context.vouched):
        return Integrity.TRUSTED, ""
    newest = context.outputs[::-1]
    place = _place(value, [text for _, text in newest])
    return Integrity.UNTRUSTED, newest[place][0] if place >= 0 else ""


def _names(called: str) -> Iterator[str]:
    """The ways in which a person may write what a thing is called: as it is, or a file's name as words."""
    yield called
    stem = called.rpartition(".")[0] or called
    yield re.sub(r"[-_\s]+", " ", stem)


def _fits(plan: PlannedCall, arguments: Mapping[str, object]) -> bool:
    """Whether a call has every argument that the plan knew ahead."""
    return all(_same(value, arguments.get(name)) for name, value in _known(plan.arguments).items())


@lru_cache(maxsize=256)
def _known(arguments: str) -> Mapping[str, object]:
    return msgspec.json.decode(arguments, type=dict[str, object])


def _same(known: object, given: object) -> bool:
    if isinstance(known, str) and isinstance(given, str):
        return _plain(known) == _plain(given)
    if isinstance(known, list) and isinstance(given, list):
        return len(known) == len(given) and all(map(_same, known, given))
    return known == given


_SERIAL = re.compile(r"(?=.*[0-9])[\w.-]{6,}")
"""An id that is long enough to be that thing's alone, wherever a person wrote it."""
_URL = re.compile(r"(https?://)([^@]+?)/?")
_SPACE = re.compile(r"\s+")
_GOES_ON = frozenset(".-@/:+%?&=#~_$")
"""What joins the parts of an address, a path or a number, if a letter or digit follows on its other side."""


@lru_cache(maxsize=64)  # the same few texts are looked through for every call of a session
def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()


def _stands(wanted: str, text: str) -> bool:
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _continues(text, at - 1, -1) and not _continues(text, end, 1):
            return True
        at = text.find(wanted, at + 1)
    return False


def _continues(text: str, at: int, step: int) -> bool:
    """Whether the token goes on at this place, looking away from the value."""
    while 0 <= at < len(text) and text[at] in _GOES_ON:
        at += step
    return 0 <= at < len(text) and text[at].isalnum()
