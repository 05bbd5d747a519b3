"""Something done in a child process that is killed at a chosen moment: before a statement, or before a file changes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stead.storage.database import connect

if TYPE_CHECKING:
    from sqlite3 import Connection

CHANGES = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.move", "shutil.copyfile"}
DONE, FAILED = 0, 3


def each_kill(step: int = 1) -> Iterator[int]:
    """1, 2 and so on, or every ``step``-th; the caller ends it once nothing was killed."""
    return count(1, step)


def killed_at(number: int, does: Callable[[Callable[[Path, bytes], Connection]], object]) -> bool:
    """Run it in a child, killed before its ``number``-th statement or change of a name; whether it was killed.

    Args:
        number: from 1.
        does: given how connections are made.
    """
    pid = os.fork()
    if pid:
        status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == DONE, "it failed by itself; its output says why"
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    seen = 0

    def count_one() -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES:
            count_one()

    def watched(path: Path, key: bytes) -> Connection:
        connection = connect(path, key)
        connection.set_trace_callback(lambda _: count_one())
        return connection

    sys.addaudithook(hook)
    try:
        does(watched)
    except BaseException:  # noqa: BLE001 - the child's top
        import traceback

        traceback.print_exc()
        os._exit(FAILED)
    os._exit(DONE)
