"""Attachments on their way to a model: their bytes as Base64, or words in their place.

Layer: providers. A model gets the names of what it is not shown, and that is decided here alone: a model that takes no
pictures, one that refused these, and bytes that are not kept any more.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence

import msgspec

from stead.domain.errors import NotFound, StorageFault
from stead.domain.messages import PDF, Attachment, Message, of_message
from stead.providers.presets import takes_text_alone

Load = Callable[[str], bytes]
"""Gives the bytes of ``Attachment.content``; it blocks, and raises ``NotFound`` or ``StorageFault``."""


def nothing_kept(content: str) -> bytes:
    """A ``Load`` of a place that keeps nothing.

    Raises:
        NotFound: always.
    """
    raise NotFound(f"{content[:12]!r} is not kept")


class Loaded(Attachment, frozen=True):
    """An attachment that a model is shown. ``data``: its bytes in Base64."""

    data: str = ""

    @property
    def url(self) -> str:
        """As a data URL."""
        return f"data:{self.media_type};base64,{self.data}"


class Showing:
    """What one model is shown of one session.

    Args:
        load: gives bytes.
        model: as the vendor knows it.
        refused: contents that a server would not take.
    """

    def __init__(self, load: Load, model: str, refused: frozenset[str] = frozenset()) -> None:
        self._load = load
        self._blind = takes_text_alone(model)
        self.refused = refused

    def split(self, attachments: Sequence[Attachment]) -> tuple[tuple[Loaded, ...], str]:
        """What is shown, and lines that stand for each: its name, or why it is not shown."""
        shown, lines = list[Loaded](), list[str]()
        for one in attachments:
            why = self._why_not(one)
            if not why:
                try:
                    data = b64encode(self._load(one.content)).decode()
                    shown.append(Loaded(**msgspec.structs.asdict(one), data=data))
                except (NotFound, StorageFault):
                    why = "it is not kept any more"
            lines.append(f"[{one.described}, not shown: {why}]" if why else f"[{one.described}]")
        return tuple(shown), "\n".join(lines)

    def _why_not(self, one: Attachment) -> str:
        what = "documents" if one.media_type == PDF else "pictures"
        if self._blind:
            return f"this model takes no {what}"
        return "the provider refused it" if one.content in self.refused else ""


def attached(messages: Sequence[Message]) -> frozenset[str]:
    """The contents that messages refer to."""
    return frozenset(one.content for message in messages for one in of_message(message))


def loaded(attachments: Sequence[Attachment]) -> tuple[Loaded, ...]:
    """Those that a conversation has loaded."""
    return tuple(one for one in attachments if isinstance(one, Loaded))
