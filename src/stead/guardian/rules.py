"""Which of the person's standing rules speak of a call: deny before ask before allow.

Layer: guardian. Pure. A rule is data that was compiled from a sentence before any model was asked anything, so nothing
that a model reads or says can change it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from stead.domain.policies import Rule
from stead.domain.tools import ToolSpec
from stead.guardian.policy import WORKSPACE


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


Speaks = Literal["yes", "perhaps", "no"]


def speaking(rules: Sequence[Rule], spec: ToolSpec, touched: Touched) -> Rule | None:
    """The rule that decides, if any does: the first deny, else the first ask, else the first allow.

    A ban that a call might break, because it may touch more than it names, comes back as a question.
    """
    ruling: list[Rule] = []
    for rule in rules:
        spoken = _speaks(rule, touched) if _of_kind(rule, spec, touched) else "no"
        if spoken == "yes":
            ruling.append(rule)
        elif spoken == "perhaps" and rule.verdict != "allow":
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
    sides = (
        (rule.paths, touched.paths, _is_path, touched.certain),
        (rule.hosts, touched.hosts, is_host, True),
        (rule.programs, touched.programs, str.__eq__, touched.parsed),
    )
    answers: list[Speaks] = ["yes"]
    for patterns, names, fits, certain in sides:
        if patterns:
            within = [any(fits(pattern, name) for pattern in patterns) for name in names]
            answers.append(_side(rule, within, certain=certain))
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
    return _glob(pattern).fullmatch(posixpath.relpath(posixpath.join(WORKSPACE, path), WORKSPACE)) is not None


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A pattern as a regular expression without nested repeats, so that it takes linear time."""
    whole = pattern.removeprefix("/work/").removeprefix("./")
    text = "".join(
        {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
        for part in re.split(r"(\*\*/|\*\*|\*|\?)", whole)
    )
    return re.compile(text + ".*" if whole.endswith("/") else text + "(?:/.*)?", re.DOTALL)
