"""The public test vectors of gitleaks (MIT licence, github.com/gitleaks/gitleaks), read from a copy of its source.

Each of its rule files ends with samples that the rule must find and samples that it must not. This reads those
statements, an evaluator of the few kinds of Go expression that they are made of, and never keeps their text here.
"""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.screen.grammar import sample

SEED = 8
_TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<raw>`[^`]*`)|(?P<text>"(?:\\.|[^"\\])*")|(?P<name>[A-Za-z_][\w.]*)'
    r"|(?P<mark>:=|\[\]|\.\.\.|.)",
    re.DOTALL,
)


@dataclass
class Vectors:
    """Samples by rule. ``literal`` are written out in the source, ``made`` come from a grammar in their contexts."""

    literal: list[tuple[str, str]] = field(default_factory=list)
    made: list[tuple[str, str]] = field(default_factory=list)
    harmless: list[tuple[str, str]] = field(default_factory=list)


def read(rules: Path) -> Vectors:
    """Every vector below the folder of rule files."""
    contexts = _contexts((rules.parent / "utils" / "generate.go").read_text("utf-8"))
    vectors = Vectors()
    for path in sorted(rules.glob("*.go")):
        for body in re.split(r"(?m)^func ", path.read_text("utf-8"))[1:]:
            if rule := re.search(r'RuleID:\s*"([^"]+)"', body):
                _collect(rule[1], body, contexts, vectors)
    return vectors


def _contexts(source: str) -> list[str]:
    listed = source[source.index("samples := map[string]string{") :]
    lines = [line.strip() for line in listed[: listed.index("replacer")].splitlines()]
    tokens = [_tokens(line) for line in lines if line.startswith('"')]
    return [_unquoted(line[2][1]) for line in tokens if len(line) > 2]


def _tokens(source: str) -> list[tuple[str, str]]:
    return [(m.lastgroup or "", m[0]) for m in _TOKEN.finditer(source) if m.lastgroup != "space"]


def _unquoted(token: str) -> str:
    if token[0] == "`":
        return token[1:-1]
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), token[1:-1])


def _collect(rule: str, body: str, contexts: list[str], vectors: Vectors) -> None:
    known: dict[str, object] = {}
    tokens = _tokens(body)
    for place, (kind, name) in enumerate(tokens):
        if kind == "name" and tokens[place + 1 : place + 2] in ([("mark", ":=")], [("mark", "=")]):
            value = _Reader(tokens, place + 2, known, contexts, rule).expression()
            if name in ("tps", "fps") or isinstance(value, str | _Made):
                known[name] = value
    for written, text in _flat(known.get("tps")):
        (vectors.literal if written else vectors.made).append((rule, text))
    vectors.harmless += [(rule, text) for _, text in _flat(known.get("fps"))]


def _flat(value: object) -> Iterator[tuple[bool, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    elif isinstance(value, tuple):
        yield value[0], value[1]
    elif isinstance(value, str):
        yield True, value


@dataclass
class _Made:
    """A text that a grammar made."""

    text: str


class _Reader:
    """Evaluates one Go expression; what it does not know is None, and a list leaves that out."""

    def __init__(
        self, tokens: list[tuple[str, str]], at: int, known: dict[str, object], contexts: list[str], rule: str
    ) -> None:
        self._tokens, self._at, self._known, self._contexts = tokens, at, known, contexts
        self._rng = random.Random(f"{SEED} {rule}")

    def expression(self) -> object:
        """A sum of terms."""
        value = self._term()
        while self._peek() == "+":
            self._at += 1
            value = _sum(value, self._term())
        return value

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _term(self) -> object:
        kind, token = self._tokens[self._at]
        self._at += 1
        if kind in ("raw", "text"):
            return _unquoted(token)
        if token == "[]":
            self._at += 1
            if self._peek() == "(":  # []byte(x)
                return self._arguments("(", ")")[0]
            return [_mark(item) for item in self._arguments("{", "}")]
        if token == "map[string]string" or token == "map":
            return self._map()
        if kind == "name" and self._peek() == "(":
            return self._call(token, self._arguments("(", ")"))
        return self._known.get(token)

    def _map(self) -> object:
        while self._peek() != "{":
            self._at += 1
        return [_mark(item) for item in self._arguments("{", "}")]

    def _arguments(self, opening: str, closing: str) -> list[object]:
        if self._peek() != opening:
            return []
        self._at += 1
        found: list[object] = []
        while self._at < len(self._tokens) and self._peek() != closing:
            if self._peek() in (",", "..."):
                self._at += 1
                continue
            before = self._at
            value = self.expression()
            if self._peek() == ":":  # the key of a map
                self._at += 1
                value = self.expression()
            found.append(value)
            self._at += self._at == before
        self._at += 1
        return found

    def _call(self, name: str, given: list[object]) -> object:
        texts = [item.text if isinstance(item, _Made) else item for item in given]
        first = texts[0] if texts and isinstance(texts[0], str) else ""
        shapes: dict[str, str] = {
            "utils.Numeric": "[0-9]",
            "utils.Hex": "[a-f0-9]",
            "utils.AlphaNumeric": "[a-z0-9]",
            "utils.AlphaNumericExtendedShort": "[a-z0-9_-]",
            "utils.AlphaNumericExtended": "[a-z0-9=_-]",
            "utils.AlphaNumericExtendedLong": "[a-z0-9/=_+-]",
        }
        if name in shapes:
            return f"{shapes[name]}{{{first}}}"
        makers: dict[str, Callable[[], object]] = {
            "secrets.NewSecret": lambda: _Made(sample(first, self._rng)),
            "newPlausibleSecret": lambda: _Made(sample(first, self._rng)),
            "utils.Hex8_4_4_4_12": lambda: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "utils.GenerateSampleSecret": lambda: _Made(f'{first}_api_token = "{texts[1]}"'),
            "utils.GenerateSampleSecrets": lambda: [
                (False, c.replace("{i}", first).replace("{I}", first.upper()).replace("{s}", str(texts[1])))
                for c in self._contexts
            ],
            "fmt.Sprintf": lambda: _Made(first.replace("%%", "%") if len(texts) < 2 else first % tuple(texts[1:])),
            "append": lambda: [item if isinstance(item, list) else _mark(item) for item in given],
        }
        if "EncodeToString" in name:
            return _Made(base64.b64encode(first.encode()).decode())
        return makers[name]() if name in makers else None


def _mark(item: object) -> object:
    if isinstance(item, _Made):
        return (False, item.text)
    return (True, item) if isinstance(item, str) else item


def _sum(left: object, right: object) -> object:
    texts = [item.text if isinstance(item, _Made) else item for item in (left, right)]
    if not all(isinstance(text, str) for text in texts):
        return None
    whole = "".join(map(str, texts))
    return _Made(whole) if isinstance(left, _Made) or isinstance(right, _Made) else whole
