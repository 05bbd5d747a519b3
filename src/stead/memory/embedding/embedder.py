"""The local embedder as the daemon uses it: texts to vectors, and which vectors are nearest.

Layer: memory, daemon. Nothing here loads numpy. Nothing leaves this computer, so any text may be embedded.

One worker does one request at a time, in the order in which they came; each text of a batch is one, so a search
waits for a text and not for a batch. A caller waits no longer than its deadline, and a request without a caller is
not begun; what is under way is finished and thrown away, because a worker that is stopped costs the next caller a
second. The worker ends when nothing was asked for a while, and forgets every place: then ``nearest`` fails with
``unloaded``, and the caller loads the place from storage and asks again.
"""

from __future__ import annotations

import asyncio
import struct
from array import array
from asyncio import Task, TimerHandle
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import Any

from stead.domain.embedding import BATCH, QUERY_DEADLINE_S, TEXT_CHARS, EmbedderState, VectorBytes
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.memory.embedding import wire
from stead.memory.embedding.process import WorkerEnded, WorkerProcess, start

IDLE_S = 60.0
PLACE_DEADLINE_S = 10.0
"""For what is done to a place; to load 100,000 vectors takes less than one second."""
REQUEST_S = 30.0
"""For one request; a worker that takes longer is stuck."""
BACKOFF_S = (0.0, 1.0, 4.0)
"""How long until it starts again, after each time in a row that it ended by itself; then it is dead."""
_AGAIN = "then try again"


