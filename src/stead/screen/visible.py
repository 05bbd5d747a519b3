"""A file's text with everything in it to be seen.

Layer: screen. What comes from elsewhere loses its hidden characters (``inbound``). A file of the workspace must not:
an edit has to name exactly what is there, and a character that turns the direction of code is what a reader
must see. So each hidden character is spelled out by its number, ``<U+202E>``, as pagers do it. No common programming
language writes characters like that, so a file seldom holds the spelling itself.
"""

from __future__ import annotations

import re
import unicodedata

from stead.domain.policies import Reason
from stead.screen.inbound import Screened, screen

SPELLING = re.compile(r"<U\+([0-9A-F]{4,6})>")
_LONGEST_RUN = 32
"""Hidden characters in a row that are spelled out; more are counted: they are no writing, and each costs tokens."""


def spell_out(text: str) -> Screened:
    """The text with its hidden characters by number, and a warning that says so. Line ends become line feeds.

    ``screen`` has nothing left to take out of what this gives. What it would keep (joiners that writing needs, emoji)
    stays as it is.

    Args:
        text: anything; the result can be eight times as long.
    """
    text = text.replace("\r\n", "\n")
    if screen(text).text == text:
        return Screened(text)
    hideable = "".join(sorted(character for character in set(text) if _may_hide(character)))
    found: dict[str, int] = {}

    def spelled(run: re.Match[str]) -> str:
        around = text[max(0, run.start() - 1) : run.end() + 1]
        if screen(around).text == around:
            return run[0]
        for character in run[0]:
            found[character] = found.get(character, 0) + 1
        if len(run[0]) > _LONGEST_RUN:
            return f"<{len(run[0])} hidden characters>"
        return "".join(f"<U+{ord(character):04X}>" for character in run[0])

    shown = re.sub(f"[{re.escape(hideable)}]+", spelled, text)
    names = ", ".join(_name(character) for character in list(found)[:3])
    more = " and others" if len(found) > 3 else ""
    said = f"This text has {sum(found.values())} hidden characters ({names}{more}); each is shown as its number."
    return Screened(shown, (Reason("hidden-shown", said),))


def spelled_back(text: str) -> str:
    """The text with each spelling as the hidden character that it stands for; other numbers stay as they are."""

    def character(spelling: re.Match[str]) -> str:
        number = int(spelling[1], 16)
        meant = chr(number) if number < 0x110000 else ""
        return meant if meant and _may_hide(meant) and not 0xD800 <= number < 0xE000 else spelling[0]

    return SPELLING.sub(character, text)


def _may_hide(character: str) -> bool:
    return screen(character).text != character


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'control').lower()}"


def unnoticed(text: str) -> tuple[str, ...]:
    """What the author of a text may not know of it, when they copied it from another author's text."""
    found = {warning.rule: warning.text for warning in screen(text).warnings}
    notes = []
    if kinds := [rule.removeprefix("hidden-") for rule in found if rule.startswith("hidden-")]:
        notes.append(f"your words hold characters that nobody sees ({', '.join(kinds)}), and the model reads them")
    if mixed := found.get("mixed-scripts"):
        notes.append(f"in your words: {mixed}")
    return tuple(notes)
