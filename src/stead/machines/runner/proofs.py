"""What a file or a glob of the workspace is found to be, for acceptance checks.

Layer: machines, runner. Standard library only. Files are hostile: this runs in a fork with a deadline, so that an
expression that never ends, or a file that no parser survives, costs one answer.
"""

from __future__ import annotations

import hashlib
import os

from . import files
from .frames import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ``files``
    from collections.abc import Callable, Iterable

_LARGEST = 16 << 20
_MOST_BYTES = 1 << 30
_ENDINGS = {".json": "json", ".toml": "toml", ".csv": "csv", ".py": "python"}


def prove(kind: str, path: str, text: str) -> tuple[bool, str]:
    """Whether a file is as a check of this kind says, and what was found in its place.

    Raises:
        Fault: the path leads out of the workspace, or the file cannot be judged.
        OSError: it cannot be read.
    """
    real = files.target(os.fsencode(path))
    there = os.path.lexists(real)
    if kind in ("exists", "absent"):
        return there == (kind == "exists"), f"{path!r} {'exists' if there else 'does not exist'}"
    if not there:
        return False, f"{path!r} does not exist"
    content = _content(path)
    if kind == "contains":
        return text in content, f"{path!r} does not contain it"
    if kind == "matches":
        import re

        return re.search(text, content, re.MULTILINE) is not None, f"{path!r} has no match"
    form = text or _ENDINGS.get(os.path.splitext(path)[1].lower(), "")
    if form not in _PARSERS:
        raise Fault(f"{path!r} is of no kind that can be parsed; say one of {', '.join(sorted(_PARSERS))}")
    try:
        _PARSERS[form](content)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        return False, f"{path!r} is not well-formed {form}: {str(error)[:500]}"
    return True, ""


def digest(found: Iterable[os.DirEntry[str]], check: Callable[[], None]) -> str:
    """SHA-256 of names, kinds and contents; "" for no file at all.

    Args:
        found: in a constant order.
        check: raises when the time is over.

    Raises:
        Fault: they are too large, or one cannot be read.
    """
    whole, size, count = hashlib.sha256(), 0, 0
    for entry in found:
        check()
        if entry.is_dir(follow_symlinks=False):
            continue
        count += 1
        if entry.is_symlink():
            said = b"l" + os.fsencode(os.readlink(entry.path))
        elif entry.is_file(follow_symlinks=False):
            size += entry.stat(follow_symlinks=False).st_size
            if size > _MOST_BYTES:
                raise Fault(f"the files are larger than {_MOST_BYTES >> 30} GB together")
            content = hashlib.sha256()
            with open(entry.path, "rb") as file:
                while piece := file.read(1 << 20):
                    content.update(piece)
                    check()
            said = b"f" + content.digest()
        else:
            said = b"s"
        whole.update(os.fsencode(entry.path) + b"\0" + said + b"\0")
    return whole.hexdigest() if count else ""


def _content(path: str) -> str:
    with open(files.open_file(os.fsencode(path)), "rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise Fault(f"{path!r} is larger than {_LARGEST >> 20} MB")
    return content.decode("utf-8", "replace")


def _json(text: str) -> None:
    import json

    json.loads(text)


def _toml(text: str) -> None:
    try:
        import tomllib
    except ImportError as error:
        raise Fault("the interpreter in the sandbox is too old to read TOML; check it with a command") from error
    tomllib.loads(text)


def _csv(text: str) -> None:
    import csv

    try:
        widths = {len(row) for row in csv.reader(text.splitlines(), strict=True) if row}
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if len(widths) != 1:
        raise ValueError("its rows have different numbers of fields" if widths else "it has no row")


def _python(text: str) -> None:
    import ast

    ast.parse(text)


_PARSERS = {"json": _json, "toml": _toml, "csv": _csv, "python": _python}
