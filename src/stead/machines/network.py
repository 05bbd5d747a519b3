"""Connections into a machine's own network, where nothing but its processes listens.

Layer: machines. A socket belongs for good to the network of the process that made it. So a helper process joins the
machine's network, connects there and hands the socket over (``network_helper``). Nothing inside takes part: there is no
path, no descriptor and no program of the machine's that could lead elsewhere.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from stead.machines.process import readable

_HELPER = str(Path(__file__).with_name("network_helper.py"))


async def connect(first: int, port: int) -> socket.socket:
    """A connection to a port on a machine's loopback, by IPv4 or else IPv6.

    Args:
        first: descriptor of the first process inside.
        port: 1 to 65535.

    Raises:
        ConnectionError: nothing accepts connections there, or the machine has ended.
    """
    ours, far = socket.socketpair()
    with ours, far:
        helper = subprocess.Popen(  # noqa: ASYNC220 - as in ``process``
            [sys.executable, "-I", "-S", _HELPER, str(first), str(port)],
            stdin=far.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            pass_fds=[first],
            start_new_session=True,
        )
        far.close()
        try:
            await readable(ours.fileno())
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1, socket.MSG_CMSG_CLOEXEC)
        finally:
            helper.kill()
            helper.wait()
    if not descriptors:
        raise ConnectionRefusedError(f"nothing accepts connections at port {port}")
    made = socket.socket(fileno=descriptors[0])
    made.setblocking(False)
    return made
