"""The person's standing rules: making them, trying them before they hold, and what of a goal's constraints is one.

Layer: runtime. A rule comes as data, or from a sentence whose reading was shown and confirmed; the guardian keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from stead.brain.rule_sentences.grammar import SENTENCE_CHARS, Refused, narrower, read, rule_id
from stead.domain import commands as cmd
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.policies import Condition, Risk, Rule
from stead.domain.ports import Clock
from stead.domain.rule_rows import RulePreview, RuleRow, ToolRow, reading
from stead.domain.tools import ToolSpec
from stead.guardian import policy
from stead.guardian.reach import Reach
from stead.guardian.rule_commands import NO, YES
from stead.guardian.rules import interval
from stead.runtime.rule_examples import Example, examples
from stead.screen.inbound import screen

MOST_RULES = 1000
_MOST_VALUES, _VALUE_CHARS, _SHOWN = 100, 500, 6
_HOST = re.compile(r"\*|(?:=|\*\.)?[\w-]+(?:\.[\w-]+)*|\[?[0-9a-f:]+\]?", re.I)
_RECIPIENT = re.compile(r"[^\s<>,;\"'()]+(?: [^\s<>,;\"'()]+)*")
_COMMAND = re.compile(r"[^\s;|&<>$`\"'\\(){}*?]+(?: [^\s;|&<>$`\"'\\(){}]+)*")


def made(command: cmd.AddRule, rules: Sequence[Rule], tools: Sequence[str], folder: str) -> Rule:
    """The rule that a command makes.

    Args:
        command: what is asked.
        rules: those that hold already.
        tools: names of the tools that there are.
        folder: the real path of the command's folder; "" for every one.

    Raises:
        InvalidRequest: the sentence is no rule for certain or was not confirmed, or the form cannot be.
        NotFound: there is no rule to replace.
    """
    if command.rule is None:
        if not command.confirmed:
            raise InvalidRequest("a sentence holds only once its reading was confirmed; look at its preview first")
        found = _read(command.text, folder)
        if isinstance(found, Refused):
            raise InvalidRequest(f"{found.form.text!r} makes no rule: {found.why}")
        rule = found
    else:
        rule = msgspec.structs.replace(command.rule, directory=folder or command.rule.directory)
        check(rule, tools)
    if command.replaces:
        if all(known.id != command.replaces for known in rules):
            raise NotFound(f"there is no rule {command.replaces!r}; see `stead rules`")
    elif len(rules) >= MOST_RULES:
        raise InvalidRequest(f"there are {MOST_RULES} rules already; remove some first")
    return msgspec.structs.replace(rule, id=command.replaces or rule_id(rule), confirmed=True)


def confirmed(id: str, rules: Sequence[Rule]) -> Rule:
    """A rule of these as one that the person has seen in its form.

    Raises:
        NotFound: there is none of this id.
    """
    for rule in rules:
        if rule.id == id:
            return msgspec.structs.replace(rule, confirmed=True)
    raise NotFound(f"there is no rule {id!r}; see `stead rules`")


def check(rule: Rule, tools: Sequence[str]) -> None:
    """Refuse a rule that says nothing, or something that no call could meet.

    Raises:
        InvalidRequest: the text names the field and what it may be.
    """
    if not (rule.what or rule.tools or rule.where):
        raise InvalidRequest("a rule without classes, tools or conditions would speak of everything; name at least one")
    for name in rule.tools:
        if name not in tools:
            raise InvalidRequest(f"there is no tool {name!r}; see `stead rules tools`")
    if len(rule.where) > _MOST_VALUES or len(rule.text) > SENTENCE_CHARS:
        raise InvalidRequest(f"a rule has at most {_MOST_VALUES} conditions and {SENTENCE_CHARS} characters of text")
    if rule.expires_at_ms < 0:
        raise InvalidRequest("the time at which a rule ends is 0 for never, or milliseconds since 1970")
    for condition in rule.where:
        _check_values(condition)


def _check_values(condition: Condition) -> None:
    values, role = condition.values, condition.role
    if not 1 <= len(values) <= _MOST_VALUES:
        raise InvalidRequest(f"a condition on the {role} has 1 to {_MOST_VALUES} values, not {len(values)}")
    for value in values:
        if not value.strip() or value != value.strip() or len(value) > _VALUE_CHARS or not value.isprintable():
            raise InvalidRequest(f"a value of the {role} is 1 to {_VALUE_CHARS} visible characters, not {value[:80]!r}")
        inside = value.removeprefix("/work/")
        wrong = {
            "host": not _HOST.fullmatch(value),
            "path": inside.startswith(("/", "~")) or "\\" in inside or not {".", ".."}.isdisjoint(inside.split("/")),
            "recipient": not _RECIPIENT.fullmatch(value),
            "command": not _COMMAND.fullmatch(value),
        }
        if wrong.get(role, False):
            raise InvalidRequest(f"{value!r} is no {role} of a rule; {_FORMS[role]}")
        if role == "amount":
            try:
                low, high = interval(value)
                if low is not None and high is not None and low > high:
                    raise ValueError(f"no amount lies in {value!r}; the smaller end comes first")
            except ValueError as error:
                raise InvalidRequest(str(error)) from None


_FORMS = {
    "host": "write it like example.com, =example.com, *.example.com or *",
    "path": "write it from the workspace on, like src/ or *.lock",
    "recipient": "write the address or its domain alone, like bob@example.com or example.com",
    "command": "write a program and its words, without signs of the shell, like git push --force",
}


def _read(text: str, directory: str) -> Rule | Refused:
    said = " ".join(text.split())
    if not said or len(said) > SENTENCE_CHARS:
        raise InvalidRequest(f"a rule is one sentence of up to {SENTENCE_CHARS} characters")
    return read(said, directory)


class RuleBook:
    """What doors ask of rules.

    Args:
        rules: those that hold, as they are now.
        specs: gives every tool that there is now, those of MCP servers included.
        reach: what may be fetched.
        clock: says which have expired.
    """

    def __init__(
        self, rules: Callable[[], Sequence[Rule]], specs: Callable[[], Sequence[ToolSpec]], reach: Reach, clock: Clock
    ) -> None:
        self._rules = rules
        self._specs = specs
        self._reach = reach
        self._clock = clock

    def rows(self) -> tuple[RuleRow, ...]:
        """Every rule with its plain reading."""
        now_ms = self._clock.now_ms()
        return tuple(
            RuleRow(
                **{name: getattr(rule, name) for name in rule.__struct_fields__},
                reading=reading(rule),
                expired=0 < rule.expires_at_ms <= now_ms,
            )
            for rule in self._rules()
        )

    def tools(self) -> tuple[ToolRow, ...]:
        """Every tool with its level and the rules that name it."""
        return tuple(self._tool(spec) for spec in self._specs())

    def _tool(self, spec: ToolSpec) -> ToolRow:
        naming = [rule for rule in self._rules() if spec.name in rule.tools]
        whole = [rule.decision for rule in naming if not rule.where and not rule.what]
        decided = min(whole, key=("deny", "ask", "allow").index, default="")
        level = policy.level_of(spec.declaration, policy.risk_of(spec.declaration), free=False)
        effect = spec.declaration.effect.value
        return ToolRow(spec.name, effect, level.value, decided, tuple(rule.id for rule in naming))

    def preview(self, text: str, directory: str, rule: Rule | None) -> RulePreview:
        """What a sentence or a form would do as a rule.

        Raises:
            InvalidRequest: the form cannot be a rule, or there is no sentence.
        """
        if rule is None:
            found = _read(text, directory)
            if isinstance(found, Refused):
                said = reading(found.form) if found.form.what or found.form.where else ""
                return RulePreview(False, found.form, reading=said, why=found.why, tools=len(self._specs()))
            rule = found
        specs = self._specs()
        check(rule, [spec.name for spec in specs])
        others = [other for other in self._rules() if other.directory in ("", rule.directory) and other.id != rule.id]
        tried = examples(rule, specs, others, self._reach)
        met = sorted((one for one in tried if one.met != NO), key=lambda one: (-one.met, one.risk is Risk.LOW))
        sure = [example for example in met if example.met == YES]
        worst = max(sure, key=lambda one: _RISKS.index(one.risk.value), default=None)
        return RulePreview(
            True,
            rule,
            reading(rule),
            "",
            tuple(dict.fromkeys(example.tool for example in met)),
            len(specs),
            tuple(dict.fromkeys(_shown(example) for example in _spread(met))),
            tuple(example.said for example in _near(tried, {example.tool for example in met})),
            worst.said if worst is not None and rule.decision == "allow" else "",
            tuple(_warnings(rule, met, len(specs))),
        )


_RISKS = ("low", "medium", "high", "critical")


def _shown(example: Example) -> str:
    if example.met == YES:
        return example.said
    return f"{example.said} ({'judged by what it changes' if example.lands else 'asked about: it might'})"


def _near(tried: Sequence[Example], tools: set[str]) -> list[Example]:
    """Of the calls that a rule does not speak of, those that come next to it: by the same tools, or that do most."""
    missed = [example for example in tried if example.met == NO]
    return _spread(sorted(missed, key=lambda one: (one.tool not in tools, -_RISKS.index(one.risk.value))))


def _spread(found: Sequence[Example]) -> list[Example]:
    """A few examples, of as many tools as can be."""
    ranked = sorted(found, key=lambda one: sum(other.tool == one.tool for other in found[: found.index(one)]))
    return ranked[:_SHOWN]


def _warnings(rule: Rule, met: Sequence[Example], tools: int) -> list[str]:
    order = ("deny", "ask", "allow")
    said = []
    against = {other.id: other for example in met for other in example.others if other.decision != rule.decision}
    for other in list(against.values())[:_SHOWN]:
        first, second = sorted((rule, other), key=lambda one: order.index(one.decision))
        goes = f"{first.decision} goes before {second.decision}"
        said.append(f"{other.id} ({other.text or reading(other)}) speaks of some of the same calls: {goes}")
    if less := narrower(rule):
        said.append(less)
    if rule.decision == "deny" and not rule.where and len({example.tool for example in met}) * 2 > tools:
        said.append("it forbids most of what an agent can do; your own commands are not touched by any rule")
    for warning in screen(" ".join(value for condition in rule.where for value in condition.values)).warnings:
        said += [warning.text] if warning.rule == "mixed-scripts" else []
    return said
