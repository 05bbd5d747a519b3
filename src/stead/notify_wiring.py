"""Puts the parts of notifications together: the targets, the events, the senders, the outbox.

Layer: a part of the composition root, as ``memory_wiring``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stead.config import Home
from stead.domain.ports import Clock
from stead.net.dialing import Dialer
from stead.notifiers.sending import Senders
from stead.runtime.channels import ChannelRoom
from stead.runtime.home import HomeStream
from stead.runtime.notifications import Notifications
from stead.runtime.secrets import SecretBook
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.outbox import Outbox
from stead.storage.views import Views


class Parts(Protocol):
    """What notifications are made of; some of it is made after them, and is there before anything is asked."""

    journal: JournalFile
    views: Views
    home: HomeStream
    book: SecretBook
    clock: Clock
    channels: ChannelRoom


def notifications_of(home: Home, keys: Keys, dialer: Dialer, parts: Callable[[], Parts]) -> Notifications:
    """All of it.

    Args:
        home: where the outbox is.
        keys: the home's.
        dialer: reaches hosts.
        parts: the house.
    """
    house = parts()

    def secret(name: str, place: str) -> str | None:
        known = parts().home.state.secrets.get(name)
        return parts().book.let_out(known, place) if known else None

    senders = Senders(dialer, secret, house.journal.vault)
    senders.to_chat = lambda chat, message: parts().channels.post.deliver(chat, message)
    senders.has_chat = lambda chat: (chat.channel, chat.chat) in parts().home.state.channels.chats
    notifications = Notifications(
        lambda: parts().home,
        house.journal.tagged,
        house.views,
        senders,
        lambda: Outbox(home.data / "outbox.db", keys, house.journal.head()),
        house.clock,
        lambda text: parts().book.redactor().clean(text),
    )
    notifications.to_chat = lambda via, notice, due_ms, waits: parts().channels.post.later(via, notice, due_ms, waits)
    notifications.is_said = lambda target, session: parts().channels.post.tells(target, session)
    return notifications
