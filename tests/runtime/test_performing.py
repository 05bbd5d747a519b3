"""Performing with the lock free: it is held again at the end, whatever happens meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from stead.runtime.performing import CANCELLED, Performer


async def _never() -> None:
    await asyncio.Event().wait()


async def test_whoever_is_ended_while_the_lock_is_anothers_has_it_back_before_they_go() -> None:
    lock = asyncio.Lock()
    performer = Performer(lock)
    free = asyncio.Event()

    async def drive() -> None:
        async with lock:
            free.set()
            await performer.perform(_never())

    driver = asyncio.create_task(drive())
    async with asyncio.timeout(5):
        await free.wait()
        async with lock:
            for _ in range(3):  # the work is cut off, and then the wait for the lock
                driver.cancel()
                await asyncio.sleep(0)
            assert not driver.done()
        with pytest.raises(asyncio.CancelledError):
            await driver
    assert not lock.locked()


async def test_one_of_several_things_is_cut_off_by_its_name() -> None:
    lock = asyncio.Lock()
    performer = Performer(lock)
    gate = asyncio.Event()

    async def wait() -> str:
        await gate.wait()
        return "done"

    async def drive() -> object:
        async with lock:
            return await performer.perform_all({"a": wait(), "b": wait()})

    driver = asyncio.create_task(drive())
    async with asyncio.timeout(5):
        while not performer.performing:
            await asyncio.sleep(0)
        performer.cut("")
        performer.cut("nobody")
        performer.cut("a")
        gate.set()
        assert await driver == {"a": CANCELLED, "b": "done"}
