"""What a plan grants: which planned call an actual one is, and whether that call may run unasked for it.

Layer: guardian. Pure. A plan is made before anything untrusted was read, and a planned call is used up by the one call
that it fits best, however that call came to be allowed. What can be put right again in the person's own account is
granted by count. A call that leaves the machine, or changes files, needs every target *pinned*: it stands in the plan,
and in the person's words, in a system of record that they set up, or in a plan that they confirmed. A target that the
plan left open is filled by little: the id or address of a thing whose name the person wrote; a source that they trust
for this tool; a target of a call that they were shown before; and what they delegated when they confirmed the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from stead.domain.policies import Integrity, PlannedCall
from stead.domain.tools import Declaration, Role, ToolEffect, acting
from stead.guardian import flow, numbers, policy
from stead.guardian.flow import Context


class Fit(NamedTuple):
    """A planned call that an actual one fits.

    Args:
        place: in the plan; -1 for none.
        grants: it lets the call run without a question.
    """

    place: int = -1
    grants: bool = False


def fit(
    tool: str, declaration: Declaration, arguments: Mapping[str, object], carries: Sequence[str], context: Context
) -> Fit:
    """The planned call that covers this one: one that grants it before one that does not, most pins first.

    Args:
        tool: its name.
        declaration: the tool's, with the effect of this call.
        arguments: the call's.
        carries: the links, mail addresses and account numbers in the arguments that carry content.
        context: what the session has read, and what was planned.
    """
    fits = [
        Fit(place, _grants(plan, declaration, arguments, carries, context))
        for place, plan in enumerate(context.planned)
        if plan.tool == tool and _is_as_planned(plan, declaration, arguments, context)
    ]
    return max(fits, key=lambda one: (one.grants, len(known(context.planned[one.place]))), default=Fit())


def unconfirmed(
    calls: Sequence[PlannedCall], declared: Mapping[str, Declaration], context: Context
) -> Iterator[tuple[PlannedCall, str]]:
    """The calls of a new plan that leave the machine, each with a target that only the model has named.

    What the person confirmed in the plan before needs no second yes.
    """
    answered = [
        msgspec.structs.replace(plan, confirmed=False) for plan in (*context.planned, *context.used) if plan.confirmed
    ]
    for call in calls:
        if call in answered:
            answered.remove(call)
            continue
        pins = known(call)
        declaration = acting(declared.get(call.tool, _NOTHING), pins)
        if not policy.reaches_out(declaration) or declaration.unplanned or declaration.effect is ToolEffect.EXECUTE:
            continue
        open_ = next((f"{name} from {source}" for name, source in call.takes.items()), "")
        doubtful = (
            f"{place} {value}"
            for name in flow.authority(declaration)
            if name not in declaration.identity_args and name not in declaration.closed_args
            for place, value, figure in flow.leaves(name, pins.get(name))
            if flow.origin(declaration, name, value, context, figure=figure)[0] is Integrity.UNTRUSTED
        )
        if target := open_ or next(doubtful, ""):
            yield call, target


@lru_cache(maxsize=256)
def _decoded(arguments: str) -> Mapping[str, object]:
    return msgspec.json.decode(arguments, type=dict[str, object])


def known(plan: PlannedCall) -> Mapping[str, object]:
    """The arguments that a planned call names."""
    return _decoded(plan.arguments)


def _is_as_planned(
    plan: PlannedCall, declaration: Declaration, arguments: Mapping[str, object], context: Context
) -> bool:
    """Whether a call has every argument that the plan knew ahead, and keeps to what it left open."""
    for name, pinned in known(plan).items():
        if not _same(pinned, arguments.get(name), context.entities.get(declaration.identity_args.get(name, ""), {})):
            return False
    for name, most in plan.up_to.items():
        given = [numbers.number(value) for _, value, _ in flow.leaves(name, arguments.get(name))]
        if not given or any(one is None or one > most for one in given):
            return False
    return True


def _same(pinned: object, given: object, called: Mapping[str, str]) -> bool:
    """Whether two values are the same: in another spelling of a text or a number, or a thing's id for its name."""
    if isinstance(pinned, list) and isinstance(given, list):
        return len(pinned) == len(given) and all(
            _same(one, other, called) for one, other in zip(pinned, given, strict=True)
        )
    if isinstance(pinned, bool) or isinstance(given, bool) or not isinstance(pinned, str | int | float):
        return pinned == given
    if not isinstance(given, str | int | float):
        return False
    ahead, now = flow.spelt(pinned), flow.spelt(given)
    if flow.plain(ahead) == flow.plain(now) or flow.plain(ahead) in map(flow.plain, flow.names(called.get(now, ""))):
        return True
    figure = numbers.number(ahead) if not (isinstance(pinned, str) and isinstance(given, str)) else None
    return figure is not None and figure == numbers.number(now)


