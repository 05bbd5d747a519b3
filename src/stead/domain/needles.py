"""Words that are to be forgotten, as they are looked for in texts and in recorded bytes.

Layer: domain. Recorded bytes are JSON, and texts in them may be JSON once more (the arguments of a call, the answer of
an API), so a sign stands there as itself or escaped, with one backslash before it or with three. Between two words may
be any white space, since lines are wrapped at any width; or a dot, dash or low line, with which
keys and names of files are made of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from stead.domain.errors import InvalidRequest
from stead.domain.forgetting import FORGOTTEN

LEAST_CHARS, MOST_CHARS = 3, 20_000
MOST = 1_000
_CORE, _SURE = re.compile(rb"[a-z0-9]{3,}"), re.compile(rb"[a-hjl-rt-z0-9]{3,}")
_GAP = (
    r"(?:[\s_.-]|\\+[nrtf]|\\+u(?:00(?:0[9a-d]|1[c-f]|20|85|a0)|1680|20(?:0[0-9a]|2[89f]|5f)|3000))+"  # all that splits
)
_ESCAPED_CHARS = 200
"""Of longer words, letters and digits are not looked for in an escaped form, which no writer of JSON gives them."""
_QUOTES = "['\u2019]"
_ESCAPED = rb"\u00"
_ODD = (_ESCAPED, *(sign.encode() for sign in "\u0130\u0131\u017f\u212a"))
"""How a letter of ASCII may stand in bytes as none: escaped, or as what has i, s or k as its small or large form. These
come by chance in every larger piece of bytes that are no text, so letters are preferred that have no such forms."""


class Needles:
    """Looks for words wherever they are.

    Args:
        words: 3 to 20,000 characters each, 1,000 at most; white space at the ends does not count.
        exact: large and small letters differ.

    Raises:
        InvalidRequest: one is too short, too long, or a part of what is put in its place.
    """

    def __init__(self, words: Sequence[str], *, exact: bool = False) -> None:
        self.words = tuple(dict.fromkeys(text.strip() for text in words if text.strip()))
        if len(self.words) > MOST:
            raise InvalidRequest(f"{MOST:,} things can be forgotten at once, not {len(self.words):,}; take some")
        for text in self.words:
            _require_findable(text)
        flags = 0 if exact else re.IGNORECASE
        spelled = _composed({*self.words})
        if not exact:
            folded = ((text, text.casefold()) for text in spelled)
            spelled |= _composed({fold for text, fold in folded if len(fold) != len(text) or fold != text.lower()})
        longest_first = sorted(spelled, key=lambda text: (-len(text), text))
        sharp = "" if exact else "ss"
        self._pattern = re.compile("|".join(_spelled(text, sharp) for text in longest_first) or r"(?!)", flags)
        sure = _cores(longest_first, _SURE, "")
        self._signs = (*sure, _ESCAPED) if sure else _cores(longest_first, _CORE, sharp)
        self._signs += _ODD if self._signs and not sure else ()

    def __bool__(self) -> bool:
        return bool(self.words)

    def touches(self, content: bytes) -> bool:
        """Whether recorded bytes, or any others, have one of the words."""
        if not self.words:
            return False
        lowered = content.lower()
        if self._signs and not any(sign in lowered for sign in self._signs):
            return False
        return self._pattern.search(content.decode("utf-8", "replace")) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, from and to."""
        return [match.span() for match in self._pattern.finditer(text)]

    def cleaned(self, text: str) -> str:
        """The text with a constant in their place."""
        return self._pattern.sub(FORGOTTEN, text)


def _require_findable(text: str) -> None:
    if not LEAST_CHARS <= len(text) <= MOST_CHARS or not re.search(r"\w", text):
        raise InvalidRequest(
            f"what is to be forgotten has {LEAST_CHARS} to {MOST_CHARS:,} characters and a letter or digit, "
            f"not {len(text):,}"
        )
    if text.casefold() in FORGOTTEN:
        raise InvalidRequest(f"{text!r} is a part of {FORGOTTEN!r}, which stands in place of what is forgotten")


def _composed(texts: set[str]) -> set[str]:
    """As they are, with accents of their own, and with accents in one sign."""
    return texts | {unicodedata.normalize(form, text) for text in texts for form in ("NFC", "NFD")}


def _cores(spelled: Sequence[str], run: re.Pattern[bytes], sharp: str) -> tuple[bytes, ...]:
    """A run of letters of each spelling, in small ones; nothing unless each has one."""
    plain = (text.encode().lower() for text in spelled)
    runs = [run.findall(one.replace(sharp.encode(), b" ") if sharp else one) for one in plain]
    cores = [max(found, key=len, default=b"") for found in runs]
    return tuple(dict.fromkeys(cores)) if all(cores) else ()


def _spelled(text: str, sharp: str) -> str:
    """A pattern for one of them, in all of its spellings; ``sharp`` is what may stand there as ß, "" for nothing."""
    short = len(text) <= _ESCAPED_CHARS
    return _GAP.join(_part(part, sharp, escaped=short) for part in text.split())


def _part(part: str, sharp: str, *, escaped: bool) -> str:
    pattern, at = [], 0
    while at < len(part):
        if sharp and part[at : at + 2].lower() == sharp:
            double = _sign("s", escaped=escaped) * 2
            pattern.append(f"(?:{double}|{_sign('ß', escaped=True)})")
            at += 2
        else:
            pattern.append(_sign(part[at], escaped=escaped))
            at += 1
    return "".join(pattern)


def _sign(sign: str, *, escaped: bool) -> str:
    if sign.isascii() and sign.isalnum() and not escaped:
        return sign
    literal = _QUOTES if sign == "'" else rf"\\*{re.escape(sign)}" if sign in '"\\/' else re.escape(sign)
    codes = {_code(form) for form in (sign, sign.lower(), sign.upper()) if len(form) == 1}
    return f"(?:{literal}|{'|'.join(sorted(codes))})"


def _code(sign: str) -> str:
    """A sign as JSON escapes it: one or two units of UTF-16."""
    units = sign.encode("utf-16-be").hex()
    return "".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4))
