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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from stead.domain.messages import WORKSPACE
from stead.domain.policies import Integrity, Origin, PlannedCall
from stead.domain.tools import Declaration, Role
from stead.guardian import moments, numbers


class Texts(msgspec.Struct, frozen=True):
    """Texts that the session's model was given, by whose word they are.

    Args:
        vouched: outputs of tools that vouch for what they say.
        trusted: texts of the sources that the person trusts for this tool.
        endorsed: targets of calls that the person was shown and said yes to.
        outputs: (source, text) of every untrusted output, oldest first.
    """

    vouched: Sequence[str] = ()
    trusted: Sequence[str] = ()
    endorsed: Sequence[str] = ()
    outputs: Sequence[tuple[str, str]] = ()


class Context(msgspec.Struct, frozen=True):
    """What the session's model has read, and from which source.

    Args:
        words: what the person said.
        texts: gives everything else that it was given; called when a value has to be looked for, and not before.
        sources: the untrusted sources that it has read, first read first; empty for a clean context.
        planned: the calls that the plan still grants.
        used: those of it that were used up.
        entities: what an id of a kind is called: kind, then id, then the name, as tools gave them.
        given: by address or account, the kinds and ids of the things that it belongs to.
        issued: placeholders of secrets that the session was given: Stead's own, also where a reply repeats them.
        strayed: it has read something private that no plan named, after something untrusted; see ``Allow.strays``.
    """

    words: Sequence[str] = ()
    texts: Callable[[], Texts] = Texts
    sources: tuple[str, ...] = ()
    planned: Sequence[PlannedCall] = ()
    used: Sequence[PlannedCall] = ()
    entities: Mapping[str, Mapping[str, str]] = {}
    given: Mapping[str, Sequence[tuple[str, str]]] = {}
    issued: Collection[str] = ()
    strayed: bool = False


def kind_of(source: str) -> str:
    """The kind of a source: ``web`` for ``web:example.com``."""
    return source.partition(":")[0]


def kinds(sources: Sequence[str]) -> tuple[str, ...]:
    """The kinds of sources, each once, without the workspace, which every grant covers."""
    return tuple(sorted({kind_of(source) for source in sources} - {WORKSPACE}))


def origins(declaration: Declaration, arguments: Mapping[str, object], context: Context) -> tuple[Origin, ...]:
    """Where each part of the call's authority came from; parts that say nothing are left out."""
    return tuple(
        Origin(place, *origin(declaration, name, value, context, figure=figure))
        for name in authority(declaration)
        for place, value, figure in leaves(name, arguments.get(name))
    )


def targets(declaration: Declaration, arguments: str) -> tuple[str, ...]:
    """What a call of these arguments (JSON) acts on, as a person was shown it."""
    given = msgspec.json.decode(arguments, type=dict[str, object])
    return tuple(value for name in authority(declaration) for _, value, _ in leaves(name, given.get(name)))


def origin(
    declaration: Declaration, name: str, value: str, context: Context, *, figure: bool = False
) -> tuple[Integrity, str]:
    """The best that can be shown of one value of an argument, and the untrusted source that has it, if one has.

    ``figure``: it is a number, so that another spelling of it is the same.
    """
    if value in context.issued:
        return Integrity.TRUSTED, ""
    entity = declaration.identity_args.get(name, "")
    amount = figure or declaration.roles.get(name) is Role.AMOUNT
    if entity:
        # An id is what a tool gave the thing. Whether the person meant the thing shows only in what it is called.
        things = context.entities.get(entity, {})
        called = things.get(value, "")
        alone = _SERIAL.fullmatch(value) is not None and not moments.is_moment(value)
        spelt = [*names(called), *_abbreviated(called, things.values()), *([value] if alone else ())]
        if any(stands_in(name, context.words) for name in spelt):
            return Integrity.PERSON, ""
    elif stands_in(value, context.words, amount=amount):
        return Integrity.PERSON, ""
    texts = context.texts()
    if stands_in(value, (*texts.vouched, *texts.trusted, *texts.endorsed), amount=amount):
        return Integrity.TRUSTED, ""
    newest = texts.outputs[::-1]
    place = _place(value, [text for _, text in newest], amount=amount)
    return Integrity.UNTRUSTED, newest[place][0] if place >= 0 else ""


def stands_in(value: str, texts: Sequence[str], *, amount: bool = False) -> bool:
    """Whether a text holds the value as a whole: no word, address, path or number goes on at either end of it.

    A URL may stand there without its scheme, a day as people write one, and an amount in any spelling of the number.
    """
    return _place(value, texts, amount=amount) >= 0


def _place(value: str, texts: Sequence[str], *, amount: bool = False) -> int:
    """The first of the texts that holds the value; -1 for none."""
    wanted = plain(value)
    if not wanted:
        return -1
    spellings = [wanted]
    if url := _URL.fullmatch(wanted):
        spellings += [url[1] + url[2], url[2]]
    day = moments.is_moment(wanted)
    figure = numbers.number(wanted) if amount else None
    for place, text in enumerate(texts):
        there = plain(text)
        if any(spelling in there and _stands(spelling, there) for spelling in spellings):
            return place
        if day and moments.named(wanted, there):
            return place
        if figure is not None and numbers.said(figure, there):
            return place
    return -1


def authority(declaration: Declaration) -> tuple[str, ...]:
    """The arguments that decide who or what is acted on."""
    named = (*declaration.authority_args, *declaration.host_args, *declaration.identity_args)
    return tuple(dict.fromkeys(named))


def leaves(place: str, value: object) -> Iterator[tuple[str, str, bool]]:
    """The texts and numbers in an argument, each with its place and whether it is a number."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, str):
        if value.strip():
            yield place, value, False
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(f"{place}.{name}", inner)
    elif isinstance(value, Sequence):
        for index, inner in enumerate(value):
            yield from leaves(f"{place}[{index}]", inner)
    else:
        yield place, spelt(value), True


def spelt(value: object) -> str:
    """A text as it is, a number as people write it: 1200 for 1200.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def is_given(value: str, context: Context) -> bool:
    """Whether an address or account belongs to a thing that the person named, and no other thing has that name."""
    for kind, id in context.given.get(value, ()):
        things = context.entities.get(kind, {})
        called = things.get(id, "")
        if [*things.values()].count(called) == 1 and any(stands_in(name, context.words) for name in names(called)):
            return True
    return False


def names(called: str) -> Iterator[str]:
    """The ways in which a person may write what a thing is called: as it is, or a file's name as words."""
    yield called
    yield re.sub(r"[-_\s]+", " ", called.rpartition(".")[0] or called)


def _abbreviated(called: str, others: Collection[str]) -> Iterator[str]:
    """The first word of a name of several, if it is a proper one and no other thing's name begins with it."""
    first = re.split(r"[-_\s.]", called, maxsplit=1)[0]
    if first not in (called, first.lower()) and sum(other.startswith(first) for other in others) == 1:
        yield first


_SERIAL = re.compile(r"(?=.*[0-9])[\w.-]{6,}")
"""An id that is long enough to be that thing's alone, wherever a person wrote it."""
_URL = re.compile(r"(https?://)([^@]+?)/?")
_SPACE = re.compile(r"\s+")
_GOES_ON = frozenset(".-@/:+%?&=#~_$")
"""What joins the parts of an address, a path or a number, if a letter or digit follows on its other side."""


@lru_cache(maxsize=256)  # the same texts are looked through for every call of a session
def plain(text: str) -> str:
    """A text as two are compared: without regard to letters' case and to how its words are set apart."""
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
