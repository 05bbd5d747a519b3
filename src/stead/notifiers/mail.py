"""Notifications by mail.

Layer: notifiers. The standard library's client, in a thread: it speaks to an address that was checked, and its TLS
shows the name that the person gave. Subject and text hold no line ends but our own; a library that would fold or
encode anything else never sees it.

Source: RFC 5321, RFC 8314, RFC 3834 (Auto-Submitted).
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import smtplib
import socket
import ssl
from email.message import EmailMessage
from email.utils import formatdate

from stead.domain.errors import FetchFault, InvalidRequest
from stead.domain.hosts import is_local, is_name
from stead.domain.notifications import Mail, Message, Undelivered
from stead.guardian.reach import Target, parse_address
from stead.net.dialing import Dialer
from stead.notifiers.posting import judge_of, require_local

STEP_S, WHOLE_S = 10.0, 25.0
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,189}")


def check(mail: Mail) -> None:
    """Refuse what cannot be; raises ``InvalidRequest``."""
    for address in (mail.sender, *mail.to):
        if not _ADDRESS.fullmatch(address):
            raise InvalidRequest(f"{address[:80]!r} is no mail address, such as ada@example.com")
    local = is_local(mail.host)
    if local:
        require_local(mail.host, mail.port)
    elif not is_name(mail.host):
        raise InvalidRequest(f"{mail.host[:80]!r} is no host name, such as mail.example.com")
    if mail.security == "none" and (not local or mail.secret):
        raise InvalidRequest("without TLS mail is sent on this computer or its networks alone, and without a password")
    if not 0 < len(mail.to) <= 5 or bool(mail.user) != bool(mail.secret):
        raise InvalidRequest("give 1 to 5 addresses, and a user together with the secret of the password")


async def send_mail(dialer: Dialer, mail: Mail, password: str, message: Message) -> None:
    """Send a message; raises ``Undelivered``, also where some of its addresses were refused."""
    target = Target("https", mail.host, mail.port, "/", mail.host if parse_address(mail.host) else "")
    try:
        address = (await dialer.addresses(target, judge_of(mail.host)))[0]
    except (FetchFault, IndexError) as error:
        raise Undelivered(str(error)) from error
    client = _Client(mail, address, None if mail.security == "none" else dialer.trust())
    try:
        async with asyncio.timeout(WHOLE_S):
            await asyncio.to_thread(client.deliver, password, _written(mail, message))
    except TimeoutError as error:
        raise Undelivered(f"{mail.host!r} does not answer") from error
    except smtplib.SMTPRecipientsRefused as error:
        refused = [(code, text) for code, text in error.recipients.values()]
        raise Undelivered(_said(*refused[0]), final=all(code >= 500 for code, _ in refused)) from error
    except smtplib.SMTPResponseException as error:
        of_message = isinstance(error, smtplib.SMTPSenderRefused | smtplib.SMTPDataError)
        final = of_message and 500 <= error.smtp_code < 600  # a password can be put right, and so can a server
        raise Undelivered(_said(error.smtp_code, error.smtp_error), final=final) from error
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise Undelivered(f"{mail.host!r}: {error}") from error
    finally:
        client.cut()


def _said(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"it answers {code}: {' '.join(words.split())[:200]}"


def _written(mail: Mail, message: Message) -> EmailMessage:
    written = EmailMessage()
    written["From"] = mail.sender
    written["To"] = ", ".join(mail.to)
    written["Subject"] = message.title
    written["Date"] = formatdate(message.at_ms / 1000)
    written["Message-ID"] = f"<{message.id}@{mail.sender.rpartition('@')[2]}>"
    written["Auto-Submitted"] = "auto-generated"
    written.set_content("\n".join([*(message.lines or (message.title,)), "", message.link, ""]))
    return written


class _Client(smtplib.SMTP):
    """Connects to one address, whatever the host's name leads to by then."""

    def __init__(self, mail: Mail, address: str, trust: ssl.SSLContext | None) -> None:
        self._mail, self._address, self._trust = mail, address, trust
        super().__init__(local_hostname="localhost", timeout=STEP_S)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        plain = socket.create_connection((self._address, port), timeout)
        if self._mail.security != "tls" or self._trust is None:
            return plain
        return self._trust.wrap_socket(plain, server_hostname=host)

    def deliver(self, password: str, written: EmailMessage) -> None:
        """Hand it over; in a thread."""
        mail = self._mail
        self._host = mail.host  # whose certificate STARTTLS looks at
        self.connect(mail.host, mail.port)
        if mail.security == "starttls":
            self.starttls(context=self._trust)
        if mail.user:
            self.login(mail.user, password)
        refused = self.send_message(written)
        with contextlib.suppress(smtplib.SMTPException, OSError):  # it has it by now
            self.quit()
        if refused:  # not again, as the others have it
            said = _said(*next(iter(refused.values())))
            raise Undelivered(f"to {len(refused)} of {len(mail.to)} addresses: {said}", final=True)

    def cut(self) -> None:
        """Have the thread stop waiting."""
        if (open_ := self.sock) is not None:
            with contextlib.suppress(OSError):
                open_.shutdown(socket.SHUT_RDWR)
            open_.close()
