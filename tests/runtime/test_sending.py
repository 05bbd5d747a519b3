"""What is sent from an outbox, where its file takes nothing for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from stead.domain.errors import StorageFault
from stead.domain.notices import Notice
from stead.domain.notifications import Undelivered
from stead.runtime.alarms import WallClock
from stead.runtime.sending import OutboxSender
from stead.storage.database import connect
from stead.storage.keys import derive_keys
from stead.storage.outbox import Outbox, Outgoing

KEYS = derive_keys(bytes(32))
FULL = "CREATE TRIGGER full BEFORE UPDATE ON messages BEGIN SELECT RAISE(ABORT, 'no room'); END"


class Sender(OutboxSender):
    """Sends to one target; ``come`` is what comes of it."""

    def __init__(self, box: Outbox, come: Callable[[], bool]) -> None:
        super().__init__("nothing goes out", lambda target: f"a message to {target}", WallClock(), str)
        self.again_s = 0.05
        self.box, self.come, self.sent = box, come, 0

    async def _round(self, now_ms: int) -> int | None:
        return await self._begin(self.box, ["t"], now_ms, lambda due, _made: [[notice] for notice, _ in due])

    async def _sent(self, box: Outbox, target: str, outgoing: Outgoing) -> bool:
        self.sent += 1
        return self.come()

    async def _settled(self, outgoing: Outgoing, target: str, fault: Undelivered | None, *, over: bool) -> None:
        self.turn.set()


async def said(caplog: pytest.LogCaptureFixture, text: str, times: int) -> None:
    async with asyncio.timeout(60):
        while sum(text in record.getMessage() for record in caplog.records) < times:
            await asyncio.sleep(0.01)


async def test_what_was_sent_is_sent_no_second_time_while_that_cannot_be_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    box = Outbox(tmp_path / "outbox.db", KEYS, 0)
    box.add([("t", Notice(1, "", "said", "Hello", 1), 0, False)], 1)
    other = connect(tmp_path / "outbox.db", KEYS.views)

    def come() -> bool:
        other.execute(FULL)
        return True

    sender = Sender(box, come)
    keeping = asyncio.create_task(sender.keep())
    await said(caplog, "no room", 3)
    assert sender.sent == 1
    other.execute("DROP TRIGGER full")
    async with asyncio.timeout(60):
        while box.figures("t").waiting:
            await asyncio.sleep(0.01)
    keeping.cancel()
    await asyncio.wait({keeping})
    assert sender.sent == 1
    other.close()
    box.close()


async def test_what_cannot_be_sent_for_a_fault_of_a_file_is_tried_again_after_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    box = Outbox(tmp_path / "outbox.db", KEYS, 0)
    box.add([("t", Notice(1, "", "said", "Hello", 1), 0, False)], 1)

    def come() -> bool:
        raise StorageFault("no room")

    sender = Sender(box, come)
    sender.again_s = 3600
    keeping = asyncio.create_task(sender.keep())
    await said(caplog, "no room", 1)
    sender.turn.set()  # whatever else happens meanwhile
    while sender.turn.is_set():
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    keeping.cancel()
    await asyncio.wait({keeping})
    assert sender.sent == 1 and box.figures("t").waiting == 1
    box.close()
