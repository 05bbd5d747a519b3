"""Where every command is.

Layer: cli. A module is imported when one of its commands is called, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.cli.invocation import Command


def load(name: str) -> Command:
    """Import the module of a command, and nothing else."""
    match name:
        case "up" | "down" | "open":
            from stead.cli import daemon_control

            return daemon_control.COMMANDS[name]
        case "status":
            from stead.cli import status

            return status.COMMANDS[name]
        case "doctor":
            from stead.cli import doctor

            return doctor.COMMANDS[name]
        case "logs":
            from stead.cli import logs

            return logs.COMMANDS[name]
        case "run":
            from stead.cli import running

            return running.COMMANDS[name]
        case "objectives" | "show" | "message" | "pause" | "resume" | "cancel" | "retry" | "delete" | "revoke":
            from stead.cli import objectives

            return objectives.COMMANDS[name]
        case "watch":
            from stead.cli import watching

            return watching.COMMANDS[name]
        case "stop":
            from stead.cli import stopping

            return stopping.COMMANDS[name]
        case "approvals" | "approve" | "deny":
            from stead.cli import approving

            return approving.COMMANDS[name]
        case "providers":
            from stead.cli import providers

            return providers.COMMANDS[name]
        case "trial" | "quarantine":
            from stead.cli import trial

            return trial.COMMANDS[name]
        case "secret":
            from stead.cli import secret

            return secret.COMMANDS[name]
        case "rules":
            from stead.cli import rules

            return rules.COMMANDS[name]
        case "egress":
            from stead.cli import egress

            return egress.COMMANDS[name]
        case "cap" | "usage":
            from stead.cli import spending

            return spending.COMMANDS[name]
        case "journal":
            from stead.cli import journal

            return journal.COMMANDS[name]
        case "audit":
            from stead.cli import audit

            return audit.COMMANDS[name]
        case "backup" | "restore" | "key":
            from stead.cli import backups

            return backups.COMMANDS[name]
        case "completion":
            from stead.cli import completion

            return completion.COMMANDS[name]
        case _:
            raise KeyError(name)
