"""Model servers for flows that are plain functions: an event loop in a thread, for as long as the block runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

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


HELD = "{{secret:shop}}"
"""Stands in a script for the placeholder that the session was told of the secret ``shop``."""
_OWN = re.compile(r"\{\{secret:shop#[0-9a-f]{16}\}\}")


def holding(script: Callable[[Seen], Turn]) -> Callable[[Seen], Turn]:
    """The script with each session's own placeholder where ``HELD`` stands, or stands percent-encoded."""

    def reply(seen: Seen) -> Turn:
        told = _OWN.search(json.dumps(seen.body["messages"]))
        turn = script(seen)
        if told is None:
            return turn
        calls = [
            replace(
                call,
                arguments=json.loads(
                    json.dumps(call.arguments).replace(HELD, told[0]).replace(quote(HELD), quote(told[0]))
                ),
            )
            for call in turn.calls
        ]
        return replace(turn, calls=tuple(calls))

    return reply


def by_turn(*turns: Turn, then: Turn | None = None) -> Callable[[Seen], Turn]:
    """Turns chosen by how many replies the conversation already has, so that any number of sessions can share them."""
    last = then or Turn("Done.")

    def reply(seen: Seen) -> Turn:
        messages = seen.body["contents"] if seen.wire == "google" else seen.body["messages"]
        at = sum(message["role"] in ("assistant", "model") for message in messages)
        return turns[at] if at < len(turns) else last

    return reply
