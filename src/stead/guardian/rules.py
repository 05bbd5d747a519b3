"""Which of the person's standing rules speak of a call: deny before ask before allow.

Layer: guardian. Pure. A rule is data that was compiled from a sentence before any model was asked anything, so nothing
that a model reads or says can change it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from stead.domain.policies import Rule
from stead.domain.tools import ToolEffect, ToolSpec
from stead.domain.trials import Barred
from stead.guardian.policy import below, needs_machine


class Touched(msgspec.Struct, frozen=True):
    """What a call names, for rules to speak of.

    Args:
        paths: below the workspace, relative.
        hosts: all that it reaches; a machine reaches no other.
        programs: that its command line starts.
        certain: false when it may touch more paths than it names, as a program does.
        parsed: false when its command line was not understood, so that it may start other programs.
        changes: whether it may change anything.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    certain: bool = True
    parsed: bool = True
    changes: bool = True


def barring(rules: Sequence[Rule]) -> Barred:
    """What the person's rules say against a changed path."""
    against = [rule for rule in rules if _is_of_changes(rule)]

    def barred(path: str) -> str:
        for rule in against:
            if any(_is_path(pattern, path) for pattern in rule.paths) is not rule.elsewhere:
                return rule.text
        return ""

    return barred


def _is_of_changes(rule: Rule) -> bool:
    """Whether a rule forbids, or asks about, changes of paths alone: what has changed tells whether it is broken."""
    alone = not (rule.hosts or rule.programs or rule.tools)
    return rule.verdict != "allow" and rule.changing and bool(rule.paths) and alone


Speaks = Literal["yes", "perhaps", "no"]


def speaking(rules: Sequence[Rule], spec: ToolSpec, touched: Touched) -> Rule | None:
    """The rule that decides, if any does: the first deny, else the first ask, else the first allow.

    A ban that a call might break, because it may touch more than it names, comes back as a question; but one on changes
    is kept where what a machine changed lands, see ``barring``.
    """
    ruling: list[Rule] = []
    landing = needs_machine(spec.declaration) and spec.declaration.effect is ToolEffect.EXECUTE
    for rule in rules:
        spoken = _speaks(rule, touched) if _of_kind(rule, spec, touched) else "no"
        if spoken == "yes":
            ruling.append(rule)
        elif spoken == "perhaps" and rule.verdict != "allow" and not (landing and _is_of_changes(rule)):
            ruling.append(msgspec.structs.replace(rule, verdict="ask"))
    return min(ruling, key=lambda rule: ("deny", "ask", "allow").index(rule.verdict), default=None)


def _of_kind(rule: Rule, spec: ToolSpec, touched: Touched) -> bool:
    named = not rule.tools or any(_glob(pattern).fullmatch(spec.name) for pattern in rule.tools)
    return (
        named
        and (not rule.effects or spec.declaration.effect.value in rule.effects)
        and (touched.changes or not rule.changing)
    )


def _speaks(rule: Rule, touched: Touched) -> Speaks:
    if rule.verdict == "allow" and touched.hosts and not rule.hosts:
        return "no"  # leave for a tool, a path or a program is no leave for the network
    answers: list[Speaks] = ["yes"]
    if rule.paths:
        within = [any(_is_path(pattern, path) for pattern in rule.paths) for path in touched.paths]
        # Moving, linking or searching a folder reaches what lies in it.
        above = any(_is_above(path, pattern) for pattern in rule.paths for path in touched.paths)
        answers.append(_side(rule, within, certain=touched.certain and not above))
    if rule.hosts:
        within = [any(is_host(pattern, host) for pattern in rule.hosts) for host in touched.hosts]
        answers.append(_side(rule, within, certain=True))
    if rule.programs:
        answers.append(_side(rule, [name in rule.programs for name in touched.programs], certain=touched.parsed))
    return "no" if "no" in answers else "perhaps" if "perhaps" in answers else "yes"


def _side(rule: Rule, within: Sequence[bool], *, certain: bool) -> Speaks:
    """What one list of places says, given which of the call's names lie within it."""
    if rule.verdict == "allow":  # an allowance has to hold for all that the call touches
        return "yes" if within and all(within) and certain else "no"
    # "Only there" is broken by one name elsewhere; a ban and a question are met by one.
    met = not all(within) if rule.elsewhere else any(within)
    return "yes" if met else "no" if certain else "perhaps"


def is_host(pattern: str, host: str) -> bool:
    """Whether a host is the one of a pattern: an exact name, or ``*.name`` for what is below it."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in ("*", host)


def _is_path(pattern: str, path: str) -> bool:
    return _glob(pattern).fullmatch(below(path)) is not None


def _is_above(path: str, pattern: str) -> bool:
    """Whether the path may be a folder in which something of the pattern lies."""
    folder, (first, *rest) = below(path), re.split(r"[*?]", _relative(pattern), maxsplit=1)
    deeper = any("/" in part for part in rest) and folder.startswith(first)
    return folder == "." or first.startswith(folder + "/") or deeper


def _relative(pattern: str) -> str:
    """A pattern as it is below the workspace; a folder's stands for the folder too, whether it has its slash or not."""
    return pattern.removeprefix("/work/").removeprefix("./").rstrip("/")


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A pattern as a regular expression without nested repeats, so that it takes linear time."""
    text = "".join(
        {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
        for part in re.split(r"(\*\*/|\*\*|\*|\?)", _relative(pattern))
    )
    return re.compile(text + "(?:/.*)?", re.DOTALL)
