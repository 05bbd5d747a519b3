"""What channels and chats need of the daemon's other parts. All of it is there before anything is asked.

Layer: runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stead.domain.ports import Clock
from stead.runtime.attachments import GivenAttachments
from stead.runtime.commands import Runtime
from stead.runtime.deps import Deps
from stead.runtime.home import HomeStream
from stead.runtime.notifications import Notifications
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook

if TYPE_CHECKING:
    from stead.storage.journal import JournalFile
    from stead.storage.views import Views


class ChatHouse(Protocol):
    """The parts, as the daemon's own house has them."""

    journal: JournalFile
    views: Views
    home: HomeStream
    book: SecretBook
    clock: Clock
    runtime: Runtime
    sessions: Sessions
    attachments: GivenAttachments
    deps: Deps
    notifications: Notifications
