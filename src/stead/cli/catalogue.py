"""What the help says of every command.

Layer: cli. Knows no command's module.
"""

from __future__ import annotations

GROUPS = {
    "Stead itself": {
        "up": "start Stead and print the link that signs the browser in",
        "down": "stop Stead; what was under way goes on at the next start",
        "status": "show on one screen how things stand",
        "open": "open the page, signed in",
        "doctor": "check everything that Stead needs, and say how to fix it",
        "logs": "show the daemon's log",
    },
    "objectives": {
        "run": "give a goal and watch it being reached",
        "objectives": "list objectives",
        "watch": "watch an objective from its start",
        "show": "show one objective with its plan and steps",
        "checks": "show, add and accept what must be true before an objective counts as verified",
        "message": "say something to an objective",
        "goal": "change the goal of an objective that waits or is paused",
        "waiting": "list your messages that an objective has not read yet",
        "reword": "change a message that waits",
        "withdraw": "take back a message that waits",
        "rename": "give an objective another title",
        "tag": "show an objective's tags, add some or take some away",
        "archive": "leave an objective out of lists; all of it stays",
        "unarchive": "take an objective out of the archive",
        "pause": "let the current step finish, then start nothing more",
        "resume": "continue a paused objective or session",
        "cancel": "end an objective",
        "stop": "kill what is running at once, everywhere or in one objective or session",
        "retry": "run an objective again that was not verified",
        "delete": "erase an ended objective",
        "model": "show or switch the model that serves an objective",
    },
    "sessions": {
        "session": "work in a folder together with the model, turn by turn",
        "service": "list, read, stop and open what a session keeps running",
    },
    "changes that wait": {
        "held": "look at the changes that wait for your review, apply them or throw them away",
        "trial": "the same as held",
    },
    "approvals": {
        "approvals": "list what waits for your answer, or show one in full",
        "approve": "allow what an objective asks for",
        "deny": "refuse it, with a reason that the model reads",
        "revoke": "take back what was granted to a tool",
        "rules": "say what must never happen, what must be asked, and what is always allowed",
        "autonomy": "show how much is asked, how you answer, what is allowed ahead, and which rules would help",
        "egress": "allow hosts to a folder's machines, list what they reached",
    },
    "memory and instructions": {
        "memory": "list, search, correct and forget what is remembered",
        "directives": "write, order and switch standing instructions for models, with their versions",
    },
    "models and money": {
        "providers": "list, add, test and choose models",
        "search": "choose and test the engine that searches the web",
        "cap": "show or set what may be spent in a day",
        "usage": "show what was spent",
    },
    "secrets": {
        "secret": "keep values that an agent uses and never reads, and say where each may go",
    },
    "data": {
        "journal": "search the history, show a session's events, rebuild views",
        "audit": "check the record, sign for it, export it, and list who allowed what",
        "backup": "write everything into one file under a passphrase",
        "restore": "bring a backup back",
        "key": "recover the key of the database",
        "completion": "print the completion script of a shell",
    },
}
AS_IT_IS = frozenset({"up", "down", "status", "doctor", "logs", "stop", "backup", "restore", "key", "completion"})
"""Commands that start no daemon where none runs: they start it themselves, work without it, or end something."""
SUMMARIES = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
