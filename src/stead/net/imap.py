"""A mailbox over IMAP, read and never changed.

Layer: net. Blocking, for a thread. TLS from the first byte, with the system's authorities.

Source: RFC 3501 (UIDs and UIDVALIDITY §2.3.1.1, EXAMINE §6.3.2, BODY.PEEK with a bound §6.4.5).
"""

from __future__ import annotations

import contextlib
import imaplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from stead.domain.errors import FetchFault

TIMEOUT_S = 10.0
"""For each piece that comes."""
LIMIT_S = 60.0
"""For a whole exchange, as a server may send a byte now and then."""
_MOST_READ_BYTES = 4 << 20
"""At once; the server itself says how much is to come."""
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_BROKEN = (imaplib.IMAP4.error, OSError, ValueError, IndexError, TypeError, UnicodeError)
"""What the library makes of an answer that is none."""


class _Client(imaplib.IMAP4_SSL):
    """Takes no more at once than is wanted, and is cut off when it takes too long, while it connects, too."""

    timer: threading.Timer | None = None

    def __init__(self, host: str, port: int, limit_s: float) -> None:
        self.limit_s = limit_s
        super().__init__(host, port, ssl_context=ssl.create_default_context(), timeout=TIMEOUT_S)

    def _create_socket(self, timeout: float | None) -> ssl.SSLSocket:
        plain = socket.create_connection((self.host, self.port), timeout)
        sock: ssl.SSLSocket = self.ssl_context.wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.begin(sock)
        try:
            sock.do_handshake()
        except OSError:
            sock.close()
            raise
        return sock

    def read(self, size: int) -> bytes:
        if size > _MOST_READ_BYTES:
            raise self.abort(f"the server sends {size} bytes at once")
        return super().read(size)

    def begin(self, sock: socket.socket) -> None:
        """From now on it may take so long; then what reads from the server fails."""
        self.timer = threading.Timer(self.limit_s, _cut, (sock,))
        self.timer.daemon = True
        self.timer.start()

    def end(self) -> None:
        """What was begun is done."""
        if self.timer is not None:
            self.timer.cancel()


def _cut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class ImapMailbox:
    """One folder of one mailbox, open.

    Args:
        host: of the server.
        port: for TLS.
        user: to sign in as.
        password: of the user.
        folder: to look into.
        limit_s: for each exchange.

    Raises:
        FetchFault: it cannot be reached or opened; the text says why, without the password. So do all methods.
    """

    def __init__(self, host: str, port: int, user: str, password: str, folder: str, limit_s: float = LIMIT_S) -> None:
        self._where = f"{user} at {host}"
        try:
            self._client = _Client(host, port, limit_s)
        except _BROKEN as error:
            raise self._fault(error) from None
        self._client.end()
        try:
            with self._asking():
                self._client.login(user, password)
            quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
            self._folder = f'"{quoted}"'
            self.look()
        except FetchFault:
            self.close()
            raise FetchFault("the mailbox of {} did not let us in: is its password right?", self._where) from None

    def look(self) -> tuple[int, int]:
        """Look again: the number that its UIDs are valid under, and the UID that the next mail gets."""
        with self._asking():
            status, _ = self._client.select(self._folder, readonly=True)
            valid, following = (self._client.response(word)[1] for word in ("UIDVALIDITY", "UIDNEXT"))
            if status != "OK":
                raise ValueError("no such folder")
            return int(valid[-1] or 0), int(following[-1] or 0)

    def uids(self, after: int, since_ms: int = 0) -> list[int]:
        """The UIDs past one, in order; with ``since_ms`` of what came since that day alone."""
        day = datetime.fromtimestamp(since_ms / 1000, UTC) - timedelta(days=1)  # days are the server's
        since = f" SINCE {day.day}-{_MONTHS[day.month - 1]}-{day.year}" if since_ms else ""
        with self._asking():
            _, found = self._client.uid("SEARCH", f"UID {after + 1}:*{since}")
            return sorted({uid for uid in map(int, (found[0] or b"").split()) if uid > after})

    def mail(self, uid: int, most_bytes: int) -> tuple[bytes, int] | None:
        """The first bytes of a mail, and when it came in, in milliseconds; None where it is gone."""
        with self._asking():
            _, parts = self._client.uid("FETCH", str(uid), f"(INTERNALDATE BODY.PEEK[]<0.{most_bytes}>)")
            found: list[Any] = [part for part in parts if isinstance(part, tuple)]
            if not found:
                return None
            said = b" ".join(part if isinstance(part, bytes) else part[0] for part in parts)
            came = imaplib.Internaldate2tuple(said)
            return bytes(found[0][1][:most_bytes]), int(time.mktime(came)) * 1000 if came else 0

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        self._client.begin(self._client.sock)
        try:
            yield
        except _BROKEN as error:
            raise self._fault(error) from None
        finally:
            self._client.end()

    def close(self) -> None:
        """Let go of it."""
        with contextlib.suppress(*_BROKEN):  # without a farewell, for which a server could have us wait
            self._client.shutdown()

    def _fault(self, error: BaseException) -> FetchFault:
        return FetchFault("the mailbox of {} cannot be read: {}", self._where, type(error).__name__ + f" {error}"[:200])
