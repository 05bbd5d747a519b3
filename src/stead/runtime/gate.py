"""The one gate: every call that a model asks for is judged here, and runs nowhere else.

Layer: runtime. Gathers the facts, hands them to the pure decision, and keeps the permit's life as short as the run.
What a tool gives back is labelled here, by its declaration and by what it was pointed at.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TypeVar

import msgspec

from stead.brain.rule_sentences.grammar import constraint_rules
from stead.domain.agents import NO_TOOLS
from stead.domain.errors import FetchFault, InvalidRequest, MachineError, MachineUnavailable
from stead.domain.events import SessionOpened
from stead.domain.ids import CallDigest
from stead.domain.mcp import is_mcp
from stead.domain.messages import MACHINE, WORKSPACE, UserMessage
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Allow, Ask, Integrity, Label, Risk, Rule, Verdict
from stead.domain.ports import Machines
from stead.domain.registries import REGISTRY, are_registries
from stead.domain.sessions import Call, Session, results
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec, acting
from stead.domain.trials import Barred
from stead.guardian import policy
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.flow import Context, Texts, targets
from stead.guardian.permits import Circumstances
from stead.guardian.reach import Reach
from stead.guardian.rules import barring
from stead.guardian.shell import assess
from stead.screen.links import links

_FILES_OF_A_COMMAND = 50
"""How many of the files that a command names an approval is bound to; a command that names more asks again anyway."""

T = TypeVar("T")

UNKNOWN_HOST = "?"
"""Stands for a host where nobody says which; what came from there is trusted by no answer."""


@dataclass(frozen=True)
class Judged:
    """A call and its verdict. ``arguments`` is canonical JSON, or the model's own text when that does not fit.

    ``writes``: the files of the workspace that it names to change them; ``changes``: it may change files, be they named
    or not. ``stains``: the stores that it changes although the session has read something untrusted. ``command`` is its
    command line, "" when it has none. ``moment``: what else the verdict depended on.
    """

    tool: str
    arguments: str
    parsed: Mapping[str, object]
    verdict: Verdict
    idempotent: bool
    label: Label
    context: Context
    writes: tuple[str, ...]
    effect: ToolEffect
    changes: bool
    stains: tuple[str, ...]
    command: str
    moment: Moment

    @property
    def digest(self) -> CallDigest:
        """What was judged; "" for a call that was denied before it had one."""
        match self.verdict:
            case Allow(permit=permit):
                return permit.digest
            case Ask(digest=digest):
                return digest
            case _:
                return CallDigest("")


@dataclass(frozen=True)
class Standing:
    """What is known of a folder, apart from any session: the person's rules, and the hosts that it may reach.

    ``reached``: the hosts that machines that show the folder, or one that has files in common with it, were connected
    to. ``grants_last``: what was granted ahead also covers sessions that have read from package registries. ``at``: the
    last event (``session_seq``) of the home's stream that this is known from.
    """

    rules: tuple[Rule, ...] = ()
    hosts: tuple[str, ...] = ()
    reached: frozenset[str] = frozenset()
    grants_last: bool = False
    at: int = 0

    @property
    def known(self) -> tuple[str, ...]:
        """Kinds of sources that the person does not take for strangers there."""
        return (REGISTRY,) if self.grants_last else ()


@dataclass(frozen=True)
class Moment:
    """What a verdict depends on apart from its session and its call. All of it is on record or follows from it.

    ``files``: fingerprints of the files that the call names. ``machine``: why there is none, "" when there is one.
    """

    standing: Standing
    now_ms: int
    files: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""


class Gate:
    """Judges and runs calls.

    Args:
        tools: every tool there is; names are unique.
        machines: for fingerprints of the files that a call names.
        reach: what may be fetched.
        digest_key: 32 bytes of the home.
        random_bytes: a source of nonces.
        standing: what the person has said for a folder, as it is now.
        more: tools that come and go, of MCP servers, by name; none takes the name of one of ``tools``.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        machines: Machines,
        *,
        reach: Reach,
        digest_key: bytes,
        random_bytes: Callable[[int], bytes],
        standing: Callable[[str], Standing] = lambda _: Standing(),
        more: Callable[[], Mapping[str, Tool]] = dict,
    ) -> None:
        self._own = {tool.spec.name: tool for tool in tools}
        self._own_declared = {name: tool.spec.declaration for name, tool in self._own.items()}
        self._more = more
        self._machines = machines
        self._reach = reach
        self._digest_key = digest_key
        self._random_bytes = random_bytes
        self._standing = standing

    @property
    def _tools(self) -> Mapping[str, Tool]:
        more = self._more()
        return {**self._own, **{name: more[name] for name in more if name not in self._own}} if more else self._own

    @property
    def _declared(self) -> Mapping[str, Declaration]:
        more = self._more()
        return {**{name: more[name].spec.declaration for name in more}, **self._own_declared}

    def known(self, directory: str) -> tuple[str, ...]:
        """Kinds of sources that the person does not take for strangers in a folder."""
        return self._standing(directory).known

    @property
    def reach(self) -> Reach:
        """What may be fetched."""
        return self._reach

    def barring(self, session: Session, now_ms: int) -> Barred:
        """What the person's rules, and the session's constraints, say against changed paths."""
        return barring(_rules(self._standing(session.spec.directory), session, now_ms))

    def specs(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The tools of these names, or all for none, in their constant order, those that are found by search included.

        Raises:
            InvalidRequest: a name that no tool has.
        """
        tools = self._tools
        for name in names:
            if name not in tools and name not in NO_TOOLS and not is_mcp(name):  # one of a server's comes and goes
                raise InvalidRequest(f"there is no tool {name!r}; the tools are {', '.join(tools)}")
        return tuple(tool.spec for name, tool in tools.items() if not names or name in names)

    def offered(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """Those of them that stand in requests: one that is rarely used does only where it was chosen by name.

        Raises:
            InvalidRequest: as ``specs``.
        """
        return tuple(spec for spec in self.specs(names) if not spec.deferred or spec.name in names)

    def with_more(self, more: Mapping[str, Tool]) -> Gate:
        """The same gate where the tools that come and go are these."""
        other = copy(self)
        other._more = lambda: more
        return other

    async def judge(self, session: Session, call: Call, now_ms: int) -> Judged:
        """Judge one call of a session as things stand now.

        Raises:
            MachineError: the machine could not say what the named files are.
        """
        proposed = self._proposed(call)
        context = _context(session, call.tool, self._declared)
        # A yes holds for the files as they were. What is free without them needs no look at them.
        files = await self._fingerprints(session, proposed) if call.step == "approved" else {}
        isolation = self._machines.isolation()
        machine = "" if isolation.available else "; ".join(isolation.missing)
        moment = Moment(self._standing(session.spec.directory), now_ms, files, machine)
        verdict = decide(proposed, self._facts(session, call, context, moment))
        if isinstance(verdict, Ask) and call.step != "approved" and isolation.available:
            moment = replace(moment, files=await self._fingerprints(session, proposed))
            verdict = decide(proposed, self._facts(session, call, context, moment)) if moment.files else verdict
        declaration = proposed.spec.declaration if proposed.spec else _UNKNOWN
        return Judged(
            tool=call.tool,
            arguments=canonical(proposed.arguments).decode()
            if proposed.spec and not proposed.malformed
            else call.arguments,
            parsed=proposed.arguments,
            verdict=verdict,
            idempotent=declaration.idempotent,
            label=_label(declaration, session.stained),
            context=context,
            writes=_written(declaration, proposed.arguments),
            effect=declaration.effect,
            changes=policy.changes_files(declaration),
            stains=declaration.stores if policy.changes(declaration) and context.sources else (),
            command=_command(declaration, proposed.arguments) or "",
            moment=moment,
        )

    def judge_again(self, session: Session, call: Call, moment: Moment) -> Verdict:
        """The verdict on a call of the record under the facts of its moment, or under others. Nothing can run by it."""
        context = _context(session, call.tool, self._declared)
        verdict = decide(self._proposed(call), self._facts(session, call, context, moment))
        if isinstance(verdict, Allow):
            verdict.permit.close()
        return verdict

    def _proposed(self, call: Call) -> Proposed:
        tool = self._tools.get(call.tool)
        parsed, malformed = _parse(tool, call.arguments)
        if tool is None:
            return Proposed(call.tool, None, parsed, malformed)
        declaration = acting(tool.spec.declaration, parsed)
        spec = msgspec.structs.replace(tool.spec, declaration=declaration)
        command = _command(declaration, parsed)
        shell = _assessed(command) if command is not None else None
        return Proposed(call.tool, spec, parsed, malformed, shell, _carried(declaration, parsed))

    def _facts(self, session: Session, call: Call, context: Context, moment: Moment) -> Facts:
        standing = moment.standing
        return Facts(
            circumstances=Circumstances(
                session=session.id,
                key=call.key,
                directory=session.spec.directory,
                revision=session.revision,
                files=moment.files,
                sources=context.sources,
            ),
            offered=frozenset(spec.name for spec in self.specs(session.spec.tools)),
            profile=session.spec.profile,
            grants=[
                msgspec.structs.replace(grant, sources=(*grant.sources, *standing.known))
                for grant in session.grants
                if grant.expires_at_ms > moment.now_ms
            ],
            approved=call.digest if call.step == "approved" else "",
            reach=self._reach,
            machine=moment.machine,
            digest_key=self._digest_key,
            nonce=self._random_bytes(16),
            context=context,
            rules=_rules(standing, session, moment.now_ms),
            hosts=(*standing.hosts, *session.spec.hosts),
            declared=self._declared,
        )

    async def run(self, judged: Judged, permit: Permit, context: ToolContext) -> tuple[ToolOutcome, int]:
        """Run an allowed call under its permit; gives the outcome and how long it took in milliseconds.

        Raises:
            PermitRefused: the permit is not for this call; a bug.
        """
        started = time.monotonic()
        try:
            outcome = await self._tools[judged.tool].run(permit, judged.parsed, context)
        except (MachineError, FetchFault) as fault:
            sent_to = policy.requested(self._tools[judged.tool].spec.declaration, judged.parsed, self._reach)
            no_machine = isinstance(fault, MachineUnavailable)
            outcome = ToolOutcome("error", str(fault), reached=sent_to, quoted=fault.quotes, no_machine=no_machine)
        finally:
            permit.close()
        return outcome, int((time.monotonic() - started) * 1000)

    async def attempt(self, judged: Judged, permit: Permit, work: Callable[[Permit], Awaitable[T]]) -> T:
        """Have Stead do something of its own under the permit of an allowed call, which does not run.

        Raises:
            PermitRefused: the permit is not for this call; a bug. All else comes from ``work``.
        """
        permit.spend(judged.tool, judged.parsed)
        try:
            return await work(permit)
        finally:
            permit.close()

    def only_reads(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Whether a call of a tool with these arguments changes nothing anywhere."""
        tool = self._tools.get(name)
        return tool is not None and acting(tool.spec.declaration, arguments).effect in (
            ToolEffect.READ,
            ToolEffect.FETCH,
        )

    def source(self, session: Session, judged: Judged, outcome: ToolOutcome) -> str:
        """What a call's output comes from: hosts of the web, the workspace, or an account that the tool reads.

        Which hosts is the record's word, not the call's: what the call's own requests reached, and for whatever went
        through a machine all that the folder's machines were ever connected to, since a file can lie there for long. A
        call that names hosts and reaches none brings nothing in from them.
        """
        declaration, arguments = self._tools[judged.tool].spec.declaration, judged.parsed
        hosts = set(outcome.reached)
        if not hosts and (declaration.url_args or declaration.service_args):
            hosts.add(UNKNOWN_HOST)
        if policy.in_machine(declaration, arguments):
            hosts |= self._standing(session.spec.directory).reached
        folder = [WORKSPACE] if policy.shows_folder(declaration, arguments) else []
        if hosts:
            return _of_hosts(hosts, folder)
        if folder:
            return MACHINE if outcome.no_machine else WORKSPACE
        named = [
            str(arguments[name])
            for name in (*declaration.identity_args, *declaration.authority_args)
            if arguments.get(name)
        ]
        return f"{judged.tool}:{named[0][:200]}" if named else judged.tool

    def source_of_folder(self, directory: str) -> str:
        """What anything comes from that a machine of this folder prints, by the same word of the record."""
        reached = self._standing(directory).reached
        return _of_hosts(reached, [WORKSPACE]) if reached else WORKSPACE

    async def _fingerprints(self, session: Session, proposed: Proposed) -> Mapping[str, str]:
        """What the files that a changing call names are now; a call that only reads is not bound to them."""
        spec, shell = proposed.spec, proposed.shell
        if spec is None or not policy.changes(self._declared[spec.name]):
            return {}
        declaration = self._declared[spec.name]
        if policy.outside(declaration, proposed.arguments):
            return {}
        paths = [str(path) for path in policy.paths(declaration, proposed.arguments) if path]
        if shell is not None and shell.risk is not Risk.LOW:
            paths += [path for path in shell.paths if not path.startswith(("/", ".."))][:_FILES_OF_A_COMMAND]
        return await self._machines.fingerprint(session.id, paths) if paths else {}


def _of_hosts(hosts: Collection[str], folder: list[str]) -> str:
    kind = REGISTRY if are_registries(hosts) else "web"
    return f"{kind}:" + " ".join(sorted(hosts) + folder)


def _parse(tool: Tool | None, arguments: str) -> tuple[Mapping[str, object], str]:
    if tool is None:
        return {}, ""
    try:
        return tool.parse(arguments), ""
    except InvalidRequest as error:
        return {}, str(error)


def _command(declaration: Declaration, arguments: Mapping[str, object]) -> str | None:
    """The command line that a call runs, if it runs one."""
    lines = [str(arguments[name]) for name in declaration.command_args if name in arguments]
    return "\n".join(lines) if lines else None


def _carried(declaration: Declaration, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Links, mail addresses and account numbers in what would reach others."""
    if not policy.reaches_out(declaration):
        return ()
    return tuple(link for name in declaration.content_args for link in links(str(arguments.get(name, ""))))


def _written(declaration: Declaration, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The files that a call names to change them, relative to the workspace."""
    if declaration.effect is ToolEffect.EXECUTE or not policy.changes(declaration):
        return ()
    return tuple(policy.below(str(path)) for path in policy.paths(declaration, arguments))


def _context(session: Session, tool: str, declared: Mapping[str, Declaration]) -> Context:
    """What the session's model has been given, by whom, as far as it matters for a call of this tool.

    Args:
        session: whose; it goes no further before the verdict, as its lock is held for the judgement.
        tool: the call's.
        declared: what every tool declares: which of them vouch for what they say.
    """
    return Context(
        words=tuple(session.words),
        texts=cache(lambda: _texts(session, tool, declared)),
        sources=tuple(session.sources),
        planned=() if session.spec.channel else tuple(session.planned),  # what others said grants nothing unasked
        used=tuple(session.used),
        entities=session.entities,
        given=session.given,
        issued=tuple(secret.placeholder for secret in session.spec.secrets),
        strayed=session.strayed,
    )


def _texts(session: Session, tool: str, declared: Mapping[str, Declaration]) -> Texts:
    """All of it by whose word it is. It costs by the length of the conversation, and few decisions need it."""
    trusted = {source for source in session.trusted.get(tool, ()) if UNKNOWN_HOST not in source}
    foreign = [said for said in session.messages if isinstance(said, UserMessage) and said.foreign]
    believed = [said.text for said in foreign if said.source in trusted]
    outputs = [(said.source, said.text) for said in foreign if said.source not in trusted]
    vouched: list[str] = []
    repeated: list[tuple[str, str]] = []
    for result in results(session):
        by = declared.get(result.tool)
        untrusted = result.label.integrity is Integrity.UNTRUSTED
        if by is None or by.effect is ToolEffect.THINK or not (untrusted or by.vouches):
            repeated.append(("", result.text))  # it repeats what somebody said, who is named in its place
        elif not untrusted:
            vouched.append(result.text)
        elif result.source in trusted:
            believed.append(result.text)
        else:
            outputs.append((result.source, result.text))
    endorsed = [
        target for name, asked in session.approved if name in declared for target in targets(declared[name], asked)
    ]
    return Texts(vouched, believed, endorsed, [*reversed(repeated), *outputs])


def _rules(standing: Standing, session: Session, now_ms: int) -> tuple[Rule, ...]:
    """The person's rules and those of the session's goal that hold at a moment."""
    held = (*standing.rules, *_goal_rules(session.spec))
    return tuple(rule for rule in held if not 0 < rule.expires_at_ms <= now_ms)


def _goal_rules(spec: SessionOpened) -> tuple[Rule, ...]:
    """The rules of a session's goal, as they were recorded; those of a session of before are read again."""
    return constraint_rules(spec.constraints) if spec.rules is None else spec.rules


def _label(declared: Declaration, stained: Sequence[str]) -> Label:
    doubtful = any(store in stained for store in declared.stores)
    return Label(Integrity.UNTRUSTED if doubtful else declared.output_trust, declared.sensitivity)


_assessed = lru_cache(maxsize=1024)(assess)
"""An agent runs the same few commands again and again, and a record is full of them."""
_UNKNOWN = Declaration(ToolEffect.THINK)
"""What is known of a tool that there is not; every call of one is denied."""
