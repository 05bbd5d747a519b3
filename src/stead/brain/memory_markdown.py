r"""Files of memory as Markdown: bullets, of which each is a memory, between words that are the person's own.

Layer: brain. Pure. A file is taken apart into bullets and plain lines, and put together again without a change to what
was not touched: a person may write around the bullets what they like. The comment of a bullet stands at the end of its
first line, so that lines below, and bullets in the bullet, cannot be taken for another memory's.

Words that look like a comment are written with a backslash (``<\!--``, which Markdown shows as it was), so no text of
a memory can speak for another one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from stead.brain.remembering import clean

HEADS = {
    "m": "one bullet is one memory: change, add or delete bullets, and Stead takes it in; other words stay as they are",
    "j": "Stead adds what happens, a line each; whatever you write, change or delete stays so, and is not remembered",
}
"""The first line of a file of memories, and of a day's."""
_HEAD = re.compile(r"^[ \t]{0,3}<!-- ?stead g:(\d{1,12})\b.{0,400}-->[ \t]*$")
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+(.*)$")
_COMMENT = re.compile(r"<!--[ \t]{0,9}([mj]):([0-9a-z_]{1,40})[ \t]{1,9}v:([0-9a-f]{12})[ \t]{0,9}-->")
_REFUSED = re.compile(r"<!--[ \t]{0,9}not remembered x:([0-9a-f]{12})\b.{0,400}?-->")
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)$")
"""A heading; no pattern here may look at a line twice, since lines have up to a megabyte."""
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_HIDDEN = re.compile(r"<(\\*)!--")
_SHOWN = re.compile(r"<(\\+)!--")
_INDENT = 2


@dataclass(slots=True)
class Bullet:
    """One bullet.

    Args:
        text: its words, as ``clean`` has them.
        heading: under which it stands, as people wrote it.
        id: of the memory (or journal line) that its comment names, "" for none.
        mark: that the comment has of the words, "" for none.
        refused: of the words that were refused before, "" for none.
        lines: as they stand in the file; empty when they are to be written anew.
        notes: lines to be written behind it.
        why: it was not remembered, and is to say so.
        gone: it is to be left out.
    """

    text: str
    heading: str = ""
    id: str = ""
    mark: str = ""
    refused: str = ""
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    why: str = ""
    gone: bool = False

    def become(self, id: str, text: str) -> None:
        """Stand for a memory from now on; what says so already stays as it is written."""
        if (self.id, self.text, self.mark) != (id, text, mark_of(text)) or self.refused:
            self.lines = []
        self.id, self.text, self.mark, self.refused = id, text, mark_of(text), ""

    def refuse(self, why: str) -> None:
        """Stay as the person's words, with why they are not remembered."""
        self.why, self.lines, self.refused = why, [], mark_of(self.text)

    @property
    def held(self) -> bool:
        """Its words were refused, and are still the same."""
        return bool(self.refused) and self.refused == mark_of(self.text)

    def written(self, letter: str) -> Iterator[str]:
        """The lines of the file."""
        if self.gone:
            return
        if self.lines:
            yield from self.lines
        else:
            first, *more = _escaped(self.text).split("\n")
            comment = f" <!-- {letter}:{self.id} v:{self.mark} -->" if self.id else ""
            if self.why:
                comment += f" <!-- not remembered x:{self.refused}: {_in_comment(self.why)} -->"
            yield f"- {first}{comment}"
            yield from (f"{' ' * _INDENT}{line}" for line in more)
        yield from self.notes


@dataclass(slots=True)
class Document:
    """A file, taken apart.

    Args:
        parts: in order: bullets, and lines that are none.
        generation: of the text that it was made from, by its first line; -1 when that is lost.
    """

    parts: list[Bullet | str] = field(default_factory=list)
    generation: int = -1

    @property
    def bullets(self) -> list[Bullet]:
        """In order."""
        return [part for part in self.parts if isinstance(part, Bullet)]

    def add(self, heading: str, bullets: Sequence[Bullet]) -> None:
        """Put bullets behind the last one under a heading, which is made at the end if it is not there."""
        if not bullets:
            return
        for bullet in bullets:
            bullet.heading = heading
        at = self._end_of(heading)
        if at < 0:
            lead = ["", f"## {heading}", ""] if heading else [""]
            while self.parts and self.parts[-1] == "":
                self.parts.pop()
            self.parts += [*(lead if self.parts else lead[1:]), *bullets]
        else:
            self.parts[at:at] = bullets

    def text(self, generation: int, letter: str = "m") -> str:
        """The file, with its first line."""
        lines = [f"<!-- stead g:{generation}: {HEADS[letter]} -->"]
        for part in self.parts:
            lines += [part] if isinstance(part, str) else part.written(letter)
        return "\n".join(lines).rstrip("\n") + "\n"

    def _end_of(self, heading: str) -> int:
        """Behind the last bullet of a section, or behind its heading; -1 without one."""
        found, inside = -1, not heading
        for at, part in enumerate(self.parts):
            if isinstance(part, Bullet):
                found = at + 1 if inside else found
            elif match := HEADING.match(part):
                if found >= 0 and inside and heading:
                    return found
                inside = not heading or title_in(match).casefold() == heading.casefold()
                found = at + 1 if inside and heading else found
            elif inside and not part.strip() and at == found and self._is_heading(at - 1):
                found = at + 1  # the empty line below a heading
        return found

    def _is_heading(self, at: int) -> bool:
        part = self.parts[at]
        return isinstance(part, str) and bool(HEADING.match(part))


