"""Acceptance checks: what has to be true before an objective counts as verified, as data.

Layer: domain. A check says nothing about how it is judged; ``runtime.checking`` does that, and ``brain.ends`` says what
follows. Nothing here is read from a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from stead.domain.bounds import bounds
from stead.domain.ends import End
from stead.domain.errors import InvalidRequest
from stead.domain.messages import MACHINE

Kind = Literal[
    "command", "exists", "absent", "contains", "matches", "parses", "changed", "untouched", "effect", "value", "person"
]
FORMATS = ("json", "toml", "csv", "python")
_CLASSES = ("write", "execute", "fetch", "send")
MOST = 50
"""Checks of one objective."""


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that can be found true or false without asking a model.

    Args:
        kind: ``command``: the line ``subject`` exits 0 in a transaction that is thrown away, and prints ``text``;
            ``exists``, ``absent``: the path ``subject``; ``contains``: the file ``subject`` has ``text``; ``matches``:
            it has a match of the regular expression ``text``; ``parses``: it is a well-formed ``text`` (one of
            ``FORMATS``; "" goes by its ending); ``changed``, ``untouched``: the files of the glob ``subject`` differ,
            or not, from before the work; ``effect``: a call of the class ``subject`` (write, execute, fetch, send)
            succeeded, with ``tool`` and these ``arguments`` if any are given; ``value``: a call of ``tool`` with
            ``arguments``, which only reads, answers with ``text``; ``person``: the person says yes to ``subject``.
        subject: up to 2,000 characters.
        text: up to 2,000 characters.
        tool: a name.
        arguments: those that have to be equal; others are free.
    """

    kind: Kind
    subject: Annotated[str, bounds(maxLength=2000)] = ""
    text: Annotated[str, bounds(maxLength=2000)] = ""
    tool: Annotated[str, bounds(maxLength=64)] = ""
    arguments: dict[str, Any] = {}

    @property
    def key(self) -> bytes:
        """Equal for equal checks."""
        return msgspec.json.encode(self, order="sorted")

    @property
    def words(self) -> str:
        """The same in one short sentence of English, for the model, the terminal and the record."""
        subject, text = self.subject, self.text
        match self.kind:
            case "command":
                return f"`{subject}` exits 0" + (f" and prints {text!r}" if text else "")
            case "exists" | "absent":
                return f"{subject!r} {'exists' if self.kind == 'exists' else 'does not exist'}"
            case "contains" | "matches":
                return f"{subject!r} {self.kind} {text!r}"
            case "parses":
                return f"{subject!r} is well-formed" + (f" {text}" if text else "")
            case "changed" | "untouched":
                return f"{subject!r} is {self.kind}"
            case "effect":
                return f"a {subject} succeeded" + _with(self.tool, self.arguments)
            case "value":
                return f"{self.tool}{_with('', self.arguments)} answers with {text!r}"
            case "person":
                return f"the person confirms: {subject}"


class CheckItem(msgspec.Struct, frozen=True):
    """A check of one objective.

    Args:
        id: ``c`` and a number, unique in the objective.
        check: what.
        by: whose: the person's, the model's plan, or a file of the project.
        accepted: the person has made it theirs. What is not accepted can send work back, and verifies nothing.
    """

    id: str
    check: Check
    by: Literal["person", "model", "project"] = "person"
    accepted: bool = True


class CheckResult(msgspec.Struct, frozen=True):
    """What a check came to.

    Args:
        id: the check's.
        holds: None where it could not be judged.
        detail: why, up to 2,000 characters: the end of a command's output, what was found in its place.
        state: of ``changed`` and ``untouched``: a digest of the files.
        exit_code: of a command.
        words: the check's.
        source: whose words ``detail`` quotes, as ``Gate.source`` names it.
        touched: of a command, what it runs and the work changed, as far as names show it; see ``touched_by``.
    """

    id: str
    holds: bool | None
    detail: str = ""
    state: str = ""
    exit_code: int | None = None
    words: str = ""
    source: str = MACHINE
    touched: tuple[str, ...] = ()


class CommandRan(msgspec.Struct, frozen=True):
    """A command that a run has run, cut to 200 characters; the exit code is None where it is not known."""

    line: str
    exit_code: int | None


class AgentRan(msgspec.Struct, frozen=True):
    """A subagent that a run has started: its kind, "" for none, and how it ended."""

    specialist: str
    status: End | Literal["running"]


