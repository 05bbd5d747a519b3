"""The embedding worker: reads requests on its standard input, answers on its standard output, until either ends.

Layer: memory, a process of its own; ``python -m stead.memory.embedding.worker``. It holds the model and the vectors,
has no key, no network and nothing in its environment, and is told everything it needs.

The texts are a person's, so nothing of them is in a fault. What cannot be foreseen ends the process: the daemon says so
and starts another.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from stead.memory.embedding import wire
from stead.memory.embedding.wire import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:  # loaded with the first request that needs them
    from stead.memory.embedding.model import Model
    from stead.memory.embedding.places import Floats, Places

NICE = 10
ADDRESS_BYTES = 4 << 30
"""Of address space. Most of it is reserved and never used; what is used stays below 300 MB at 100,000 vectors."""
REQUEST_CPU_S = 60
"""Of the processor, for one request; a request that takes longer is stuck."""
_OOM_SCORE = 800
"""When the computer runs out of memory, the kernel ends this before anything that a person works with."""
_PR_SET_PDEATHSIG = 1


class Worker:
    """Does what requests say."""

    def __init__(self) -> None:
        self._operations: dict[str, Callable[..., Any]] = {
            "embed": self._embed,
            "load": self._load,
            "extend": self._extend,
            "drop": self._drop,
            "nearest": self._nearest,
        }

    def do(self, request: wire.Message) -> wire.Message:
        """One request; gives its answer."""
        operation, *arguments = request
        try:
            if operation not in self._operations:
                raise Refused("refused", f"there is no operation {operation!r:.40}")
            return ["done", self._operations[operation](*arguments)]
        except Refused as fault:
            return ["fault", fault.kind, str(fault)]

    def _embed(self, text: str) -> bytes:
        from stead.memory.embedding.places import pack

        return pack(self._model.embed(text))

    def _load(self, name: str, ids: bytes, vectors: bytes) -> None:
        from stead.memory.embedding.places import Place

        self._places.load(name, Place(ids, vectors))

    def _extend(self, name: str, ids: bytes, vectors: bytes) -> None:
        from stead.memory.embedding.places import Place

        place = self._places.find(name)
        place.extend(Place(ids, vectors))
        self._places.load(name, place)

    def _drop(self, name: str, ids: bytes) -> None:
        import numpy as np

        self._places.find(name).drop(np.frombuffer(ids, "<u8"))

    def _nearest(self, name: str, query: str | bytes, count: int, allowed: bytes | None) -> tuple[bytes, bytes]:
        import numpy as np

        only = None if allowed is None else np.frombuffer(allowed, "<u8")
        ids, cosines = self._places.find(name).nearest(self._query(query), count, only)
        return ids.astype("<u8").tobytes(), cosines.astype("<f4").tobytes()

    def _query(self, query: str | bytes) -> Floats:
        from stead.memory.embedding.places import Place, pack

        # A text's vector is rounded as a stored one is, so that either way of asking gives the same numbers.
        return Place(bytes(8), query if isinstance(query, bytes) else pack(self._model.embed(query))).vector()

    @cached_property
    def _model(self) -> Model:
        from stead.memory.embedding.model import Model

        return Model()

    @cached_property
    def _places(self) -> Places:
        from stead.memory.embedding.places import Places

        return Places()


def confine(parent: int) -> None:
    """Bound what this process may use, and end it with its parent.

    Args:
        parent: the daemon's process id; when it is gone already, so is this one.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the daemon is gone")
    os.nice(NICE)
    Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE), "ascii")
    for kind, limit in ((resource.RLIMIT_AS, ADDRESS_BYTES), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, 64)):
        hard = resource.getrlimit(kind)[1]
        lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (lowest, lowest))


def serve(worker: Worker, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the daemon closes the pipe.

    Raises:
        EOFError: the daemon went away in the middle of a message.
        BrokenPipeError: it went away.
    """
    while (request := wire.read(requests)) is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + REQUEST_CPU_S, hard))
        answers.write(wire.packed(worker.do(request)))
        answers.flush()


def main(words: list[str]) -> None:
    """Work for the daemon.

    Args:
        words: the daemon's process id.
    """
    (parent,) = words
    confine(int(parent))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    serve(Worker(), os.fdopen(0, "rb"), answers)


if __name__ == "__main__":
    main(sys.argv[1:])
