"""What a service manager hears, over a real socket."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from stead.runtime.supervisor import Supervisor


@pytest.mark.parametrize("kind", ["a file", "an abstract name"])
def test_a_state_is_told_in_one_datagram(tmp_path: Path, kind: str) -> None:
    address = str(tmp_path / "notify") if kind == "a file" else f"\0stead-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(address)
        heard.settimeout(5)
        environment = {"NOTIFY_SOCKET": address.replace("\0", "@"), "STEAD_SERVICE": "stead", "HOME": "/home/me"}
        supervisor = Supervisor(environment)
        supervisor.tell("READY=1", "STATUS=serving")
        assert heard.recv(4096) == b"READY=1\nSTATUS=serving"
    assert supervisor.service == "stead"
    assert environment == {"HOME": "/home/me"}, "what the daemon starts speaks for itself alone"
    supervisor.tell("STOPPING=1")  # nobody listens any more: no reason to fail


@pytest.mark.parametrize(("pid", "expected"), [("", 0.01), ("own", 0.01), ("1", 0.0)])
def test_signs_of_life_come_twice_in_the_time_that_is_given(pid: str, expected: float) -> None:
    pid = str(os.getpid()) if pid == "own" else pid
    supervisor = Supervisor({"WATCHDOG_USEC": "20000", "WATCHDOG_PID": pid})
    assert supervisor.interval_s == expected


async def test_signs_of_life_come_from_the_event_loop(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(address)
        heard.setblocking(False)
        keeping = asyncio.create_task(Supervisor({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000"}).keep())
        loop = asyncio.get_running_loop()
        for _ in range(3):
            assert await asyncio.wait_for(loop.sock_recv(heard, 4096), 5) == b"WATCHDOG=1"
        keeping.cancel()


async def test_without_a_manager_nothing_is_done() -> None:
    supervisor = Supervisor({})
    supervisor.tell("READY=1")
    await supervisor.keep()
    assert supervisor.service == ""
