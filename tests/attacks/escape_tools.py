"""What the tries to get out of a machine are written with. Runs inside, with nothing but the standard library."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

TARGETS: dict[str, Any] = json.loads(Path("targets.json").read_text())
SECRET: str = TARGETS["secret"]
OUTSIDE: str = TARGETS["outside"]
TRIES: dict[str, Callable[[], object]] = {}
libc = ctypes.CDLL(None, use_errno=True)

X86 = os.uname().machine == "x86_64"


def attempt(function: Callable[[], object]) -> Callable[[], object]:
    """Register a try. What it returns, if true, is what got through; an OSError means that it was held."""
    TRIES[function.__name__] = function
    return function


def syscall(x86: int, arm: int, *arguments: object) -> int:
    """A raw system call.

    Raises:
        OSError: it was refused.
    """
    ctypes.set_errno(0)
    result = int(libc.syscall(ctypes.c_long(x86 if X86 else arm), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def program(*words: str) -> str:
    """What a program prints, when it succeeds.

    Raises:
        OSError: it is not there, or failed.
    """
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=10)
    except subprocess.TimeoutExpired:
        raise OSError(errno.ETIMEDOUT, words[0]) from None
    if done.returncode:
        raise OSError(errno.EPERM, done.stderr[-100:])
    return done.stdout or "it succeeded"


def found_secret(*paths: str) -> str:
    """The first of these files that can be read and holds the secret."""
    for path in paths:
        try:
            if SECRET.encode() in Path(path).read_bytes():
                return path
        except OSError:
            continue
    return ""


def wrote(path: str, text: str = "planted") -> str:
    with open(path, "a") as file:
        file.write(text)
    return f"wrote {path}"
