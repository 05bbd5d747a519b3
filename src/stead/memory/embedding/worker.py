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
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from stead.domain.embedding import BATCH
from stead.memory.embedding import artefact, frames

TYPE_CHECKING = False
if TYPE_CHECKING:  # loaded with the first request that needs them: ``watch`` and a wrong call do without
    import numpy as np

    from stead.memory.embedding.model import Model
    from stead.memory.embedding.places import Places
    from stead.memory.embedding.vectors import Floats

NICE = 10
ADDRESS_BYTES = 4 << 30
"""Of address space. Most of it is reserved and never used; what is used stays below 300 MB at 100,000 vectors."""
REQUEST_CPU_S = 60
"""Of the processor, for one request; whoever takes longer is stuck."""
_OOM_SCORE = 800
"""When the computer runs out of memory, the kernel ends this before anything that a person works with."""
_PR_SET_PDEATHSIG = 1


class Refused(Exception):
    """A request that is not done; kind as in ``EmbeddingFault``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Worker:
    """Does what requests say.

    Args:
        cache: the folder with the built model.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._model: Model | None = None
        self._held: Places | None = None
        self._operations: dict[bytes, Callable[..., list[bytes]]] = {
            b"build": self._build,
            b"embed": self._embed,
            b"load": self._load,
            b"extend": self._extend,
            b"rename": self._rename,
            b"drop": self._drop,
            b"clear": self._clear,
            b"nearest": self._nearest,
            b"scores": self._scores,
        }

    def do(self, fields: list[bytes]) -> list[bytes]:
        """One request; gives its answer."""
        from stead.memory.embedding.places import Unloaded
        from stead.memory.embedding.vectors import Unfit

        operation, *arguments = fields
        try:
            if (known := self._operations.get(operation)) is None:
                raise Refused("refused", f"there is no operation {operation[:40]!r}")
            return [b"done", *known(*arguments)]
        except Refused as fault:
            return [b"fault", fault.kind.encode(), str(fault).encode()]
        except Unloaded as fault:
            return [b"fault", b"unloaded", str(fault).encode()]
        except Unfit as fault:
            return [b"fault", b"bad_vector", str(fault).encode()]

    def _build(self) -> list[bytes]:
        """Build the model and put it into the cache."""
        from stead.memory.embedding.graph import assemble
        from stead.memory.embedding.weights import Weights, WeightsUnusable

        try:
            weights = Weights()
            artefact.write(self._cache, weights.tokenizer, assemble(weights))
        except WeightsUnusable as error:
            raise Refused("absent", str(error)) from error
        except OSError as error:
            text = f"the model cannot be written to {str(self._cache)!r}: {error.strerror or error}"
            raise Refused("failed", text) from error
        return []

    def _embed(self, *texts: bytes) -> list[bytes]:
        from stead.memory.embedding.vectors import pack

        if len(texts) > BATCH:
            raise Refused("refused", f"{len(texts)} texts; {BATCH} are the most")
        return [pack(self._vector(text)) for text in texts]

    def _load(self, name: bytes, ids: bytes, vectors: bytes) -> list[bytes]:
        from stead.memory.embedding.vectors import parse

        self._places().load(name, parse(ids, vectors))
        return []

    def _extend(self, name: bytes, ids: bytes, vectors: bytes) -> list[bytes]:
        from stead.memory.embedding.vectors import parse

        self._places().extend(name, parse(ids, vectors))
        return []

    def _rename(self, name: bytes, to: bytes) -> list[bytes]:
        self._places().rename(name, to)
        return []

    def _drop(self, name: bytes, ids: bytes) -> list[bytes]:
        self._places().find(name).drop(_ids(ids))
        return []

    def _clear(self, name: bytes) -> list[bytes]:
        self._places().clear(name)
        return []

    def _nearest(self, name: bytes, kind: bytes, query: bytes, count: bytes, *allowed: bytes) -> list[bytes]:
        place = self._places().find(name)
        only = _ids(allowed[0]) if allowed else None
        ids, cosines = place.nearest(self._query(kind, query), int(count), only)
        return [ids.astype("<u8").tobytes(), cosines.astype("<f4").tobytes()]

    def _scores(self, name: bytes, kind: bytes, query: bytes, ids: bytes) -> list[bytes]:
        place = self._places().find(name)
        return [place.scores(self._query(kind, query), _ids(ids)).astype("<f4").tobytes()]

    def _query(self, kind: bytes, query: bytes) -> Floats:
        from stead.memory.embedding import vectors

        # A text's vector is rounded as a stored one is, so that either way of asking gives the same numbers.
        return vectors.unpack(query if kind == b"vector" else vectors.pack(self._vector(query)))

    def _vector(self, text: bytes) -> Floats:
        if self._model is None:
            from stead.memory.embedding.model import Model

            try:
                self._model = Model(self._cache)
            except (artefact.Damaged, FileNotFoundError) as error:
                raise Refused("damaged", str(error)) from error
            except OSError as error:
                raise Refused("failed", f"the built model cannot be read: {error.strerror or error}") from error
        return self._model.embed(text.decode("utf-8", "replace"))

    def _places(self) -> Places:
        if self._held is None:
            from stead.memory.embedding.places import Places

            self._held = Places()
        return self._held


def _ids(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    import numpy as np

    return np.frombuffer(data, "<u8").astype(np.uint64)


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


def serve(worker: Worker, requests: BinaryIO, answers: BinaryIO, idle_s: float) -> None:
    """Answer requests until the daemon closes the pipe or asks for nothing.

    Args:
        worker: does them.
        requests: unbuffered, so that waiting sees all there is.
        answers: where to.
        idle_s: seconds after which nothing more is expected.

    Raises:
        frames.FrameError: the daemon sent nonsense.
        BrokenPipeError: it went away.
    """
    while select.select([requests], [], [], idle_s)[0]:
        fields = frames.read(requests)
        if fields is None:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + REQUEST_CPU_S, hard))
        answers.write(frames.pack(worker.do(fields)))
        answers.flush()


def main(words: list[str]) -> None:
    """Work for the daemon.

    Args:
        words: the cache folder, the daemon's process id, the seconds after which it ends when nothing is asked.
    """
    cache, parent, idle_s = words
    confine(int(parent))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    serve(Worker(Path(cache)), os.fdopen(0, "rb", buffering=0), answers, float(idle_s))


if __name__ == "__main__":
    main(sys.argv[1:])
