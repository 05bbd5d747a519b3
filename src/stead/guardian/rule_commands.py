"""Whether a simple command is one that a rule names: a program, its first words, and flags that must be there.

Layer: guardian. Pure; knows words and no shell syntax. Only spellings that are known to be the same are taken for that.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache

NO, PERHAPS, YES = 0, 1, 2
"""What a test says. A ban that perhaps speaks of a call is asked about; an allowance does not cover it."""

_VALUED = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}),
    "docker": frozenset({"-H", "--host", "-c", "--context", "--config", "-l", "--log-level"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"}),
    "helm": frozenset({"-n", "--namespace", "--kube-context", "--kubeconfig"}),
    "npm": frozenset({"--prefix", "-w", "--workspace"}),
    "cargo": frozenset({"--config", "-Z", "-C", "--color"}),
    "make": frozenset({"-C", "-f", "-I", "-o", "-W"}),
    "systemctl": frozenset({"-H", "--host", "-M", "--machine", "-t", "--type"}),
}
"""Options that take the next word as their value and may stand before a subcommand."""
_SAME = {
    "git push": (("-f", "--force"), ("-d", "--delete"), ("-u", "--set-upstream"), ("-n", "--dry-run")),
    "git clean": (("-f", "--force"), ("-n", "--dry-run")),
    "git commit": (("-a", "--all"), ("-n", "--no-verify"), ("-m", "--message")),
    "git checkout": (("-f", "--force"),),
    "rm": (("-r", "-R", "--recursive"), ("-f", "--force")),
    "cp": (("-r", "-R", "--recursive"), ("-f", "--force")),
    "chmod": (("-R", "--recursive"),),
    "chown": (("-R", "--recursive"),),
    "curl": (("-k", "--insecure"), ("-d", "--data"), ("-X", "--request"), ("-T", "--upload-file")),
    "pip install": (("-U", "--upgrade"),),
    "docker run": (("-v", "--volume"), ("-p", "--publish")),
}
"""Flags that a program takes for each other."""
_CLUSTER = re.compile(r"-[A-Za-z]{2,}")


def fits(value: str, command: Sequence[str], *, exactly: bool) -> int:
    """Whether a command is the one of a rule's value.

    Args:
        value: such as ``git push --force``; its words in the order of the command.
        command: the program and its arguments.
        exactly: the value's words stand first, with no option before them, as an allowance needs it.
    """
    program, leading, flags = _parsed(value)
    name = command[0] if command else ""
    if not program or (name != program and posixpath.normpath(name) != program):
        return NO
    arguments = list(command[1:])
    said = YES if arguments[: len(leading)] == leading else NO if exactly else _leads(program, leading, arguments)
    same = _SAME.get(" ".join([program, *leading[:1]]), _SAME.get(program, ()))
    return said if all(_has(flag, arguments, same, exactly=exactly) for flag in flags) else NO


@lru_cache(maxsize=512)
def _parsed(value: str) -> tuple[str, list[str], list[str]]:
    program, *words = value.split() or [""]
    program = program if "/" not in program else posixpath.normpath(program)
    return program, [word for word in words if word[:1] != "-"], [word for word in words if word[:1] == "-"]


def _leads(program: str, leading: list[str], arguments: list[str]) -> int:
    """Whether the subcommand is the wanted one, whatever options stand before it."""
    valued, named, unknown, skip = _VALUED.get(program, frozenset()), [], 0, False
    for word in arguments:
        if skip:
            skip = False
        elif word[:1] != "-":
            named.append(word)
        elif len(named) < len(leading):
            skip = word in valued
            unknown += not skip and "=" not in word
    if named[: len(leading)] == leading:
        return YES
    # An option that is not known may have taken a word for its value.
    shifted = any(named[at : at + len(leading)] == leading for at in range(1, unknown + 1))
    return PERHAPS if shifted else NO


def _has(flag: str, arguments: list[str], same: Sequence[Sequence[str]], *, exactly: bool) -> bool:
    wanted = next((group for group in same if flag in group), (flag,))
    for word in arguments:
        name = word.partition("=")[0]
        if name in wanted:
            return True
        if exactly:
            continue
        if _CLUSTER.fullmatch(word) and any(len(one) == 2 and one[1] in word for one in wanted):
            return True
        # Long options may be cut short.
        if len(name) > 3 and name[:2] == "--" and any(one.startswith(name) for one in wanted):
            return True
    return False
