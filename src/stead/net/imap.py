"""A mailbox over IMAP, read and never changed.

Layer: net. Blocking, for a thread. TLS from the first byte, with the system's authorities.

Source: RFC 3501 (UIDs and UIDVALIDITY §2.3.1.1, EXAMINE §6.3.2, BODY.PEEK with a bound §6.4.5).
"""

from __future__ import annotations

import contextlib
import imaplib
import ssl
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from stead.domain.errors import FetchFault

TIMEOUT_S = 10.0
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_BROKEN = (imaplib.IMAP4.error, OSError, ValueError, IndexError, TypeError, UnicodeError)
"""What the library makes of an answer that is none."""


class ImapMailbox:
    """One folder of one mailbox, open.

    Args:
        host: of the server.
        port: for TLS.
        user: to sign in as.
        password: of the user.
        folder: to look into.

    Raises:
        FetchFault: it cannot be reached or opened; the text says why, without the password. So do all methods.
    """

    def __init__(self, host: str, port: int, user: str, password: str, folder: str) -> None:
        self._where = f"{user} at {host}"
        try:
            self._client = imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=TIMEOUT_S)
        except _BROKEN as error:
            raise self._fault(error) from None
        try:
            self._client.login(user, password)
            quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
            self._folder = f'"{quoted}"'
            self.look()
        except _BROKEN:
            self.close()
            raise FetchFault("the mailbox of {} did not let us in: is its password right?", self._where) from None

    def look(self) -> tuple[int, int]:
        """Look again: the number that its UIDs are valid under, and the UID that the next mail gets."""
        try:
            status, _ = self._client.select(self._folder, readonly=True)
            valid, following = (self._client.response(word)[1] for word in ("UIDVALIDITY", "UIDNEXT"))
            if status != "OK":
                raise ValueError("no such folder")
            return int(valid[-1] or 0), int(following[-1] or 0)
        except _BROKEN as error:
            raise self._fault(error) from None

    def uids(self, after: int, since_ms: int = 0) -> list[int]:
        """The UIDs past one, in order; with ``since_ms`` of what came since that day alone."""
        day = datetime.fromtimestamp(since_ms / 1000, UTC) - timedelta(days=1)  # days are the server's
        since = f" SINCE {day.day}-{_MONTHS[day.month - 1]}-{day.year}" if since_ms else ""
        try:
            _, found = self._client.uid("SEARCH", f"UID {after + 1}:*{since}")
            return sorted({uid for uid in map(int, (found[0] or b"").split()) if uid > after})
        except _BROKEN as error:
            raise self._fault(error) from None

    def mail(self, uid: int, most_bytes: int) -> tuple[bytes, int] | None:
        """The first bytes of a mail, and when it came in, in milliseconds; None where it is gone."""
        try:
            _, parts = self._client.uid("FETCH", str(uid), f"(INTERNALDATE BODY.PEEK[]<0.{most_bytes}>)")
            found: list[Any] = [part for part in parts if isinstance(part, tuple)]
            if not found:
                return None
            said = b" ".join(part if isinstance(part, bytes) else part[0] for part in parts)
            came = imaplib.Internaldate2tuple(said)
            return bytes(found[0][1][:most_bytes]), int(time.mktime(came)) * 1000 if came else 0
        except _BROKEN as error:
            raise self._fault(error) from None

    def close(self) -> None:
        """Let go of it."""
        with contextlib.suppress(*_BROKEN):  # without a farewell, for which a server could have us wait
            self._client.shutdown()

    def _fault(self, error: BaseException) -> FetchFault:
        return FetchFault("the mailbox of {} cannot be read: {}", self._where, type(error).__name__ + f" {error}"[:200])
