"""Texts as Slack takes and gives them: nothing in one of ours is a mention, a link or markup.

Layer: channels.
"""

from __future__ import annotations

import re
from typing import Any

from stead.channels.base import parts
from stead.domain.channel_wire import Button

SECTION_CHARS = 3000
"""Of a block of text."""


def _escaped(text: str) -> str:
    """A text in which Slack finds no mention, link or command."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str) -> str:
    """A text that someone wrote, with links and names as they read."""

    def shown(found: re.Match[str]) -> str:
        what, _, label = found[1].partition("|")
        if what.startswith(("@", "#")):
            return what[0] + (label or what[1:]).lstrip("@#")
        if what.startswith("!"):
            return f"@{(label or what[1:]).lstrip('@')}"
        return label if what.startswith(("mailto:", "tel:")) and label else what

    text = re.sub(r"<([^<>]+)>", shown, text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text.strip()  # a space before a command keeps Slack from taking it for one of its own


def _label(text: str) -> str:
    """What stands on a button, 75 characters at most."""
    return whole if len(whole := _escaped(text)) <= 75 else _escaped(text[:15])


def said(text: str, buttons: tuple[tuple[Button, ...], ...]) -> dict[str, Any]:
    """A message of a text and rows of buttons, of which nothing is taken for a mention."""
    return {"text": _escaped(text), "blocks": _blocks(text, buttons), "parse": "none", "link_names": False}


def _blocks(text: str, buttons: tuple[tuple[Button, ...], ...]) -> list[dict[str, Any]]:
    """A text as plain sections, since only those have no markup, and rows of buttons."""
    whole = _escaped(text)
    pieces = [whole] if len(whole) <= SECTION_CHARS else map(_escaped, parts(text, SECTION_CHARS // 5))
    return [
        *({"type": "section", "text": {"type": "plain_text", "text": piece, "emoji": False}} for piece in pieces),
        *(
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": _label(one.text), "emoji": False},
                        "action_id": f"{row}.{column}",
                        "value": one.data,
                    }
                    for column, one in enumerate(elements)
                ],
            }
            for row, elements in enumerate(buttons)
        ),
    ]
