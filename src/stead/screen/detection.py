"""Finds secrets that are not known yet, by their shape.

Layer: screen. Knows no vault. First one search for all anchors over the text; only around what it finds are the rules
tried whose anchor it was. So text without secrets costs one search, and each rule stays simple.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from stead.domain.lazy_patterns import lazy_pattern
from stead.screen.engine import ENGINE, compiled
from stead.screen.secret_names import named_rules
from stead.screen.secret_rules import Rule, token_rules

Span = tuple[int, int, str]
"""First byte, byte after the last, name of the rule."""


class Detector:
    """A set of rules, ready to search. Immutable but for what it remembers about anchors."""

    def __init__(self, rules: Sequence[Rule], *, engine: str = ENGINE) -> None:
        # Long anchors first: where two begin at the same place, the more telling one is seen, and the other inside it.
        self._anchor = compiled(f"(?i){'|'.join(f'(?:{rule.anchor})' for rule in _by_length(rules))}", engine=engine)
        self._rules = [
            (rule, compiled(f"(?i){rule.anchor}", engine=engine), compiled(rule.pattern, engine=engine))
            for rule in rules
        ]
        self._meant = lru_cache(maxsize=4096)(self._rules_of)

    def _rules_of(self, anchor: bytes) -> tuple[int, ...]:
        return tuple(place for place, (_, pattern, _) in enumerate(self._rules) if pattern.search(anchor))

    def spans(self, content: bytes) -> list[Span]:
        """Every secret's place, in no order; places may overlap."""
        windows: dict[int, list[tuple[int, int]]] = {}
        for hit in self._anchor.finditer(content):
            for place in self._meant(hit.group().lower()):
                rule = self._rules[place][0]
                start, end = max(0, hit.start() - rule.before), hit.start() + rule.after
                mine = windows.setdefault(place, [])
                if mine and start <= mine[-1][1]:
                    mine[-1] = (mine[-1][0], max(end, mine[-1][1]))
                else:
                    mine.append((start, end))
        return [
            span
            for place, mine in windows.items()
            for start, end in mine
            for span in self._matches(place, content, start, end)
        ]

    def _matches(self, place: int, content: bytes, start: int, end: int) -> Iterator[Span]:
        rule, _, pattern = self._rules[place]
        for match in pattern.finditer(content, start, min(end, len(content))):
            group = 1 if match.start(1) >= 0 else 0
            first, last = match.start(group), match.end(group)
            before = content[max(0, match.start() - 48) : match.start()]
            if _is_secret(rule, content[first:last], before + content[match.start() : first]):
                yield first, last, rule.id


@cache
def standard() -> Detector:
    """The detector of all rules, made on first use."""
    return Detector(token_rules() + named_rules())


def _by_length(rules: Sequence[Rule]) -> list[Rule]:
    return sorted(rules, key=lambda rule: -min(len(anchor) for anchor in rule.anchor.split("|")))


def _is_secret(rule: Rule, value: bytes, context: bytes) -> bool:
    if rule.check == "exact":
        return True
    if rule.check == "base64":
        return len(value) % 4 == 0 and not value.isalpha()
    if rule.check == "encoded-jwt":
        return _decodes_to_jwt(value)
    if rule.entropy and entropy(value) < rule.entropy:
        return False
    if rule.check == "userinfo":
        return not _PLACEHOLDER_LOGIN.search(value)
    if _PLACEHOLDER.search(value) or hashlib.sha256(value).hexdigest()[:16] in _PUBLISHED:
        return False
    if rule.check == "named":
        return any(byte in b"0123456789" for byte in value)
    if rule.check == "assigned":
        return not _SEQUENCE.search(value) and not _NAME_OF_NO_SECRET.search(context) and _looks_random(value)
    if rule.check == "header" and not _NOT_IN_NAMES.search(value):
        return False
    return rule.check not in ("password", "header") or not _PLACEHOLDER_LOGIN.search(value)


def entropy(value: bytes) -> float:
    """Shannon entropy in bits a byte."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


_PLACEHOLDER = lazy_pattern(
    rb"(?i)example|x{6}|placeholder|change_?me|your[_-]|redacted|\.\.(?:\.|$)|abcdefghijklmn|\*{4}"
)
_PLACEHOLDER_LOGIN = lazy_pattern(
    rb"(?i)^[\"']?(?:[^:]{0,80}:)?[\"']?(?:pass(?:word)?|pwd|secret|test|token|changeit|changeme|user(?:name)?|\*+|x+|yyy)[\"']?$"
    rb"|[<\[][\w .-]+[>\]]|(?:^|[:\"'])\$\{?[\w.]+\}?[\"']?$|\$[({]|\{\{|^\{\w*\}?$|^%\(?\w+[)%]?s?$"
)
_NOT_IN_NAMES = lazy_pattern(rb"[0-9=+/~@]")
_SEQUENCE = lazy_pattern(rb"123456789|987654321|(?i:abcdefgh)")
_WORD = lazy_pattern(rb"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_NAME_OF_NO_SECRET = lazy_pattern(
    rb"(?i)author(?!iz)|accessib|accessor|csrf|xsrf|(?:public|primary|foreign|natural|hot|idx|bucket|schema|sequence|sort"
    rb"|partition|cache|host|registry|tur|mon|don|hoc|jo)[_.-]?key|pub(?:lic)?[_.-]?token|key(?:word|board|code|frame|name"
    rb"|stroke|path|mesh|pair|ring|press|down|up|left|right|stone|size|length|alias|selector|signature|hash|store|tab|ing"
    rb"|vault)|(?:key|token|secret|auth|credentials?|password)s?[_.-]?(?:id|name|ur[il]|file|path|type|kind|length|size|endpoint"
    rb"|version|source|policy|algorithm|format|field|count|limit|class|vault|down|up|press|board)|usersecretsid"
    rb"|credentialsid|issuerkeyhash|authentication-results|jsonwebtoken|--mount=type=secret|licen[cs]e|srcrev|:jar:"
    rb"|access[_.-]?id|client[_.-]?id|kms[_.-]key|keyless|secretname|\bimport\b"
)


def _looks_random(value: bytes) -> bool:
    """Whether a value is no word, name, path or date: has digits and letters, and is not mostly made of words."""
    digits = sum(byte in b"0123456789" for byte in value)
    letters = sum(chr(byte).isalpha() for byte in value)
    if not digits or not letters or value.startswith((b"/", b".", b"-", b"=")):
        return False
    words = sum(len(word) for word in _WORD.findall(value))
    return words < 0.5 * len(value) or (digits >= 5 and words < 0.8 * len(value))


def _decodes_to_jwt(value: bytes) -> bool:
    whole = value.replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        inside = base64.b64decode(whole[: len(whole) // 4 * 4], validate=True)
    except binascii.Error:
        return False
    return re.match(rb"ey[\w-]{10,}\.ey[\w-]{10,}", inside) is not None


_SAMPLES = """
0b476bdf9acf2123 2037abcaffb2b777 27a9a42931dff7eb 2f21fd9c81678e39 37f8f09bdf12c2f2 3a8b61d0f636b007 3f370c9dd8225c63
49f777db995e8260 4c98242dcadc8b29 8731261cb72d8626 a19f89ab3555eac1 a6c814bc555ae62c dc0fcf046c61640c e4a5542bb7fd7b67
ea9bb1082cf95663 eb540d2b6ee2a0a4 f56e323494a6ffc2
"""

_PUBLISHED = frozenset(_SAMPLES.split())
"""SHA-256, first 16 digits, of keys that vendors have published in their samples and documentation: no secrets."""
