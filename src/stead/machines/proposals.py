"""Acceptance checks that a folder's own files propose: commands that its rules for agents show and its tools declare.

Layer: machines. Pure: texts in, checks out. The files may be hostile, so what they propose is shown and never run: it
counts once the person accepts it. A command is one that stands alone in code marks and names a target that the folder
declares, or that begins as a well-known runner of tests does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from stead.domain.checks import Check

MOST_PROPOSED = 5
_CODE = re.compile(r"^```[^\n]*\n(?P<block>.*?)^```|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"(?:\$ )?(?P<command>[\w./+-]+(?: [\w./:=@,+-]+)*)")
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*)[ \t]*:(?![:=])", re.MULTILINE)
_SHOWS = re.compile(r"(?:test|check|lint|type|verify|ci|build)[\w:.-]*")
"""Targets whose success says something of the work, by their names. Only a hint: the person decides."""
_MANAGERS = ("npm", "pnpm", "yarn", "bun")
_RUNNERS = frozenset(
    {
        *("pytest", "tox", "nox", "mypy", "uv run pytest", "python -m pytest", "python3 -m pytest"),
        *("python -m unittest", "python3 -m unittest", "cargo test", "cargo check", "go test", "go vet"),
        *("mvn test", "gradle test", "ruff check", "tsc --noEmit"),
    }
)


class _Package(msgspec.Struct):
    scripts: dict[str, str] = {}


def proposed(rules: Iterable[str], makefile: str, package: bytes) -> tuple[Check, ...]:
    """Checks in the order of the files, each once; at most ``MOST_PROPOSED``.

    Args:
        rules: texts of AGENTS.md and the like.
        makefile: the folder's, or "".
        package: its package.json, or nothing. One that cannot be read declares nothing.
    """
    targets = frozenset(_TARGET.findall(makefile))
    try:
        scripts = frozenset(msgspec.json.decode(package, type=_Package).scripts)
    except (msgspec.MsgspecError, RecursionError):
        scripts = frozenset()
    found = (line for text in rules for line in _commands(text) if _is_declared(line.split(), targets, scripts))
    return tuple(Check("command", line) for line in dict.fromkeys(found))[:MOST_PROPOSED]


def _commands(text: str) -> Iterator[str]:
    for code in _CODE.finditer(text):
        for line in (code["block"] or code["span"] or "").splitlines():
            if match := _LINE.fullmatch(line.strip()):
                yield match["command"]


def _is_declared(words: list[str], targets: frozenset[str], scripts: frozenset[str]) -> bool:
    program, *rest = words
    if program == "make":
        return len(rest) == 1 and rest[0] in targets and bool(_SHOWS.fullmatch(rest[0]))
    if program in _MANAGERS:
        name = rest[1:] if rest[:1] == ["run"] else rest
        return len(name) == 1 and name[0] in scripts and bool(_SHOWS.fullmatch(name[0]))
    return any(" ".join(words[:length]) in _RUNNERS for length in (1, 2, 3))
