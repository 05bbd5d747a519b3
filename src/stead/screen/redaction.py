"""Takes secrets out of text: those that the vault knows, in every form, and those that look like one.

Layer: screen. Knows no vault and no door; the owner of the values makes a ``Redactor`` of them, a new one whenever they
change. A known value gives way to its placeholder, a detected one to ``[redacted: RULE]``. Known values come first:
where both find something, the known one is named. What already stands for a secret is left alone, so cleaning twice
changes nothing more than cleaning once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from stead.domain.secrets import Known
from stead.screen.detection import Span, standard
from stead.screen.engine import Pattern, compiled, decoded, encoded
from stead.screen.known_forms import LONGEST, common_spellings, forms_of_text, most_bytes, texts
from stead.screen.sieve import Sieve

VAULT_RULE = "vault"
"""The rule of a finding that is a known value."""

_DEEPEST = 100
_CONTEXT_BYTES = 256
_TOKEN_BYTES = 2048
_KEY_BYTES = 20_000
_ELEMENT_BYTES, _PLAIN_BYTES = 32, 8
"""The most bytes that one sign of a value takes: with escapes, and as it is or as base64 or hex with separators."""

_ESCAPES = re.compile(rb"[%\\&=]")
_KEY_BEGINS = re.compile(rb"-----BEGIN[ A-Z0-9_-]{0,60}(?:PRIVATE KEY(?: BLOCK)?-----|$)")
_KEY_ENDS = re.compile(rb"-----END[ A-Z0-9_-]{0,60}-----")


class Finding(msgspec.Struct, frozen=True):
    """A secret in a text.

    Args:
        start: its first character.
        end: the character after its last.
        rule: "vault" for a known value, else the name of the shape.
        name: the secret's name; empty for a detected one.
    """

    start: int
    end: int
    rule: str
    name: str


class Redactor:
    """Cleans text. Immutable.

    Args:
        known: the values to look for in every form.
        detect: whether to look for secrets by their shape too.
    """

    def __init__(self, known: Sequence[Known] = (), *, detect: bool = True) -> None:
        self._known = sorted((one for one in known if texts(one.value)), key=lambda one: -len(one.value))
        self._detect = detect
        self._names = {one.placeholder: one.name for one in self._known}
        sought = {text: one.placeholder for one in reversed(self._known) for text in texts(one.value)}
        self._sought = list(reversed(sought.items()))  # what two have in common is named after the longer one
        self.sieve = Sieve([text for text, _ in self._sought])
        self.most_bytes = max((most_bytes(text) for text, _ in self._sought), default=0)
        names = "|".join(sorted({re.escape(one.name) for one in self._known}, key=len, reverse=True))
        self._opaque = re.compile(rf"\{{\{{secret:(?:{names})#([0-9a-f]{{8,16}})\}}\}}".encode()) if names else None
        self._long = [
            (spelling, one.placeholder)
            for one in self._known
            if len(one.value) > LONGEST
            for spelling in common_spellings(one.value.strip())
        ]
        self._patterns = cache(self._pattern)

    def _pattern(self, place: int) -> Pattern:
        """Made when the text is first suspected: that takes some 20 ms, and most never are."""
        return compiled("|".join(form.pattern for form in forms_of_text(self._sought[place][0])))

    def is_mark(self, text: str) -> bool:
        """Whether it is the mark that stands in place of a known value."""
        return text in self._names

    def clean(self, text: str) -> str:
        """The text with every secret replaced."""
        content = encoded(text)
        spans = self.spans(content)
        return decoded(replaced(content, spans)) if spans else text

    def find(self, text: str) -> tuple[Finding, ...]:
        """Every secret, from left to right; none overlaps another."""
        content = encoded(text)
        found: list[Finding] = []
        at = characters = 0
        for start, end, stand_in in self.spans(content):
            first = characters + len(decoded(content[at:start]))
            characters = first + len(decoded(content[start:end]))
            at = end
            name = self._names.get(stand_in, "")
            rule = VAULT_RULE if stand_in in self._names else stand_in.removeprefix("[redacted: ").removesuffix("]")
            found.append(Finding(first, characters, rule, name))
        return tuple(found)

    def clean_json(self, value: object) -> object:
        """Plain data with every secret replaced, in keys, texts and numbers, however deep.

        A text below a key is judged with the key before it, as in ``password: ...``. Below a depth of 100 nothing is
        kept.

        Args:
            value: what JSON can hold, and bytes; anything else comes back as it is.
        """
        return self._cleaned(value, "", 0)

    def stream(self) -> StreamRedactor:
        """A redactor for one text that comes in pieces."""
        return StreamRedactor(self, detect=self._detect)

    def spans(self, content: bytes, begin: int = 0) -> list[Span]:
        """Places of secrets with what stands in for each, from left to right, none overlapping.

        Args:
            content: UTF-8.
            begin: what is before it is only looked at to judge what follows.
        """
        known = self._known_spans(content, begin)
        if not self._detect:
            return [span for span in known if span[2]]
        shapes = sorted(standard().spans(content), key=lambda span: (span[0], -span[1]))
        detected = _apart([(start, end, f"[redacted: {rule}]") for start, end, rule in shapes if start >= begin])
        return [span for span in sorted([*known, *_outside(detected, known)]) if span[2]]

    def _known_spans(self, content: bytes, begin: int) -> list[Span]:
        """Known values from left to right, the longer one where two overlap; placeholders stand in for nothing."""
        if self._opaque is None or not (places := self.sieve.candidates(content[begin:])):
            return []
        stands = self._opaque.finditer(content, begin)
        # Digits in which a value could hide are looked through like any other text.
        found = [(one.start(), one.end(), "") for one in stands if not self.sieve.candidates(one[1])]
        at_once = self._long_spans(content, begin) if self._long else []
        found += at_once
        if at_once:  # their pieces need not be looked for again, unless more of them is elsewhere
            rest = replaced(content[begin:], [(start - begin, end - begin, "\n") for start, end, _ in at_once])
            taken = {stand_in for _, _, stand_in in at_once}
            again = self.sieve.candidates(rest)
            places = {place for place in places if self._sought[place][1] not in taken or place in again}
        for place in sorted(places):  # the longest values first
            stand_in = self._sought[place][1]
            found += [(m.start(), m.end(), stand_in) for m in self._patterns(place).finditer(content, begin)]
        return _apart(found)

    def _long_spans(self, content: bytes, begin: int) -> list[Span]:
        """Very long values as they most often stand, whole: to look for each of their pieces would take seconds."""
        found: list[Span] = []
        for spelling, stand_in in self._long:
            at = content.find(spelling, begin)
            while at >= 0:
                found.append((at, at + len(spelling), stand_in))
                at = content.find(spelling, at + len(spelling))
        return _apart(found)

    def _cleaned(self, value: object, key: str, depth: int) -> object:
        match value:
            case str():
                return self._below(key, value)
            case bytes():
                return replaced(value, self.spans(value))
            case bool() | None:
                return value
            case int() | float():
                text = str(value)
                return value if (clean := self._below(key, text)) == text else clean
            case dict() | list() | tuple() if depth >= _DEEPEST:
                return "[left out: nested too deeply]"
            case dict():
                return self._cleaned_fields(value, depth)
            case list() | tuple():
                return [self._cleaned(item, key, depth + 1) for item in value]
            case _:
                return value

    def _cleaned_fields(self, fields: dict[object, object], depth: int) -> dict[object, object]:
        clean: dict[object, object] = {}
        for key, item in fields.items():
            name = self.clean(key) if isinstance(key, str) else key
            while name in clean and isinstance(name, str):
                name += " (another)"
            clean[name] = self._cleaned(item, key if isinstance(key, str) else "", depth + 1)
        return clean

    def _below(self, key: str, text: str) -> str:
        context = encoded(f'{key[-64:]}: "') if key else b""
        content = context + encoded(text) + (b'"' if key else b"")
        spans = self.spans(content, len(context))
        if not spans:
            return text
        end = len(content) - (1 if key else 0)
        return decoded(replaced(content[:end], [(s, min(e, end), by) for s, e, by in spans])[len(context) :])


class StreamRedactor:
    """Cleans one text that comes in pieces. It holds back what might be the beginning of a secret.

    A known value is caught wherever the pieces divide it. For a detected one the last word is held back, up to 2 KiB of
    it, and a private key until it ends, up to 20 kB.
    """

    def __init__(self, redactor: Redactor, *, detect: bool) -> None:
        self._redactor = redactor
        self._detect = detect
        self._before = b""
        self._pending = b""

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        self._pending += encoded(piece)
        return self._shown(self._safe())

    def close(self) -> str:
        """The rest. Nothing may be fed afterwards."""
        return self._shown(len(self._pending))

    def _safe(self) -> int:
        """Up to where no secret can have begun that is not complete."""
        pending, redactor = self._pending, self._redactor
        size = safe = len(pending)
        if redactor.most_bytes:
            window = pending[-redactor.most_bytes - _ELEMENT_BYTES :]
            tail = redactor.sieve.signs_before_seed * (_ELEMENT_BYTES if _ESCAPES.search(window) else _PLAIN_BYTES)
            held = redactor.most_bytes if redactor.sieve.candidates(window) else min(tail, redactor.most_bytes)
            safe = max(0, size - held)
        if self._detect:
            word = max(pending.rfind(space) for space in (b" ", b"\n", b"\t", b"\r")) + 1
            if size - word <= _TOKEN_BYTES:
                safe = min(safe, word)
            for key in _KEY_BEGINS.finditer(pending):
                if size - key.start() < _KEY_BYTES and not _KEY_ENDS.search(pending, key.end()):
                    safe = min(safe, key.start())
        while 0 < safe < size and pending[safe] & 0xC0 == 0x80:  # between two characters
            safe -= 1
        return safe

    def _shown(self, safe: int) -> str:
        if not safe:
            return ""
        begin = len(self._before)
        content = self._before + self._pending
        spans = [span for span in self._redactor.spans(content, begin) if span[0] < begin + safe]
        end = max([begin + safe, *(span[1] for span in spans)])
        self._pending = content[end:]
        self._before = content[max(0, end - _CONTEXT_BYTES) : end] if self._detect else b""
        return decoded(replaced(content[:end], spans)[begin:])


def replaced(content: bytes, spans: Sequence[Span]) -> bytes:
    """The content with each span's stand-in in its place."""
    pieces: list[bytes] = []
    at = 0
    for start, end, stand_in in spans:
        pieces += [content[at:start], encoded(stand_in)]
        at = end
    return b"".join([*pieces, content[at:]])


def _apart(spans: list[Span]) -> list[Span]:
    """Spans that do not overlap: of two that do, the one that begins first, then the one that was found first."""
    apart: list[Span] = []
    for span in sorted(spans, key=lambda span: span[0]):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
        elif span[1] > apart[-1][1]:  # its rest is a piece of a secret too
            apart.append((apart[-1][1], span[1], span[2]))
    return apart


def _outside(spans: Sequence[Span], taken: Sequence[Span]) -> list[Span]:
    """What of the spans is not taken; both rows are in order and without overlaps."""
    rest: list[Span] = []
    at = 0
    for start, end, stand_in in spans:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        place = at
        while place < len(taken) and taken[place][0] < end:
            if taken[place][0] > start:
                rest.append((start, taken[place][0], stand_in))
            start = max(start, taken[place][1])
            place += 1
        if start < end:
            rest.append((start, end, stand_in))
    return rest
