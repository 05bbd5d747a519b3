"""The one gate: every call that a model asks for is judged here, and runs nowhere else.

Layer: runtime. Gathers the facts, hands them to the pure decision, and keeps the permit's life as short as the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stead.domain.errors import FetchFault, InvalidRequest, MachineError
from stead.domain.ids import CallDigest
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Allow, Ask, Label, Verdict
from stead.domain.ports import Machines
from stead.domain.sessions import Call, Session
from stead.domain.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from stead.guardian import policy
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.permits import Circumstances
from stead.guardian.reach import Reach


@dataclass(frozen=True)
class Judged:
    """A call and its verdict. ``arguments`` is canonical JSON, or the model's own text when that does not fit."""

    tool: str
    arguments: str
    parsed: Mapping[str, object]
    verdict: Verdict
    idempotent: bool
    label: Label

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


class Gate:
    """Judges and runs calls.

    Args:
        tools: every tool there is; names are unique.
        machines: for fingerprints of the files that a call names.
        reach: what may be fetched.
        digest_key: 32 bytes of the home.
        random_bytes: a source of nonces.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        machines: Machines,
        *,
        reach: Reach,
        digest_key: bytes,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._machines = machines
        self._reach = reach
        self._digest_key = digest_key
        self._random_bytes = random_bytes

    def specs(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The tools of these names, or all for none, in their constant order.

        Raises:
            InvalidRequest: a name that no tool has.
        """
        for name in names:
            if name not in self._tools:
                raise InvalidRequest(f"there is no tool {name!r}; the tools are {', '.join(self._tools)}")
        return tuple(tool.spec for name, tool in self._tools.items() if not names or name in names)

    async def judge(self, session: Session, call: Call, now_ms: int) -> Judged:
        """Judge one call of a session as things stand now.

        Raises:
            MachineError: the machine could not say what the named files are.
        """
        tool = self._tools.get(call.tool)
        parsed, malformed = _parse(tool, call.arguments)
        proposed = Proposed(call.tool, tool.spec if tool else None, parsed, malformed)
        isolation = self._machines.isolation()
        facts = Facts(
            circumstances=Circumstances(
                session=session.id,
                key=call.key,
                directory=session.spec.directory,
                revision=session.revision,
                files=await self._fingerprints(session, tool, parsed) if isolation.available else {},
            ),
            offered=frozenset(spec.name for spec in self.specs(session.spec.tools)),
            profile=session.spec.profile,
            grants=[grant for grant in session.grants if grant.expires_at_ms > now_ms],
            approved=call.digest if call.step == "approved" else "",
            reach=self._reach,
            machine="" if isolation.available else "; ".join(isolation.missing),
            digest_key=self._digest_key,
            nonce=self._random_bytes(16),
        )
        return Judged(
            tool=call.tool,
            arguments=call.arguments if malformed or tool is None else canonical(parsed).decode(),
            parsed=parsed,
            verdict=decide(proposed, facts),
            idempotent=tool is not None and tool.spec.declaration.idempotent,
            label=_label(tool),
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
            outcome = ToolOutcome("error", str(fault))
        finally:
            permit.close()
        return outcome, int((time.monotonic() - started) * 1000)

    async def _fingerprints(
        self, session: Session, tool: Tool | None, arguments: Mapping[str, object]
    ) -> Mapping[str, str]:
        """What the files that a changing call names are now; a call that only reads is not bound to them."""
        if tool is None or not policy.changes(tool.spec.declaration):
            return {}
        declaration = tool.spec.declaration
        if policy.outside(declaration, arguments):
            return {}
        paths = [str(arguments[name]) for name in declaration.path_args if name in arguments]
        return await self._machines.fingerprint(session.id, paths) if paths else {}


def _parse(tool: Tool | None, arguments: str) -> tuple[Mapping[str, object], str]:
    if tool is None:
        return {}, ""
    try:
        return tool.parse(arguments), ""
    except InvalidRequest as error:
        return {}, str(error)


def _label(tool: Tool | None) -> Label:
    if tool is None:
        return Label()
    return Label(tool.spec.declaration.output_trust, tool.spec.declaration.sensitivity)
