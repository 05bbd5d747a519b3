"""Which of the person's standing rules speak of a call: deny before ask before allow.

Layer: guardian. Pure. A rule is data that the person confirmed before any model was asked anything, so nothing that a
model reads or says can change it. What a call does and names is read from its tool's declaration, whatever its name.

A ban is met by one name that meets its conditions. Where a call may do or name more than can be read, a ban that might
be broken becomes a question, and an allowance does not cover it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

import msgspec

from stead.domain.policies import Action, Condition, ConditionRole, Risk, Rule
from stead.domain.tools import Declaration, Role, ToolEffect, ToolSpec
from stead.domain.trials import Barred
from stead.guardian import policy
from stead.guardian.numbers import number
from stead.guardian.policy import below, needs_machine
from stead.guardian.reach import Reach
from stead.guardian.rule_commands import NO, PERHAPS, YES, fits
from stead.guardian.shell import ShellRisk


class Touched(msgspec.Struct, frozen=True):
    """What a call does and names, for rules to speak of.

    Args:
        does: what it surely does.
        may: what it might do in addition, as a program does whose words do not say.
        needs: what an allowance has to name.
        names: by role, what stands in its arguments; hosts are all that it asks for.
        more: roles of which it may name more than can be read.
        plain: every command of its line can be read, though not what one that is unknown starts in turn.
    """

    does: frozenset[Action]
    may: frozenset[Action] = frozenset()
    needs: frozenset[Action] = frozenset()
    names: Mapping[ConditionRole, Sequence[str] | Sequence[tuple[str, ...]]] = {}
    more: frozenset[ConditionRole] = frozenset()
    plain: bool = False


_DOES: dict[ToolEffect, frozenset[Action]] = {
    ToolEffect.THINK: frozenset(),
    ToolEffect.READ: frozenset({"read"}),
    ToolEffect.WRITE: frozenset({"change"}),
    ToolEffect.EXECUTE: frozenset({"run", "read"}),
    ToolEffect.FETCH: frozenset({"leave"}),
    ToolEffect.SEND: frozenset({"send"}),
}
_IMPLIED: dict[ConditionRole, frozenset[Action]] = {
    "path": frozenset({"read", "change"}),
    "command": frozenset({"run"}),
    "host": frozenset({"leave"}),
}
"""What an allowance that names neither tools nor classes covers, by what it tests."""
_ROLES: dict[ConditionRole, Role] = {
    "recipient": Role.RECIPIENT,
    "amount": Role.AMOUNT,
    "account": Role.OWN_ACCOUNT,
}
_REMOVES = frozenset({"shell-removes", "shell-destroys"})
_ADDRESS = re.compile(r"[^\s<>,;\"'()]+@[^\s<>,;\"'()]+")


def touched(
    declaration: Declaration,
    arguments: Mapping[str, object],
    shell: ShellRisk | None,
    reach: Reach,
    hosts: Sequence[str] = (),
) -> Touched:
    """What a call does and names.

    Args:
        declaration: the tool's, with the effect that this call has.
        arguments: plain data as the tool parsed it.
        shell: what its command line was understood as, if it has one.
        reach: what may be fetched.
        hosts: what every command of the session may reach, whether a call names it or not.
    """
    effect = declaration.effect
    asked = [str(host) for host in policy.values(declaration.host_args, arguments) if host]
    reached = (*asked, *policy.requested(declaration, arguments, reach))
    paths = [str(path) for path in policy.paths(declaration, arguments)]
    does, more = set(_DOES[effect]), set[ConditionRole]()
    may = set[Action]()
    outward = effect is ToolEffect.FETCH or (effect is ToolEffect.SEND and not declaration.local)
    if outward or reached or declaration.url_args:
        does.add("leave")
        if not reached:
            more.add("host")
    if any(paths) and outward:
        does.add("read")
    if any(str(arguments.get(name)).casefold() == "delete" for name in declaration.closed_args):
        does.add("delete")
    if shell is not None:
        paths += shell.paths
        _look_at_command(shell, does, may, more, hosts)
    names = {"path": paths, "host": reached, "command": shell.commands if shell else ()}
    for role, declared in _ROLES.items():
        args = [name for name, which in declaration.roles.items() if which is declared]
        names[role] = [str(value) for value in policy.values(args, arguments) if value not in ("", None)]
        if effect is ToolEffect.SEND and not declaration.local and not args:
            more.add(role)
    needs = {*_DOES[effect], *(does & {"leave", "delete"})} - ({"read", "delete"} if shell else set())
    plain = shell is not None and {reason.rule for reason in shell.reasons} == {"shell-unknown-command"}
    return Touched(frozenset(does), frozenset(may), frozenset(needs), names, frozenset(more), plain)  # type: ignore[arg-type]


def _look_at_command(
    shell: ShellRisk, does: set[Action], may: set[Action], more: set[ConditionRole], hosts: Sequence[str]
) -> None:
    """What a command line does, and what it might do as far as it is not understood."""
    rules = {reason.rule for reason in shell.reasons}
    if shell.changes:
        does.add("change")
    if rules & _REMOVES:
        does.add("delete")
    if "shell-network" in rules:
        does.add("leave")
        more.add("host")
    if not shell.shape:
        more.add("command")
    # What names no more than it says: all of it is understood, and does nothing but read and write plainly.
    if shell.risk in (Risk.LOW, Risk.MEDIUM):
        if any(char in shell.shape for char in "*?["):
            more.add("path")
        return
    more.add("path")
    if not rules <= {"shell-acts", "shell-network", "shell-path-outside", "shell-secret-path", "shell-reads"}:
        may.add("delete")
    if hosts:
        may.add("leave")
        more.add("host")


def barring(rules: Sequence[Rule]) -> Barred:
    """What the person's rules say against a changed path."""
    against = [rule for rule in rules if _is_of_changes(rule)]

    def barred(path: str) -> str:
        for rule in against:
            if min(_test(condition, path, exactly=False) for condition in rule.where) is YES:
                return named(rule)
        return ""

    return barred


