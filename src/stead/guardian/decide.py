"""Yes, ask, or no: the one decision that every effect passes.

Layer: guardian. Pure and total: the same call under the same facts always gets the same verdict, and whatever no rule
speaks of is denied. This is the only file that builds a ``Permit``; ``runtime/gate.py`` is the only one that calls it.

The order: what nobody can allow; the person's bans; what runs free; this very call's approval; the person's "ask me";
the plan that was made in a clean context; what the person allowed ahead. Everything else is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from stead.domain.obeyed import kept
from stead.domain.permits import Permit
from stead.domain.plans import planned_calls
from stead.domain.policies import Allow, Ask, Deny, Level, Origin, Profile, Reason, Risk, Rule, Verdict
from stead.domain.sessions import Grant
from stead.domain.tools import Declaration, ToolEffect, ToolSpec
from stead.guardian import flow, planning, policy, rules, shapes
from stead.guardian.permits import Circumstances, call_digest
from stead.guardian.reach import Reach, Unreachable
from stead.guardian.shell import ShellRisk


class Proposed(msgspec.Struct, frozen=True):
    """A call that a model wants to make.

    Args:
        tool: the name that the model used.
        spec: the tool of that name; nothing when there is none.
        arguments: plain data as ``Tool.parse`` gave it; empty when it refused.
        malformed: why the arguments do not fit the tool's schema; "" when they do.
        shell: what its command line was understood as; nothing for a call without one.
        carries: links, mail addresses and account numbers in the arguments that carry content.
    """

    tool: str
    spec: ToolSpec | None
    arguments: Mapping[str, object]
    malformed: str
    shell: ShellRisk | None = None
    carries: tuple[str, ...] = ()


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
        context: what the session's model has read.
        rules: the person's standing ones.
        hosts: what every command of the session may reach.
        declared: what every tool declares, by name, to read a plan by.
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
    context: flow.Context = flow.Context()
    rules: Sequence[Rule] = ()
    hosts: Sequence[str] = ()
    declared: Mapping[str, Declaration] = {}


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
    unapproved = _unapproved_hosts(call, call.spec, facts)
    risk = _risk(call, call.spec, unapproved)
    if call.malformed:
        return _deny(risk, "arguments", call.malformed)
    if denied := _hard_denial(call, call.spec, facts, risk):
        return Deny(denied, risk)
    ruling = None
    if facts.rules:
        touched = rules.touched(call.spec.declaration, call.arguments, call.shell, facts.reach, facts.hosts)
        ruling = rules.speaking(facts.rules, call.spec, touched)
    if ruling is not None and ruling.decision == "deny":
        return _deny(risk, "rule-deny", f"A standing rule of the person forbids it: {rules.named(ruling)!r}.")
    return _judge(call, call.spec, facts, risk, unapproved, ruling)


def _judge(
    call: Proposed, spec: ToolSpec, facts: Facts, risk: Risk, unapproved: Sequence[str], ruling: Rule | None
) -> Allow | Ask:
    """What is not forbidden: free, allowed, or to be asked."""
    digest = call_digest(facts.digest_key, call.tool, call.arguments, facts.circumstances)
    outward = (*policy.requested(spec.declaration, call.arguments, facts.reach), *unapproved)
    # What a machine changes is judged as it lands, so that here no safety lies in what a command's words mean.
    level = policy.level_of(spec.declaration, risk, free=facts.profile is Profile.WORK and not outward)
    new = tuple(_new_targets(call, spec, facts))
    if new:
        level = Level.CONFIRM
    covering = shapes.shapes(spec.declaration, call.arguments, level, call.shell, outward)
    bound = shapes.bound_to(call.shell, facts.circumstances, facts.digest_key)
    fits = planning.fit(call.tool, spec.declaration, call.arguments, call.carries, facts.context)
    sources = facts.context.sources
    asks = ruling is not None and ruling.decision == "ask"
    suspended = facts.context.strayed and policy.reaches_out(spec.declaration)
    granted = any(shapes.covers(grant, call.tool, covering, sources, bound) for grant in facts.grants)
    if level is Level.AUTO and not asks:
        reason = Reason("auto", "Looking, planning, and what only a machine does need no approval.")
    elif facts.approved == digest:
        reason = Reason("approved", "The person approved exactly this call.")
    elif fits.grants and not asks:
        text = "The plan named it before anything untrusted was read, and its target is the person's."
        reason = Reason("planned", text)
    elif ruling is not None and not asks and level is not Level.CONFIRM:
        reason = Reason("rule-allow", f"A standing rule of the person allows it: {rules.named(ruling)!r}.")
    elif granted and not suspended and not asks and level is not Level.CONFIRM:
        reason = Reason("granted", f"The person granted {call.tool!r} ahead.")
    else:
        origins = flow.origins(spec.declaration, call.arguments, facts.context)
        why = _why_ask(call, spec, level, facts, origins, ruling if asks else None, new, unapproved)
        shape = covering[0] if covering and bound != shapes.UNTOLD else ""
        return Ask(digest, level, why, risk, shape, origins, bound)
    permit = Permit(
        session=facts.circumstances.session,
        call=facts.circumstances.key,
        tool=call.tool,
        arguments=call.arguments,
        digest=digest,
        nonce=facts.nonce,
    )
    strays = bool(sources) and fits.place < 0 and policy.reads_account(spec.declaration)
    return Allow(permit, reason, risk, fits.place, strays)


def _new_targets(call: Proposed, spec: ToolSpec, facts: Facts) -> Iterator[str]:
    """The targets of a plan's outgoing calls that only the model has named."""
    if spec.declaration.plans and not facts.context.sources:
        # What a tainted session plans grants nothing, so nobody is asked about it.
        for planned, target in planning.unconfirmed(planned_calls(call.arguments), facts.declared, facts.context):
            yield f"{planned.tool} ({target})"


