"""Which of the person's standing rules speak of a call: deny before ask before allow.

Layer: guardian. Pure. A rule is data that was compiled from a sentence before any model was asked anything, so nothing
that a model reads or says can change it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from stead.domain.policies import Rule
from stead.domain.tools import ToolSpec
from stead.guardian.policy import WORKSPACE


class Touched(msgspec.Struct, frozen=True):
    """What a call names, for rules to speak of.

    Args:
        paths: below the workspace, relative.
        hosts: that it reaches.
        programs: that its command line starts.
        certain: false when the call may touch more than it names, as a command does that was not understood.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    certain: bool = True


def speaking(rules: Sequence[Rule], spec: ToolSpec, touched: Touched) -> Rule | None:
    """The rule that decides, if any does: the first deny, else the first ask, else the first allow.

    A deny that a call *might* break, because it may touch more than it names, comes back as an ask.
    """
    ruling: list[Rule] = []
    for rule in rules:
        if not _of_kind(rule, spec):
            continue
        if _speaks(rule, touched):
            ruling.append(rule)
        elif rule.verdict == "deny" and not touched.certain:
            ruling.append(msgspec.structs.replace(rule, verdict="ask"))
    return min(ruling, key=lambda rule: ("deny", "ask", "allow").index(rule.verdict), default=None)


def _of_kind(rule: Rule, spec: ToolSpec) -> bool:
    named = not rule.tools or spec.name in rule.tools
    return named and (not rule.effects or spec.declaration.effect.value in rule.effects)


def _speaks(rule: Rule, touched: Touched) -> bool:
    sides = (
        (rule.paths, touched.paths, _is_path),
        (rule.hosts, touched.hosts, is_host),
        (rule.programs, touched.programs, str.__eq__),
    )
    if rule.verdict == "allow" and touched.hosts and not rule.hosts:
        return False  # leave for a tool, a path or a program is no leave for the network
    for patterns, names, fits in sides:
        if not patterns:
            continue
        within = [any(fits(pattern, name) for pattern in patterns) for name in names]
        if rule.elsewhere:
            # "Only there" is broken by one name elsewhere, and by a call that names nothing where it could.
            return not all(within) or not (names and touched.certain)
        # An allowance has to hold for all that the call names; a ban and a question are met by one.
        held = bool(within) and all(within) and touched.certain if rule.verdict == "allow" else any(within)
        if not held:
            return False
    return True


def is_host(pattern: str, host: str) -> bool:
    """Whether a host is the one of a pattern: an exact name, or ``*.name`` for what is below it."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


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
