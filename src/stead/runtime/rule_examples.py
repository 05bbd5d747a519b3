"""Calls that a rule does and does not speak of, made from the rule and from the tools' declarations.

Layer: runtime. Pure. Each example is judged as a real call would be, so that what is shown is what will happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from stead.domain.policies import ConditionRole, Risk, Rule
from stead.domain.tools import Role, ToolSpec, acting
from stead.guardian import policy
from stead.guardian.reach import Reach
from stead.guardian.rule_commands import NO
from stead.guardian.rules import interval, lands, speaks, touched
from stead.guardian.shell import assess

_COMMANDS = ("ls", "git status", "git push origin main", "python3 script.py", "rm -r build")
_USUAL: dict[ConditionRole, tuple[str, ...]] = {
    "path": ("notes.txt", "src/main.py"),
    "host": ("example.org",),
    "recipient": ("someone@example.org",),
    "command": _COMMANDS,
    "amount": ("7",),
    "account": ("some account",),
}


class Example(msgspec.Struct, frozen=True):
    """One call.

    Args:
        tool: its tool's name.
        said: the call, as a person reads it.
        met: whether the rule surely (2), perhaps (1) or never (0) speaks of it.
        risk: how bad it could be.
        lands: what it changes is judged as it lands, and it is not asked about before.
        others: which of the other rules speak of it too.
    """

    tool: str
    said: str
    met: int
    risk: Risk
    lands: bool
    others: tuple[Rule, ...] = ()


def examples(rule: Rule, specs: Sequence[ToolSpec], others: Sequence[Rule], reach: Reach) -> list[Example]:
    """What a rule says of calls of each tool.

    Args:
        rule: to be tried.
        specs: the tools that there are.
        others: rules that hold already, to find those that speak of the same calls.
        reach: what may be fetched.
    """
    return [example for spec in specs for example in _of_tool(rule, spec, others, reach)]


def _of_tool(rule: Rule, spec: ToolSpec, others: Sequence[Rule], reach: Reach) -> Iterator[Example]:
    seen = set[str]()
    for arguments in _calls(rule, spec):
        said = " ".join([spec.name, *(_word(value) for value in arguments.values() if value)])
        if said in seen:
            continue
        seen.add(said)
        declaration = acting(spec.declaration, arguments)
        acted = msgspec.structs.replace(spec, declaration=declaration)
        shell = assess(str(arguments[declaration.command_args[0]])) if declaration.command_args else None
        call = touched(declaration, arguments, shell, reach)
        met = speaks(rule, acted, call)
        both = tuple(other for other in others if met and speaks(other, acted, call) != NO)
        yield Example(
            spec.name, said, met, shell.risk if shell else policy.risk_of(declaration), lands(rule, acted), both
        )


def _calls(rule: Rule, spec: ToolSpec) -> Iterator[Mapping[str, object]]:
    """Arguments that differ in one role at a time from those that meet all conditions."""
    given = dict(_arguments(spec))
    samples = {role: _samples(rule, role) for role in dict.fromkeys(given.values())}
    usual = {name: _shaped(spec, name, samples[role][0]) for name, role in given.items()}
    if spec.declaration.command_args:
        usual |= {name: [] for name in spec.declaration.host_args}
    yield usual
    for name, role in given.items():
        for sample in samples[role][1:]:
            yield {**usual, name: _shaped(spec, name, sample)}
    if spec.declaration.command_args:
        for host in samples.get("host", ()):
            asked = {name: [host] for name in spec.declaration.host_args}
            yield {**usual, **asked, spec.declaration.command_args[0]: f"curl https://{host}/"}


def _arguments(spec: ToolSpec) -> Iterator[tuple[str, ConditionRole]]:
    declaration = spec.declaration
    groups: tuple[tuple[ConditionRole, Sequence[str]], ...] = (
        ("command", declaration.command_args),
        ("path", declaration.path_args),
        ("host", (*declaration.url_args, *declaration.host_args)),
    )
    for role, names in groups:
        yield from ((name, role) for name in names)
    roles: dict[Role, ConditionRole] = {
        Role.RECIPIENT: "recipient",
        Role.AMOUNT: "amount",
        Role.OWN_ACCOUNT: "account",
    }
    yield from ((name, roles[role]) for name, role in declaration.roles.items() if role in roles)


def _samples(rule: Rule, role: ConditionRole) -> list[str]:
    """Names that the rule speaks of, if it tests the role, and names that it does not."""
    tested = [condition for condition in rule.where if condition.role == role]
    named = [name for condition in tested for value in condition.values for name in _names(role, value)]
    outside = [*_USUAL[role], *named]
    return outside if tested and tested[0].side == "outside" else [*named, *_USUAL[role]]


def _names(role: ConditionRole, value: str) -> Iterator[str]:
    if role == "path":
        name = value.replace("**/", "").replace("*", "example")
        yield f"{name}example.txt" if name.endswith("/") else name
    elif role == "host":
        yield f"www.{value[2:]}" if value.startswith("*.") else value.removeprefix("=").replace("*", "example.net")
    elif role == "recipient":
        yield value if "@" in value else f"someone@{value.replace('*', 'example.net')}"
    elif role == "command":
        words = value.split()
        yield value
        if len(words) > 1:
            yield f"{words[0]} --version"
    elif role == "amount":
        low, high = interval(value)
        yield from (str(end) for end in (low, high, high + 1 if high is not None else None) if end is not None)
    else:
        yield value


def _shaped(spec: ToolSpec, name: str, sample: str) -> object:
    """A sample as an argument: a host as an address where one is wanted, in a list where the schema has one."""
    if name in spec.declaration.url_args:
        return f"https://{sample}/"
    properties = spec.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    listed = name in spec.declaration.host_args or (isinstance(schema, dict) and schema.get("type") == "array")
    return [sample] if listed else sample


def _word(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
