"""The service manager that started the daemon hears how it stands: the protocol of sd_notify(3), a datagram a message.

Layer: runtime. Where no socket is named, nothing is sent. The watchdog is fed by the event loop itself, so a daemon
that hangs is ended and started again by the service manager.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import MutableMapping

_log = logging.getLogger("stead")


class Supervisor:
    """The service manager.

    Args:
        environment: names its socket, and how soon it wants to hear. Both are taken out: nothing that the daemon starts
            may speak for it.

    Attributes:
        service: the name of the service that runs this daemon, as its unit says; "" for none.
        interval_s: between two signs of life; 0 where none are wanted.
    """

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        self.service = environment.pop("STEAD_SERVICE", "")
        self._socket = environment.pop("NOTIFY_SOCKET", "")
        wanted, pid = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
        ours = wanted.isdecimal() and pid in ("", str(os.getpid()))
        self.interval_s = int(wanted) / 2_000_000 if ours else 0.0

    def tell(self, *states: str) -> None:
        """Say how it stands, as ``READY=1``; one that does not listen is logged, and no reason to fail."""
        if not self._socket:
            return
        address = "\0" + self._socket[1:] if self._socket.startswith("@") else self._socket
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as found:
                found.settimeout(1.0)
                found.sendto("\n".join(states).encode(), address)
        except OSError as error:
            _log.warning("the service manager did not get %s: %s", states[0], error)

    async def keep(self) -> None:
        """Give signs of life for as long as the event loop turns."""
        while self.interval_s:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self.interval_s)
