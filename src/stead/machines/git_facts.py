"""Asking git, inside a machine, what it obeys there.

Layer: machines. The daemon itself opens no repository. What a machine says here decides about that machine alone: who
could forge it runs programs in there already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stead.domain.git import GitFacts, understand
from stead.domain.ids import SessionId
from stead.machines.machine import Machine

_LIMIT_S = 10
_SLACK_S = 5.0
_MOST_BYTES = 256 << 10
_SETTINGS = "git --no-pager config --list --includes --show-scope --show-origin -z 2>/dev/null"
_SUBMODULES = r"""
set -o pipefail
{ git ls-files --stage -z || ! git rev-parse --git-dir; } 2>/dev/null | sed -zn 's/^160000 [0-9a-f]* [0-3]\t//p' |
while IFS= read -r -d '' path; do if [ -e "$path/.git" ]; then echo found; fi; done
"""
"""Those that are checked out: git runs itself in each of them, by the settings there."""


class MachineGit:
    """What git obeys in a session's workspace.

    Args:
        machine: gives the session's, made if need be.
        named: says of a folder, once it has a machine, what the settings of its repositories name.
    """

    def __init__(
        self, machine: Callable[[SessionId], Awaitable[Machine]], named: Callable[[str], tuple[str, ...]]
    ) -> None:
        self._machine = machine
        self._named = named

    async def named(self, session: SessionId) -> tuple[str, ...]:
        """Paths of the workspace that the settings of its repositories named when its machine started.

        Raises:
            MachineUnavailable: as for other work.
        """
        return self._named((await self._machine(session)).binding.directory)

    async def facts(self, session: SessionId) -> GitFacts:
        """As things are now.

        Raises:
            MachineUnavailable, MachineDied, ToolFault: as for other work.
        """
        return await read_git_facts(await self._machine(session))


async def read_git_facts(machine: Machine) -> GitFacts:
    """Ask in ``/work``, as things are now; takes a few milliseconds.

    Returns:
        Facts that are not ``read`` where git is not there, fails or takes long, or where there are submodules.

    Raises:
        MachineDied, ToolFault: as for other work.
    """
    facts = understand(await _said(machine, _SETTINGS) or b"")
    # Listing the index starts what the settings name, so it is listed only where they name nothing.
    return GitFacts() if facts.plain and await _said(machine, _SUBMODULES) != b"" else facts


async def _said(machine: Machine, command: str) -> bytes | None:
    """What a command prints; None unless it succeeds."""
    said = bytearray()
    limits = (b"%d" % (_LIMIT_S * 1000), b"%d" % _MOST_BYTES)
    answer = await machine.call("run", command.encode(), *limits, limit_s=_LIMIT_S + _SLACK_S, on_output=said.extend)
    return bytes(said) if answer[:1] == [b"0"] and answer[2:] == [b"exit"] else None