class RunFacts(msgspec.Struct, frozen=True):
    """What the record holds of a run or a turn, whatever the model says of it. Lists have at most 20 entries.

    Args:
        calls: how many ran, failed ones included.
        failed: how many of them failed, or have an unknown outcome.
        changed: how many paths were changed or removed, those that wait for the person included.
        paths: of these.
        commands: how many ran.
        ran: the last of them.
        sent: calls that acted on the outside world or left a machine: the tool, and the hosts that it reached.
        agents: the subagents that it started, the last of them.
    """

    calls: int = 0
    failed: int = 0
    changed: int = 0
    paths: tuple[str, ...] = ()
    commands: int = 0
    ran: tuple[CommandRan, ...] = ()
    sent: tuple[str, ...] = ()
    agents: tuple[AgentRan, ...] = ()


def checked(check: Check) -> Check:
    """The check, if it can be one.

    Raises:
        InvalidRequest: a part is missing, or makes no sense; the text says which.
    """
    wanted = _WANTED[check.kind]
    for name in ("subject", "text", "tool"):
        value = getattr(check, name)
        if name in wanted and not value.strip():
            raise InvalidRequest(f"a check of kind {check.kind!r} needs its {name}")
        if "\0" in value:
            raise InvalidRequest("a check has no zero byte")
    if check.kind == "parses" and check.text not in ("", *FORMATS):
        raise InvalidRequest(f"a file is parsed as one of {', '.join(FORMATS)}, not {check.text!r}")
    if check.kind == "effect" and check.subject not in _CLASSES:
        raise InvalidRequest(f"an effect is one of {', '.join(_CLASSES)}, not {check.subject!r}")
    if check.kind in _OF_PATHS and (check.subject.startswith(("/", "~")) or ".." in check.subject.split("/")):
        raise InvalidRequest(f"{check.subject!r} is not a path below the folder")
    if check.kind == "matches":
        try:
            re.compile(check.text)
        except (re.error, RecursionError, OverflowError) as error:
            raise InvalidRequest(f"{check.text!r} is not a regular expression: {error}") from error
    return check


def all_checked(checks: Iterable[Check]) -> tuple[Check, ...]:
    """As ``checked``, for those of one objective; each once.

    Raises:
        InvalidRequest: one cannot be, or there are more than ``MOST``.
    """
    found: list[Check] = []
    for check in map(checked, checks):
        if check not in found:
            found.append(check)
    if len(found) > MOST:
        raise InvalidRequest(f"an objective has at most {MOST} checks, not {len(found)}")
    return tuple(found)


def touched_by(line: str, changed: Iterable[str]) -> tuple[str, ...]:
    """Which changed paths a command line runs, as far as names show it; 20 at most.

    A hint for the person, who decides whether the work may change what judges it. What is only looked at is judged.
    """
    named = set[str]()
    for part in re.split(r"[|;&\n(){}]+", line):
        words = [word.removeprefix("./").rstrip("/") for word in re.findall(r"[\w./@+-]+", part)]
        if words and not _LOOKS.fullmatch(words[0]):
            named.update(name for word in words for name in (word, *_RUNS.get(word, ())) if name)
    found = (path for path in changed if any(path == name or path.startswith(f"{name}/") for name in named))
    return tuple(dict.fromkeys(found))[:20]


_LOOKS = re.compile("awk|cat|cmp|diff|echo|egrep|grep|head|jq|ls|rg|sed|stat|tail|test|wc")
_RUNS: Mapping[str, tuple[str, ...]] = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    **dict.fromkeys(("pytest", "tox", "nox"), ("conftest.py", "pyproject.toml", "pytest.ini", "tox.ini", "noxfile.py")),
    "just": ("justfile",),
}
_OF_PATHS = ("exists", "absent", "contains", "matches", "parses", "changed", "untouched")
_WANTED: Mapping[Kind, tuple[str, ...]] = {
    **dict.fromkeys(
        ("command", "exists", "absent", "parses", "changed", "untouched", "effect", "person"), ("subject",)
    ),
    **dict.fromkeys(("contains", "matches"), ("subject", "text")),
    "value": ("tool", "text"),
}


def _with(tool: str, arguments: Mapping[str, object]) -> str:
    named = [*((f"tool {tool}",) if tool else ()), *(f"{name} {value!r}" for name, value in arguments.items())]
    return f" with {', '.join(named)}" if named else ""
