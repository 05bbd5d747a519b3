"""Where every command is.

Layer: cli. A module is imported when one of its commands is called, and not before.
"""

from __future__ import annotations

from importlib import import_module  # noqa: TID251 - of this table alone, so that a call loads one module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.cli.invocation import Command

_MODULES = {
    "acceptance": "checks",
    "approving": "approvals approve deny",
    "audit": "audit",
    "backups": "backup restore key",
    "channels": "channel",
    "chat": "chat",
    "completion": "completion",
    "daemon_control": "up down open",
    "directives": "directives",
    "disk": "disk",
    "doctor": "doctor",
    "editors": "acp",
    "egress": "egress",
    "external_agents": "agent",
    "held": "held trial",
    "journal": "journal",
    "logs": "logs",
    "mcp": "mcp",
    "memory": "memory",
    "notify": "notify",
    "objectives": "objectives show message pause resume cancel retry delete model revoke stop"
    " goal rename tag archive unarchive undelete waiting reword withdraw",
    "profiles": "profile",
    "providers": "providers",
    "remote": "remote",
    "rules": "rules",
    "rules_history": "autonomy",
    "running": "run watch",
    "schedules": "schedule",
    "search": "search",
    "secret": "secret",
    "services": "service",
    "session": "session",
    "settings_file": "apply export",
    "setup": "setup auth",
    "specialists": "specialist",
    "spending": "cap usage",
    "status": "status top",
    "upgrade": "upgrade",
    "triggers": "trigger",
}
"""By module, the commands that it has."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def load(name: str) -> Command:
    """Import the module of a command, and nothing else."""
    module = import_module(f"stead.cli.{_MODULE_OF[name]}")
    command: Command = module.COMMANDS[name]
    return command
