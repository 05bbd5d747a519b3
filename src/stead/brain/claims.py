"""Claims of action in a model's words, and the finished calls that could support them.

Layer: brain. Rules, not another model: a sentence that says that a file was written, a command run, tests passed, work
committed or a page fetched needs a call that did so and succeeded. That tests, linters or type checks pass is only
shown by a run since the last source file was written: before that it was another program. Commands count for what they
could have done (``make`` may test, commit and push), and what a command does to files is not followed. Sentences that
negate, plan or speak of others are left alone, because a missed boast is cheaper than an honest report sent back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import msgspec

from stead.domain.sessions import Action

PATH = re.compile(r"(?<![\w@:/.-])(?:\./|/work/)?[\w-][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!\()")
"""A file name with an ending, folders before it allowed; not a URL, not a call of a method."""

_MOST_CHARACTERS, _LONGEST_SENTENCE, _MOST_FOUND = 8_000, 400, 5
"""What is looked at. A report is shorter; whatever else comes must not cost more than it."""
_COMMAND_CHARACTERS = 4_000
_WRITERS = ("write", "edit", "patch")
_DOCUMENT = re.compile(r"\.(?:md|markdown|txt|rst|adoc|csv|tsv|log)$", re.IGNORECASE)
"""What tests do not depend on."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_HEDGED = re.compile(
    r"\b(?:not|never|no|nothing|cannot|can't|couldn't|didn't|wasn't|weren't|isn't|haven't|hasn't|failed|unable|would|will|"
    r"could|should|may|might|shall|need|needs|want|plan|going|if|unless|until|once|before|refused|denied|instead|by|"
    r"whether|please|ensure|make sure|already|earlier|previously)\b",
    re.IGNORECASE,
)
_WRITING = (
    r"(?:wrote|written|created|saved|updated|edited|modified|overwrote|overwritten|appended|replaced|deleted|removed|"
    r"renamed|moved|copied|generated|stored|fixed|patched)"
)
_LEAD = r"(?:(?:^|\b(?:I|we|I've|we've|have|has|been|was|were|is|and|also|then|successfully|now|just)\s+)(?:\W*))"
_WROTE = re.compile(rf"{_LEAD}{_WRITING}\b", re.IGNORECASE)
_RAN = re.compile(rf"{_LEAD}(?:ran|run|executed)\s+(?:the\s+command\s+)?`([^`\n]{{1,200}})`", re.IGNORECASE)
_FETCHED = re.compile(rf"{_LEAD}(?:fetched|downloaded|visited|opened)\b[^.]{{0,40}}?(https?://\S+)", re.IGNORECASE)
_QUOTED = re.compile(r"^\s*(?:>|```)|^\s{4,}")

_OWN = r"(?:^\W*|\b(?:I|we|I've|we've|I have|we have|and|then|also|successfully|now|just|has been|have been)\s+)"
"""What leads to a deed of the speaker's own."""
_PASSING = r"\b[^.]{0,40}\b(?:pass|passes|passed|passing|green|clean|succeed|succeeds|succeeded)\b"
_PROGRAM = re.compile(
    r"(?:^|&&|\|\|?|[;\n(])\s*(?:\w+=\S*\s+|(?:time|env|sudo|nohup|exec)\s+)*([^\s;&|()]+)([^;&|\n]*)"
)
_LOOKS = {
    *("awk", "cat", "cd", "chmod", "cp", "diff", "echo", "export", "file", "find", "grep", "head", "less", "ls"),
    *("mkdir", "mv", "printf", "pwd", "rg", "rm", "sed", "stat", "tail", "touch", "tree", "wc", "which"),
}
"""Programs that run nothing that their arguments name."""
_TASKS = {"invoke", "just", "make", "task"}
_SCRIPT = re.compile(r"^(?:bash|sh|\./.*|.*\.sh|pre-commit)$")
"""Programs that may do anything; those of ``_TASKS`` too, but for checks only where they are not told what to do."""


class _Kind(msgspec.Struct, frozen=True):
    """A kind of claim that a command has to show.

    Args:
        claim: finds it in a sentence.
        command: finds a program and its arguments that do it.
        what: is missing otherwise.
        lasts: nothing that is written afterwards makes it untrue.
    """

    claim: re.Pattern[str]
    command: re.Pattern[str]
    what: str
    lasts: bool = True


def _kind(claim: str, command: str, what: str, *, lasts: bool = True) -> _Kind:
    return _Kind(re.compile(claim, re.IGNORECASE), re.compile(command, re.IGNORECASE), what, lasts)


_KINDS = (
    _kind(
        rf"\btests?{_PASSING}",
        r"(?<![a-z])(?:tests?|check|verify|ci)(?![a-z])|pytest|unittest|tox|nox|jest|mocha|phpunit|rspec|ctest|karma|"
        r"cypress|playwright",
        "test run",
        lasts=False,
    ),
    _kind(
        rf"\b(?:lint|linter|linters|linting|ruff|flake8|pylint|eslint|clippy){_PASSING}|{_OWN}linted\b",
        r"ruff|flake8|pylint|eslint|clippy|lint|check|vet|biome|rubocop",
        "linter run",
        lasts=False,
    ),
    _kind(
        rf"\b(?:type[- ]?check(?:s|ing|er)?|mypy|pyright|tsc){_PASSING}|{_OWN}type[- ]?checked\b",
        r"mypy|pyright|pyre|tsc|type|check|build|vet",
        "type check",
        lasts=False,
    ),
    _kind(
        rf"{_OWN}(?:re)?formatted\b[^.]{{0,30}}\b(?:code|codebase|sources?|with\s+`?(?:black|ruff|prettier|gofmt|rustfmt))\b",
        r"black|ruff|prettier|fmt|format|isort|biome",
        "formatter run",
    ),
    _kind(rf"{_OWN}committed\b(?!\s+to\s+(?!git\b|main\b|master\b|the\s+repo))", r"commit", "commit"),
    _kind(
        rf"{_OWN}pushed\b[^.]{{0,40}}\b(?:origin|remote|upstream|github|gitlab|repo|repository|branch|commits?|main|master)\b",
        r"push",
        "push",
    ),
    _kind(
        rf"{_OWN}installed\b",
        r"install|add|sync|update|upgrade|(?<![a-z])ci(?![a-z])|get",
        "installation",
    ),
)


