"""The plain reading of a command: a small part of the shell's language, read without the parser.

Layer: guardian. Pure; knows characters, not commands.

No parser reads bash exactly as bash does, and where they differ an attacker finds a home. So nothing is called harmless
on the parser's word alone. This file reads only what every shell reads alike (words, plain quotes, ``| && || ;``, line
ends, brackets, simple redirections) and refuses the rest. A command is understood when both readings find the same
words at the same places.

Texts are UTF-8 bytes shown as Latin-1, so that a place here is a place in the parser's tree.

Source: POSIX.1-2024, shell command language, sections 2.2 to 2.4; the bash 5.2 manual, section 3.5.1.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

_BARE = r"[!#%*+,\-./0-9:=?@A-Z\[\]^_a-z{}~\x80-\xff]"
_WORD = rf"""(?!\#)(?:{_BARE}++|\\[ -~]|'[^']*'|"(?:[^"\\$`]|\\[^\n])*+")++"""
_PIECE = re.compile(rf"""({_BARE}+)|\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
_WHOLE_WORD = re.compile(_WORD)
_SIMPLE = re.compile(r"[%+,\-./0-9:@A-Z_a-z][%+,\-./0-9:@A-Z_a-z=]*+")
_TOKEN = re.compile(
    rf"""
      (?P<blank>(?:[ \t]|(?<=[ \t])\\\n)++)
    | (?P<comment>\#[^\n]*+)
    | (?P<redirect>(?P<how>[0-2]?(?:>>?|<)|&>>?)[ \t]*+(?P<target>{_WORD})
        | (?P<join>[0-2]?>&)(?P<to>[12])(?=[\s;|&)]|$))
    | (?P<operator>&&|\|\||[|;\n()])
    | (?P<word>{_WORD}(?![<>]))
    """,
    re.VERBOSE,
)
_TOKENS = 10_000
_KEYWORDS = "case coproc do done elif else esac fi for function if select then until while { } [[ ]] in"
_RESERVED = frozenset(_KEYWORDS.split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[.*\])?\+?=", re.DOTALL)


class Word(msgspec.Struct, frozen=True):
    """One word of a command.

    Args:
        source: as it is written.
        start: offset of its first character.
        end: one past its last.
        text: what the program gets, unless ``glob``; none when only the shell can know.
        glob: it stands for the files that match ``text``.
    """

    source: str
    start: int
    end: int
    text: str | None
    glob: bool = False

    @property
    def canonical(self) -> str:
        """The one way to write this word; a pattern stays as it is written."""
        if self.glob or self.text is None:
            return _unicode(self.source)
        simple = _SIMPLE.fullmatch(self.text) or self.source == self.text in ("[", "]")
        return self.text if simple else "'" + self.text.replace("'", "'\\''") + "'"


class Plain(msgspec.Struct, frozen=True):
    """What the plain reading found.

    Args:
        commands: places of the words of each simple command.
        targets: places of what the redirections name.
        shape: the command in its canonical form: the same words and operators, written in one way.
    """

    commands: list[list[tuple[int, int]]]
    targets: list[tuple[int, int]]
    shape: str


def make_word(source: str, start: int) -> Word:
    """Read one word by the plain rules."""
    end = start + len(source)
    if _SIMPLE.fullmatch(source):
        return Word(source, start, end, source)
    if not _WHOLE_WORD.fullmatch(source):
        return Word(source, start, end, None)
    text, bare = "", ""
    for run, escaped, single, double in _PIECE.findall(source):
        bare += run or "'"  # what is quoted is never special, but it parts what is bare
        text += run or escaped or single or re.sub(r'\\(["\\$`])', r"\1", double)
    expands = ("{" in bare and ("," in bare or ".." in bare)) or bare.startswith("~") or re.search("[=:]~", bare)
    if expands:
        return Word(source, start, end, None)
    return Word(source, start, end, _unicode(text), glob=any(char in bare for char in "*?["))


def read_plain(text: str) -> Plain | None:
    """Read a whole command, or refuse."""
    commands: list[list[tuple[int, int]]] = [[]]
    targets: list[tuple[int, int]] = []
    shape: list[str] = []
    at = depth = 0
    left = _TOKENS
    closed = False  # a bracket has just closed: only an operator or a redirection can follow
    while at < len(text):
        token = _TOKEN.match(text, at)
        left -= 1
        if token is None or left < 0:
            return None
        at = token.end()
        match token.lastgroup:
            case "blank" | "comment":
                continue
            case "word":
                if closed or not _fits(token["word"], first=not commands[-1]):
                    return None
                if token["word"] == "!" and not commands[-1]:
                    shape.append("!")
                else:
                    commands[-1].append(token.span("word"))
                    shape.append(_canonical(token["word"]))
            case "operator":
                step = _bracket(token["operator"], text[at : at + 1], bool(commands[-1]), closed)
                if step is None or depth + step < 0:
                    return None
                depth, closed = depth + step, step < 0
                commands.append([])
                if token["operator"] != "\n" or (shape and shape[-1] not in ("\n", ";", "|", "&&", "||", "(")):
                    shape.append(token["operator"])
            case _:
                name: Literal["to", "target"] = "to" if token["to"] else "target"
                targets.append(token.span(name))
                shape.append((token["join"] or token["how"] + " ") + _canonical(token[name]))
    if depth:
        return None
    return Plain([command for command in commands if command], targets, " ".join(shape).strip())


def _fits(word: str, *, first: bool) -> bool:
    return not first or (word not in _RESERVED and not _ASSIGNMENT.match(word))


def _bracket(operator: str, following: str, filled: bool, closed: bool) -> int | None:
    """How much deeper the brackets are after an operator; none where it cannot stand."""
    match operator:
        case "(":
            return None if filled or closed or following == "(" else 1
        case ")":
            return -1 if filled or closed else None
        case "\n":
            return 0
        case _:
            return 0 if filled or closed else None


def _canonical(source: str) -> str:
    return source if _SIMPLE.fullmatch(source) else make_word(source, 0).canonical


def _unicode(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")
