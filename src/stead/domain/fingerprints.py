"""Knowing what was forgotten without having it: fingerprints of normalised texts.

Layer: domain. A fingerprint is the number of words, a colon, and an HMAC under a key of the home. Of a new text every
run of as many words is compared, so a forgotten value is known inside of a sentence too. Who has the key can try
guesses; who has the journal alone cannot.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable

MOST_WORDS = 64
"""Of a longer text the beginning counts: whatever repeats it whole has that too."""
TEXT_CHARS = 200_000
"""Of a text that is looked through."""
_WORD = re.compile(r"[^\W_]+")


def normalised(text: str) -> list[str]:
    """A text's words, in one spelling; marks and white space do not count."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def fingerprint(text: str, digest: Callable[[bytes], str]) -> str:
    """Of a text with at least one word; "" of one without.

    Args:
        text: see there.
        digest: an HMAC, hex.
    """
    words = normalised(text)[:MOST_WORDS]
    return f"{len(words)}:{digest(_joined(words))}" if words else ""


class Fingerprints:
    """Those of everything that was forgotten.

    Args:
        digest: as of ``fingerprint``.
    """

    def __init__(self, digest: Callable[[bytes], str]) -> None:
        self._digest = digest
        self._known: dict[int, set[str]] = defaultdict(set)

    def add(self, fingerprints: Iterable[str]) -> None:
        """Know these too."""
        for one in fingerprints:
            count, _, digest = one.partition(":")
            if count.isdecimal():
                self._known[int(count)].add(digest)

    def says(self, text: str) -> bool:
        """Whether a text is, or contains, what was forgotten."""
        if not self._known:
            return False
        words = normalised(text[:TEXT_CHARS])
        return any(
            self._digest(_joined(words[at : at + count])) in digests
            for count, digests in self._known.items()
            for at in range(len(words) - count + 1)
        )


def _joined(words: list[str]) -> bytes:
    return " ".join(words).encode()
