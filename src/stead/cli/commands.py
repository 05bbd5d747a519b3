"""Where every command is.

Layer: cli. A module is imported when one of its commands is called, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.cli.invocation import Command

OBJECTIVES = frozenset(
    (
        *("objectives", "show", "message", "pause", "resume", "cancel", "retry", "delete", "model", "revoke", "stop"),
        *("goal", "rename", "tag", "archive", "unarchive", "undelete", "waiting", "reword", "withdraw"),
    )
)
"""Commands of one module."""


def load(name: str) -> Command:
    """Import the module of a command, and nothing else."""
    match name:
        case "up" | "down" | "open":
            from stead.cli.daemon_control import COMMANDS
        case "setup" | "auth":
            from stead.cli.setup import COMMANDS
        case "status" | "top":
            from stead.cli.status import COMMANDS
        case "doctor":
            from stead.cli.doctor import COMMANDS
        case "disk":
            from stead.cli.disk import COMMANDS
        case "logs":
            from stead.cli.logs import COMMANDS
        case "run" | "watch":
            from stead.cli.running import COMMANDS
        case _ if name in OBJECTIVES:
            from stead.cli.objectives import COMMANDS
        case "checks":
            from stead.cli.acceptance import COMMANDS
        case "chat":
            from stead.cli.chat import COMMANDS
        case "session":
            from stead.cli.session import COMMANDS
        case "memory":
            from stead.cli.memory import COMMANDS
        case "service":
            from stead.cli.services import COMMANDS
        case "approvals" | "approve" | "deny":
            from stead.cli.approving import COMMANDS
        case "providers":
            from stead.cli.providers import COMMANDS
        case "acp":
            from stead.cli.editors import COMMANDS
        case "search":
            from stead.cli.search import COMMANDS
        case "agent":
            from stead.cli.external_agents import COMMANDS
        case "schedule":
            from stead.cli.schedules import COMMANDS
        case "mcp":
            from stead.cli.mcp import COMMANDS
        case "held" | "trial":
            from stead.cli.held import COMMANDS
        case "secret":
            from stead.cli.secret import COMMANDS
        case "rules":
            from stead.cli.rules import COMMANDS
        case "autonomy":
            from stead.cli.rules_history import COMMANDS
        case "specialist":
            from stead.cli.specialists import COMMANDS
        case "directives":
            from stead.cli.directives import COMMANDS
        case "egress":
            from stead.cli.egress import COMMANDS
        case "cap" | "usage":
            from stead.cli.spending import COMMANDS
        case "journal":
            from stead.cli.journal import COMMANDS
        case "audit":
            from stead.cli.audit import COMMANDS
        case "backup" | "restore" | "key":
            from stead.cli.backups import COMMANDS
        case "completion":
            from stead.cli.completion import COMMANDS
        case _:
            raise KeyError(name)
    return COMMANDS[name]
