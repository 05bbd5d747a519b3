"""Ada's mails to a mailbox that the home reads, and its mails to her.

Both servers are real, and behind ports whose connections can be dropped. The channel reaches them as it would any: by
TLS, through the tunnels of the daemon's egress proxy.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from email.message import EmailMessage
from itertools import count

from aiosmtpd.smtp import LoginPassword

from tests.fakes.dovecot import PASSWORD, USER, Dovecot, running_dovecot
from tests.fakes.gate import Gate, gate
from tests.fakes.receivers import Mailbox, mailbox
from tests.flows.places import Aside, Place, aside

ADA, PROOF = "ada@example.org", "mx.example.com"
_ids = count(1)


class EmailPlace(Place):
    """See ``Place``. She answers in the conversation that there is."""

    def __init__(self, imap: Dovecot, smtp: Mailbox, gates: Aside[tuple[Gate, Gate]]) -> None:
        reading, sending = gates.server
        settings = {
            "imap": f"imaps://localhost:{reading.port}",
            "smtp": f"smtps://localhost:{sending.port}",
            "user": USER,
            "address": "stead@example.com",
            "proof": PROOF,
        }
        authorities = str(imap.authorities)
        super().__init__(
            "email", {"password": PASSWORD}, settings, authorities, answering="link", gates=[*gates.server]
        )
        self._imap, self._smtp, self._gates = imap, smtp, gates
        self._read: list[str] = []

    def writes(self, text: str) -> None:
        self._imap.deliver(self._mail(text).as_bytes())

    def sends(self, name: str, data: bytes, words: str) -> None:
        mail = self._mail(words)
        mail.add_attachment(data, "application", "octet-stream", filename=name)
        self._imap.deliver(mail.as_bytes())

    def _mail(self, text: str) -> EmailMessage:
        mail = EmailMessage()
        mail["Authentication-Results"] = f"{PROOF}; dmarc=pass (p=none) header.from=example.org"
        mail["From"], mail["To"], mail["Subject"] = f"Ada <{ADA}>", USER, "Plums"
        mail["Message-ID"] = f"<{next(_ids)}@example.org>"
        if self._smtp.mails:
            last = self._smtp.mails[-1]
            mail["In-Reply-To"] = last["Message-ID"]
            mail["References"] = " ".join(filter(None, (last["References"], last["Message-ID"])))
        mail.set_content(text)
        return mail

    def sent(self) -> list[str]:
        for mail in self._smtp.mails[len(self._read) :]:
            body = mail.get_body(("plain",))
            self._read.append(body.get_content().replace("\r", "") if body else "")
        return list(self._read)

    def files(self) -> list[bytes]:
        return [part.get_content() for mail in list(self._smtp.mails) for part in mail.iter_attachments()]

    def cut(self) -> None:
        for one in self._gates.server:
            self._gates.run(one.cut)

    def revokes(self) -> None:
        self._password("another-one-for-pia")

    def renews(self) -> Mapping[str, str]:
        return {"password": self._smtp.login.password.decode()}

    def _password(self, word: str) -> None:
        self._imap.take_password(word)
        self._smtp.login = LoginPassword(USER.encode(), word.encode())


@contextmanager
def place() -> Iterator[Place]:
    """Both servers, served."""
    with running_dovecot() as imap:
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(imap.authorities, imap.authorities.with_name("key.pem"))
        with mailbox(trust, login=LoginPassword(USER.encode(), PASSWORD.encode())) as smtp:

            @asynccontextmanager
            async def gates() -> AsyncIterator[tuple[Gate, Gate]]:
                error = b"* BYE Internal error occurred.\r\n", b"421 4.3.2 try again later\r\n"
                async with gate(imap.port, trust, error[0]) as reading, gate(smtp.port, trust, error[1]) as sending:
                    yield reading, sending

            with aside(gates) as both:
                yield EmailPlace(imap, smtp, both)
