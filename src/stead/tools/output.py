"""How much of a call's outcome a model reads.

Layer: tools. Knows no tool.
"""

from __future__ import annotations

OUTPUT_CAP = 16_000
"""Characters of one outcome that a model reads; about four thousand tokens."""


def clip(text: str, cap: int = OUTPUT_CAP) -> str:
    """The text, or its head and tail with a note of what was left out between them.

    Args:
        text: any length.
        cap: characters, 100 or more, that the result has at most.
    """
    if len(text) <= cap:
        return text
    kept = cap - 50
    head = kept // 2
    return f"{text[:head]}\n[… {len(text) - kept} characters left out …]\n{text[len(text) - kept + head :]}"