class Embedder:
    """A worker, which starts when it is needed. Close it.

    Args:
        idle_s: seconds without a request after which the worker is ended.
    """

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._worker: WorkerProcess | None = None
        self._turn = asyncio.Lock()  # held by the request that the worker does
        self._tasks = set[Task[Any]]()
        self._idle: TimerHandle | None = None
        self._restarts, self._not_before = 0, 0.0
        self._unwell = ""
        """What went wrong with the last request, until one goes well."""
        self._closed = False

    @property
    def model_id(self) -> str:
        """As ``Embeds`` says."""
        return wire.MODEL_ID

    def state(self) -> EmbedderState:
        """As ``Embeds`` says."""
        fault = self._fault()
        process = self._worker.pid if self._worker is not None else 0
        reason = str(fault) if fault else self._unwell
        return EmbedderState(not reason, reason, self.model_id, process, self._restarts)

    async def embed(
        self, texts: Sequence[str], *, held: Confidentiality = Confidentiality.SECRET, deadline_s: float
    ) -> list[VectorBytes]:
        """As ``Embeds`` says; ``held`` may be anything."""
        if len(texts) > BATCH:
            raise EmbeddingFault(f"{len(texts)} texts; {BATCH} are the most", kind="refused")
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline_s
        return [
            VectorBytes(await self._ask(["embed", _cut(text)], deadline_s=max(0.0, end - loop.time())))
            for text in texts
        ]

    async def ready(self, *, deadline_s: float = 120.0) -> None:
        """Start the worker and have it load the model; also after it ended too often.

        Raises:
            EmbeddingFault: it is not ready.
        """
        self._restarts, self._not_before = 0, 0.0
        await self.embed([""], deadline_s=deadline_s)

    async def load(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Have a place hold these vectors and no others.

        Args:
            place: any name.
            ids: each once, from 0 to 2^64 - 1; a place without any is a place too.
            vectors: as ``VectorBytes``, one an id, all of one dimension.

        Raises:
            EmbeddingFault: nothing of it is held.
        """
        deadline_s = PLACE_DEADLINE_S * (1 + len(ids) / 100_000)
        await self._ask(["load", place, *_table(ids, vectors)], deadline_s=deadline_s)

    async def extend(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> bool:
        """Add vectors to a place, or change them. False when it is not loaded, then there is nothing to keep up.

        Raises:
            EmbeddingFault: they were not added.
        """
        return await self._keep_up(["extend", place, *_table(ids, vectors)])

    async def drop(self, place: str, ids: Collection[int]) -> bool:
        """Take vectors out of a place, those that are there. False when it is not loaded, then none is there.

        Raises:
            EmbeddingFault: they may still be there; ``close`` the embedder to be sure.
        """
        return await self._keep_up(["drop", place, _packed(ids)])

    async def nearest(
        self,
        place: str,
        query: str | bytes,
        count: int,
        *,
        allowed: Collection[int] | None = None,
        deadline_s: float = QUERY_DEADLINE_S,
    ) -> list[tuple[int, float]]:
        """The ids of the nearest vectors with their cosines, nearest first.

        Args:
            place: a loaded one.
            query: a text, or a vector as ``VectorBytes``.
            count: how many at most, from 1.
            allowed: the only ids that may be found; nothing for all of the place's.
            deadline_s: how long to wait.

        Raises:
            EmbeddingFault: ``unloaded`` when the place is to be loaded first.
        """
        if count < 1 or (allowed is not None and not allowed):
            return []
        only = None if allowed is None else _packed(allowed)
        asked = _cut(query) if isinstance(query, str) else query
        ids, cosines = await self._ask(["nearest", place, asked, count, only], deadline_s=deadline_s)
        if len(ids) != 2 * len(cosines):
            raise EmbeddingFault("the embedder gave not as many cosines as ids", kind="bad_vector")
        numbers, floats = struct.unpack(f"<{len(ids) // 8}Q", ids), struct.unpack(f"<{len(cosines) // 4}f", cosines)
        return list(zip(numbers, floats, strict=True))

    async def close(self) -> None:
        """End the worker. What waits fails."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._let_go()

    async def _keep_up(self, request: wire.Message) -> bool:
        """Change a place where it is held; without a worker it is not."""
        if self._worker is None and not self._closed:
            return False
        try:
            await self._ask(request, deadline_s=PLACE_DEADLINE_S)
        except EmbeddingFault as fault:
            if fault.kind != "unloaded":
                raise
            return False
        return True

    async def _ask(self, request: wire.Message, *, deadline_s: float) -> Any:
        """Have a request done, and give its answer.

        Raises:
            EmbeddingFault: see there.
        """
        if fault := self._fault():
            raise fault
        try:
            body = wire.packed(request)
        except wire.Refused as refused:
            raise EmbeddingFault(str(refused), kind=refused.kind) from refused
        end = asyncio.get_running_loop().time() + deadline_s
        task = asyncio.create_task(self._in_turn(body, end), name="embedder")
        self._tasks.add(task)
        task.add_done_callback(self._done)
        finished, _ = await asyncio.wait([task], timeout=deadline_s)
        if not finished:
            raise EmbeddingFault(f"the embedder did not answer within {deadline_s:.3g} s", kind="timeout")
        if task.cancelled():
            raise EmbeddingFault("the embedder was closed", kind="closed")
        return task.result()

    def _done(self, task: Task[Any]) -> None:
        """A request has ended, which its caller may not have waited for."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def _fault(self) -> EmbeddingFault | None:
        """Why nothing can be done now."""
        if self._closed:
            return EmbeddingFault("the embedder was closed", kind="closed")
        if self._restarts >= len(BACKOFF_S):
            text = f"the embedder ended {self._restarts} times in a row and stays off, {self._unwell}; {_AGAIN}"
            return EmbeddingFault(text, kind="dead")
        if self._worker is None and (missing := missing_packages()):
            text = f"the local embedder is not installed ({', '.join(missing)}): {wire.INSTALL}, {_AGAIN}"
            return EmbeddingFault(text, kind="absent")
        return None

    async def _in_turn(self, body: bytes, end: float) -> Any:
        loop = asyncio.get_running_loop()
        async with self._turn:
            if loop.time() >= end:
                raise EmbeddingFault("its deadline has passed", kind="timeout")
            if self._idle is not None:
                self._idle.cancel()
            try:
                value = await self._exchange(body)
            except asyncio.CancelledError:
                await self._let_go()
                raise
            except WorkerEnded as ended:
                await self._let_go()
                self._not_before = loop.time() + BACKOFF_S[min(self._restarts, len(BACKOFF_S) - 1)]
                self._restarts += 1
                self._unwell = f"the embedder's process ended: {ended}"
                raise EmbeddingFault(self._unwell, kind="crashed") from ended
            finally:
                self._idle = loop.call_later(self._idle_s, self._rest)
        self._restarts, self._unwell = 0, ""
        return value

    async def _exchange(self, body: bytes) -> Any:
        """One request to the worker, which is started if need be."""
        if self._worker is not None and not self._worker.pid:
            await self._let_go()  # a stranger ended it, and nobody waits for what it did
        if self._worker is None:
            wait_s = self._not_before - asyncio.get_running_loop().time()
            if wait_s > 0:
                raise EmbeddingFault(f"{self._unwell}; it starts again in {wait_s:.0f} s", kind="crashed")
            self._worker = await start()
        try:
            async with asyncio.timeout(REQUEST_S):
                answer = await self._worker.ask(body)
        except TimeoutError as error:
            raise WorkerEnded(f"it did not answer within {REQUEST_S:g} s") from error
        match answer:
            case ["done", value]:
                return value
            case ["fault", "absent" | "failed" | "bad_vector" | "unloaded" | "refused" as kind, str(text)]:
                if kind in ("absent", "failed", "bad_vector"):
                    self._unwell = text[:500]
                raise EmbeddingFault(text[:500], kind=kind)
            case _:
                raise WorkerEnded("its answer makes no sense")

    def _rest(self) -> None:
        """End the worker: nothing was asked for a while."""
        worker = self._worker
        if worker is not None and not self._turn.locked():
            self._worker = None
            task = asyncio.create_task(worker.kill(), name="embedder rests")
            self._tasks.add(task)
            task.add_done_callback(self._done)

    async def _let_go(self) -> None:
        worker, self._worker = self._worker, None
        if self._idle is not None:
            self._idle.cancel()
        if worker is not None:
            await worker.kill()


def missing_packages() -> list[str]:
    """What the local embedder needs and is not installed."""
    return [name for name in (*wire.NEEDED, wire.WEIGHTS) if find_spec(name) is None]


def _cut(text: str) -> str:
    """What is read of a text. Half a surrogate pair, which no UTF-8 holds, becomes a question mark."""
    return text[:TEXT_CHARS].encode("utf-8", "replace").decode()


def _table(ids: Sequence[int], vectors: Sequence[bytes]) -> tuple[bytes, bytes]:
    if len(ids) != len(vectors) or len({len(vector) for vector in vectors}) > 1:
        raise EmbeddingFault("there are not as many vectors as ids, or they differ in size", kind="refused")
    return _packed(ids), b"".join(vectors)


def _packed(ids: Collection[int]) -> bytes:
    try:
        return array("Q", ids).tobytes()
    except (OverflowError, TypeError) as error:
        raise EmbeddingFault("an id is a whole number from 0 to 2^64 - 1", kind="refused") from error
