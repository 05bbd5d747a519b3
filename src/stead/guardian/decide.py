"""Yes, ask, or no: the one decision that every effect passes.

Layer: guardian. Pure and total: the same call under the same facts always gets the same verdict, and whatever no rule
speaks of is denied. This is the only file that builds a ``Permit``; ``runtime/gate.py`` is the only one that calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from stead.domain.ids import CallDigest
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Allow, Ask, Deny, Level, Profile, Reason, Risk, Verdict
from stead.domain.sessions import Grant
from stead.domain.tools import ToolEffect, ToolSpec
from stead.guardian import policy
from stead.guardian.permits import Circumstances, call_digest
from stead.guardian.reach import Reach, Unreachable


class Proposed(msgspec.Struct, frozen=True):
    """A call that a model wants to make.

    Args:
        tool: the name that the model used.
        spec: the tool of that name; nothing when there is none.
        arguments: plain data as ``Tool.parse`` gave it; empty when it refused.
        malformed: why the arguments do not fit the tool's schema; "" when they do.
    """

    tool: str
    spec: ToolSpec | None
    arguments: Mapping[str, object]
    malformed: str


class Facts(msgspec.Struct, frozen=True):
    """Everything else that the decision may look at.

    Args:
        circumstances: where and when; part of the digest.
        offered: names of the tools that the session may use.
        profile: the session's strictness.
        grants: what the person allowed ahead and has not expired.
        approved: the digest that the person said yes to for this very call; "" for none.
        reach: what may be fetched.
        machine: why no machine can serve the session; "" when one can.
        digest_key: 32 bytes of the home.
        nonce: 16 fresh random bytes for a permit.
    """

    circumstances: Circumstances
    offered: frozenset[str]
    profile: Profile
    grants: Sequence[Grant]
    approved: str
    reach: Reach
    machine: str
    digest_key: bytes
    nonce: bytes


def decide(call: Proposed, facts: Facts) -> Verdict:
    """Judge one call.

    Args:
        call: what is asked for.
        facts: what is known.

    Returns:
        ``Allow`` with a permit for exactly this call, ``Ask`` with the digest to be answered, or ``Deny``.
    """
    if call.spec is None:
        return _deny(Risk.LOW, "unknown-tool", f"There is no tool {call.tool!r}.")
    risk = policy.risk_of(call.spec.declaration)
    if call.malformed:
        return _deny(risk, "arguments", call.malformed)
    if denied := _hard_denial(call.spec, call.arguments, facts):
        return Deny(denied, risk)
    digest = call_digest(facts.digest_key, call.tool, call.arguments, facts.circumstances)
    level = policy.level_of(call.spec.declaration)
    reason = _leave(call, level, digest, facts)
    if reason is None:
        return Ask(digest, level, _why_ask(call.spec, level), risk)
    permit = Permit(
        session=facts.circumstances.session,
        call=facts.circumstances.key,
        tool=call.tool,
        arguments=call.arguments,
        digest=digest,
        nonce=facts.nonce,
    )
    return Allow(permit, reason, risk)


def _hard_denial(spec: ToolSpec, arguments: Mapping[str, object], facts: Facts) -> Reason | None:
    """What no answer of a person could allow."""
    if spec.name not in facts.offered:
        return Reason("not-offered", f"{spec.name!r} is not among the tools of this objective.")
    if facts.profile is Profile.READONLY and policy.changes(spec.declaration):
        return Reason("readonly", f"This session is read-only, so {spec.name!r} is not available.")
    if path := policy.outside(spec.declaration, arguments):
        return Reason("outside-workspace", f"{path!r} is outside the workspace; give a path relative to /work.")
    if facts.machine and policy.needs_machine(spec.declaration):
        return Reason("no-machine", f"There is no sandbox to run this in: {facts.machine}")
    if spec.declaration.effect is ToolEffect.FETCH:
        for name in spec.declaration.authority_args:
            checked = facts.reach.check_url(str(arguments.get(name, "")))
            if isinstance(checked, Unreachable):
                return Reason("address", checked.text)
    return None


def _leave(call: Proposed, level: Level, digest: CallDigest, facts: Facts) -> Reason | None:
    """Why the call may run without asking (again); nothing when a person must be asked."""
    if level is Level.AUTO:
        return Reason("auto", "Reading the workspace and planning need no approval.")
    if facts.approved and facts.approved == digest:
        return Reason("approved", "The person approved exactly this call.")
    if level is Level.CONFIRM:
        return None
    shape = canonical(call.arguments).decode()
    for grant in facts.grants:
        if grant.tool == call.tool and grant.shape in ("any", shape):
            return Reason("granted", f"The person granted {call.tool!r} ahead.")
    return None


def _why_ask(spec: ToolSpec, level: Level) -> Reason:
    match spec.declaration.effect:
        case ToolEffect.WRITE:
            text = "It changes files of the workspace."
        case ToolEffect.EXECUTE:
            text = "It runs a program in the sandbox."
        case ToolEffect.FETCH:
            text = "It sends a request off this computer."
        case _:
            text = "It acts on the outside world."
    return Reason(f"level-{level.value}", text)


def _deny(risk: Risk, rule: str, text: str) -> Deny:
    return Deny(Reason(rule, text), risk)
