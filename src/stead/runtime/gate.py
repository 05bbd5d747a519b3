"""The one gate: every call that a model asks for is judged here, and runs nowhere else.

Layer: runtime. Gathers the facts, hands them to the pure decision, and keeps the permit's life as short as the run.
What a tool gives back is labelled here, by its declaration and by what it was pointed at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stead.brain.standing import understood
from stead.domain.errors import FetchFault, InvalidRequest, MachineError
from stead.domain.ids import CallDigest
from stead.domain.messages import WORKSPACE, UserMessage
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Allow, Ask, Integrity, Label, Profile, Risk, Rule, Verdict
from stead.domain.ports import Machines
from stead.domain.sessions import Call, Session, constraints, results
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.guardian import policy
from stead.guardian.decide import Facts, Proposed, decide, obeyed_files
from stead.guardian.flow import Context
from stead.guardian.permits import Circumstances
from stead.guardian.reach import Reach
from stead.guardian.shell import ShellRisk, assess
from stead.guardian.shell_paths import locate, relative
from stead.screen.links import links

_FILES_OF_A_COMMAND = 50
"""How many of the files that a command names an approval is bound to; a command that names more asks again anyway."""


@dataclass(frozen=True)
class Judged:
    """A call and its verdict. ``arguments`` is canonical JSON, or the model's own text when that does not fit.

    ``releases``: the protected files that a yes to this very call lets it write. ``writes``: the files of the workspace
    that it names to change them; ``changes``: it may change files, be they named or not;
    ``command`` is its command line, "" when it has none.
    """

    tool: str
    arguments: str
    parsed: Mapping[str, object]
    verdict: Verdict
    idempotent: bool
    label: Label
    source: str
    context: Context
    releases: tuple[str, ...]
    writes: tuple[str, ...]
    changes: bool
    command: str

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
    """What a person has said for a folder, apart from any session: their rules, and the hosts that it may reach."""

    rules: tuple[Rule, ...] = ()
    hosts: tuple[str, ...] = ()


def _nothing_said(directory: str) -> Standing:
    return Standing()


class Gate:
    """Judges and runs calls.

    Args:
        tools: every tool there is; names are unique.
        machines: for fingerprints of the files that a call names.
        reach: what may be fetched.
        digest_key: 32 bytes of the home.
        random_bytes: a source of nonces.
        standing: what the person has said for a folder, as it is now.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        machines: Machines,
        *,
        reach: Reach,
        digest_key: bytes,
        random_bytes: Callable[[int], bytes],
        standing: Callable[[str], Standing] = _nothing_said,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._notes = frozenset(
            n for n, tool in self._tools.items() if tool.spec.declaration.effect is ToolEffect.THINK
        )
        self._machines = machines
        self._reach = reach
        self._digest_key = digest_key
        self._random_bytes = random_bytes
        self._standing = standing

    def specs(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The tools of these names, or all for none, in their constant order, those that are found by search included.

        Raises:
            InvalidRequest: a name that no tool has.
        """
        for name in names:
            if name not in self._tools:
                raise InvalidRequest(f"there is no tool {name!r}; the tools are {', '.join(self._tools)}")
        return tuple(tool.spec for name, tool in self._tools.items() if not names or name in names)

    def offered(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """Those of them that stand in requests: one that is rarely used does only where it was chosen by name.

        Raises:
            InvalidRequest: as ``specs``.
        """
        specs = self.specs(names)
        return tuple(spec for spec in specs if not spec.deferred or spec.name in names)

    async def judge(self, session: Session, call: Call, now_ms: int) -> Judged:
        """Judge one call of a session as things stand now.

        Raises:
            MachineError: the machine could not say what the named files are.
        """
        tool = self._tools.get(call.tool)
        parsed, malformed = _parse(tool, call.arguments)
        declaration = tool.spec.declaration if tool else None
        shell = _understood(declaration, parsed) if declaration else None
        carries = _carried(declaration, parsed) if declaration else ()
        proposed = Proposed(call.tool, tool.spec if tool else None, parsed, malformed, shell, carries)
        context = _context(session, call.tool, notes=self._notes, ways_out=self._ways_out(session))
        standing = self._standing(session.spec.directory)
        isolation = self._machines.isolation()
        facts = Facts(
            circumstances=Circumstances(
                session=session.id,
                key=call.key,
                directory=session.spec.directory,
                revision=session.revision,
                files=await self._fingerprints(session, tool, parsed, shell) if isolation.available else {},
                sources=context.sources,
            ),
            offered=frozenset(spec.name for spec in self.specs(session.spec.tools)),
            profile=session.spec.profile,
            grants=[grant for grant in session.grants if grant.expires_at_ms > now_ms],
            approved=call.digest if call.step == "approved" else "",
            reach=self._reach,
            machine="" if isolation.available else "; ".join(isolation.missing),
            digest_key=self._digest_key,
            nonce=self._random_bytes(16),
            context=context,
            rules=(*standing.rules, *_rules_of(constraints(session))),
            hosts=(*standing.hosts, *session.spec.hosts),
            released=session.spec.unprotected,
        )
        verdict = decide(proposed, facts)
        return Judged(
            tool=call.tool,
            arguments=call.arguments if malformed or tool is None else canonical(parsed).decode(),
            parsed=parsed,
            verdict=verdict,
            idempotent=tool is not None and tool.spec.declaration.idempotent,
            label=_label(tool),
            source=self._source(declaration, call.tool, parsed) if declaration else "",
            context=context,
            releases=obeyed_files(tool.spec, parsed, facts.released) if tool and isinstance(verdict, Allow) else (),
            writes=_written(declaration, parsed) if declaration else (),
            changes=declaration is not None and policy.changes_files(declaration, verdict.risk),
            command=_command(declaration, parsed) if declaration else "",
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
            outcome = ToolOutcome("error", str(fault), quoted=fault.quotes)
        finally:
            permit.close()
        return outcome, int((time.monotonic() - started) * 1000)

    def _ways_out(self, session: Session) -> bool:
        """Whether some call of the session could still leave the machine unasked."""
        named = {plan.tool for plan in session.planned} | {grant.tool for grant in session.grants}
        return any(policy.reaches_out(self._tools[name].spec.declaration) for name in named & self._tools.keys())

    def _source(self, declaration: Declaration, tool: str, arguments: Mapping[str, object]) -> str:
        """What a call's output comes from: the workspace, hosts of the web, or an account that the tool reads."""
        hosts = [str(host) for name in declaration.host_args for host in _listed(arguments.get(name))]
        hosts += policy.requested(declaration, arguments, self._reach)
        if hosts:
            return "web:" + " ".join(sorted(set(hosts)))
        if policy.needs_machine(declaration):
            return WORKSPACE
        named = [
            str(arguments[name])
            for name in (*declaration.identity_args, *declaration.authority_args)
            if arguments.get(name)
        ]
        return f"{tool}:{named[0][:200]}" if named else tool

    async def _fingerprints(
        self, session: Session, tool: Tool | None, arguments: Mapping[str, object], shell: ShellRisk | None
    ) -> Mapping[str, str]:
        """What the files that a changing call names are now; a call that only reads is not bound to them."""
        if tool is None or not policy.changes(tool.spec.declaration):
            return {}
        declaration = tool.spec.declaration
        if policy.outside(declaration, arguments):
            return {}
        paths = [str(path) for path in policy.paths(declaration, arguments) if path]
        if shell is not None and shell.risk is not Risk.LOW:
            paths += [path for path in shell.paths if not path.startswith(("/", ".."))][:_FILES_OF_A_COMMAND]
        return await self._machines.fingerprint(session.id, paths) if paths else {}


def _parse(tool: Tool | None, arguments: str) -> tuple[Mapping[str, object], str]:
    if tool is None:
        return {}, ""
    try:
        return tool.parse(arguments), ""
    except InvalidRequest as error:
        return {}, str(error)


def _understood(declaration: Declaration, arguments: Mapping[str, object]) -> ShellRisk | None:
    given = any(name in arguments for name in declaration.command_args)
    return assess(_command(declaration, arguments)) if given else None


def _command(declaration: Declaration, arguments: Mapping[str, object]) -> str:
    """The command line that a call runs; "" when it runs none."""
    return "\n".join(str(arguments[name]) for name in declaration.command_args if name in arguments)


def _carried(declaration: Declaration, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Links, mail addresses and account numbers in what would reach others."""
    if not policy.reaches_out(declaration):
        return ()
    return tuple(link for name in declaration.content_args for link in links(str(arguments.get(name, ""))))


def _written(declaration: Declaration, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The files that a call names to change them, relative to the workspace."""
    if declaration.effect is ToolEffect.EXECUTE or not policy.changes(declaration):
        return ()
    named = (relative(locate(str(path), policy.WORKSPACE)) for path in policy.paths(declaration, arguments))
    return tuple(path for path in named if path)


def _context(session: Session, tool: str, *, notes: Container[str], ways_out: bool) -> Context:
    """What the session's model has been told, by whom, as far as it matters for a call of this tool.

    Args:
        session: whose.
        tool: the call's.
        notes: the tools that show nothing but the session's own notes and record.
        ways_out: see ``Context``.
    """
    own = {WORKSPACE} if session.spec.profile is Profile.TRUSTED_PROJECT else set()
    trusted = own.union(session.trusted.get(tool, ()))
    told = [said for said in session.messages if isinstance(said, UserMessage) and said.foreign]
    vouched = [said.text for said in told if said.source in trusted]
    outputs = [(said.source, said.text) for said in told if said.source not in trusted]
    for result in results(session):
        # Stead's own words have no source. They often repeat what a model asked for, so they vouch for nothing.
        if result.tool in notes:
            outputs.insert(0, ("", result.text))  # whoever said it first is named
        elif result.label.integrity is Integrity.UNTRUSTED and result.source not in trusted:
            outputs.append((result.source, result.text))
        elif result.source and not result.is_error:
            vouched.append(result.text)
    return Context(
        words=tuple(session.words),
        vouched=vouched,
        sources=tuple(source for source in session.sources if source not in own),
        outputs=outputs,
        planned=tuple(session.planned),
        entities=session.entities,
        ways_out=ways_out,
    )


@lru_cache(maxsize=64)
def _rules_of(constraints: tuple[str, ...]) -> tuple[Rule, ...]:
    """An objective's constraints, as far as they are understood as rules; the rest is the model's to keep."""
    found = (understood(constraint) for constraint in constraints)
    return tuple(rule for rule in found if rule is not None and rule.verdict != "allow")


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _label(tool: Tool | None) -> Label:
    if tool is None:
        return Label()
    return Label(tool.spec.declaration.output_trust, tool.spec.declaration.sensitivity)
