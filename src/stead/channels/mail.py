"""E-mail: a mailbox that is read over IMAP and never changed, and answers over SMTP.

Layer: channels. Anybody can write any name into From. A mail is of a person only where the mailbox's own server says
that the address's domain stands behind it, and a mail that a program sent is of nobody. A conversation is a thread,
called by the Message-ID of its first mail. Both connections are TLS from their first byte; see ``dialing``.

Sources: RFC 5322 (§3.6.4, References), RFC 3834 (automatic answers), RFC 8314 (TLS from the first byte),
RFC 3676 (§4.3, the line before a signature).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from stead.channels.base import ChannelFault, Platform, Take, check_size, remember
from stead.channels.dialing import dial
from stead.domain.channel_wire import MOST_TEXT_CHARS, Begin, FileOut, RemoteFile, Send, Update

if TYPE_CHECKING:
    from stead.channels.mailbox import Mailbox
    from stead.domain.mail import Letter

MOST_MAIL_BYTES = 8_000_000
"""Of a mail that are read: a text, and a file of the most bytes that may be brought, in base64."""
RENEW_S = 3_000.0
"""After which another connection is made, as the proxy ends each after an hour."""
_HEAD_BYTES = 66_000
_STEP_S, _WHOLE_S = 20.0, 120.0
_LATER_S = 60.0
"""After an answer of 4xx, which names no time."""
_HEADED = re.compile(r"^[>* ]*[^\s:][^:\n]{0,30}:[^\n]*@[^\n]*\n+[>* ]*[^\s:][^:\n]{0,30}:\s", re.MULTILINE)
"""Two headers, the first one with an address: in every language a mail begins so that is passed on."""
_SIGNED = "-- "
"""The line before a signature."""
_QUOTES_S = 1.0
"""For finding what a mail quotes; the expressions of the library can take for ever over hostile text."""
_PORTS, _STARTTLS_PORTS = {"imaps": 993, "smtps": 465}, (25, 143, 587)
_ADDRESS = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,189}"


class _Place(NamedTuple):
    """How far the mailbox was read: the number that UIDs are valid under, a UID, and when that mail came in."""

    valid: int
    uid: int
    came_ms: int


class Mail(Platform):
    """One mailbox."""

    def __init__(self, begin: Begin, take: Take, up: Callable[[str, str, str], None]) -> None:
        super().__init__(begin, take, up)
        numbers = [int(part) for part in begin.cursor.split(":") if part.isdigit()]
        self._place = _Place(*numbers) if len(numbers) == 3 else None
        self._own = begin.settings["address"].lower()
        self._domain = self._own.rpartition("@")[2]
        self._unproven = 0
        self._talks: dict[str, tuple[str, tuple[str, str]]] = {}
        """By thread, or by chat for the answer to come: the subject, and the Message-IDs of the first and last mail."""
        self._one = asyncio.Lock()  # held by the only connection besides the one that waits: servers count them

    async def run(self) -> None:
        """See ``Platform``."""
        _server(self.settings["smtp"], "smtps")
        now, up = asyncio.get_running_loop().time, False
        while True:
            until_s = now() + RENEW_S
            async with self._mailbox() as box:
                if self._place is None:  # what lay there before is no arrival
                    valid, following = await box.look()
                    last = following - 1 if following else max(await box.uids(0), default=0)
                    self._place = _Place(valid, last, 0)
                if not up:
                    self.up(self._own, self._own, f"mailto:{quote(self._own)}?body={{}}")
                    up = True
                while now() < until_s:
                    if not await self._read(box):
                        await box.wait_for_mail()

    async def _read(self, box: Mailbox) -> bool:
        """Take in what came; whether to look again, as the server announces what came meanwhile only once."""
        valid, following = await box.look()
        place = self._place or _Place(valid, 0, 0)
        same = place.valid == valid
        uid, since_ms = (place.uid, 0) if same else (0, place.came_ms)  # under other numbers: by when they came
        if following and uid >= following - 1:
            return False
        found = await box.uids(uid, since_ms)
        for one in found:
            place = self._place = await self._taken_in(box, _Place(valid, one, place.came_ms), since_ms)
        if not found:
            self._place = _Place(valid, max(uid, following - 1), place.came_ms)
        return bool(found or following)

    async def _taken_in(self, box: Mailbox, place: _Place, since_ms: int) -> _Place:
        from stead.domain.mail import Letter, read_letter

        proof, size = self.settings["proof"], MOST_MAIL_BYTES
        head = await box.mail(place.uid, _HEAD_BYTES, "HEADER")
        if head is None or head.came_ms < since_ms:
            return place
        place = place._replace(came_ms=max(place.came_ms, head.came_ms))
        letter = await asyncio.to_thread(read_letter, head.raw, proof)
        if isinstance(letter, Letter) and (stored := await box.mail(place.uid, size)):
            letter = await asyncio.to_thread(read_letter, stored.raw, proof)
            if isinstance(letter, Letter) and letter.sender != self._own:
                update = self._update(letter, place, cut=len(stored.raw) == size)
                await self.take(replace(update, cursor=":".join(map(str, place))))
        self._unproven += letter == "unproven"
        return place

    def _update(self, letter: Letter, place: _Place, *, cut: bool) -> Update:
        own = letter.message_id or f"<uid-{place.valid}-{place.uid}@{self._domain}>"
        root = letter.references[0] if letter.references else own
        ours = [one for one in letter.references if one.startswith("<stead-") and one.endswith(f"@{self._domain}>")]
        thread = "" if root in ours and root.startswith("<stead-chat-") else root  # what was sent to the chat itself
        remember(self._talks, thread or letter.sender, (letter.subject, (root, own)))
        text, others = _own_words(letter.text, answers_us=bool(ours))
        alone = text.startswith("/") or len(text.split()) == 1  # a command, or a code
        if not letter.references and letter.subject and not alone:
            text = f"{letter.subject}\n\n{text}".rstrip()
        if cut or len(text) > MOST_TEXT_CHARS:
            text = f"{text[: MOST_TEXT_CHARS - 100]}\n\n[this mail is too long; what follows was not read]"
        return Update(
            id=hashlib.sha256(f"{letter.sender}\n{own}".encode()).hexdigest()[:32],
            chat=letter.sender,
            thread=thread,
            person=letter.sender,
            name=letter.name,
            private=True,
            forwarded=others or bool(letter.references and not ours),
            text=text,
            files=tuple(
                RemoteFile(f"{place.valid}:{place.uid}:{one.number}", one.name, one.media_type, one.size_bytes)
                for one in letter.attachments
            ),
        )

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        from aiosmtplib import SMTP, SMTPException

        if not re.fullmatch(_ADDRESS, message.chat):
            raise ChannelFault("the chat is no mail address", final=True)
        host, port = _server(self.settings["smtp"], "smtps")
        made = hashlib.sha256(message.key.encode()).hexdigest()[:32]
        name = f"<stead-{'' if message.thread else 'chat-'}{made}@{self._domain}>"
        subject, before = await self._conversation(message)
        written = await asyncio.to_thread(_written, self._own, message, name, subject, before)
        password = self.tokens["password"]
        client = SMTP(
            hostname=host,
            use_tls=True,
            timeout=_STEP_S,
            local_hostname=self._domain,
            username=self.settings["user"],
            password=password,
            sock=await dial(host, port),
        )
        try:
            async with asyncio.timeout(_WHOLE_S):
                await client.connect()
                await client.sendmail(self._own, [message.chat], written)
                with suppress(SMTPException, OSError):  # it has it by now
                    await client.quit()
        except SMTPException as error:
            raise _refused(error, password) from None
        finally:
            client.close()
        if message.thread:
            remember(self._talks, message.thread, (subject, (message.thread, name)))
        else:
            self._talks.pop(message.chat, None)
        return name

    async def _conversation(self, message: Send) -> tuple[str, tuple[str, ...]]:
        """The subject to write under, and the Message-IDs of the mails before; none for what begins a conversation."""
        from stead.domain.mail import MESSAGE_ID, Letter, read_letter

        thread = message.thread
        begins = " ".join((message.text.strip() or "A file").split("\n", 1)[0].split())[:78]
        if thread and not MESSAGE_ID.fullmatch(thread):
            raise ChannelFault("the thread is no Message-ID", final=True)
        if thread and thread not in self._talks:
            known = begins
            async with self._one, self._mailbox() as box:
                for uid in (await box.named(thread))[:1]:
                    stored = await box.mail(uid, _HEAD_BYTES, "HEADER")
                    letter = read_letter(stored.raw, self.settings["proof"]) if stored else None
                    known = letter.subject if isinstance(letter, Letter) else known
            remember(self._talks, thread, (known, (thread, thread)))
        subject, mails = self._talks.get(thread or message.chat, (begins, ()))
        return (f"Re: {subject}" if mails and not subject.lower().startswith("re:") else subject), mails

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        from stead.domain.mail import attachment

        valid, uid, number = map(int, file.split(":"))
        async with self._one, self._mailbox() as box:
            stored = await box.mail(uid, MOST_MAIL_BYTES) if (await box.look())[0] == valid else None
        if stored is None:
            raise ChannelFault("the mail is no longer in the mailbox", final=True)
        data = await asyncio.to_thread(attachment, stored.raw, number)
        cut = len(stored.raw) == MOST_MAIL_BYTES and attachment(stored.raw, number + 1) is None
        check_size(MOST_MAIL_BYTES if data is None or cut else len(data))
        return data or b""

    async def probe(self) -> str:
        """See ``Platform``."""
        async with self._one, self._mailbox() as box:
            await box.look()
        left = f"; mails left, as nothing proved their senders: {self._unproven}" if self._unproven else ""
        return f"{self._own}{left}"

    @asynccontextmanager
    async def _mailbox(self) -> AsyncIterator[Mailbox]:
        from stead.channels.mailbox import Mailbox

        box = Mailbox(*_server(self.settings["imap"], "imaps"))
        try:
            await box.enter(self.settings["user"], self.tokens["password"], self.settings["folder"])
            yield box
        finally:
            await box.leave()


def _server(url: str, scheme: str) -> tuple[str, int]:
    """The host and the port of an address; raises ``ChannelFault`` for one that TLS does not begin at."""
    parts = urlsplit(url)
    port = parts.port
    if parts.scheme != scheme or not parts.hostname or port in _STARTTLS_PORTS:
        raise ChannelFault(
            f"{url} cannot be used: give {scheme}://HOST:{_PORTS[scheme]}. A connection that begins without TLS"
            " (STARTTLS, as at the ports 143 and 587) does not pass the proxy",
            final=True,
        )
    return parts.hostname, port or _PORTS[scheme]


def _written(own: str, message: Send, name: str, subject: str, before: tuple[str, ...]) -> bytes:
    """The mail, as bytes."""
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import formatdate

    mail = EmailMessage(policy=SMTP.clone(max_line_length=990))  # shorter, a Message-ID would be encoded to be folded
    mail["From"], mail["To"] = own, message.chat
    mail["Subject"] = "".join(sign for sign in subject if sign.isprintable())
    mail["Date"], mail["Message-ID"] = formatdate(), name
    mail["Auto-Submitted"] = "auto-replied" if before else "auto-generated"
    if before:
        mail["In-Reply-To"] = before[-1]
        mail["References"] = " ".join(dict.fromkeys(before))
    mail.set_content(message.text)
    for file in message.files:
        main, sub = _kind(file)
        mail.add_attachment(file.data, main, sub, filename=" ".join(file.name.split()) or "file")
    return mail.as_bytes()


def _kind(file: FileOut) -> tuple[str, str]:
    kind = file.media_type.lower()
    if not re.fullmatch(r"(application|audio|font|image|text|video)/[a-z0-9.+-]{1,100}", kind):
        kind = "application/octet-stream"
    main, _, sub = kind.partition("/")
    return main, sub


def _refused(error: Exception, password: str) -> ChannelFault:
    """What the library raised, without the password."""
    from aiosmtplib import SMTPAuthenticationError, SMTPRecipientsRefused, SMTPResponseException

    first = error.recipients[0] if isinstance(error, SMTPRecipientsRefused) else error
    words = " ".join(str(getattr(first, "message", "")).split()).replace(password, "...")[:300]
    if not isinstance(first, SMTPResponseException):
        return ChannelFault(f"the mail server: {words or type(first).__name__}")
    final, refused = first.code >= 500, isinstance(first, SMTPAuthenticationError) and first.code >= 500
    after_s = 0 if final else _LATER_S
    return ChannelFault(f"the mail server answers {first.code}: {words}", final=final, after_s=after_s, refused=refused)


def _own_words(text: str, *, answers_us: bool) -> tuple[str, bool]:
    """What of a text is to be read, and whether words of others may be in it.

    A mail of ours that is quoted below the words is cut off, as it is known; what is passed on stays.
    """
    text = "\n".join(line if line == _SIGNED else line.rstrip() for line in text.split("\n")).strip()
    begins, found = _quote_begins(), None

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, _QUOTES_S)
        try:
            found = begins.search(text)
            others = found is not None or _HEADED.search(text) is not None or text.startswith(">") or "\n>" in text
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeoutError:
        return text, True
    finally:
        signal.signal(signal.SIGALRM, before)
    if found is None or not answers_us:
        return (text if others else text.partition(f"\n{_SIGNED}\n")[0].rstrip()), others
    quoted = [line.startswith(">") for line in text[found.end() :].split("\n") if line]
    own = text[: found.start()].partition(f"\n{_SIGNED}\n")[0].rstrip("_-\n ")
    if not own or (any(quoted) and not all(quoted)):  # words stand between the quotes
        return text, True
    return own, own.startswith(">") or "\n>" in own or _HEADED.search(own) is not None


@lru_cache(maxsize=1)
def _quote_begins() -> re.Pattern[str]:
    from mailparser_reply import EmailReplyParser
    from mailparser_reply.constants import MAIL_LANGUAGES

    begins: re.Pattern[str] = EmailReplyParser(list(MAIL_LANGUAGES)).read("").HEADER_REGEX
    return begins
