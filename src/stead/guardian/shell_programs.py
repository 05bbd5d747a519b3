"""How the operands of known programs are read: plain paths, patterns, little languages, and git's subcommands.

Layer: guardian. Pure. Each reader notes what it finds with the judge; a reader that notes nothing has found nothing but
reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from stead.guardian import shell_specs as specs
from stead.guardian.policy import WORKSPACE
from stead.guardian.shell_options import Arguments, sort_arguments
from stead.guardian.shell_rules import Finding
from stead.guardian.shell_specs import Spec
from stead.guardian.shell_words import Word

_SCRIPT_LIMIT = 2000
_AWK = re.compile(specs.AWK_HARMFUL)
_SED = re.compile(rf"{specs.SED}(?:[;\n]{specs.SED})*+;?\s*")
_FORMAT = re.compile(specs.FORMAT)
_RUNS_GPG = re.compile(r"%G|signature")
_PATTERN_OPTIONS = ("-e", "--regexp", "--files", "--type-list")
_FIND_FILES = ("-newer", "-anewer", "-cnewer", "-samefile")
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


class Notes(Protocol):
    """Where a reader notes what it finds: the judge."""

    findings: list[Finding]
    folders: list[str]

    def find(self, rule: str, thing: str = "") -> None:
        """Note a finding."""

    def read(self, word: Word) -> None:
        """Note a path that is read."""

    def write(self, word: Word) -> None:
        """Note a path that is written."""

    def move(self, word: Word) -> None:
        """Note a ``cd``."""

    def judge(self, words: Sequence[Word], *, piped: bool = False, fed: bool = False) -> None:
        """Judge a command within this one."""


Reader = Callable[[Notes, str, Spec, Sequence[Word]], None]


def sort(notes: Notes, name: str, spec: Spec, arguments: Sequence[Word]) -> None:
    """Judge a command by its known options."""
    if spec.writes:
        notes.find("shell-writes", name)
    READERS[spec.operands](notes, name, spec, arguments)


def _arrange(notes: Notes, spec: Spec, words: Sequence[Word]) -> Arguments:
    found = sort_arguments(spec, words)
    notes.findings += found.findings
    return found


def _paths(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    for word in _arrange(notes, spec, words).operands:
        notes.read(word)


def _pattern(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    found = _arrange(notes, spec, words)
    for word in found.operands[0 if found.has(*_PATTERN_OPTIONS) else 1 :]:
        notes.read(word)


def _text(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    found = _arrange(notes, spec, words)
    if spec.needs and found.operands and not found.has(*spec.needs):
        notes.find("shell-acts", f"{name} {found.operands[0].source}")


def _none(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    for word in _arrange(notes, spec, words).operands:
        notes.find("shell-unknown-option", word.source)


def _one(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    """A second operand would be written, and a pattern can stand for two."""
    operands = _arrange(notes, spec, words).operands
    for place, word in enumerate(operands):
        notes.read(word)
        if place or word.glob:
            notes.find("shell-unknown-option", word.source)


def _write(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    for word in _arrange(notes, spec, words).operands:
        notes.write(word)


def _copy(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    operands = _arrange(notes, spec, words).operands
    for word in operands[:-1]:
        notes.read(word)
    for word in operands[-1:]:
        notes.write(word)


def _mode(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    for word in _arrange(notes, spec, words).operands[1:]:
        notes.write(word)


def _stamp(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    """An operand of ``date`` that is no format sets the clock."""
    for word in _arrange(notes, spec, words).operands:
        if word.glob or not (word.text or "").startswith("+"):
            notes.find("shell-unknown-option", word.source)


def _cd(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    if len(words) == 1 and not (words[0].text or "-").startswith("-"):
        notes.move(words[0])
    else:
        notes.find("shell-path-outside", name)


def _test(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    for word in words:
        text = word.text or ""
        if word.glob or text in ("(", ")") or (text.startswith("-") and text not in specs.CONDITIONS):
            notes.find("shell-unknown-option", word.source)


def _printf(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    form = words[1:] if words and words[0].text == "--" else words
    if form and (form[0].glob or form[0].source.startswith("-") or not _FORMAT.fullmatch(form[0].text or "%")):
        notes.find("shell-unknown-option", form[0].source)


def _listing(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    """``tar`` and ``unzip`` when they only list; a colon in the archive's name makes ``tar`` ask another host."""
    how = words[0].text or "" if words else ""
    if not re.fullmatch(specs.LISTINGS[name], how):
        notes.find("shell-unknown-option", f"{name} {how}")
    for word in words[1:]:
        notes.read(word)
        if word.glob or (word.text or "-").startswith("-") or ":" in (word.text or ""):
            notes.find("shell-unknown-option", word.source)


