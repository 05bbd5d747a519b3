"""Judging acceptance checks: Stead runs them itself, through the gate, and keeps nothing that they do.

Layer: runtime. The person's own checks are judged as what the person approved; those of a model's plan as the model's
calls, so that one which the guardian would ask about is not run: it could not be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from stead.domain.checks import Check, CheckItem, CheckResult, touched_by
from stead.domain.errors import MachineError
from stead.domain.ids import CallKey
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Allow, Ask, Profile
from stead.domain.ports import Clock
from stead.domain.proving import Proofs
from stead.domain.sessions import Action, Call, Session
from stead.domain.tools import ToolContext, ToolOutcome
from stead.runtime.gate import Gate, Judged
from stead.screen.inbound import screen

COMMAND_LIMIT_S = 600
_CHARS = 2000
_FILES = ("exists", "absent", "contains", "matches", "parses", "changed", "untouched")


@dataclass(frozen=True)
class _Held(Exception):
    """A check that could not be judged, and why."""

    why: str


class Checker:
    """Judges checks.

    Args:
        gate: every one of them passes it.
        proofs: finds out what is so in the folder.
        clock: the time.
    """

    def __init__(self, gate: Gate, proofs: Proofs, clock: Clock) -> None:
        self._gate = gate
        self._proofs = proofs
        self._clock = clock

    async def run(
        self, session: Session, items: tuple[CheckItem, ...], progress: Callable[[str], None]
    ) -> tuple[CheckResult, ...]:
        """What each comes to, one after another, as a command may use all that the machine has."""
        until_ms = self._clock.now_ms() + session.spec.limits.wall_s * 1000 - session.worked_ms
        results = [await self._judge(session, item, progress, until_ms) for item in items]
        named = zip(results, items, strict=True)
        return tuple(msgspec.structs.replace(result, words=item.check.words) for result, item in named)

    async def _judge(
        self, session: Session, item: CheckItem, progress: Callable[[str], None], until_ms: int
    ) -> CheckResult:
        check = item.check
        try:
            if check.kind == "command":
                left_s = max(1, (until_ms - self._clock.now_ms()) // 1000)
                return await self._command(session, item, progress, min(COMMAND_LIMIT_S, left_s))
            if check.kind in _FILES:
                return await self._files(session, item)
            if check.kind == "effect":
                done = any(_shows(check, action) for action in session.actions)
                return CheckResult(item.id, done, "" if done else "no such call succeeded")
            return await self._value(session, item, progress)
        except _Held as held:
            return CheckResult(item.id, None, _said(held.why))
        except MachineError as fault:
            return CheckResult(item.id, None, _said(str(fault)))

    async def _command(
        self, session: Session, item: CheckItem, progress: Callable[[str], None], limit_s: int
    ) -> CheckResult:
        check = item.check
        judged, permit = await self._permit(session, item, "shell", {"command": check.subject})

        async def attempt(permit: Permit) -> CheckResult:
            ran = await self._proofs.attempt(permit, check.subject, timeout_s=limit_s, on_output=progress)
            if ran.timed_out:
                return CheckResult(item.id, False, _printed(f"it did not end within {limit_s} s", ran.output))
            printed = not check.text or check.text in ran.output
            why = f"exit code {ran.exit_code}" + ("" if printed else f", and it did not print {check.text!r}")
            holds = ran.exit_code == 0 and printed
            changed = (path for action in session.actions for path in (*action.changed, *action.removed))
            touched = touched_by(check.subject, changed)
            return CheckResult(item.id, holds, _printed(why, ran.output), exit_code=ran.exit_code, touched=touched)

        result = await self._gate.attempt(judged, permit, attempt)
        return msgspec.structs.replace(result, source=self._gate.source(session, judged, ToolOutcome("ok", "")))

    async def _files(self, session: Session, item: CheckItem) -> CheckResult:
        check = item.check
        of_many = check.kind in ("changed", "untouched")
        judged, permit = await self._permit(session, item, *_look(check))

        async def examine(permit: Permit) -> tuple[bool, str, str]:
            return await self._proofs.examine(permit, check)

        holds, detail, state = await self._gate.attempt(judged, permit, examine)
        if not of_many:
            source = self._gate.source(session, judged, ToolOutcome("ok", ""))
            return CheckResult(item.id, holds, "" if holds else _said(detail), source=source)
        before = session.before.get(item.id)
        if before is None:  # this is the look before the work; that nothing has changed yet says nothing
            return CheckResult(item.id, None if check.kind == "untouched" else False, state=state)
        if before.detail:
            return CheckResult(item.id, None, f"they could not be looked at before the work: {before.detail}"[:_CHARS])
        holds = (state != before.state) == (check.kind == "changed")
        said = "nothing of it has changed" if check.kind == "changed" else "it is not as it was before the work"
        return CheckResult(item.id, holds, "" if holds else said, state=state)

    async def _value(self, session: Session, item: CheckItem, progress: Callable[[str], None]) -> CheckResult:
        check = item.check
        if not self._gate.only_reads(check.tool, check.arguments):
            raise _Held(f"{check.tool!r} is no tool that only reads with these arguments")
        judged, permit = await self._permit(session, item, check.tool, check.arguments)
        outcome, _ = await self._gate.run(judged, permit, ToolContext(session.id, progress))
        there = outcome.status == "ok" and check.text in outcome.text
        source = self._gate.source(session, judged, outcome)
        return CheckResult(item.id, there, "" if there else _said(outcome.text[-_CHARS:]), source=source)

    async def _permit(
        self, session: Session, item: CheckItem, tool: str, arguments: Mapping[str, object]
    ) -> tuple[Judged, Permit]:
        """The gate's leave for what a check does."""
        if item.accepted:  # the person's word stands for the tools and the strictness that bind the model
            spec = msgspec.structs.replace(session.spec, tools=(), profile=Profile.WORK)
            session = msgspec.structs.replace(session, spec=spec)
        call = Call(CallKey(f"check:{item.id}"), tool, canonical(arguments).decode(), runnable=True)
        judged = await self._gate.judge(session, call, self._clock.now_ms())
        if isinstance(judged.verdict, Ask) and item.accepted:
            call.step, call.digest = "approved", judged.digest
            judged = await self._gate.judge(session, call, self._clock.now_ms())
        if not isinstance(judged.verdict, Allow):
            way = "accept the check, and it runs" if isinstance(judged.verdict, Ask) else "it is not allowed here"
            raise _Held(f"{judged.verdict.reason.text} {way.capitalize()}.")
        return judged, judged.verdict.permit


def _look(check: Check) -> tuple[str, Mapping[str, object]]:
    """The call that stands for a look at the files of a check, for the person's rules to speak of."""
    if check.kind in ("changed", "untouched"):
        return "glob", {"pattern": check.subject}
    return "read", {"path": check.subject}


def _shows(check: Check, action: Action) -> bool:
    """Whether a finished call is the effect that a check wants."""
    if action.outcome != "ok" or action.effect != check.subject or (check.tool and action.tool != check.tool):
        return False
    if not check.arguments:
        return True
    try:
        given = msgspec.json.decode(action.arguments)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(given, dict) and all(given.get(name) == value for name, value in check.arguments.items())


def _printed(why: str, output: str) -> str:
    """Why, and as much of the end of what was printed as there is room for."""
    why = why[: _CHARS // 2]
    return _said(f"{why}\n{output[len(why) + 1 - _CHARS :]}".strip())


def _said(text: str) -> str:
    """Words of a machine, as people and models may read them."""
    return screen(text[-_CHARS:]).text[-_CHARS:]
