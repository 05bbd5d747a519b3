"""The scripted runs of ``tests/corpora.py`` in a bare folder: their calls made, their checks judged there.

It shares nothing with the product, so that it can contradict it. The calls are those of the corpus alone, which is
ours; no model is behind them, and nothing is confined.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import assert_never

from tests.corpora import (
    AbsentCheck,
    Call,
    ChangedCheck,
    Check,
    CommandCheck,
    ContainsCheck,
    EffectCheck,
    ExistsCheck,
    MatchesCheck,
    ParsesCheck,
    Run,
    UntouchedCheck,
)

EFFECTS = {"write": "write", "edit": "write", "shell": "execute", "read": "read"}
"""The effect class of each tool that the scripts use."""

_READERS: Mapping[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "python": ast.parse,
    "csv": lambda text: list(csv.reader(text.splitlines(), strict=True)),
}


def lay_out(run: Run, folder: Path) -> None:
    """Write the files of the run's start below an empty folder."""
    for name, text in run.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def make_calls(run: Run, folder: Path) -> list[Call]:
    """Make all calls of the script; those that succeeded, in order."""
    return [call for call in run.calls if _make(call, folder)]


def failing(run: Run, folder: Path, succeeded: list[Call]) -> list[Check]:
    """The checks that do not hold in the folder now."""
    return [check for check in run.checks if not _holds(check, run.files, folder, succeeded)]


def _make(call: Call, folder: Path) -> bool:
    arguments = {name: str(value) for name, value in call.arguments.items()}
    match call.tool:
        case "write":
            (folder / arguments["path"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / arguments["path"]).write_text(arguments["text"])
            return True
        case "edit":
            text = (folder / arguments["path"]).read_text()
            (folder / arguments["path"]).write_text(text.replace(arguments["old"], arguments["new"]))
            return text.count(arguments["old"]) == 1
        case "read":
            return (folder / arguments["path"]).is_file()
        case "shell":
            return _exit_code(["bash", "-c", arguments["command"]], folder) == 0
        case other:
            raise ValueError(f"no script may call {other!r}")


def _exit_code(argv: list[str], folder: Path) -> int:
    argv = [sys.executable, *argv[1:]] if argv[0] == "python3" else argv
    # Bytecode of a file's older version counts as current if an edit keeps its size within one second.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, check=False, timeout=60).returncode


def _holds(check: Check, before: Mapping[str, str], folder: Path, succeeded: list[Call]) -> bool:
    match check:
        case CommandCheck():
            return _exit_code(check.argv, folder) == 0
        case ExistsCheck():
            return (folder / check.path).is_file()
        case AbsentCheck():
            return not (folder / check.path).exists()
        case ContainsCheck():
            return check.text in _text(folder / check.path)
        case MatchesCheck():
            return re.search(check.pattern, _text(folder / check.path)) is not None
        case ParsesCheck():
            return _parses(folder / check.path, check.form)
        case ChangedCheck():
            return all(any(fnmatch(path, glob) for path in _changed(before, folder)) for glob in check.paths)
        case UntouchedCheck():
            return not any(fnmatch(path, glob) for path in _changed(before, folder) for glob in check.paths)
        case EffectCheck():
            return any(
                EFFECTS[call.tool] == check.effect
                and check.tool in ("", call.tool)
                and check.arguments.items() <= call.arguments.items()
                for call in succeeded
            )
        case _:
            assert_never(check)


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _parses(path: Path, form: str) -> bool:
    try:
        _READERS[form](path.read_text())
    except (OSError, ValueError, SyntaxError, csv.Error):
        return False
    return True


def _changed(before: Mapping[str, str], folder: Path) -> list[str]:
    now = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    made = [name for name, path in now.items() if name not in before or path.read_bytes() != before[name].encode()]
    return made + [name for name in before if name not in now]