def _sed(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    in_place = [word for word in words if re.fullmatch(r"-i|--in-place", word.text or "")]
    found = _arrange(notes, spec, [word for word in words if word not in in_place])
    operands = found.operands
    scripts = [value for option, value in found.given if option in ("-e", "--expression")]
    if not scripts and operands:
        scripts = ["?" if operands[0].glob else operands[0].text or "?"]
        operands = operands[1:]
    for script in scripts:
        if len(script) > _SCRIPT_LIMIT or not _SED.fullmatch(script):
            notes.find("shell-inline-code", f"sed {script}")
    if in_place:
        notes.find("shell-writes", "sed -i")
    for word in operands:
        notes.read(word)
        if in_place:
            notes.write(word)


def _awk(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    operands = _arrange(notes, spec, words).operands
    program = "@" if not operands or operands[0].glob else operands[0].text or "@"
    if _AWK.search(program.replace("||", "")):
        notes.find("shell-inline-code", f"awk {program}")
    for word in operands[1:]:
        notes.read(word)


def _find(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    place = 0
    starting = True
    while place < len(words):
        word, text = words[place], words[place].text or ""
        place += 1
        if word.glob and text[0] in "-*?[(!,":
            notes.find("shell-glob-option", word.source)
        elif starting and (text in ("-H", "-L", "-P") or (text and text[0] not in "-(!),")):
            notes.read(word)
            continue
        starting = False
        if text in specs.TESTS and place < len(words):
            _find_value(notes, text, words[place])
            place += 1
        elif text in _FIND_RUNS:
            inner = list(words[place:])
            ends = [at for at, one in enumerate(inner) if one.text in (";", "+")]
            inner = inner[: ends[0]] if ends else inner
            notes.find("shell-wrapper", f"find {text}")
            if inner:
                notes.judge(inner)
            place += len(inner) + 1
        elif text == "-delete":
            notes.find("shell-removes", "find -delete")
        elif text not in specs.PREDICATES:
            notes.find("shell-unknown-option", word.source)


def _find_value(notes: Notes, test: str, word: Word) -> None:
    if word.glob and (word.text or "*")[0] in "-*?[(!,":
        notes.find("shell-glob-option", word.source)
    if test in _FIND_FILES:
        notes.read(word)


def _git(notes: Notes, name: str, spec: Spec, words: Sequence[Word]) -> None:
    rest = list(words)
    while rest and rest[0].text in ("--no-pager", "--no-optional-locks", "--literal-pathspecs"):
        rest.pop(0)
    command = rest.pop(0).text or "" if rest else ""
    if notes.folders != [WORKSPACE]:
        notes.find("shell-git-elsewhere", f"git {command}")
    if any(_RUNS_GPG.search(word.text or "") for word in rest):
        notes.find("shell-unknown-option", f"git {command} with signatures")
    known = specs.GIT_READS.get(command)
    if known and known.first:
        first = rest[0].text or "" if rest else "-"
        bare = "-" in known.first and all((word.text or "").startswith("-") for word in rest)
        known = known if bare or first in known.first - {"-"} else None
    if known:
        sort(notes, f"git {command}", known, rest)
    elif command in specs.GIT_WRITES:
        notes.find("shell-writes", f"git {command}")
        sort(notes, f"git {command}", specs.GIT_WRITES[command], rest)
    else:
        notes.find("shell-acts" if command in specs.GIT_ACTS else "shell-unknown-option", f"git {command}")


READERS: dict[str, Reader] = {
    "paths": _paths,
    "pattern": _pattern,
    "text": _text,
    "none": _none,
    "one": _one,
    "write": _write,
    "copy": _copy,
    "mode": _mode,
    "stamp": _stamp,
    "cd": _cd,
    "test": _test,
    "printf": _printf,
    "listing": _listing,
    "sed": _sed,
    "awk": _awk,
    "find": _find,
    "git": _git,
}
"""By the name that a ``Spec`` gives its operands."""
