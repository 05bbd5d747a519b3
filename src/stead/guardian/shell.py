"""How risky a shell command is, judged by its parsed form.

Layer: guardian. Pure and total; starts nothing and looks at no file.

Two readings of the text, by tree-sitter's grammar and by a plain reader of our own, must agree before anything is
called understood; then each command is judged by a table of options that are known to be harmless. Whatever is not
known is high. It serves the person's rules, hints, and who is asked in the profile ``ask``. What can happen is decided
by the machine and by what lands; no safety lies here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from stead.domain.policies import Reason, Risk
from stead.domain.shown import HIDDEN
from stead.guardian.shell_commands import Judge
from stead.guardian.shell_rules import RULES, Finding
from stead.guardian.shell_specs import SUSPICIOUS
from stead.guardian.shell_tree import Tree, read_tree
from stead.guardian.shell_words import read_plain

LIMIT_CHARS = 100_000
"""Longer commands are not read."""
_NESTING = 4
_REASONS = 8

_CONTROL = re.compile(r"[^\t\n -~]")
_NETWORK_DEVICE = re.compile(r"/dev/(tcp|udp)\b")
_SUSPICIOUS = re.compile(SUSPICIOUS)
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_ORDER = {rule: place for place, rule in enumerate(RULES)}


class ShellRisk(msgspec.Struct, frozen=True):
    """What is known of a command before it runs.

    Args:
        risk: low only when it surely does nothing but read the workspace and the system's own files.
        shape: the command in canonical form, for "allow always": all words and operators, never a prefix. "" when no
            shape may be granted: the command is critical, or not all of it is understood.
        reasons: what was found, worst first; never empty.
        paths: files that the command names, relative to ``/work`` where they are inside.
        changes: false only when the command surely writes nothing.
        commands: the simple commands it runs with their words, wrappers and what they wrap alike; a file that output is
            written to stands as one that is called ``>``.
    """

    risk: Risk
    shape: str
    reasons: tuple[Reason, ...]
    paths: tuple[str, ...]
    changes: bool
    commands: tuple[tuple[str, ...], ...] = ()


def assess(command: str) -> ShellRisk:
    """Judge a command line of bash, run in ``/work`` of a machine.

    Args:
        command: any text at all.

    Returns:
        Its risk, with reasons. Never raises.
    """
    if len(command) > LIMIT_CHARS:
        return _result([Finding("shell-too-long")], "", Judge())
    if unseen := _unseen(command):
        return _result([Finding("shell-hidden-characters", unseen)], "", Judge())
    source = command.encode()
    judge = Judge()
    shape = _read(source, judge, 0)
    return _result(judge.findings or [Finding("shell-reads")], shape, judge)


def _read(source: bytes, judge: Judge, depth: int) -> str:
    """Judge a text and what it has shells run in turn; its shape, or "" when it is not understood."""
    text = source.decode("latin-1")
    tree = read_tree(source, text)
    judge.findings += tree.findings
    if any(finding.rule == "shell-too-long" for finding in tree.findings):
        return ""
    if _NETWORK_DEVICE.search(text):
        judge.find("shell-network-device", text)
    if _SUSPICIOUS.search(text) and any(finding.rule == "shell-unparsed" for finding in tree.findings):
        judge.find("shell-suspicious", text)
    for call in tree.invocations:
        judge.judge(call.words, piped=call.piped)
    for redirect in tree.redirects:
        judge.judge_redirect(redirect.operator, redirect.target)
    shape = _agreed(text, tree)
    if not shape:
        judge.find("shell-two-readings", text)
    nested, judge.nested = judge.nested, []
    for inner in nested:
        if depth == _NESTING:
            judge.find("shell-too-long")
        else:
            _read(inner.encode(), judge, depth + 1)
    return shape


def _agreed(text: str, tree: Tree) -> str:
    """The command's shape when both readings found the same words; else ""."""
    plain = read_plain(text)
    return plain.shape if plain and (plain.commands, plain.targets) == tree.places() else ""


def _unseen(command: str) -> str:
    """The first character that a person would not see, or see as something else."""
    if not _CONTROL.search(command):
        return ""
    for char in command:
        plain = " " <= char <= "~" or char in "\t\n"
        if not plain and (unicodedata.category(char) in _UNSEEN or HIDDEN.match(char)):
            return char
    return ""


def _result(findings: Sequence[Finding], shape: str, judge: Judge) -> ShellRisk:
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
    ranked = sorted(first.values(), key=lambda finding: _ORDER[finding.rule])
    risk = RULES[ranked[0].rule].risk
    granted = all(RULES[finding.rule].grantable for finding in ranked)
    changes = any(RULES[finding.rule].changes for finding in ranked)
    reasons = tuple(one.reason() for one in ranked[:_REASONS])
    shape = shape if granted else ""
    return ShellRisk(risk, shape, reasons, tuple(judge.named), changes, tuple(judge.commands))
