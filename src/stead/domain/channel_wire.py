"""What passes between the daemon and the process of a channel, a line of JSON each; and the manifest of a platform.

Layer: domain. The process holds one bot's token and reads what strangers send; the daemon takes every line of it as a
stranger's. An update is acknowledged once it is recorded, and only then does the process let the platform forget it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

MOST_FILE_BYTES = 5_000_000
"""Of a file either way; a line of the wire holds it in base64."""
MOST_TEXT_CHARS = 100_000
_Short = Annotated[str, msgspec.Meta(max_length=500)]
_Text = Annotated[str, msgspec.Meta(max_length=MOST_TEXT_CHARS)]


class Field(msgspec.Struct, frozen=True):
    """One setting of a kind of channel, as its form asks for it.

    Args:
        name: the key in ``Channel.settings``, or of the token in ``Channel.secrets``.
        title: a few words for people.
        default: used where it is left out.
        needed: whether it may be left out, where there is no default.
        secret: it is the name of a secret; the value goes to the channel's process alone.
        url: it is an address whose host the process reaches.
        pattern: a regular expression for the whole value; "" for any of up to 500 characters.
    """

    name: str
    title: str
    default: str = ""
    needed: bool = True
    secret: bool = False
    url: bool = False
    pattern: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """What a platform can do.

    Args:
        kind: as in ``Channel.kind``.
        title: its own name.
        fields: its settings.
        hosts: patterns of hosts that its process reaches besides those of its addresses.
        extra: the extra of Stead's package that brings its library; "" for none.
        text_chars: of one message at most.
        buttons: whether a message can have buttons; else codes are typed.
        edits: whether a message can be changed after it was sent.
        threads: whether its threads are sessions of their own.
        answers: whether a question can be answered there at all; mail cannot prove who wrote it.
        inbound: it is sent requests by its platform, which arrive at the listener for webhooks.
        signs: then only where this token is given; "" for always.
        chat_s: seconds between two messages to one chat at least.
        chat_burst: messages that may go to it at once where it was left alone for so many times as long.
        shows_presses: whether the one who pressed a button can be shown what came of it; else a message says so.
    """

    kind: str
    title: str
    fields: tuple[Field, ...]
    hosts: tuple[str, ...] = ()
    extra: str = ""
    text_chars: int = 4000
    buttons: bool = True
    edits: bool = True
    threads: bool = False
    answers: bool = True
    inbound: bool = False
    signs: str = ""
    chat_s: float = 1.0
    chat_burst: int = 1
    shows_presses: bool = True


# -- to the process ----------------------------------------------------------------------------------------------------


class Begin(msgspec.Struct, frozen=True, tag="begin"):
    """The first line.

    Args:
        kind: of the channel.
        settings: its settings, with defaults.
        tokens: its secrets' values by field.
        cursor: the last that was acknowledged, as its process gave it; "" for none.
        account: of the bot that the cursor is of; to another it says nothing.
        ca: further certificates to trust, as PEM; "" for none.
    """

    kind: str
    settings: dict[str, str]
    tokens: dict[str, str]
    cursor: str = ""
    ca: str = ""
    account: str = ""

    def __repr__(self) -> str:
        return f"Begin({self.kind!r})"  # the tokens stay out of every trace


class Ack(msgspec.Struct, frozen=True, tag="ack"):
    """Update ``n`` is recorded."""

    n: int


class Button(msgspec.Struct, frozen=True):
    """A button: what stands on it, up to 40 characters, and what a press of it says, up to 60 of ASCII."""

    text: str
    data: str


class FileOut(msgspec.Struct, frozen=True):
    """A file that is sent."""

    name: str
    media_type: str
    data: bytes


class Send(msgspec.Struct, frozen=True, tag="send"):
    """Send a message; answered by ``Done`` with the platform's name of it.

    Args:
        n: this request's number.
        key: the same whenever the same message is sent again, for platforms that then take it once.
        chat: where.
        thread: "" for the chat itself.
        text: plain; no part of it is markup, and no address in it is looked up for a preview.
        buttons: rows of them.
        files: sent along with it.
    """

    n: int
    key: str
    chat: str
    thread: str
    text: str
    buttons: tuple[tuple[Button, ...], ...] = ()
    files: tuple[FileOut, ...] = ()


class Edit(msgspec.Struct, frozen=True, tag="edit"):
    """Put another text, and other buttons, in place of a message's; answered by ``Done``."""

    n: int
    chat: str
    message: str
    text: str
    buttons: tuple[tuple[Button, ...], ...] = ()


