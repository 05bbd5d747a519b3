"""The shell rules by name: how bad each finding is, and what the person reads about it.

Layer: guardian. Data only; knows neither the parser nor a command.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Reason, Risk


class Rule(msgspec.Struct, frozen=True):
    """One thing that can be found in a command.

    Args:
        risk: the least risk of a command in which it is found.
        text: one sentence; ``{thing}`` stands for what was found.
        grantable: whether a command with it may still be allowed for good; only if all of it is understood.
        changes: whether it may write anything.
    """

    risk: Risk
    text: str
    grantable: bool = False
    changes: bool = True


class Finding(msgspec.Struct, frozen=True):
    """A rule that a command has met, and the words that met it."""

    rule: str
    thing: str = ""

    def reason(self) -> Reason:
        """For the person: at most 80 characters of the command, in quotes that show what cannot be seen."""
        shown = self.thing if len(self.thing) <= 80 else self.thing[:79] + "…"
        return Reason(self.rule, RULES[self.rule].text.format(thing=ascii(shown) if shown else "It"))


def _critical(text: str) -> Rule:
    return Rule(Risk.CRITICAL, text)


def _high(text: str, *, grantable: bool = False, changes: bool = True) -> Rule:
    return Rule(Risk.HIGH, text, grantable, changes)


RULES = {
    # critical: it destroys, hides or hijacks
    "shell-too-long": _critical("The command is too long or too deeply nested to be read; split it."),
    "shell-hidden-characters": _critical("The command holds {thing}, which cannot be seen; write it without."),
    "shell-disguised-command": _critical("{thing} is a program whose name is computed at run time; write it plainly."),
    "shell-environment": _critical("{thing} can change what code other commands run."),
    "shell-piped-code": _critical("{thing} runs whatever is fed to it; keep it in a file and run that."),
    "shell-dynamic-code": _critical("{thing} runs text that only the shell can know; write the command out."),
    "shell-suspicious": _critical("The shell's grammar does not fit {thing}, and it speaks of dangerous commands."),
    "shell-destroys": _critical("{thing} destroys more than it names, or for good."),
    "shell-protected-path": _critical("{thing} is a path whose content other programs obey."),
    "shell-network-device": _critical("{thing} opens a connection of the shell itself."),
    "shell-hijack": _critical("{thing} makes a harmless looking program run another."),
    "shell-secret-sent": _critical("{thing} is a secret's usual place, and the command can send it away."),
    "shell-set-id": _critical("{thing} makes a program run with its owner's rights."),
    # high: it runs code, or is not understood
    "shell-unparsed": _high("The shell's grammar does not fit {thing}."),
    "shell-two-readings": _high("Stead cannot analyse {thing}; write it more simply."),
    "shell-not-understood": _high("{thing} is shell syntax that is not followed."),
    "shell-control-flow": _high("{thing} runs commands by conditions; run them one by one."),
    "shell-dynamic-command": _high("{thing} is a command whose name only the shell can know."),
    "shell-dynamic-word": _high("{thing} is a word that only the shell can know; write it out."),
    "shell-assignment": _high("{thing} changes a variable."),
    "shell-defines": _high("{thing} changes what later commands mean."),
    "shell-here-document": _high("{thing} feeds text of the command to a program."),
    "shell-background": _high("A part runs on in the background."),
    "shell-inline-code": _high("{thing} runs code that stands in the command."),
    "shell-runs-code": _high("{thing} runs code from files.", grantable=True),
    "shell-wrapper": _high("{thing} runs another command, with other rights or other words."),
    "shell-unknown-command": _high("{thing} is not a command that is known to be harmless."),
    "shell-unknown-option": _high("{thing} is not known to be harmless here."),
    "shell-glob-option": _high("{thing} could match a file named like an option; put ./ before it."),
    "shell-git-elsewhere": _high("{thing} obeys the settings of a repository in another folder."),
    "shell-removes": _high("{thing} removes files.", grantable=True),
    "shell-acts": _high("{thing} changes Git state, or something outside the workspace.", grantable=True),
    "shell-network": _high("{thing} speaks to other computers.", grantable=True),
    "shell-path-outside": _high("{thing} is outside the workspace.", grantable=True, changes=False),
    "shell-secret-path": _high("{thing} is a usual place of secrets.", grantable=True, changes=False),
    "shell-write-outside": _high("{thing} is outside the workspace and would be written.", grantable=True),
    # medium: it writes files of the workspace, plainly
    "shell-writes": Rule(Risk.MEDIUM, "{thing} writes files of the workspace.", grantable=True),
    "shell-redirect": Rule(Risk.MEDIUM, "Output is written to {thing}.", grantable=True),
    # low
    "shell-reads": Rule(Risk.LOW, "It only reads the workspace.", grantable=True, changes=False),
}
"""Worst first; within a level, in the order in which a person should hear of them."""
