"""Mail that comes into a mailbox, taken in once each.

Layer: runtime. The mailbox is looked at three times a minute over one connection, and never changed. How far it was
read is an event (``MailboxRead``), recorded after what had come was; a mail is known by its bytes, so that a crash
between the two, or a server that renumbers, doubles none. What lay there before the trigger was set is no arrival.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from stead.domain.errors import FetchFault, StorageFault
from stead.domain.mail import read_mail
from stead.domain.triggers import MOST_BYTES, Mailbox, MailboxRead
from stead.runtime.arrivals import Arrivals

if TYPE_CHECKING:
    from stead.net.imap import ImapMailbox

log = logging.getLogger(__name__)
LOOK_S = 20.0
RETRY_S = 60.0


class IncomingMail:
    """Watches one mailbox.

    Args:
        arrivals: takes in what comes.
        name: of the trigger.
        mailbox: what to read, and how.
    """

    def __init__(self, arrivals: Arrivals, name: str, mailbox: Mailbox) -> None:
        self._arrivals = arrivals
        self._name = name
        self._mailbox = mailbox

    async def keep(self) -> None:
        """Take in whatever comes, until cancelled; a server that is away is tried again."""
        while True:
            opened: ImapMailbox | None = None
            try:
                opened = await self._open()
                while True:
                    await self._look(opened)
                    self._arrivals.faults.pop(self._name, None)
                    await asyncio.sleep(LOOK_S)
            except (FetchFault, StorageFault) as fault:
                self._arrivals.faults[self._name] = str(fault)
            finally:
                if opened is not None:
                    await asyncio.to_thread(opened.close)
            await asyncio.sleep(RETRY_S)

    async def _open(self) -> ImapMailbox:
        from stead.net.imap import ImapMailbox  # few homes have one

        box = self._mailbox
        if not (password := self._arrivals.password(box)):
            raise FetchFault("the secret of the mailbox is gone; add it again")
        return await asyncio.to_thread(ImapMailbox, box.host, box.port, box.user, password, box.folder)

    async def _look(self, opened: ImapMailbox) -> None:
        valid, following = await asyncio.to_thread(opened.look)
        before = self._arrivals.read_up_to(self._name)
        if before is None:
            return
        if before.valid == 0:  # it was never looked at
            await self._arrivals.note_read(MailboxRead(self._name, valid, max(0, following - 1), before.from_ms))
            return
        same = before.valid == valid
        uid = before.uid if same else 0
        if same and following and uid >= following - 1:
            return
        # A server that renumbers: what came since the last look is among what came since that day.
        since_ms = 0 if same else before.read_ms
        for one in await asyncio.to_thread(opened.uids, uid, since_ms):
            if not await self._take(opened, one, 0 if same else before.from_ms):
                break
            uid = one
        if not same or uid != before.uid:
            await self._arrivals.note_read(MailboxRead(self._name, valid, uid, before.from_ms))

    async def _take(self, opened: ImapMailbox, uid: int, from_ms: int) -> bool:
        """Take a mail in, or leave it for good; whether to go on with the next."""
        found = await asyncio.to_thread(opened.mail, uid, MOST_BYTES)
        if found is None or found[1] < from_ms:
            return True
        mail = await asyncio.to_thread(read_mail, found[0], self._mailbox.proof)
        senders = self._mailbox.senders
        if senders and mail.proven not in senders:
            why = f"of {mail.proven}, who is not among its senders" if mail.proven else "whose sender nothing proves"
            await self._arrivals.refused(self._name, f"mail {why}")
            return True
        data = mail.text.encode("utf-8", "replace")[:MOST_BYTES]
        outcome = await self._arrivals.take(self._name, mail.delivery, data)
        if outcome in ("queue", "rate"):
            await self._arrivals.refused(self._name, "mail waits in the mailbox: there is no room yet")
        return outcome == "taken"
