"""Connections of a channel's process, through the proxy that its environment names, for what has no client that does.

Layer: channels. The proxy's tunnels begin with the first byte of TLS, so STARTTLS cannot pass. Without a proxy in the
environment the host is connected to directly; in a machine there is no way but the proxy.

Source: RFC 9110 (CONNECT §9.3.6).
"""

from __future__ import annotations

import asyncio
import os
import socket
from urllib.parse import urlsplit

CONNECT_S = 20.0
_MOST_ANSWER_BYTES = 8_000


async def dial(host: str, port: int) -> socket.socket:
    """A connection to a port of a host, whose first byte is to be one of TLS.

    Raises:
        OSError, TimeoutError: it cannot be reached, or the proxy refuses it.
    """
    proxy = urlsplit(os.environ.get("HTTPS_PROXY", ""))
    first = (proxy.hostname, proxy.port or 80) if proxy.hostname else (host, port)
    async with asyncio.timeout(CONNECT_S):
        sock = await asyncio.to_thread(socket.create_connection, first, CONNECT_S)
        sock.setblocking(False)
        try:
            if proxy.hostname:
                await _tunnel(sock, f"{host}:{port}")
        except BaseException:
            sock.close()
            raise
        return sock


async def _tunnel(sock: socket.socket, target: str) -> None:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):  # a byte at a time: what follows is of TLS
        piece = await loop.sock_recv(sock, 1)
        answer += piece
        if not piece or len(answer) > _MOST_ANSWER_BYTES:
            raise ConnectionError("the proxy's answer is none")
    status = answer.partition(b"\r\n")[0].decode("latin-1").partition(" ")[2]
    if not status.startswith("200"):
        raise ConnectionError(f"{target} cannot be reached: {status[:100]}")
