"""The port through which acceptance checks find out what is so.

Layer: domain. Implemented by the machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stead.domain.checks import Check
from stead.domain.permits import Permit
from stead.domain.ports import Ran


class Proofs(Protocol):
    """Finding out, for acceptance checks, what is so in a session's folder. Nothing that is done for it is kept."""

    async def attempt(self, permit: Permit, command: str, *, timeout_s: float, on_output: Callable[[str], None]) -> Ran:
        """Run a bash command line in a transaction that is thrown away, without hosts of its own.

        Raises:
            PermitRefused, MachineUnavailable, MachineDied, ToolFault: as ``Shell.run``.
        """

    async def examine(self, permit: Permit, check: Check) -> tuple[bool, str, str]:
        """Judge a check of a file or a glob: whether it holds, what was found in its place, and a digest of the files.

        Raises:
            PermitRefused, MachineUnavailable, MachineDied: as ``Shell.run``.
            ToolFault: it cannot be judged, or not in time.
        """
