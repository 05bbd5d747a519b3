"""One HTTP/1.1 request and its response.

Layer: a door. Must not know what is asked or answered. ``http.client`` would do; but it brings ``email`` and ``ssl``,
and importing it takes a third of the 0.10 s that ``stead status`` may last. So HTTP is spoken here in the small part
that one loopback peer of our own needs; anything outside that part is an error, never a guess.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress

from stead.client.address import Address

HEAD_LIMIT_BYTES = 64 * 1024
BODY_LIMIT_BYTES = 64 * 1024 * 1024


class Exchange:
    """One request and its response, on a connection of its own.

    Args:
        address: of the daemon.
        method: GET, POST, PUT or DELETE.
        target: path and query, percent-encoded.
        headers: besides Host, Authorization and Connection.
        body: b"" for none.
        timeout_s: for connecting, sending and the response's head.

    Raises:
        OSError: the connection failed, or what came is not the HTTP of our daemon.
    """

    def __init__(
        self, address: Address, method: str, target: str, headers: dict[str, str], body: bytes, timeout_s: float
    ) -> None:
        self._buffer = bytearray()
        self._left = 0
        self._ended = False
        self._socket = socket.socket()
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(("127.0.0.1", address.port))
            self._send(address, method, target, headers, body)
            self.status, self.headers = self._read_head()
            self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
            self._sized = "content-length" in self.headers
            if self._sized:
                self._left = int(self.headers["content-length"])
                self._ended = self._left == 0
        except ValueError as error:
            raise ConnectionError("the answer is not the HTTP of a Stead daemon") from error

    def __del__(self) -> None:
        """Hang up: a Ctrl-C can come in the middle of its making, or before there is anybody who would close it."""
        self._socket.close()

    def fileno(self) -> int:
        """For ``select``."""
        return self._socket.fileno()

    @property
    def retry_after_s(self) -> float | None:
        """After how many seconds the daemon wants to be asked again, if it said."""
        given = self.headers.get("retry-after", "")
        return float(given) if given.isdecimal() else None

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def read(self, timeout_s: float) -> bytes:
        """More of the body as it comes; b"" at its end.

        Raises:
            TimeoutError: nothing came in time; reading again goes on where this left off.
            OSError: the connection broke before the body's end.
        """
        self._socket.settimeout(max(timeout_s, 0.001))
        while True:
            piece = self._decode()
            if piece or self._ended:
                return piece
            if not self._receive():
                if self._chunked or self._sized:
                    raise ConnectionError("the daemon hung up in the middle of its answer")
                self._ended = True

    def read_all(self, timeout_s: float) -> bytes:
        """The whole body, within this time and ``BODY_LIMIT_BYTES``."""
        deadline = time.monotonic() + timeout_s
        body = bytearray()
        while piece := self.read(deadline - time.monotonic()):
            body += piece
            if len(body) > BODY_LIMIT_BYTES:
                raise ConnectionError(f"the answer is longer than {BODY_LIMIT_BYTES} bytes")
        return bytes(body)

    def _send(self, address: Address, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{address.port}"]
        lines += [f"Authorization: Bearer {address.bearer}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        # A body that is too large is refused before it has been read: the answer may be there all the same.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall("\r\n".join([*lines, "", ""]).encode("ascii") + body)

    def _read_head(self) -> tuple[int, dict[str, str]]:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > HEAD_LIMIT_BYTES:
                raise ConnectionError("the answer's head is too long for a Stead daemon")
            if not self._receive():
                raise ConnectionError("the daemon hung up without an answer")
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        protocol, status, *_ = first.split(" ")
        if not protocol.startswith("HTTP/1."):
            raise ValueError(protocol)
        pairs = (line.partition(":") for line in lines)
        return int(status), {name.strip().lower(): value.strip() for name, _, value in pairs}

    def _receive(self) -> bool:
        piece = self._socket.recv(65536)
        self._buffer += piece
        return bool(piece)

    def _decode(self) -> bytes:
        """What the buffer holds of the body, its framing taken off."""
        if not self._chunked:
            piece = bytes(self._buffer[: self._left] if self._sized else self._buffer)
            del self._buffer[: len(piece)]
            if self._sized:
                self._left -= len(piece)
                self._ended = self._left == 0
            return piece
        pieces = []
        while not self._ended:
            if self._left == 0:  # at a chunk's head: its size in hexadecimal
                end = self._buffer.find(b"\r\n")
                if end < 0:
                    break
                try:
                    size = int(self._buffer[:end].split(b";")[0], 16)
                except ValueError as error:
                    raise ConnectionError("the answer's chunks are malformed") from error
                del self._buffer[: end + 2]
                self._ended = size == 0
                self._left = size + 2  # with the line break after it
            piece = bytes(self._buffer[: self._left])
            del self._buffer[: len(piece)]
            data_left = max(self._left - 2, 0)
            pieces.append(piece[:data_left])
            self._left -= len(piece)
            if not self._buffer:
                break
        return b"".join(pieces)