def named(rule: Rule) -> str:
    """What a rule is called where it decides: its sentence, else its id."""
    return rule.text or rule.id


def _is_of_changes(rule: Rule) -> bool:
    """Whether a rule forbids, or asks about, changes of paths alone: what has changed tells whether it is broken."""
    alone = bool(rule.where) and all(condition.role == "path" for condition in rule.where) and not rule.tools
    return rule.decision != "allow" and alone and "change" in rule.what and {*rule.what} <= {"change", "delete"}


def speaking(rules: Sequence[Rule], spec: ToolSpec, touched: Touched) -> Rule | None:
    """The rule that decides, if any does: the first deny, else the first ask, else the first allow.

    A ban that a call might break, because it may touch more than it names, comes back as a question; but one on changes
    is kept where what a machine changed lands, see ``barring``.
    """
    ruling: list[Rule] = []
    for rule in rules:
        said = speaks(rule, spec, touched)
        if said is YES:
            ruling.append(rule)
        elif said is PERHAPS and not lands(rule, spec):
            ruling.append(msgspec.structs.replace(rule, decision="ask"))
    return min(ruling, key=lambda rule: ("deny", "ask", "allow").index(rule.decision), default=None)


def lands(rule: Rule, spec: ToolSpec) -> bool:
    """Whether the rule is kept where the changes of such a tool's calls land, so that none is asked about before."""
    landing = needs_machine(spec.declaration) and spec.declaration.effect is ToolEffect.EXECUTE
    return landing and _is_of_changes(rule)


def speaks(rule: Rule, spec: ToolSpec, touched: Touched) -> int:
    """Whether one rule speaks of a call: no, perhaps or yes; an allowance is never only perhaps."""
    if not (rule.what or rule.tools or rule.where):
        return NO
    if rule.tools and not any(_glob(pattern, "").fullmatch(spec.name) for pattern in rule.tools):
        return NO
    if rule.decision == "allow":
        return YES if _allows(rule, spec, touched) else NO
    does, what = touched.does, rule.what
    said = YES if not what or not does.isdisjoint(what) else NO if touched.may.isdisjoint(what) else PERHAPS
    if said and rule.where:
        for role, conditions in _by_role(rule.where):
            said = min(said, _named(conditions, role, touched, allows=False))
    return said


def _allows(rule: Rule, spec: ToolSpec, touched: Touched) -> bool:
    """Whether an allowance names all that a call does, and all of the names in it."""
    roles = dict(_by_role(rule.where))
    covered = {*rule.what}
    if "command" in roles:
        covered.add("run")
    if ("command" in roles or "send" in covered) and not touched.names.get("host"):
        # A command or a sending tool that is named may do so by the hosts it has; hosts that a call asks for are more.
        covered.add("leave")
    if rule.tools:
        # A tool whose work it is to reach out is named with that; a program's hosts are not.
        covered |= touched.needs - ({"leave"} if spec.declaration.effect is ToolEffect.EXECUTE else set())
    elif not rule.what:
        covered = covered.union(*(_IMPLIED.get(role, frozenset()) for role in roles))
    return touched.needs <= covered and all(
        _named(conditions, role, touched, allows=True) is YES for role, conditions in roles.items()
    )


def _by_role(where: Sequence[Condition]) -> list[tuple[ConditionRole, Sequence[Condition]]]:
    if len(where) < 2:
        return [(where[0].role, where)] if where else []
    roles = dict.fromkeys(condition.role for condition in where)
    return [(role, [condition for condition in where if condition.role == role]) for role in roles]


