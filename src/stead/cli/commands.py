"""Every command by its name: what the help says of it, and where it is.

Layer: cli. A module is imported when one of its commands is called, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.cli.invocation import Command

GROUPS = {
    "Stead itself": {
        "up": "start Stead and print the link that signs the browser in",
        "down": "stop Stead; what was under way goes on at the next start",
        "status": "show on one screen how things stand",
        "open": "open the page, signed in",
        "doctor": "check everything that Stead needs, and say how to mend it",
        "logs": "show the daemon's log",
    },
    "objectives": {
        "run": "give a goal and watch it being reached",
        "objectives": "list objectives",
        "watch": "watch an objective from its start",
        "show": "show one objective with its plan and steps",
        "message": "say something to an objective",
        "pause": "let the step under way finish, then hold",
        "resume": "go on",
        "cancel": "end an objective",
        "stop": "kill what is under way at once, everywhere or in one objective",
        "retry": "run a failed or cancelled objective again",
        "delete": "erase an ended objective",
    },
    "approvals": {
        "approvals": "list what waits for your answer, or show one in full",
        "approve": "allow what an objective asks for",
        "deny": "refuse it, with a reason that the model reads",
        "revoke": "take back what was granted to a tool",
    },
    "models and money": {
        "providers": "list, add, test and choose models",
        "cap": "show or set what may be spent in a day",
        "usage": "show what was spent",
    },
    "data": {
        "journal": "search the history, show a session's events, rebuild views",
        "backup": "write everything into one file under a passphrase",
        "restore": "bring a backup back",
        "key": "recover the key of the database",
        "completion": "print the completion script of a shell",
    },
}
SUMMARIES = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}


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
        case "cap" | "usage":
            from stead.cli import spending

            return spending.COMMANDS[name]
        case "journal":
            from stead.cli import journal

            return journal.COMMANDS[name]
        case "backup" | "restore" | "key":
            from stead.cli import backups

            return backups.COMMANDS[name]
        case "completion":
            from stead.cli import completion

            return completion.COMMANDS[name]
        case _:
            raise KeyError(name)
