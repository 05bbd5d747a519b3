"""A sentence's words and values: paths, hosts, addresses, commands, numbers.

Layer: brain. Pure; knows no language. A value is what it looks like, and what looks like nothing is a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Literal

import msgspec

Kind = Literal["word", "path", "host", "mail", "command", "number", "comma", "unknown"]


class Token(msgspec.Struct, frozen=True):
    """One part of a sentence; ``text`` is a word in lower case, or a value as it was written."""

    kind: Kind
    text: str


_FILE_ENDINGS = (
    "bak c cfg conf cpp css csv docx env go h html ini ipynb java jpg js json jsx kt lock log md pdf php png py "
    "rb rs sh sql svg swift tf toml ts tsx txt xlsx xml yaml yml"
)
_ENDINGS = frozenset(_FILE_ENDINGS.split())
"""Of files; no host that a person names in a rule ends so."""
_PIECE = re.compile(
    r"""`(?P<tick>[^`]*)`|(?<!\w)(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|«\s*(?P<angle>[^»]*?)\s*»|„(?P<low>[^“”]*)[“”])"""
    r"|(?P<comma>[,;\u2013\u2014]|:(?=\s))|(?P<bare>(?:[^\s,;:`\"“”«»„\u2013\u2014]|:(?=\S))+)"
)
_HOST = re.compile(r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}", re.I)
_MAIL = re.compile(r"[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,24}", re.I)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_URL = re.compile(r"https?://([^/:]+)/?", re.I)
_NAMES = re.compile("Dockerfile|Gemfile|Jenkinsfile|LICENSE|Makefile|Procfile|README|Rakefile")
"""Of files without an ending."""
_PATH = re.compile(r"(?:\./)?[\w.*@+-]+(?:/[\w.*@+-]+)*/?")
_NUMBER = re.compile(r"[$€£]?(\d{1,12}(?:\.\d{1,2})?)[$€£]?")
_COMMAND = re.compile(r"[\w./+-]+(?: [\w./:=@,+-]+)*")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ELISION = re.compile(r"(?<=[^\W\d_])['\u2019](?=\w)")

_WITHOUT_SUBCOMMANDS = "pytest rm curl wget ssh scp rsync sudo chmod chown dd mkfs psql mysql ruff mypy eslint"
PROGRAMS = {
    "git": "push pull commit merge rebase reset clean checkout stash tag fetch clone status diff log add",
    "npm": "install publish test ci update audit",
    "pnpm": "install publish test add",
    "yarn": "install publish test add",
    "pip": "install uninstall download list freeze",
    "cargo": "build test publish run install update",
    "docker": "run build push pull rm rmi exec ps images",
    "kubectl": "apply delete get exec scale describe logs",
    "terraform": "apply destroy plan init import",
    "systemctl": "restart start stop enable disable status",
    "apt": "install remove upgrade update",
    "helm": "install upgrade uninstall rollback",
    **dict.fromkeys(_WITHOUT_SUBCOMMANDS.split(), ""),
}
"""Programs whose name is no word of the languages, with the subcommands that may follow it without quotes."""
_ALSO_WORDS = "ansible bash bazel cat find go gradle ls make mvn node poetry python python3 tsc uv"
AFTER_RUN = frozenset(_ALSO_WORDS.split())
"""Programs whose name could be another word; they count right after a verb of running."""
_CHOICE = re.compile(r"(\[[^]]*\]|\([^)]*\))")
_FLAG = re.compile(r"--?[a-z][a-z-]*")


def spelled_out(phrase: str) -> Iterator[tuple[str, ...]]:
    """The words of what a phrase stands for: one or none of [x/y], one of (x/y)."""
    parts = [
        ["", *part[1:-1].split("/")] if part[:1] == "[" else part.strip("()").split("/")
        for part in _CHOICE.split(phrase)
    ]
    return (tuple(" ".join(said).split()) for said in product(*parts))


def split(text: str) -> list[Token]:
    """The parts of a sentence; what stands between quotes is one value. A sentence's last point is left out."""
    found: list[Token] = []
    said = text.strip().lstrip("¡")
    for piece in _PIECE.finditer(said[:-1] if said[-1:] in ".!" and said[-2:-1] != "." else said):
        if piece["comma"]:
            found.append(Token("comma", ","))
        elif (bare := piece["bare"]) is not None:
            if bare.lower() == "and/or":
                bare = "or"
            value = _value(bare)
            found += [value] if value else _words(bare)
        else:
            quoted = next(part for part in piece.groups() if part is not None).strip()
            found.append(_value(quoted) or _command(quoted))
    # What no pattern takes, a lone quote for one, makes the sentence one that is not understood.
    return found if not _PIECE.sub("", said).strip(" .!\t\n") else [*found, Token("unknown", said)]


def bare_command(tokens: list[Token], at: int, *, after_run: bool) -> tuple[str, int]:
    """The command that starts with a token without quotes, and where it ends; "" for none."""
    name = tokens[at].text
    if tokens[at].kind != "word" or not (name in PROGRAMS or (after_run and name in AFTER_RUN)):
        return "", at
    words, end = [name], at + 1
    if end < len(tokens) and tokens[end].text in PROGRAMS.get(name, "").split():
        words.append(tokens[end].text)
        end += 1
    while end < len(tokens) and tokens[end].kind == "unknown" and _FLAG.fullmatch(tokens[end].text):
        words.append(tokens[end].text)
        end += 1
    return " ".join(words), end


def _value(text: str) -> Token | None:
    ending = text.rpartition(".")[2].casefold()
    if match := _NUMBER.fullmatch(text):
        return Token("number", match[1])
    if _MAIL.fullmatch(text):
        return Token("mail", text.lower())
    if match := _URL.fullmatch(text):
        text = match[1]
    if (_HOST.fullmatch(text) and ending not in _ENDINGS) or _ADDRESS.fullmatch(text) or text == "localhost":
        return Token("host", text.lower())
    if text[:1] == "@" and _HOST.fullmatch(text[1:]):
        return Token("host", text[1:].lower())
    named = (
        _NAMES.fullmatch(text) is not None
        or "/" in text
        or "*" in text
        or text[:1] == "."
        or ("." in text and ending in _ENDINGS)
    )
    if named and _PATH.fullmatch(text) and ".." not in text:
        return Token("path", text.removeprefix("./") if "/" in text.removeprefix("./") else text)
    return None


def _command(quoted: str) -> Token:
    return Token("command" if _COMMAND.fullmatch(quoted) else "unknown", quoted)


def _words(bare: str) -> list[Token]:
    parts = _ELISION.split(bare.lower())
    marked = [f"{part}'" for part in parts[:-1]] + parts[-1:]
    return [Token("word" if _WORD.fullmatch(part.rstrip("'")) else "unknown", part) for part in marked]