def unsupported(text: str, actions: Sequence[Action]) -> tuple[str, ...]:
    """The sentences of a report that claim an action which no successful call shows, and what is missing.

    At most five, shortened. Of a report that is longer than any report is, the rest is believed.
    """
    found: list[str] = []
    fenced = False
    done: _Done | None = None
    for line in text[:_MOST_CHARACTERS].splitlines():
        fenced ^= line.lstrip().startswith("```")
        if fenced or _QUOTED.match(line):
            continue
        for sentence in _SENTENCE.split(line):
            plain = " ".join(sentence.strip(" *-#\t").split())
            if len(plain) > _LONGEST_SENTENCE or _HEDGED.search(plain):
                continue
            done = done or _Done(actions)
            if missing := _missing(plain, done):
                found.append(f"{_shorten(plain)} ({missing})")
        if len(found) >= _MOST_FOUND:
            break
    return tuple(dict.fromkeys(found))[:_MOST_FOUND]


def wrote(action: Action, path: str) -> bool:
    """Whether a call writes the file: by its path argument, or as a command that names it."""
    if action.tool in _WRITERS:
        return target(action) == clean(path)
    return action.tool == "shell" and path.rsplit("/", 1)[-1] in _argument(action, "command")


def ran(action: Action, word: str) -> bool:
    """Whether a call runs a command with this word."""
    return action.tool == "shell" and word in _argument(action, "command")


def target(action: Action) -> str:
    """The file that a call writes by its path argument, "" for any other call."""
    return clean(_argument(action, "path")) if action.tool in _WRITERS else ""


def clean(path: str) -> str:
    """A workspace path as one spelling: no leading ``./`` or ``/work/``."""
    return path.removeprefix("/work/").removeprefix("./")


class _Done:
    """What the calls of a session have done, in the order in which they ended.

    Args:
        actions: all of them.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self.ran = [action for action in actions if action.outcome in ("ok", "error")]
        """A command that failed was run all the same; nothing else was done."""
        self.ok = [action for action in actions if action.outcome == "ok"]

    @cached_property
    def written(self) -> set[str]:
        """The files that were written by name."""
        return {target(action) for action in self.ok}

    @cached_property
    def commands(self) -> list[str]:
        """The command lines that succeeded; one that names a file may have written it."""
        return [_argument(action, "command") for action in self.ok if action.tool == "shell"]

    def wrote(self, path: str) -> bool:
        """Whether some call has written the file, or may have."""
        name = path.rsplit("/", 1)[-1]
        return clean(path) in self.written or any(name in command for command in self.commands)

    def missing(self, kind: _Kind) -> str:
        """What a claim of this kind lacks; "" when a command shows it."""
        for action in reversed(self.ok):
            changed = target(action)
            if changed and not kind.lasts and not _DOCUMENT.search(changed):
                return f"no {kind.what} that succeeded since {changed[:80]!r} changed"
            if action.tool == "shell" and _does(_argument(action, "command")[:_COMMAND_CHARACTERS], kind):
                return ""
        return f"no {kind.what} that succeeded"


def _does(command: str, kind: _Kind) -> bool:
    """Whether a command line has a part that could be what is claimed."""
    for part in _PROGRAM.finditer(command):
        program = part[1] if part[1].startswith("./") else part[1].rpartition("/")[2]
        if program in _LOOKS or (program == "git" and not kind.lasts):
            continue
        told = any(not word.startswith("-") for word in part[2].split())
        anything = _SCRIPT.match(program) or (program in _TASKS and (kind.lasts or not told))
        if anything or kind.command.search(part[0]):
            return True
    return False


def _missing(plain: str, done: _Done) -> str:
    """What the calls do not show of what a sentence claims; "" when they show it, or when it claims nothing."""
    if _WROTE.search(plain):
        paths = [match.group() for match in PATH.finditer(plain)]
        if paths and not any(map(done.wrote, paths)):
            return f"{paths[0][:80]!r} was not written"
    if command := _RAN.search(plain):
        program = (command[1].split() or [""])[0]
        if not any(ran(action, program) for action in done.ran):
            return f"{program!r} was not run"
    for kind in _KINDS:
        if kind.claim.search(plain) and (missing := done.missing(kind)):
            return missing
    if page := _FETCHED.search(plain):
        url = page[1].rstrip(").,;`'\"")
        if not any(action.tool == "fetch" and _argument(action, "url").startswith(url) for action in done.ok):
            return "that page was not fetched"
    return ""


def _argument(action: Action, name: str) -> str:
    """An argument as the gate wrote it, "" where there is none; a call that never parsed has none."""
    try:
        decoded = msgspec.json.decode(action.arguments)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return str(decoded.get(name, "")) if isinstance(decoded, dict) else ""


def _shorten(plain: str) -> str:
    return plain if len(plain) <= 120 else plain[:117] + "..."
