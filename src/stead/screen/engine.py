"""Regular expressions of linear time over UTF-8 bytes.

Layer: screen. Knows no rule. google-re2 does the matching: a hostile text cannot make it slow. Where its library cannot
be loaded (a platform without a wheel) the standard library does, with the same results; ``ENGINE`` says which, so that
``stead doctor`` can. Patterns are therefore written in what both understand: no look-around, no back-reference, scoped
flags, bounded repeats, ASCII classes.

Bytes, not characters: re2 works on UTF-8 anyway, and translating each offset would cost more than the search.
"""

from __future__ import annotations

import re

try:
    import re2
except ImportError:  # a platform without a wheel; the patterns mean the same to both
    re2 = None

ENGINE = "re" if re2 is None else "re2"
"""Which library matches: "re2" (linear time) or "re"."""


Pattern = re.Pattern[bytes]
"""What ``compiled`` returns: google-re2 returns an object with the same methods."""


def compiled(pattern: str, *, engine: str = ENGINE) -> Pattern:
    """A pattern over bytes.

    Args:
        pattern: ASCII, in the common subset.
        engine: "re2" or "re"; the tests compare the two.

    Raises:
        ValueError: the pattern is not ASCII.
    """
    encoded = pattern.encode("ascii")
    if engine == "re":
        found: Pattern = re.compile(encoded)
        return found
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are
    options.max_mem = 64 << 20  # room for the automaton of the large alternations, made as it is needed
    found = re2.compile(encoded, options)
    return found


def encoded(text: str) -> bytes:
    """UTF-8 of any text, lone surrogates included, so that no input is refused."""
    return text.encode("utf-8", "surrogatepass")


def decoded(content: bytes) -> str:
    """The reverse of ``encoded`` for any cut of it; a character that the cut went through becomes U+FFFD."""
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")
