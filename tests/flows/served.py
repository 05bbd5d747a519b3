"""Model servers for flows that are plain functions: an event loop in a thread, for as long as the block runs."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from tests.fakes.models import Script, Seen, ServedModel, Turn, scripted_model

S = TypeVar("S")


@contextlib.contextmanager
def in_thread(server: AbstractAsyncContextManager[S]) -> Iterator[S]:
    """Serve from a thread of its own."""
    ready = threading.Event()
    box: list[S | BaseException] = []
    loop = asyncio.new_event_loop()
    leave = asyncio.Event()

    async def run() -> None:
        try:
            async with server as served:
                box.append(served)
                ready.set()
                await leave.wait()
        except BaseException as error:
            box.append(error)
            ready.set()
            raise

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), name="model server", daemon=True)
    thread.start()
    assert ready.wait(20), "the server did not start"
    served = box[0]
    if isinstance(served, BaseException):
        raise served
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(10)
        loop.close()


def served(script: Script, *, strict: bool = True) -> contextlib.AbstractContextManager[ServedModel]:
    """A scripted model in a thread."""
    return in_thread(scripted_model(script, strict=strict))


def by_turn(*turns: Turn, then: Turn | None = None) -> Script:
    """Turns chosen by how many replies the conversation already has, so that any number of sessions can share them."""
    last = then or Turn("Done.")

    def reply(seen: Seen) -> Turn:
        at = sum(message["role"] == "assistant" for message in seen.body["messages"])
        return turns[at] if at < len(turns) else last

    return reply
