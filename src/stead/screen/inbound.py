"""What comes in from others, on its way to the model.

Layer: screen. Knows no policy: it removes what nobody can see, says what it saw, and never refuses. Warnings inform the
person; no rule may allow anything because one is missing.

Removed: control characters and terminal escapes, invisible and bidirectional characters, tags and other smuggling
alphabets. Kept: what real writing needs, which is joiners between letters of Arabic and Indic scripts and inside emoji,
and one variation selector after a character that has variants.

Sources: Unicode Technical Report 36 (bidirectional spoofing, tags), Technical Standard 39 (mixed scripts), Technical
Standard 51 (emoji sequences), ECMA-48 (escape sequences).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

import msgspec

from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.policies import Reason
from stead.domain.secrets import PLACEHOLDER
from stead.domain.shown import CONTROLS, UNSEEN


class Screened(msgspec.Struct, frozen=True):
    """A text that was looked at.

    Args:
        text: what is left.
        warnings: what was found, each rule once.
    """

    text: str
    warnings: tuple[Reason, ...] = ()


_TERMINAL = lazy_pattern(
    "\x1b(?:\\[[0-?]{0,64}[ -/]{0,16}[@-~]"
    "|[\\]PX^_][^\n\x0b\x0c\x85\u2028\u2029\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\\\|\x9c)"
    "|[ -/]{0,16}[0-~]?)|\x9b[0-?]{0,64}[ -/]{0,16}[@-~]"
)
"""A string that does not end in its own line is none: it would hide what follows, so only its first two signs go."""
_CONTROL = lazy_pattern(f"[{CONTROLS}]")
_SPECIAL = lazy_pattern(f"[{UNSEEN}]")
_KEPT_SIGNS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs of Arabic, Syriac and Kaithi that are seen although Unicode counts them as format characters."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")
_JOINING_SCRIPTS = (
    (0x0600, 0x08FF),
    (0x0900, 0x0DFF),
    (0x0E00, 0x109F),
    (0x1780, 0x18AF),
    (0xA840, 0xA8FF),
    (0xFB50, 0xFDFF),
)
_FLAG = lazy_pattern("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
_LOOKALIKES = frozenset("аеорсухіјѕԁһԛԝАВЕКМНОРСТХУІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρικ")


def screen(text: str, issued: Callable[[str], bool] | None = None) -> Screened:
    """The text as a careful reader should get it, with warnings.

    Args:
        text: anything; time and memory grow with its length alone.
        issued: whether a placeholder of a secret is one that this home made: then it imitates nothing.
    """
    hidden: Counter[str] = Counter()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text, hidden["terminal"] = _TERMINAL.subn("", text)
    text, hidden["control"] = _CONTROL.subn("", text)
    if not text.isascii():
        text = _without_hidden(text, hidden)
    return Screened(text, (*_hidden_warnings(hidden), *_mixed_scripts(text), *_injections(text, issued)))


def mark(text: str, source: str, boundary: str) -> str:
    """The text between marks that say it is data, which it cannot fake.

    Any line that begins like a mark is indented, whatever its boundary, so that the text can neither close its own
    marks nor pretend to be in others.

    Args:
        text: screened text.
        source: where it came from, in a few words.
        boundary: a word that the text's author could not know; the same for the same call, so that prompts repeat.
    """
    where = " ".join(re.sub(r"[^\w .,:/@+-]", " ", source).split())[:120]
    inside = _MARK.sub(r" \g<0>", text)
    return f"<<<data {boundary} from {where}\n{inside}\n>>>end {boundary}"


_MARK = lazy_pattern(r"(?m)^[^\S\n]{0,80}(?:<<<|>>>)")


def _without_hidden(text: str, hidden: Counter[str]) -> str:
    in_flags = {place for match in _FLAG.finditer(text) for place in range(match.start(), match.end())}

    def one(match: re.Match[str]) -> str:
        character, place = match[0], match.start()
        if character in _KEPT_SIGNS or place in in_flags:
            return character
        if character in "\u2028\u2029":
            return "\n"
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if character in _JOINERS and _joins(before, after):
            return character
        if "\ufe00" <= character <= "\ufe0f" and _has_variants(before):
            return character
        hidden[_kind(character)] += 1
        return ""

    return _SPECIAL.sub(one, text)


def _kind(character: str) -> str:
    if character in _BIDI:
        return "bidi"
    if "\U000e0000" <= character <= "\U000e0fff" or "\ufe00" <= character <= "\ufe0f":
        return "smuggled"
    return "invisible"


def _joins(before: str, after: str) -> bool:
    """Whether a joiner stands where writing needs one: between two letters of such a script, or two emoji."""
    pair = [ord(character) for character in (before, after) if character]
    if len(pair) == 2 and all(any(low <= point <= high for low, high in _JOINING_SCRIPTS) for point in pair):
        return True
    return len(pair) == 2 and (_is_pictured(pair[0]) or pair[0] == 0xFE0F) and _is_pictured(pair[1])


def _is_pictured(point: int) -> bool:
    return 0x1F000 <= point <= 0x1FAFF or 0x2190 <= point <= 0x2BFF or point in (0x2640, 0x2642, 0x2695)


def _has_variants(before: str) -> bool:
    """Whether a variation selector can mean something after this: emoji, keycaps, CJK and mathematical signs."""
    if not before:
        return False
    point = ord(before)
    return (
        _is_pictured(point)
        or before in "#*0123456789©®‼⁉™〰〽㊗㊙"
        or 0x3400 <= point <= 0x9FFF
        or 0x1000 <= point <= 0x109F
    )


_HIDDEN = {
    "terminal": "removed {} terminal escape sequences",
    "control": "removed {} control characters",
    "bidi": "removed {} characters that turn the direction of writing and can show text in another order",
    "smuggled": "removed {} tag or variation characters, which can carry text that nobody sees",
    "invisible": "removed {} invisible characters",
}


def _hidden_warnings(hidden: Counter[str]) -> list[Reason]:
    return [
        Reason(f"hidden-{kind}", f"This text had hidden parts: {said.format(hidden[kind])}.")
        for kind, said in _HIDDEN.items()
        if hidden[kind]
    ]


def _mixed_scripts(text: str) -> list[Reason]:
    """Words of Latin letters in which letters of another script look like them. The text stays as it is."""
    if text.isascii():
        return []
    words = list(dict.fromkeys(word for word in _WORD.findall(text) if _is_mixed(word)))[:5]
    if not words:
        return []
    spelled = ", ".join(f"{word!r} ({_odd_letter(word)})" for word in words)
    return [Reason("mixed-scripts", f"Words mix letters that look alike, as in false addresses: {spelled}.")]


_WORD = lazy_pattern(r"\w{2,64}")


def _is_mixed(word: str) -> bool:
    return (
        not word.isascii() and any(c.isascii() and c.isalpha() for c in word) and bool(_LOOKALIKES.intersection(word))
    )


def _odd_letter(word: str) -> str:
    odd = next(character for character in word if character in _LOOKALIKES)
    return unicodedata.name(odd, "another script").lower()


_INJECTIONS = (
    (
        "injection-override",
        "asks to ignore earlier instructions",
        r"(?:ignore|disregard|forget|override|bypass)\s{1,8}(?:\w{1,20}\s{1,8}){0,4}"
        r"(?:previous|prior|above|earlier|preceding|system|all|your|other)\s{1,8}(?:\w{1,20}\s{1,8}){0,2}"
        r"(?:instruction|prompt|rule|direction|guideline|command|context|polic)",
    ),
    (
        "injection-role",
        "tells the reader who to be",
        r"(?:you\s{1,8}are\s{1,8}now|from\s{1,8}now\s{1,8}on\s{1,8}you|act\s{1,8}as|pretend\s{1,8}(?:to\s{1,8}be|you\s{1,8}are))\s{1,8}"
        r"(?:\w{1,20}\s{1,8}){0,3}(?:dan\b|developer\s{1,8}mode|jailbroken|unrestricted|unfiltered|admin|root|system)",
    ),
    (
        "injection-tag",
        "imitates the tags of a conversation",
        r"</?\s{0,4}(?:system|assistant|user|tool_?(?:call|result|use)|function_?(?:calls?|results?)|instructions?|im_(?:start|end))\b"
        r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|?>?|\[/?INST\]|<</?SYS>>"
        r"|(?:^|\n)\s{0,8}(?:system|assistant|developer)\s{0,4}(?:prompt|message)?\s{0,4}:",
    ),
    (
        "injection-marker",
        "imitates the marks that Stead puts around data",
        r"(?:^|\n)[^\S\n]{0,80}(?:<<<\s{0,4}data\b|>>>\s{0,4}end\b)|\{\{secret:",
    ),
    (
        "injection-secrecy",
        "asks to keep something from the person",
        r"(?:do\s{1,8}not|don'?t|never|without)\s{1,8}(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?)"
        r"\s{1,8}(?:\w{1,20}\s{1,8}){0,3}(?:user|person|human|owner|anyone|this)",
    ),
    (
        "injection-exfiltration",
        "asks to send out secrets or what was said before",
        r"(?:send|post|upload|forward|exfiltrate|leak|e-?mail|append)\s{1,8}(?:\w{1,20}\s{1,8}){0,6}"
        r"(?:passwords?|api\s{0,4}keys?|tokens?|credentials?|secrets?|conversation|chat\s{1,8}history|system\s{1,8}prompt)\b",
    ),
)
"""Name of the rule, what the text does, pattern. For the person's eyes: such lists are easily evaded."""

_INJECTION = tuple((rule, said, lazy_pattern(pattern, re.IGNORECASE)) for rule, said, pattern in _INJECTIONS)


def _injections(text: str, issued: Callable[[str], bool] | None) -> list[Reason]:
    found: list[Reason] = []
    if issued is not None:
        text = PLACEHOLDER.sub(lambda one: " " if issued(one[0]) else one[0], text)
    for rule, said, pattern in _INJECTION:
        if match := pattern.search(text):
            found.append(Reason(rule, f"This text {said}: {' '.join(match[0].split())[:80]!r}."))
    return found
