"""Joins a machine's network, connects to a port there and hands the socket over. A program of its own.

Layer: machines. Standard library only. It sends and receives nothing through that socket. It stays outside the
machine's process namespace, so nothing inside can see it or send it a signal. Source: setns(2), on descriptors of
processes.
"""

from __future__ import annotations

import ctypes
import socket
import sys

_NAMESPACES = 0x1000_0000 | 0x4000_0000
"""CLONE_NEWUSER, which gives the right to join the other, and CLONE_NEWNET."""
_LIMIT_S = 5.0


def main(process: int, port: int) -> None:
    """Connect; leaves without handing anything over when the network cannot be joined, or nothing listens."""
    if ctypes.CDLL(None).setns(process, _NAMESPACES) != 0:
        sys.exit("the machine's network cannot be joined")
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        made = socket.socket(family)
        made.settimeout(_LIMIT_S)
        if made.connect_ex((host, port)) == 0:
            socket.send_fds(socket.socket(fileno=0), [b"."], [made.fileno()])
            return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
