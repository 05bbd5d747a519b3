"""What is so in a session's folder, for acceptance checks; nothing that is done for it is kept.

Layer: machines. Implements ``domain.proving.Proofs``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from stead.domain.checks import Check
from stead.domain.errors import ToolFault
from stead.domain.permits import Permit
from stead.domain.ports import Ran
from stead.machines.output import Output
from stead.machines.runner.enter import PROOF
from stead.machines.toolchains import OWN_PATH
from stead.machines.transactions import Transactions

_KEPT_BYTES = 64 << 10
_FLOOD = 1000
"""A check may print this many times what is kept of it."""
_SLACK_S = 10.0


class MachineProofs:
    """Every session's.

    Args:
        transactions: which of them are under way.
        work: has a machine's runner do something; makes the machine where there is none.
        limit_s: how long a file may be looked at.
    """

    def __init__(self, transactions: Transactions, work: Callable[..., Awaitable[Any]], limit_s: float) -> None:
        self._transactions = transactions
        self._work = work
        self._limit_s = limit_s

    async def attempt(self, permit: Permit, command: str, *, timeout_s: float, on_output: Callable[[str], None]) -> Ran:
        """As ``Proofs.attempt``."""
        permit.require_live(permit.session)
        output = Output(_KEPT_BYTES, on_output)

        def answer(code: bytes, size: bytes, ended: bytes, _open: bytes) -> Ran:
            return Ran(int(code), output.text(""), int(size), ended == b"timeout")

        job = self._transactions.begin(permit.session, prefix=PROOF)
        line = f'PATH="${{PATH#{OWN_PATH}:}}:{OWN_PATH}"; {command}'  # a program that the work made is no other's
        try:
            words = (job.encode(), _encoded(line), b"%d" % int(timeout_s * 1000), b"%d" % (_KEPT_BYTES * _FLOOD))
            ran: Ran = await self._work(
                permit.session,
                "run",
                *words,
                answer=answer,
                limit_s=timeout_s + _SLACK_S,
                on_output=output.add,
                job=job,
            )
            return ran
        finally:
            self._transactions.drop(permit.session, job)
            await self._transactions.land(permit.session, job, record=True)

    async def examine(self, permit: Permit, check: Check) -> tuple[bool, str, str]:
        """As ``Proofs.examine``."""
        permit.require_live(permit.session)

        def answer(*fields: bytes) -> tuple[bool, str, str]:
            if len(fields) != 3:
                raise ToolFault("the files could not be looked at in time")
            holds, detail, state = fields
            return holds == b"1", detail.decode(), state.decode()

        words = map(_encoded, (check.kind, check.subject, check.text))
        found: tuple[bool, str, str] = await self._work(
            permit.session, "prove", *words, answer=answer, limit_s=self._limit_s
        )
        return found


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFault("a check has text that UTF-8 cannot hold; leave half surrogate pairs out") from error
