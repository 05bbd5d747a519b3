"""Constraints that a rule can check: which stated limits the finished calls have broken.

Layer: brain. A constraint is a person's sentence. The forms below are understood and held against what ran; every other
sentence is the model's to keep, and nothing here pretends to have checked it:

- do not change / touch / edit / write / delete PATH        - only change (write, edit) PATH or FOLDER/
- do not run commands; do not use the shell                  - no network; do not use the internet; stay offline
"""

from __future__ import annotations

import re

from stead.brain import claims
from stead.domain.sessions import Action

_NOT = r"\b(?:do not|don't|never|must not|without)\s+(?:\w+ly\s+)?"
_CHANGING = r"(?:chang|touch|edit|writ|modify|modifi|overwrit|delet|remov|creat)\w*"
_FORBIDS_CHANGE = re.compile(rf"{_NOT}{_CHANGING}\b(?P<rest>.*)", re.IGNORECASE)
_ONLY_CHANGE = re.compile(rf"\bonly\s+{_CHANGING}\b(?P<rest>.*)", re.IGNORECASE)
_FORBIDS_RUN = re.compile(
    rf"{_NOT}(?:run|us|execut)\w*\s+(?:any\s+|the\s+)?(?:commands?|programs?|shell|scripts?)\b", re.IGNORECASE
)
_FORBIDS_NETWORK = re.compile(
    rf"\bno\s+(?:network|internet)\b|\boffline\b|{_NOT}(?:us|access|go)\w*\s+(?:on\s+)?(?:the\s+)?(?:network|internet|web|online)\b",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"(?<![\w./-])(?:\./)?[\w-][\w.-]*(?:/[\w.-]+)*/(?![\w.])")


def broken(constraints: tuple[str, ...], actions: list[Action]) -> tuple[str, ...]:
    """The constraints that successful calls have broken, each with the call that did it."""
    done = [action for action in actions if action.outcome == "ok"]
    found = [f"{constraint!r} ({breach})" for constraint in constraints if (breach := _breach(constraint, done))]
    return tuple(found)


def _breach(constraint: str, done: list[Action]) -> str:
    if _FORBIDS_RUN.search(constraint):
        return next(("a command ran" for action in done if action.tool == "shell"), "")
    if _FORBIDS_NETWORK.search(constraint):
        return next(("a page was fetched" for action in done if action.tool == "fetch"), "")
    changed = [path for action in done if (path := claims.target(action))]
    if forbids := _FORBIDS_CHANGE.search(constraint):
        named = _places(forbids["rest"])
        return next((f"{path} was changed" for path in changed if _within(path, named)), "")
    if only := _ONLY_CHANGE.search(constraint):
        named = _places(only["rest"])
        return next((f"{path} was changed" for path in changed if named and not _within(path, named)), "")
    return ""


def _places(text: str) -> tuple[str, ...]:
    """The files, and the folders written with a slash at their end, that a sentence names."""
    folders = [claims.clean(match.group()) for match in _FOLDER.finditer(text)]
    return (*folders, *(claims.clean(match.group()) for match in claims.PATH.finditer(text)))


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path.startswith(place) if place.endswith("/") else path == place for place in places)
