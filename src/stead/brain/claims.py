"""Claims of action in a model's words, and the finished calls that could support them.

Layer: brain. Rules, not another model: a sentence that says that a file was written, a command run, tests passed or a
page fetched needs a call that did so and succeeded. Sentences that negate, plan or speak of others are left alone,
because a missed boast is cheaper than an honest report sent back.
"""

from __future__ import annotations

import re

import msgspec

from stead.domain.sessions import Action

PATH = re.compile(r"(?<![\w@:/.-])(?:\./|/work/)?[\w-][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!\()")
"""A file name with an ending, folders before it allowed; not a URL, not a call of a method."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_HEDGED = re.compile(
    r"\b(?:not|never|no|nothing|cannot|can't|couldn't|didn't|wasn't|weren't|isn't|haven't|hasn't|failed|unable|would|will|"
    r"could|should|may|might|shall|need|needs|want|plan|going|if|unless|before|refused|denied|instead|by)\b",
    re.IGNORECASE,
)
_WRITING = (
    r"(?:wrote|written|created|saved|updated|edited|modified|overwrote|overwritten|appended|replaced|deleted|removed|"
    r"renamed|moved|copied|generated|stored|fixed)"
)
_LEAD = r"(?:(?:^|\b(?:I|we|I've|we've|have|has|been|was|were|is|and|also|then|successfully|now|just)\s+)(?:\W*))"
_WROTE = re.compile(rf"{_LEAD}{_WRITING}\b", re.IGNORECASE)
_RAN = re.compile(rf"{_LEAD}(?:ran|run|executed)\s+(?:the\s+command\s+)?`([^`\n]{{1,200}})`", re.IGNORECASE)
_TESTED = re.compile(r"\btests?\b[^.]{0,40}\b(?:pass|passes|passed|passing|green|succeed|succeeded)\b", re.IGNORECASE)
_FETCHED = re.compile(rf"{_LEAD}(?:fetched|downloaded|visited|opened)\b[^.]{{0,40}}?(https?://\S+)", re.IGNORECASE)
_TEST_COMMAND = re.compile(r"\b(?:pytest|unittest|tox|nox|test|tests|check|jest|vitest|mocha|phpunit|rspec|ctest)\b")
_QUOTED = re.compile(r"^\s*(?:>|```)|^\s{4,}")


def unsupported(text: str, actions: list[Action]) -> tuple[str, ...]:
    """The sentences of a report that claim an action which no successful call shows; at most five, shortened."""
    done = [action for action in actions if action.outcome in ("ok", "error")]
    found: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if fenced or _QUOTED.match(line):
            continue
        found.extend(_shorten(sentence) for sentence in _SENTENCE.split(line) if not _supported(sentence, done))
    return tuple(dict.fromkeys(found))[:5]


def wrote(action: Action, path: str) -> bool:
    """Whether a call writes the file: by its path argument, or as a command that names it."""
    arguments = _arguments(action)
    if action.tool in ("write", "edit"):
        return clean(str(arguments.get("path", ""))) == clean(path)
    return action.tool == "shell" and path.rsplit("/", 1)[-1] in str(arguments.get("command", ""))


def ran(action: Action, word: str) -> bool:
    """Whether a call runs a command with this word."""
    return action.tool == "shell" and word in str(_arguments(action).get("command", ""))


def target(action: Action) -> str:
    """The file that a call writes by its path argument, "" for any other call."""
    return clean(str(_arguments(action).get("path", ""))) if action.tool in ("write", "edit") else ""


def clean(path: str) -> str:
    """A workspace path as one spelling: no leading ``./`` or ``/work/``."""
    return path.removeprefix("/work/").removeprefix("./")


def _supported(sentence: str, ran_at_all: list[Action]) -> bool:
    """Whether calls show what a sentence claims. A command that failed was run all the same; nothing else was done."""
    plain = sentence.strip(" *-#\t")
    if _HEDGED.search(plain):
        return True
    done = [action for action in ran_at_all if action.outcome == "ok"]
    if _WROTE.search(plain):
        paths = [match.group() for match in PATH.finditer(plain)]
        if paths and not any(wrote(action, path) for path in paths for action in done):
            return False
    if (command := _RAN.search(plain)) and not any(ran(action, command.group(1).split()[0]) for action in ran_at_all):
        return False
    if _TESTED.search(plain) and not any(
        action.tool == "shell" and _TEST_COMMAND.search(str(_arguments(action).get("command", ""))) for action in done
    ):
        return False
    if page := _FETCHED.search(plain):
        url = page.group(1).rstrip(").,;`'\"")
        return any(action.tool == "fetch" and str(_arguments(action).get("url", "")).startswith(url) for action in done)
    return True


def _arguments(action: Action) -> dict[str, object]:
    """The arguments as the gate wrote them; a call that never parsed has none."""
    try:
        decoded = msgspec.json.decode(action.arguments)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _shorten(sentence: str) -> str:
    plain = " ".join(sentence.split())
    return plain if len(plain) <= 120 else plain[:117] + "..."
