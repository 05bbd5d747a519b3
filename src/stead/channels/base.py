"""The base of a platform: connect, take in, send, edit, bring a file, prove that the token holds.

Layer: channels. ``worker.Worker`` calls it and sees to numbers, retries and acknowledgement; a platform translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NoReturn, TypeVar

from stead.channels.manifests import MANIFESTS
from stead.domain.channel_wire import MOST_FILE_BYTES, Begin, Button, Edit, Request, Send, Update

Take = Callable[[Update], Awaitable[None]]
"""Takes in an update; returns once it is recorded, so that the platform may forget it. ``n`` is set by it."""
_MOST_KEPT = 1000
Key = TypeVar("Key")
Value = TypeVar("Value")


class ChannelFault(Exception):
    """What a platform did not do.

    Args:
        text: why, up to 500 characters, without the token.
        after_s: how long it wants to be left alone; 0 where it does not say.
        final: trying again is of no use; of the connection: the token was refused, or the settings cannot be.
        code: the platform's own, for its file alone.
        refused: the token was: the connection is over with this, and what was to be sent waits for another token.
    """

    def __init__(
        self, text: str, *, after_s: float = 0, final: bool = False, code: int = 0, refused: bool = False
    ) -> None:
        super().__init__(text)
        self.code = code
        self.after_s = after_s
        self.final = final or refused
        self.refused = refused


class Platform(ABC):
    """One bot on a platform.

    Args:
        begin: its settings and tokens.
        take: see ``Take``.
        up: to be called whenever it is connected, with the bot's id, its name, and a link (see ``wire.Up``).

    Every method raises ``ChannelFault`` for what the platform refuses; what else is raised, ``fault`` makes one of.
    """

    def __init__(self, begin: Begin, take: Take, up: Callable[[str, str, str], None]) -> None:
        self.manifest = MANIFESTS[begin.kind]
        self.settings = begin.settings
        self.tokens = begin.tokens
        self.cursor = begin.cursor
        self.take = take
        self.up = up

    @abstractmethod
    async def run(self) -> None:
        """Connect and take in updates until cancelled; when it raises or returns it is called again after a while."""

    @abstractmethod
    async def send(self, message: Send) -> str:
        """Send a message whose text fits into one of the platform's; gives the platform's name of it."""

    @abstractmethod
    async def probe(self) -> str:
        """Ask whether the token holds; gives what the bot is called."""

    async def edit(self, edit: Edit) -> None:
        """Put another text in place; of platforms whose manifest says that they can."""
        self.cannot("change a message")

    async def typing(self, chat: str, thread: str) -> None:  # noqa: B027 - most have it, none needs it
        """Show that something is being written, where that can be."""

    async def pressed(self, press: str, text: str) -> None:  # noqa: B027 - as above
        """Tell who pressed a button what came of it, where that can be."""

    async def fetch(self, file: str) -> bytes:
        """The bytes of a file by its ``RemoteFile.id``, at most ``MOST_FILE_BYTES``."""
        self.cannot("bring files")

    async def request(self, request: Request) -> tuple[int, str]:
        """Answer a request of the platform: check its signature first, take in what it brings, give status and body."""
        self.cannot("be sent requests")

    async def attempted(self, work: Awaitable[Value]) -> Value:
        """What comes of some work of this platform; whatever goes wrong is a ``ChannelFault``."""
        try:
            return await work
        except ChannelFault:
            raise
        except Exception as error:  # a vendor's library may fail in any way over what came
            raise self.fault(error) from error

    def fault(self, error: Exception) -> ChannelFault:
        """What its library raised, in words that hold no token."""
        text = said(error) if isinstance(error, OSError) else f"{type(error).__name__}: {said(error)}"
        return ChannelFault(text)

    async def close(self) -> None:  # noqa: B027 - as above
        """Let connections go."""

    def cannot(self, what: str) -> NoReturn:
        """Refuse what the platform has no way for."""
        raise ChannelFault(f"{self.manifest.title} cannot {what}", final=True)


def said(error: BaseException) -> str:
    """What an error says, in one line of at most 400 characters."""
    return " ".join(str(error).split())[:400] or type(error).__name__


def value_at(value: Any, *path: str) -> Any:
    """What stands below these keys, of JSON that anyone may have made; None where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def check_size(size_bytes: int) -> None:
    """Refuse a file that is larger than what the daemon takes."""
    if size_bytes > MOST_FILE_BYTES:
        raise ChannelFault(f"the file has more than {MOST_FILE_BYTES // 1_000_000} MB", final=True)


def remember(known: dict[Key, Value], key: Key, value: Value, most: int = _MOST_KEPT) -> None:
    """Keep one more, as the newest, and forget the oldest where there are more than so many."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


def parts(text: str, most: int) -> Iterator[str]:
    """A text in pieces of at most so many characters, cut at the end of a line or a word where there is one near."""
    while len(text) > most:
        at = next((at for mark in ("\n", " ") if (at := text.rfind(mark, most // 2, most)) > 0), most)
        yield text[:at]
        text = text[at:].lstrip("\n ") if at < most else text[at:]
    yield text


def typed(buttons: tuple[tuple[Button, ...], ...]) -> str:
    """Buttons as lines, for platforms without them: a code to reply with, and what it does."""
    return "\n".join(f"reply {button.data}: {button.text}" for row in buttons for button in row)
