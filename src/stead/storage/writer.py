"""The one thread that writes to a file, several askers' work in one commit.

Layer: storage. Knows nothing of events.

A commit waits for the disk, so its price is shared: the thread takes one piece of work, and whatever else has come in
the meantime, does all of it in one transaction, commits, and only then tells every asker. If a piece is refused, all of
it is undone and done again, each piece under a savepoint of its own, so that the refused one takes nothing of the
others with it; savepoints from the start would cost every batch what few need. If the transaction itself fails (a full
disk, a bug), all of it is undone, every asker is told, and the thread goes on with the next batch.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from stead.domain.errors import SteadError, StorageFault
from stead.storage.database import Database, DatabaseError

if TYPE_CHECKING:
    from sqlite3 import Connection

BATCH_LIMIT = 256
_CLOSE_TIMEOUT_S = 30.0

T = TypeVar("T")
_log = logging.getLogger(__name__)


class _Job(NamedTuple):
    work: Callable[[Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class _Outcome(NamedTuple):
    job: _Job
    result: Any
    error: Exception | None


class Writer:
    """Owns the thread and its connection. Close it to end both.

    Args:
        database: the file.
        name: of the thread.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._door = threading.Lock()  # whatever is queued is queued before the end mark
        self._closed = False
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def submit(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in the writer thread, inside a transaction; its result comes when that is on the disk.

        There is no deadline of its own: a wait for another process is bounded by the busy timeout, and a disk that
        hangs leaves open what happened, which no error may claim to know. Giving up the wait does not undo the work.

        Args:
            work: executes statements and neither begins nor ends a transaction; it may be called twice, the first time
                undone. A ``SteadError`` that it raises undoes it alone and is handed to the caller.

        Raises:
            StorageFault: the disk is full, the file is damaged or closed; nothing of ``work`` was written.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._door:
            if self._closed:
                raise StorageFault(f"{str(self._database.path)!r} is closed; start Stead again")
            self._queue.put(_Job(work, loop, future))
        return await future

    def close(self) -> None:
        """Write what is queued, then end the thread.

        Raises:
            StorageFault: the disk did not take it within 30 s.
        """
        with self._door:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join(_CLOSE_TIMEOUT_S)
        if self._thread.is_alive():
            raise StorageFault(f"{str(self._database.path)!r} did not take the last events in time; check its disk")

    def _run(self) -> None:
        ended = False
        while not ended:
            first = self._queue.get()
            if first is None:
                break
            batch = [first]
            while len(batch) < BATCH_LIMIT:
                try:
                    job = self._queue.get_nowait()
                except Empty:
                    break
                if job is None:
                    ended = True
                    break
                batch.append(job)
            _tell(self._write(batch))
        self._drop_connection()

    def _write(self, batch: list[_Job]) -> list[_Outcome]:
        try:
            connection = self._connection = self._connection or self._database.open()
            connection.execute("BEGIN IMMEDIATE")
            outcomes = [_perform(connection, job) for job in batch]
            if any(outcome.error for outcome in outcomes):
                connection.execute("ROLLBACK")
                if len(batch) == 1:
                    return outcomes
                connection.execute("BEGIN IMMEDIATE")
                outcomes = [_perform_apart(connection, job) for job in batch]
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the thread's top: whoever waits is told, and the thread lives on
            self._undo()
            if not isinstance(error, DatabaseError):
                _log.exception("a write to the journal failed because of a bug; nothing of its batch was kept")
            return [_failed(job, self._database.fault(error), error) for job in batch]
        return outcomes

    def _undo(self) -> None:
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except DatabaseError:
            _log.exception("the journal's connection is broken; the next write opens another")
            self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _perform(connection: Connection, job: _Job) -> _Outcome:
    try:
        return _Outcome(job, job.work(connection), None)
    except SteadError as refusal:
        return _Outcome(job, None, refusal)


def _perform_apart(connection: Connection, job: _Job) -> _Outcome:
    connection.execute("SAVEPOINT item")
    outcome = _perform(connection, job)
    if outcome.error:
        connection.execute("ROLLBACK TO item")
    connection.execute("RELEASE item")
    return outcome


def _failed(job: _Job, fault: StorageFault, cause: Exception) -> _Outcome:
    own = StorageFault(*fault.args)  # each waiter raises its own, with its own traceback
    own.__cause__ = cause
    return _Outcome(job, None, own)


def _tell(outcomes: list[_Outcome]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[_Outcome]] = {}
    for outcome in outcomes:
        loops.setdefault(outcome.job.loop, []).append(outcome)
    for loop, of_loop in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, of_loop)
        except RuntimeError:
            _log.debug("an event loop was closed while it waited for a write; nobody is left to tell")


def _resolve(outcomes: list[_Outcome]) -> None:
    for outcome in outcomes:
        future = outcome.job.future
        if future.done():
            continue  # whoever waited has given up
        if outcome.error is None:
            future.set_result(outcome.result)
        else:
            future.set_exception(outcome.error)