class Typing(msgspec.Struct, frozen=True, tag="typing"):
    """Show that something is being written, where the platform can; nothing answers."""

    chat: str
    thread: str


class Pressed(msgspec.Struct, frozen=True, tag="pressed"):
    """Tell who pressed a button what came of it, where the platform can; nothing answers."""

    press: str
    text: str


class Fetch(msgspec.Struct, frozen=True, tag="fetch"):
    """Bring a file that came with an update; answered by ``Done`` with its bytes."""

    n: int
    file: str


class Probe(msgspec.Struct, frozen=True, tag="probe"):
    """Ask the platform whether the token holds, now; answered by ``Done`` with what the bot is called."""

    n: int


class Request(msgspec.Struct, frozen=True, tag="request"):
    """A request of the platform at the listener; answered by ``Response``.

    Its signature has not been looked at. Names of headers are in lower case.
    """

    n: int
    method: str
    query: str
    headers: dict[str, str]
    body: bytes


ToChannel = Ack | Send | Edit | Typing | Pressed | Fetch | Probe | Request
"""After the first line."""

# -- from the process --------------------------------------------------------------------------------------------------


class Up(msgspec.Struct, frozen=True, tag="up"):
    """It is connected. ``account``: the bot's id on the platform; ``name``: what people call it there.

    ``link``: an address that opens a chat with it, in which ``{}`` stands for the pairing code; "" where there is none.
    """

    account: _Short
    name: _Short
    link: _Short = ""


class Down(msgspec.Struct, frozen=True, tag="down"):
    """It is not connected. ``final``: it is not tried again: the token was refused, or the settings cannot be."""

    text: _Short
    final: bool = False


class RemoteFile(msgspec.Struct, frozen=True):
    """A file that came with an update and was not brought yet. ``size_bytes``: 0 where it is not known."""

    id: _Short
    name: Annotated[str, msgspec.Meta(max_length=200)]
    media_type: Annotated[str, msgspec.Meta(max_length=100)] = ""
    size_bytes: int = 0


class Update(msgspec.Struct, frozen=True, tag="update"):
    """Something that happened on the platform: someone wrote, or pressed a button.

    Args:
        id: the platform's own, the same whenever it is delivered again.
        cursor: where to go on after this one; see ``Begin``.
        chat: where it was.
        thread: in which thread of it; "" for none.
        person: who it was, by the platform's own id; never a name that they chose.
        name: what they call themselves.
        title: what a group is called.
        private: whether nobody else is in the chat.
        n: this update's number, for ``Ack``; 0 until it is given one.
        addressed: whether the bot was meant; always so in a private chat.
        forwarded: whether the words are another's, which the person passed on.
        text: what was written, without the bot's own name at its start.
        files: what came with it.
        press: the platform's id of a press; "" for a message.
        data: of the button that was pressed.
        sent_ms: when, by the platform; 0 where it does not say.
    """

    id: _Short
    chat: _Short
    person: _Short
    private: bool
    n: int = 0
    cursor: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    thread: _Short = ""
    name: _Short = ""
    title: _Short = ""
    addressed: bool = True
    forwarded: bool = False
    text: _Text = ""
    files: Annotated[tuple[RemoteFile, ...], msgspec.Meta(max_length=20)] = ()
    press: _Short = ""
    data: _Short = ""
    sent_ms: int = 0


class Done(msgspec.Struct, frozen=True, tag="done"):
    """How a request went.

    Args:
        n: its number.
        value: of ``Send`` the message's name, of ``Probe`` the bot's.
        data: of ``Fetch``.
        error: why it failed; "" where it did not.
        after_s: how long the platform wants to be left alone.
        final: trying again is of no use.
    """

    n: int
    value: _Short = ""
    data: Annotated[bytes, msgspec.Meta(max_length=MOST_FILE_BYTES)] = b""
    error: _Short = ""
    after_s: float = 0
    final: bool = False


class Response(msgspec.Struct, frozen=True, tag="response"):
    """What a request at the listener is answered, once what it brought is recorded. 401 for one that is not signed.

    ``error``: why it could not be taken, for the owner; the sender does not see it.
    """

    n: int
    status: Annotated[int, msgspec.Meta(ge=200, le=599)]
    body: _Text = ""
    media_type: Literal["text/plain", "application/json"] = "text/plain"
    error: _Short = ""


FromChannel = Up | Down | Update | Done | Response
