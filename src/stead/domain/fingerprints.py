"""Knowing what was forgotten without having it: fingerprints of normalised texts.

Layer: domain. A fingerprint is the number of words, a colon, and an HMAC under a key of the home. Of a new text every
run of as many words is compared, so a forgotten value is known inside of a sentence too. In scripts that put no space
between words every sign counts as one. Who has the key can try guesses; who has the journal alone cannot.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable

from stead.domain.lazy_patterns import lazy_pattern

MOST_WORDS = 64
"""Of a longer text the beginning counts: whatever repeats it whole has that too."""
TEXT_CHARS = 200_000
"""Of a text that is looked through."""
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese and Khmer, the signs of Chinese, and Japanese."""
_WORD = lazy_pattern(r"[^\W_]+")
_SIGN = lazy_pattern(rf"[{_UNSPACED}]")
_WORD_OR_SIGN = lazy_pattern(rf"(?=[^\W_])(?:[{_UNSPACED}]|[^\W_{_UNSPACED}]+)")


def normalised(text: str) -> list[str]:
    """A text's words, in one spelling; marks and white space do not count."""
    return _WORD_OR_SIGN.findall(_folded(text))


def fingerprint(text: str, digest: Callable[[bytes], str]) -> str:
    """Of a text with at least one word; "" of one without.

    Args:
        text: what is fingerprinted.
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
        if self._has(words):
            return True
        folded = _folded(text[:TEXT_CHARS])  # fingerprints from before signs were words
        return _SIGN.search(folded) is not None and self._has(_WORD.findall(folded))

    def _has(self, words: list[str]) -> bool:
        return any(
            self._digest(_joined(words[at : at + count])) in digests
            for count, digests in self._known.items()
            for at in range(len(words) - count + 1)
        )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _joined(words: list[str]) -> bytes:
    return " ".join(words).encode()