def _named(conditions: Sequence[Condition], role: ConditionRole, touched: Touched, *, allows: bool) -> int:
    """What the conditions of one role say of a call's names; each name has to meet all of them."""
    names: Sequence[str | tuple[str, ...]] = touched.names.get(role, ())
    if role == "command" and not allows:
        names = [name for name in names if ">" not in name[0]]  # a file that output goes to is no program
    found = [min(_test(condition, name, exactly=allows) for condition in conditions) for name in names]
    certain = role not in touched.more or (role == "command" and allows and touched.plain)
    if role == "path" and any(_is_above(value, str(path)) for path in names for value in _inside(conditions)):
        certain = False  # moving, linking or searching a folder reaches what lies in it
    if allows:
        return YES if found and certain and min(found) is YES else NO
    return max([*found, NO if certain else PERHAPS])


def _inside(conditions: Sequence[Condition]) -> list[str]:
    return [value for condition in conditions if condition.side == "inside" for value in condition.values]


def _test(condition: Condition, name: str | tuple[str, ...], *, exactly: bool) -> int:
    values, role = condition.values, condition.role
    if isinstance(name, tuple):
        said = max((fits(value, name, exactly=exactly) for value in values), default=NO)
    elif role == "amount":
        amount = number(name)
        said = PERHAPS if amount is None else YES if any(_within(value, amount) for value in values) else NO
    else:
        test = _TESTS[role]
        said = YES if any(test(value, name) for value in values) else NO
    return said if condition.side == "inside" else YES - said


def interval(value: str) -> tuple[Decimal | None, Decimal | None]:
    """The ends of an amount's interval; nothing for an open one.

    Raises:
        ValueError: it is none, or has no end at all.
    """
    low, dots, high = value.partition("..")
    try:
        ends = Decimal(low) if low else None, Decimal(high) if high else None
    except InvalidOperation:
        ends = None, None
    finite = all(end.is_finite() for end in ends if end is not None)
    if not dots or ends == (None, None) or not finite:
        raise ValueError(f"{value!r} is no interval like ..100, 100.. or 5..10")
    return ends


def _within(value: str, amount: Decimal) -> bool:
    low, high = interval(value)
    return (low is None or amount >= low) and (high is None or amount <= high)


def is_host(pattern: str, host: str) -> bool:
    """Whether a host is the one of a pattern: an exact name, or ``*.name`` for what is below it."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in ("*", host)


def covers_host(value: str, host: str) -> bool:
    """Whether a rule's host stands for a host: itself and what is below it, unless ``=`` says that name alone."""
    return is_host(value.removeprefix("="), host) or (value[:1] not in "=*" and is_host(f"*.{value}", host))


def _is_recipient(value: str, name: str) -> bool:
    """Whether every address that a recipient's text holds is the value's, or in its domain."""
    addresses = _ADDRESS.findall(name) or [name.strip()]
    if "@" in value or value == "*":
        return value == "*" or all(address.casefold() == value.casefold() for address in addresses)
    return all(covers_host(value, address.rpartition("@")[2]) for address in addresses)


def _is_account(value: str, name: str) -> bool:
    return re.sub(r"[\s-]", "", value).casefold() == re.sub(r"[\s-]", "", name).casefold()


def _is_path(pattern: str, path: str) -> bool:
    return _glob(pattern, "(?:/.*)?").fullmatch(below(path)) is not None


def _is_above(pattern: str, path: str) -> bool:
    """Whether the path may be a folder in which something of the pattern lies."""
    folder, (first, rest) = below(path), _beginning(pattern)
    deeper = "/" in rest and folder.startswith(first)
    return folder == "." or first.startswith(folder + "/") or deeper


@lru_cache(maxsize=1024)
def _beginning(pattern: str) -> tuple[str, str]:
    """What of a pattern stands before its first sign, and what stands after it."""
    first, *rest = re.split(r"[*?]", _relative(pattern), maxsplit=1)
    return first, "".join(rest)


def _relative(pattern: str) -> str:
    """A pattern as it is below the workspace; a folder's stands for the folder too, whether it has its slash or not."""
    bare = pattern.removeprefix("/work/").removeprefix("./").rstrip("/")
    # A pattern of names is meant for every folder; with ./ before it, for the workspace's own.
    return f"**/{bare}" if "*" in pattern and "/" not in pattern else bare


@lru_cache(maxsize=1024)
def _glob(pattern: str, below: str) -> re.Pattern[str]:
    """A pattern as a regular expression without nested repeats, so that it takes linear time."""
    text = "".join(
        {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
        for part in re.split(r"(\*\*/|\*\*|\*|\?)", _relative(pattern))
    )
    return re.compile(text + below, re.DOTALL)


_TESTS: dict[ConditionRole, Callable[[str, str], bool]] = {
    "path": _is_path,
    "host": covers_host,
    "recipient": _is_recipient,
    "account": _is_account,
}
