"""What a person must have seen before their approval counts, and how hidden characters are shown.

Layer: domain. The daemon, the command line and the page decide by these same rules: ``frontend/src/ui/reveal.ts`` has
the same tables, and a test compares them. A text that was cut, or that holds characters that nobody sees, is no ground
for a decision until its whole was displayed with every hidden character spelled out.

Sources: Unicode Technical Report 36 (bidirectional spoofing), Unicode Standard Annex 44 (Default_Ignorable_Code_Point),
Unicode Technical Standard 51 (emoji sequences).
"""

from __future__ import annotations

import json

from stead.domain.lazy_patterns import lazy_pattern

UNSEEN = (
    "\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ue000-\\uf8ff\\ufe00-\\ufe0f\\ufeff"
    "\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\U000110bd\\U000110cd\\U00013430-\\U0001345f\\U0001bca0-\\U0001bca3"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U0010ffff"
)
"""Characters without ink, or that turn the direction of writing, as ranges of a regular expression."""
CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"
"""Control characters, but for tab and line feed."""
_PICTURED = "\\u2190-\\u2bff\\u3030\\u303d\\u3297\\u3299\\U0001f000-\\U0001faff"
_EMOJI = (
    f"(?<=[{_PICTURED}\\xa9\\xae\\u203c\\u2049\\u2122\\u2139])\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)"
    f"|(?<=[{_PICTURED}\\ufe0f])\\u200d(?=[{_PICTURED}])"
)
"""The joiners and selectors that emoji are written with; elsewhere they hide."""
HIDDEN = lazy_pattern(f"(?!{_EMOJI})[{CONTROLS}{UNSEEN}]")
"""One character that a reader would not see, or that a terminal would obey."""

BEGINNING_LINES, BEGINNING_CHARACTERS = 12, 200
"""More of an argument is cut where it is first shown: so many lines, each up to so many characters."""


def reveal(text: str) -> str:
    """The whole text, with every hidden character written out as an escape."""
    return HIDDEN.sub(lambda match: ascii(match.group())[1:-1], text)


def hidden(text: str) -> int:
    """How many hidden characters a text of lines has; a carriage return before a line feed is layout."""
    return 0 if text.isascii() and text.isprintable() else len(HIDDEN.findall(text.replace("\r\n", "\n")))


def is_long(text: str) -> bool:
    """Whether a text is cut where it is first shown."""
    lines = text.removesuffix("\n").split("\n")
    return len(lines) > BEGINNING_LINES or any(len(line) > BEGINNING_CHARACTERS for line in lines)


def must_be_opened(arguments: str) -> bool:
    """Whether a yes to a call counts only if its arguments were displayed from end to end.

    Args:
        arguments: a JSON object, or whatever a model wrote instead of one.
    """
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        values = arguments
    pairs = values.items() if isinstance(values, dict) else [("", values)]
    texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for _, value in pairs]
    return any(is_long(text) or hidden(text) > 0 for text in (*texts, *(name for name, _ in pairs)))