def _grants(
    plan: PlannedCall,
    declaration: Declaration,
    arguments: Mapping[str, object],
    carries: Sequence[str],
    context: Context,
) -> bool:
    """Whether a call that is as planned may run without a question."""
    if declaration.unplanned or declaration.effect is ToolEffect.EXECUTE:
        return False
    if not policy.changes(declaration):
        return True
    outward = policy.reaches_out(declaration)
    if not outward and not policy.needs_machine(declaration):
        return True  # what can be put right again in the person's own account is used up by count
    if outward and (context.strayed or any(not flow.stands_in(carried, context.words) for carried in carries)):
        return False
    shown = [
        min((_shown(plan, declaration, name, leaf, context) for leaf in _leaves(plan, name, arguments)), default=_KNOWN)
        for name in flow.authority(declaration)
    ]
    # Of several targets one at the most is a source's word alone: else the source chooses the whole call.
    return _OPEN not in shown and shown.count(_TRUSTED) <= 1


_OPEN, _TRUSTED, _KNOWN = range(3)
"""How far a target is shown: not at all, by a source that the person trusts for this tool, or as theirs."""


def _leaves(plan: PlannedCall, name: str, arguments: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """The values of an argument, and whether each is a number; what says nothing of itself counts as open."""
    value = arguments.get(name)
    if name not in known(plan) and _says_unsaid(value):
        yield "", False
    for _, leaf, figure in flow.leaves(name, value):
        yield leaf, figure


def _shown(plan: PlannedCall, declaration: Declaration, name: str, leaf: tuple[str, bool], context: Context) -> int:
    """How far one value is the person's, or one that the plan was allowed to leave open."""
    value, figure = leaf
    if not value:
        return _OPEN
    if plan.confirmed and name in plan.takes:
        read = [text for source, text in context.texts().outputs if plan.takes[name] in (source, flow.kind_of(source))]
        return _KNOWN if flow.stands_in(value, read) else _OPEN
    if plan.confirmed and name in plan.up_to:
        return _KNOWN
    integrity, _ = flow.origin(declaration, name, value, context, figure=figure)
    entity = declaration.identity_args.get(name, "")
    if name in known(plan):
        listed = context.entities.get(entity, {})
        spelt = flow.stands_in(value, context.words) and (not listed or value in listed)
        sure = plan.confirmed or name in declaration.closed_args or spelt or integrity is not Integrity.UNTRUSTED
        return _KNOWN if sure else _OPEN
    # What the person named was known when the plan was made. A model that fills a gap of the plan with their words
    # now takes them from somewhere else. What a record says of another thing is no target either.
    own = declaration.roles.get(name) is Role.OWN_ACCOUNT and flow.stands_in(value, context.texts().vouched)
    if own or (entity and integrity is Integrity.PERSON) or flow.is_given(value, context):
        return _KNOWN
    if integrity is not Integrity.TRUSTED:
        return _OPEN
    if flow.stands_in(value, context.texts().endorsed):
        return _KNOWN
    return _TRUSTED if flow.stands_in(value, context.texts().trusted) else _OPEN


def _says_unsaid(value: object) -> bool:
    """Whether it holds names of fields, or a yes or no: the origin of such values cannot be found."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(map(_says_unsaid, value))
    return isinstance(value, bool) or (isinstance(value, Mapping) and bool(value))


_NOTHING = Declaration(ToolEffect.SEND)
"""What is known of a tool that there is not: nothing that would let it off."""