def _risk(call: Proposed, spec: ToolSpec, unapproved: Sequence[str]) -> Risk:
    if call.shell is None:
        return policy.risk_of(spec.declaration)
    return Risk.HIGH if unapproved and call.shell.risk in (Risk.LOW, Risk.MEDIUM) else call.shell.risk


def _hard_denial(call: Proposed, spec: ToolSpec, facts: Facts, risk: Risk) -> Reason | None:
    """What no answer of a person could allow."""
    if spec.name not in facts.offered:
        return Reason("not-offered", f"{spec.name!r} is not among the tools of this objective.")
    looks = call.shell is not None and risk is Risk.LOW
    if facts.profile is Profile.READONLY and policy.changes(spec.declaration) and not looks:
        return Reason("readonly", f"This session is read-only, so this call of {spec.name!r} is not available.")
    if path := policy.outside(spec.declaration, call.arguments):
        return Reason("outside-workspace", f"{path!r} is outside the workspace; give a path relative to /work.")
    if facts.machine and policy.needs_machine(spec.declaration):
        return Reason(
            "no-machine", "There is no sandbox to run this in; `stead doctor` tells the person what is missing."
        )
    for name in spec.declaration.url_args:
        checked = facts.reach.check_url(str(call.arguments.get(name, "")))
        if isinstance(checked, Unreachable):
            return Reason("address", checked.text)
    return None


def _why_ask(
    call: Proposed,
    spec: ToolSpec,
    level: Level,
    facts: Facts,
    origins: Sequence[Origin],
    ruling: Rule | None,
    targets: Sequence[str],
    unapproved: Sequence[str],
) -> Reason:
    """The rule that stopped it, the label, and where the value in doubt came from."""
    if targets:
        calls = "a call" if len(targets) == 1 else f"{len(targets)} calls"
        text = f"The plan would let {calls} leave this computer unasked, to targets that only the model named: "
        return Reason("plan-targets", text + "; ".join(targets))
    if ruling is not None:
        return Reason("rule-ask", f"A standing rule of the person asks for it: {rules.named(ruling)!r}.")
    if doubtful := next((origin for origin in origins if origin.source and policy.reaches_out(spec.declaration)), None):
        text = f"Its {doubtful.argument!r} comes from {doubtful.source!r}, which is untrusted."
        return Reason("tainted-argument", text)
    if facts.context.strayed and policy.reaches_out(spec.declaration):
        return Reason("read-more", "After something untrusted was read, it read private data that no plan named.")
    fresh = flow.kinds(facts.context.sources)
    if fresh and any(grant.tool == call.tool for grant in facts.grants):
        return Reason("tainted-context", f"Asked again: the session has since read {', '.join(fresh)}: untrusted.")
    if call.shell is not None:
        if unapproved:
            return Reason("network", f"The command wants to reach {', '.join(unapproved)}.")
        return call.shell.reasons[0]
    named = (str(path) for path in policy.paths(spec.declaration, call.arguments))
    if spec.declaration.effect is ToolEffect.WRITE and (path := next(filter(kept, named), "")):
        return Reason("obeyed-file", f"Other tools (CI, editor, Git) obey {path!r}: the change waits for your review.")
    return Reason(f"level-{level.value}", _DOES.get(spec.declaration.effect, "It acts on the outside world."))


_DOES = {
    ToolEffect.WRITE: "It changes files of the workspace.",
    ToolEffect.EXECUTE: "It runs a program in the sandbox.",
    ToolEffect.FETCH: "It sends a request off this computer.",
}


def _unapproved_hosts(call: Proposed, spec: ToolSpec, facts: Facts) -> tuple[str, ...]:
    """Hosts that the call needs and the session may not reach anyway."""
    wanted = _hosts(call, spec)
    return tuple(host for host in wanted if not any(rules.is_host(pattern, host) for pattern in facts.hosts))


def _hosts(call: Proposed, spec: ToolSpec) -> list[str]:
    return [str(host) for host in policy.values(spec.declaration.host_args, call.arguments) if host]


def _deny(risk: Risk, rule: str, text: str) -> Deny:
    return Deny(Reason(rule, text), risk)
