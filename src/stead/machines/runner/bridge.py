"""The way from a machine's own network to the one socket that leads out: carries bytes, decides nothing.

Layer: machines, runner. Standard library only. Programs know proxies by host and port, so the runner listens on
127.0.0.1 in the machine's network, where nothing else is. The first connection makes it fork this process, which ends
by itself once it has had nothing to do for a while.
"""

from __future__ import annotations

import _socket  # the module ``socket`` would cost milliseconds of the machine's start
import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from typing import NoReturn

OUTSIDE = "/run/egress/proxy.sock"

_CHUNK = 64 << 10
_MOST = 200
_IDLE_S = 20.0


def turn_away(listener: _socket.socket) -> None:
    """Close the connection that waits first."""
    try:
        os.close(listener._accept()[0])  # type: ignore[attr-defined]  # it is left out of the stubs
    except OSError:
        return  # it has left


def carry_apart(listener: _socket.socket, idle_s: float = _IDLE_S) -> NoReturn:
    """In a fork of the runner: close everything that is the runner's, then carry connections until the end.

    Args:
        listener: where connections come in.
        idle_s: seconds without any after which it ends; -1 for never.
    """
    try:
        nowhere = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(nowhere, fd)
        os.closerange(3, listener.fileno())
        os.closerange(listener.fileno() + 1, 65_536)
        serve(listener, idle_s)
    finally:
        os._exit(0)


class _End:
    """One side of a carried connection. ``waiting`` holds what its other side sent and it has not taken yet."""

    def __init__(self, sock: _socket.socket) -> None:
        self.sock = sock
        self.waiting = bytearray()
        self.other = self
        self.read_over = False
        self.write_over = False

    def interest(self) -> int:
        """What to wait for: room for what is waiting, and more to read while the other side is not behind."""
        more = not self.read_over and len(self.other.waiting) < _CHUNK
        return (select.EPOLLIN if more else 0) | (select.EPOLLOUT if self.waiting else 0)


def serve(listener: _socket.socket, idle_s: float = _IDLE_S) -> None:
    """Carry connections until there have been none for a while."""
    poll = select.epoll()
    poll.register(listener.fileno(), select.EPOLLIN)
    ends: dict[int, _End] = {}
    while True:
        ready = poll.poll(-1 if ends else idle_s)
        if not ready:
            return
        for fd, events in ready:
            if fd == listener.fileno():
                _accept(listener, poll, ends)
            elif fd in ends and not _carry(ends[fd], events):
                _drop(ends[fd], poll, ends)
        for fd, end in ends.items():
            poll.modify(fd, end.interest())


def _accept(listener: _socket.socket, poll: select.epoll, ends: dict[int, _End]) -> None:
    try:
        fd, _ = listener._accept()  # type: ignore[attr-defined]  # not in typeshed; it is what accept() calls
    except OSError:
        return
    inside = _End(_socket.socket(fileno=fd))
    outside = _End(_socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM))
    try:
        if len(ends) >= _MOST:
            raise OSError("too many connections")
        outside.sock.connect(OUTSIDE)
    except OSError:
        inside.sock.close()
        outside.sock.close()
        return
    inside.other, outside.other = outside, inside
    for end in (inside, outside):
        end.sock.setblocking(False)
        ends[end.sock.fileno()] = end
        poll.register(end.sock.fileno(), select.EPOLLIN)


def _carry(end: _End, events: int) -> bool:
    """Move bytes; false once the connection is over."""
    try:
        if end.waiting:
            del end.waiting[: end.sock.send(end.waiting)]
        if events & (select.EPOLLHUP | select.EPOLLERR) and end.read_over and not end.other.waiting:
            return False
        if events & ~select.EPOLLOUT and not end.read_over and len(end.other.waiting) < _CHUNK:
            data = end.sock.recv(_CHUNK)
            end.other.waiting += data
            end.read_over = not data
        for side in (end, end.other):
            if side.waiting:
                continue
            if side.other.read_over and not side.write_over:
                side.sock.shutdown(_socket.SHUT_WR)
                side.write_over = True
    except BlockingIOError:
        return True
    except OSError:
        return False
    return not (end.write_over and end.other.write_over)


def _drop(end: _End, poll: select.epoll, ends: dict[int, _End]) -> None:
    for side in (end, end.other):
        fd = side.sock.fileno()
        poll.unregister(fd)
        del ends[fd]
        side.sock.close()