def parse(text: str, known: Collection[str] = ()) -> Document:
    """Take a file apart; whatever is no bullet stays as it is.

    Args:
        text: of the file.
        known: ids that were written into it. A line with one of them is a bullet wherever it stands, so that a fence or
            a comment that nobody closed hides none.
    """
    document = Document()
    heading, fence, open_comment = "", "", False
    open_bullet: Bullet | None = None
    waiting: list[str] = []  # empty lines, which belong to a bullet only if it goes on below them
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        hidden = bool(fence) or open_comment
        ours = hidden and any(found[2] in known for found in _COMMENT.finditer(line))
        if not hidden or ours or open_bullet is not None:
            head = _HEAD.match(line)
            if head and document.generation < 0:
                document.generation = int(head[1])
                continue
            starts = _bullet(line, inside=open_bullet is not None) if ours or not hidden else None
            if starts is not None:
                open_comment = open_comment and not ours
                document.parts += waiting
                waiting, open_bullet = [], starts
                starts.heading = heading
                document.parts.append(starts)
                continue
            if open_bullet is not None and not line.strip():
                waiting.append(line)
                continue
            if open_bullet is not None and line[:1] in (" ", "\t") and _indent(line) >= _INDENT:
                open_bullet.lines += [*waiting, line]
                waiting = []
                continue
        document.parts += waiting
        waiting, open_bullet = [], None
        document.parts.append(line)
        heading, fence, open_comment = _around(line, heading, fence, open_comment)
    document.parts += waiting
    for bullet in document.bullets:
        _read(bullet)
    document.parts = [_kept(part) for part in document.parts if isinstance(part, str) or part.text or not part.id]
    return document


def mark_of(text: str) -> str:
    """What a comment says of the words, so that a file tells whether a person changed them."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def title_in(match: re.Match[str]) -> str:
    """The words of a heading."""
    return match[1].rstrip(" \t#")


def _kept(part: Bullet | str) -> Bullet | str:
    """A bullet without words is a line like others; one that has a comment alone was emptied, and is left out."""
    return part if isinstance(part, str) or part.text else "\n".join(part.lines)


def _bullet(line: str, *, inside: bool) -> Bullet | None:
    """The bullet that a line begins; within another one only a line with a memory's comment does."""
    match = _BULLET.match(line)
    if match is None or (_indent(line) >= _INDENT and inside and not _COMMENT.search(line)):
        return None
    if _indent(line) > 3 and not inside:
        return None  # a block of code
    return Bullet("", lines=[line])


def _read(bullet: Bullet) -> None:
    """Take a bullet's words and comments out of its lines."""
    match = _BULLET.match(bullet.lines[0])
    words = "\n".join([match[2] if match else "", *bullet.lines[1:]])
    if found := _COMMENT.search(words):
        bullet.id, bullet.mark = found[2], found[3]
    if refused := _REFUSED.search(words):
        bullet.refused = refused[1]
    words = _REFUSED.sub("", _COMMENT.sub("", words))
    bullet.text = _SHOWN.sub(lambda shown: f"<{shown[1][1:]}!--", clean(words))


def _around(line: str, heading: str, fence: str, open_comment: bool) -> tuple[str, str, bool]:
    """Under which heading the next line stands, in which fence, and whether a comment goes on."""
    if open_comment:
        return heading, fence, "-->" not in line
    if match := _FENCE.match(line):
        if not fence:
            return heading, match[1], False
        return heading, "" if match[1].startswith(fence) else fence, False
    if not fence and (title := HEADING.match(line)):
        return title_in(title), fence, False
    return heading, fence, not fence and line.rfind("<!--") > line.rfind("-->")


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))


def _escaped(text: str) -> str:
    return _HIDDEN.sub(lambda hidden: f"<{hidden[1]}\\!--", clean(text))


def _in_comment(why: str) -> str:
    return " ".join(why.replace("--", "-").replace(">", "").split())[:200]
