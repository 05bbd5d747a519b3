"""Rules as people read them: in words, with examples, and tool by tool.

Layer: domain. Data and words only; what a rule decides is the guardian's.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Condition, Decision, Rule
from stead.domain.simulation import Simulation


class RuleRow(Rule, frozen=True):
    """A rule and its plain reading; ``expired`` once its time is over."""

    reading: str = ""
    expired: bool = False


class RulePreview(msgspec.Struct, frozen=True):
    """What a rule would do, before it holds.

    Args:
        understood: whether the rule can be made as it is; else it is a form, filled in as far as the sentence was read.
        rule: the rule, or the form.
        reading: the rule in plain words; "" for a form that says nothing yet.
        why: why it cannot be made; "" where it can.
        speaks_of: names of the tools that it speaks of.
        tools: how many tools there are.
        caught: examples of calls that it speaks of.
        passed: examples of calls that it does not.
        worst: of an allowance, the most dangerous of the examples that it covers; "" for none.
        warnings: rules that speak of the same calls otherwise, a ban of everything, and an allowance that covers
            less than it seems to.
        history: what the rule would have changed in the last calls of the home; none for a form.
    """

    understood: bool
    rule: Rule
    reading: str = ""
    why: str = ""
    speaks_of: tuple[str, ...] = ()
    tools: int = 0
    caught: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    worst: str = ""
    warnings: tuple[str, ...] = ()
    history: Simulation | None = None


class ToolRow(msgspec.Struct, frozen=True):
    """A tool as the person's permissions see it.

    Args:
        name: the tool's.
        effect: the strongest thing that a call can do, as ``ToolEffect`` has it.
        level: how often a call is asked about where no rule speaks of it.
        decision: what rules for the whole tool decide; "" where there is none.
        rules: ids of the rules that name the tool.
    """

    name: str
    effect: str
    level: str
    decision: Decision | str
    rules: tuple[str, ...]


_DECISIONS = {"deny": "Forbids", "ask": "Asks before", "allow": "Allows"}
_ACTIONS = {
    "read": "reading",
    "change": "changing files",
    "delete": "deleting",
    "run": "running programs",
    "leave": "sending anything off this computer",
    "send": "acting on the outside world",
}
_ROLES = {
    "host": "the host",
    "recipient": "the recipient",
    "path": "the path",
    "command": "the command",
    "amount": "the amount",
    "account": "the account",
}


def reading(rule: Rule) -> str:
    """A rule in one plain English sentence; all that it tests is said."""
    what = " or ".join(_ACTIONS[action] for action in rule.what) or "any call"
    by = f" with the tool {' or '.join(rule.tools)}" if rule.tools else ""
    tests = " and ".join(map(_tested, rule.where))
    where = f", where {tests}" if tests else ""
    return f"{_DECISIONS[rule.decision]} {what}{by}{where}, in {rule.directory or 'every folder'}."


def _tested(condition: Condition) -> str:
    values = " or ".join(condition.values)
    verb = "is in" if condition.role == "amount" or condition.values[0].endswith("/") else "is"
    said = verb if condition.side == "inside" else f"{verb.replace('is', 'is not', 1)}"
    return f"{_ROLES[condition.role]} {said} {values}"
