"""What passes between a person, a model and tools, in no provider's dialect.

Layer: domain. ``providers/convert.py`` maps these to each wire, deterministically, so that a request repeats the one
before it byte for byte and only adds at its end. Each call has exactly one result; the fold sees to that.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import Text as Words
from stead.domain.bounds import bounds
from stead.domain.ids import CallKey
from stead.domain.policies import Label


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Words of a model."""

    text: str


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    """A model's reasoning, with what its provider needs to accept it again."""

    text: str
    signature: str = ""
    provider: str = ""
    """The provider that made it; another one is not sent it."""
    model: str = ""
    """The model that made it; another one is not sent it. "" where it was not recorded."""


class ToolCall(msgspec.Struct, frozen=True, tag="call"):
    """What a model asks to be done.

    ``arguments`` is the model's JSON text as it came. Whether it parses and fits the schema is judged by the gate.
    """

    key: CallKey
    tool: str
    arguments: str


class Repair(msgspec.Struct, frozen=True):
    """What was put right of a call that its model wrote nearly as it should.

    Args:
        key: of the call.
        slips: what was wrong: "fence", "comma", "string", "python", "text" (it stood in the text), by commas.
        original: its arguments, or the text that it stood in, as they came.
    """

    key: CallKey
    slips: str
    original: str


ReplyPart = Text | Thinking | ToolCall

USE_TOOL = "use_tool"
"""By this one models call tools that stand in no request; see ``meant``."""


DEPTH = 60
"""Of the arguments of a call, at most."""


class _Used(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, object] = {}


def meant(call: ToolCall) -> tuple[str, str]:
    """The tool and the arguments (JSON) that a call means: those that ``use_tool`` is given, else its own."""
    if call.tool != USE_TOOL:
        return call.tool, call.arguments
    try:
        used = msgspec.json.decode(call.arguments, type=_Used)
    except (msgspec.MsgspecError, RecursionError):
        return call.tool, call.arguments  # refused as what it is
    if not is_shallow(used.arguments):
        return call.tool, call.arguments
    return used.name, msgspec.json.encode(used.arguments).decode()


def is_shallow(data: object) -> bool:
    """Whether plain data is nested no deeper than calls may be, so that recursion over it is safe."""
    level = [data]
    for _ in range(DEPTH):
        level = [
            item
            for outer in level
            for item in (
                outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list | tuple) else ()
            )
        ]
        if not level:
            return True
    return False


PDF = "application/pdf"


class Attachment(msgspec.Struct, frozen=True):
    """A picture or a document that goes with a text. Its bytes are stored once, in the store of file contents.

    Args:
        content: names its bytes there: 64 hex digits that tell nothing without the home's key.
        media_type: see ``domain.attachments.Found``.
        size_bytes: as it is stored, which is within the limits.
        name: of the file that it came from; printable, one line, at most 120 characters.
        width: of a picture, in pixels.
        height: in pixels.
        pages: of a document.
    """

    content: str
    media_type: str
    size_bytes: int
    name: str
    width: int = 0
    height: int = 0
    pages: int = 0

    @property
    def described(self) -> str:
        """What it is, for people and for models that cannot be shown it."""
        if self.media_type == PDF:
            return f"document {self.name}, {self.pages} page{'' if self.pages == 1 else 's'}"
        return f"picture {self.name} {self.width}x{self.height}"


class Material(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that a person hands over and did not write, such as a file that is open in their editor.

    Args:
        name: what it is, for people and the model.
        text: the model reads it as anything else that others wrote, so it grants nothing.
    """

    name: Annotated[Words, bounds(maxLength=200)]
    text: Annotated[Words, bounds(maxLength=200_000)]


WORKSPACE = "workspace"
"""The source of results that come from the session's own folder."""

MACHINE = "machine"
"""The source of what is quoted of a fault that kept a call from running: a sandbox's words, names of a folder."""


TERMINAL = "terminal"
"""The source of what a line printed that the person ran themselves. It is data to models, and begins no turn."""


class UserMessage(msgspec.Struct, frozen=True, tag="user"):
    """A person's words, or a notice of Stead itself to the model (then ``notice`` is true)."""

    text: str
    label: Label
    notice: bool = False
    source: str = ""
    """Whose words they are, as ``message:DOOR``, when they are not the person's; "" for the person and Stead."""
    told: str = ""
    """What Stead puts before these words in the prompt, such as recalled memories. It is no part of them."""
    attachments: tuple[Attachment, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether neither the person nor Stead wrote it, so that models get it between marks."""
        return self.label.taints and bool(self.source)


class AssistantMessage(msgspec.Struct, frozen=True, tag="assistant"):
    """One whole reply of a model; never a partial one."""

    parts: tuple[ReplyPart, ...]


class ToolResult(msgspec.Struct, frozen=True):
    """The one answer to a call. ``is_error`` tells the model that the work was not done as asked."""

    key: CallKey
    tool: str
    text: str
    label: Label
    is_error: bool = False
    source: str = ""
    """What it came from, as ``workspace`` or ``web:example.com``; "" for Stead itself."""
    attachments: tuple[Attachment, ...] = ()
    """They have the label of the result."""

    @property
    def foreign(self) -> bool:
        """Whether it came from outside the workspace and outside the house, so that models get it between marks."""
        return self.label.taints and self.source not in ("", WORKSPACE)


class ResultsMessage(msgspec.Struct, frozen=True, tag="results"):
    """The answers to all calls of the assistant message right before it, in the order of the calls."""

    results: tuple[ToolResult, ...]


Message = UserMessage | AssistantMessage | ResultsMessage


def of_message(message: Message) -> tuple[Attachment, ...]:
    """What a message has attached, and the results in it."""
    match message:
        case UserMessage(attachments=attachments):
            return attachments
        case ResultsMessage(results=results):
            return tuple(one for result in results for one in result.attachments)
        case AssistantMessage():
            return ()


class Usage(msgspec.Struct, frozen=True):
    """Tokens that a provider counted. ``input`` includes cached and cache-written ones."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0

    @property
    def total(self) -> int:
        """What budgets count: input and output together."""
        return self.input + self.output
