"""Claims of action in a model's words, and the finished calls that could support them.

Layer: brain. Rules, not another model: a sentence that says that a file was written, a command run, tests passed, work
committed or a page fetched needs a call that did so and succeeded. A file was written when a tool wrote it, or when it
was another one after a command than before (``Action.changed``); that a command names it shows nothing. That tests,
linters or type checks pass is shown by a run of their own program, whose exit decided the command's, since the last
source file was written. Sentences that negate, plan or speak of others are left alone, because a missed boast is
cheaper than an honest report sent back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import dropwhile, takewhile

import msgspec

from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.sessions import Action

PATH = lazy_pattern(r"(?<![\w@:/.-])(?:\./|/work/)?[\w-][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!\()")
"""A file name with an ending, folders before it allowed; not a URL, not a call of a method."""

_MOST_CHARACTERS, _LONGEST_SENTENCE, _MOST_FOUND = 8_000, 400, 5
"""What is looked at. A report is shorter; whatever else comes must not cost more than it."""
_COMMAND_CHARACTERS = 4_000
_LINE_CHARACTERS, _MOST_COMMANDS = 1_000, 50
"""Of a command line that is parsed, and how many of the newest commands are; a longer line shows nothing."""
_WRITERS = ("write", "edit")
_DOCUMENT = lazy_pattern(r"\.(?:md|markdown|txt|rst|adoc|csv|tsv|log)$", re.IGNORECASE)
"""What tests do not depend on."""

_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+|\n+")
_HEDGED = lazy_pattern(
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
_WROTE = lazy_pattern(rf"{_LEAD}{_WRITING}\b", re.IGNORECASE)
_RAN = lazy_pattern(rf"{_LEAD}(?:ran|run|executed)\s+(?:the\s+command\s+)?`([^`\n]{{1,200}})`", re.IGNORECASE)
_FETCHED = lazy_pattern(rf"{_LEAD}(?:fetched|downloaded|visited|opened)\b[^.]{{0,40}}?(https?://\S+)", re.IGNORECASE)
_QUOTED = lazy_pattern(r"^\s*(?:>|```)|^\s{4,}")

_OWN = r"(?:^\W*|\b(?:I|we|I've|we've|I have|we have|and|then|also|successfully|now|just|has been|have been)\s+)"
"""What leads to a deed of the speaker's own."""
_PASSING = r"\b[^.]{0,40}\b(?:pass|passes|passed|passing|green|clean|succeed|succeeds|succeeded)\b"
_TOKEN = lazy_pattern(
    r"[^\S\n]+|#[^\n]*|(?P<operator>[();<>|&\n]+)|(?P<word>(?:[^\s();<>|&'\"\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+)",
    re.DOTALL,
)
_QUOTE = lazy_pattern(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ASSIGNED = lazy_pattern(r"\w+=")
_JOINTS = {"", "&&", "|", ";"}
_LEAVES = {"exec", "exit", "return", "trap"}
"""What makes it uncertain that anything after it runs, or whose exit the command's is."""
_TASKS = {"invoke", "just", "make", "task"}
_LAUNCHERS = _TASKS | {
    *("bash", "bun", "bundle", "cargo", "composer", "coverage", "dotnet", "go", "gradle", "gradlew", "hatch", "mix"),
    *("mvn", "mvnw", "node", "npm", "npx", "pdm", "php", "pipenv", "pnpm", "poetry", "python", "python3", "run", "sh"),
    *("swift", "uv", "yarn"),
}
"""Programs that run what one of their next two words names."""
_WRAPPERS = {"env", "nohup", "sudo", "time", "timeout"}
"""Programs that run the very next word."""
_LOOKS = {"cat", "echo", "find", "grep", "ls", "printf", "rg", "true", "which"}
"""Programs that do nothing that their arguments name."""
_FETCHES = lazy_pattern(r"install|add|get|remove|uninstall|update|upgrade")
"""Subcommands of launchers after which the words are names of packages."""
_ONLY_SHOWS = {
    *("--version", "-V", "--help", "-h", "--collect-only", "--co", "--fixtures", "--markers", "--setup-plan"),
    *("--dry-run", "--just-print", "--recon", "--question", "--no-run", "--list", "--list-tests", "--listTests"),
}
_SCRIPT = lazy_pattern(r"(?:.*/)?(?:bash|sh|[^/]*\.sh|pre-commit)|\./.*")
"""Programs that may commit, push, format and install, whatever they are called; those of ``_TASKS`` too."""


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
    return _Kind(lazy_pattern(claim, re.IGNORECASE), lazy_pattern(command, re.IGNORECASE), what, lasts)


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
        r"ruff|flake8|pylint|eslint|clippy|lint|check|vet|biome|rubocop|pre-commit",
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


def written(actions: Sequence[Action]) -> set[str]:
    """The files that the calls have written and that were still there after the last look at them."""
    found: set[str] = set()
    for action in actions:
        if action.outcome == "ok" and (path := target(action)):
            found.add(path)
        found.update(action.changed)
        found.difference_update(action.removed)
    return found


def would_write(action: Action, path: str) -> bool:
    """Whether a call is meant to write the file: by its path argument, or as a command that names it."""
    if action.tool in _WRITERS:
        return target(action) == clean(path)
    return action.tool == "shell" and path.rsplit("/", 1)[-1] in _argument(action, "command")


def ran(action: Action, word: str) -> bool:
    """Whether a call surely runs a program of this name."""
    for step in _steps(action):
        launch, words = _words(step.argv)
        if word in (step.argv[0], *launch, *words[:1]):
            return True
    return False


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
        """As ``written``, with their bare names too."""
        paths = written(self.ran)
        return paths | {path.rpartition("/")[2] for path in paths}

    def wrote(self, path: str) -> bool:
        """Whether some call has written the file."""
        return clean(path) in self.written or path.rpartition("/")[2] in self.written

    def missing(self, kind: _Kind) -> str:
        """What a claim of this kind lacks; "" when a command shows it."""
        for action in reversed(self.ok[-_MOST_COMMANDS:]):
            changed = target(action)
            if changed and not kind.lasts and not _DOCUMENT.search(changed):
                return f"no {kind.what} that succeeded since {changed[:80]!r} changed"
            if any(step.passed and _does(step.argv, kind) for step in _steps(action)):
                return ""
        return f"no {kind.what} that succeeded"


class _Step(msgspec.Struct, frozen=True):
    """A simple command that surely ran. ``passed``: it surely succeeded too."""

    argv: list[str]
    passed: bool


def _steps(action: Action) -> Iterator[_Step]:
    """The simple commands of a ``shell`` call that surely ran; none of a line that cannot be parsed."""
    if action.tool != "shell":
        return
    line, here, _ = _argument(action, "command").partition("<<")
    parts = _parts(line) if len(line) <= _LINE_CHARACTERS else []
    sure = list(takewhile(lambda part: part[0] and part[0][0] not in _LEAVES and part[1] in _JOINTS, parts))
    rest = sure
    while rest:
        size = next((at for at, (_, joint) in enumerate(rest, 1) if joint == ";"), len(rest))
        alone, rest = rest[:size], rest[size:]  # commands up to a ``;``: the last of them decide how the line ends
        decide = not rest and len(sure) == len(parts) and action.outcome == "ok"
        plain = not here and all(joint != "|" for _, joint in alone)
        for at, (argv, _) in enumerate(alone):
            if decide or all(joint == "|" for _, joint in alone[:at]):
                yield _Step(argv, passed=decide and plain)


def _parts(line: str) -> list[tuple[list[str], str]]:
    """The words of each simple command, without assignments and redirections, and the operator after it."""
    found: list[tuple[list[str], str]] = []
    argv: list[str] = []
    redirected = False
    at = 0
    line = line.strip().removeprefix("(").removesuffix(")")
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:  # a quotation that does not end
            return []
        at = token.end()
        if word := token["word"]:
            if not redirected and (argv or not _ASSIGNED.match(word)):
                argv.append(_QUOTE.sub(r"\1\2\3", word))
            redirected = False
        elif operator := token["operator"]:
            redirected = bool(set(operator) & set("<>"))
            if not redirected:
                found.append((argv, operator.strip("\n") or ";"))
                argv = []
    return [*found, (argv, "")] if argv else found


def _words(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The programs of a command that launch others, and the words after them; without options, numbers and wrappers."""
    names = [word if word.startswith("./") else word.rpartition("/")[2] for word in argv if not word.startswith("-")]
    names = [name for name in names if not name.replace(".", "").isdigit()]
    names = list(dropwhile(lambda name: name in _WRAPPERS or _ASSIGNED.match(name), names))
    launch = list(takewhile(_LAUNCHERS.__contains__, names))
    return launch, names[len(launch) :]


def _does(argv: Sequence[str], kind: _Kind) -> bool:
    """Whether a command is what is claimed."""
    launch, words = _words(argv)
    tasks = bool(_TASKS.intersection(launch))
    only_shows = _ONLY_SHOWS.intersection(argv) or (tasks and any(re.fullmatch(r"-\w*[nq]\w*", word) for word in argv))
    if only_shows or "-c" in argv or any("`" in word for word in argv):
        return False
    if kind.lasts and (tasks or _SCRIPT.fullmatch(argv[0])):
        return True
    if kind.lasts:
        return bool(words) and words[0] not in _LOOKS and any(map(kind.command.search, words[:2]))
    programs = list(takewhile(lambda word: not _FETCHES.fullmatch(word), words[: 2 if launch else 1]))
    return any(map(kind.command.search, programs))


def _missing(plain: str, done: _Done) -> str:
    """What the calls do not show of what a sentence claims; "" when they show it, or when it claims nothing."""
    if _WROTE.search(plain):
        paths = [match.group() for match in PATH.finditer(plain)]
        if paths and not any(map(done.wrote, paths)):
            return f"{paths[0][:80]!r} was not written"
    if command := _RAN.search(plain):
        program = (command[1].split() or [""])[0]
        if not any(ran(action, program) for action in done.ran[-_MOST_COMMANDS:]):
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
