r"""Files of memory as Markdown: each bullet is one record, between words that are the person's own.

Layer: memory. Pure. A file is parsed into bullets and plain lines, and put together again without a change to what was
not touched: a person may write what they like around the bullets. The comment of a bullet stands at the end of its
first line, so that lines below, and bullets in the bullet, cannot be taken for another memory's.

Words that look like a comment are written with a backslash (``<\!--``, which Markdown shows as it was), so no text of
a memory can speak for another one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stead.brain.remembering import clean

Letter = Literal["m", "j"]
"""Of the comments: "m" names a memory, "j" a line of a day's journal."""
MOST_BYTES = 1_000_000
"""Of a file; what is longer is no file that a person keeps by hand, and is not read."""
FULL_BYTES = 600_000
"""A file of this size takes no more records in; a longer one could not be read back."""
_HEADS: dict[Letter, str] = {
    "m": "one bullet is one memory: change, add or delete bullets, and Stead takes it in; other words stay as they are",
    "j": "Stead adds what happens, a line each; whatever you write, change or delete stays so, and is not remembered",
}
_HEAD = re.compile(r"^[ \t]{0,3}<!-- ?stead g:(\d{1,12})\b.{0,400}-->[ \t]*$")
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+(.*)$")
_COMMENT = re.compile(r"<!--[ \t]{0,9}([mj]):([0-9a-z_]{1,40})[ \t]{1,9}v:([0-9a-f]{12})[ \t]{0,9}-->")
_REFUSED = re.compile(r"<!--[ \t]{0,9}not remembered x:([0-9a-f]{12})\b.{0,400}?-->")
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)$")
"""A heading; no pattern here may look at a line twice, since lines have up to a megabyte."""
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_HIDDEN = re.compile(r"<(\\*)!--")
_SHOWN = re.compile(r"<(\\+)!--")
_INDENT = 2


@dataclass(slots=True)
class Bullet:
    """One record of a file.

    Args:
        text: its words, as ``clean`` has them.
        heading: under which it stands, as people wrote it.
        id: of the memory or journal line that its comment names, "" for none.
        mark: the digest of the words in its comment, "" for none.
        refused: the digest of words that were refused before, "" for none.
        lines: as they stand in the file; empty when they are to be written from the text.
        notes: lines to be written behind it.
        why: the reason why it was not remembered, to be written behind it.
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

    @classmethod
    def of(cls, id: str, text: str) -> Bullet:
        """A new one, which stands for a record."""
        return cls(clean(text), id=id, mark=mark_of(clean(text)))

    def become(self, id: str, text: str) -> None:
        """Stand for a record from now on; what says so already stays as it is written."""
        if (self.id, self.text, self.mark) != (id, text, mark_of(text)) or self.refused:
            self.lines = []
        self.id, self.text, self.mark, self.refused = id, text, mark_of(text), ""

    def refuse(self, why: str) -> None:
        """Stay as the person's words, with the reason why they are not remembered."""
        self.why, self.lines, self.refused = why, [], mark_of(self.text)

    @property
    def held(self) -> bool:
        """Its words were refused, and are still the same."""
        return bool(self.refused) and self.refused == mark_of(self.text)

    @property
    def touched(self) -> bool:
        """A person changed its words since they were written."""
        return self.mark != mark_of(self.text)

    def written(self, letter: Letter) -> Iterator[str]:
        """The lines of the file."""
        if self.gone:
            return
        if self.lines:
            yield from self.lines
        else:
            first, *more = _HIDDEN.sub(lambda hidden: f"<{hidden[1]}\\!--", clean(self.text)).split("\n")
            comment = f" <!-- {letter}:{self.id} v:{self.mark} -->" if self.id else ""
            if self.why:
                why = " ".join(self.why.replace("--", "-").replace(">", "").split())[:200]
                comment += f" <!-- not remembered x:{self.refused}: {why} -->"
            yield f"- {first}{comment}"
            yield from (f"{' ' * _INDENT}{line}" for line in more)
        yield from self.notes


@dataclass(slots=True)
class Document:
    """A parsed file.

    Args:
        parts: in order: bullets, and lines that are none.
        generation: of the text that it was made from, by its first line; -1 when that is lost.
        letter: of its records.
    """

    parts: list[Bullet | str] = field(default_factory=list)
    generation: int = -1
    letter: Letter = "m"

    @property
    def bullets(self) -> list[Bullet]:
        """In order."""
        return [part for part in self.parts if isinstance(part, Bullet)]

    def add(self, heading: str, bullets: Sequence[Bullet]) -> int:
        """Put bullets behind the last one under a heading, which is made at the end if it is not there.

        Returns:
            How many, from the first on, found room in the file.
        """
        room_bytes = FULL_BYTES - len(self.text(0).encode())
        fit = 0
        for bullet in bullets:
            room_bytes -= self.size_of(bullet)
            if room_bytes < 0:
                break
            bullet.heading = heading
            fit += 1
        at = self._end_of(heading)
        if fit and at < 0:
            lead = ["", f"## {heading}", ""] if heading else [""]
            while self.parts and self.parts[-1] == "":
                self.parts.pop()
            self.parts += [*(lead if self.parts else lead[1:]), *bullets[:fit]]
        elif fit:
            self.parts[at:at] = bullets[:fit]
        return fit

    def size_of(self, bullet: Bullet) -> int:
        """What a bullet takes of the file, in bytes."""
        return sum(len(line.encode()) + 1 for line in bullet.written(self.letter))

    def text(self, generation: int) -> str:
        """The file, with its first line."""
        lines = [f"<!-- stead g:{generation}: {_HEADS[self.letter]} -->"]
        for part in self.parts:
            lines += [part] if isinstance(part, str) else part.written(self.letter)
        return "\n".join(lines).rstrip("\n") + "\n"

    def _end_of(self, heading: str) -> int:
        """Behind the last bullet of a section, or behind its heading; -1 without one."""
        found, inside, title_at = -1, not heading, -1
        for at, part in enumerate(self.parts):
            if isinstance(part, Bullet):
                found = at + 1 if inside else found
            elif match := HEADING.match(part):
                title_at = at
                if found >= 0 and inside and heading:
                    return found
                inside = not heading or title_in(match).casefold() == heading.casefold()
                found = at + 1 if inside and heading else found
            elif inside and not part.strip() and at == found == title_at + 1:
                found = at + 1  # the empty line below a heading
        return found


def parse(text: str, known: Collection[str] | None = (), letter: Letter = "m") -> Document:
    """Parse a file; whatever is no bullet stays as it is.

    Args:
        text: of the file.
        known: ids that were written into it, None for every id. A line with one of them is a bullet wherever it stands,
            so that an open fence or comment hides none.
        letter: of its records.
    """
    document = Document(letter=letter)
    heading, fence, open_comment = "", "", False
    open_bullet: Bullet | None = None
    waiting: list[str] = []  # empty lines, which belong to a bullet only if it goes on below them
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        hidden = bool(fence) or open_comment
        ours = hidden and any(known is None or found[2] in known for found in _COMMENT.finditer(line))
        if not hidden or ours or open_bullet is not None:
            head = _HEAD.match(line)
            if head and document.generation < 0:
                document.generation = int(head[1])
                continue
            if (ours or not hidden) and _begins(line, inside=open_bullet is not None):
                open_comment = open_comment and not ours
                open_bullet = Bullet("", heading, lines=[line])
                document.parts += [*waiting, open_bullet]
                waiting = []
                continue
            if open_bullet is not None and not line.strip():
                waiting.append(line)
                continue
            if open_bullet is not None and line[:1] in (" ", "\t") and _indent(line) >= _INDENT:
                open_bullet.lines += [*waiting, line]
                waiting = []
                continue
        document.parts += [*waiting, line]
        waiting, open_bullet = [], None
        heading, fence, open_comment = _around(line, heading, fence, open_comment)
    document.parts = [kept for part in (*document.parts, *waiting) if (kept := _read(part)) is not None]
    return document


def mark_of(text: str) -> str:
    """A digest of words, by which a file shows whether a person changed them."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def title_in(match: re.Match[str]) -> str:
    """The words of a heading."""
    return match[1].rstrip(" \t#")


def _begins(line: str, *, inside: bool) -> bool:
    """Whether a line begins a bullet; within another one only a line with a memory's comment does."""
    if _BULLET.match(line) is None:
        return False
    if inside:
        return _indent(line) < _INDENT or bool(_COMMENT.search(line))
    return _indent(line) <= 3  # what stands further in is a block of code


def _read(part: Bullet | str) -> Bullet | str | None:
    """A bullet with its words and comments; one without words is a plain line, with a comment alone it was emptied."""
    if isinstance(part, str):
        return part
    match = _BULLET.match(part.lines[0])
    words = "\n".join([match[2] if match else "", *part.lines[1:]])
    if found := _COMMENT.search(words):
        part.id, part.mark = found[2], found[3]
    if refused := _REFUSED.search(words):
        part.refused = refused[1]
    words = _REFUSED.sub("", _COMMENT.sub("", words))
    part.text = _SHOWN.sub(lambda shown: f"<{shown[1][1:]}!--", clean(words))
    if part.text:
        return part
    return None if part.id else "\n".join(part.lines)


def _around(line: str, heading: str, fence: str, open_comment: bool) -> tuple[str, str, bool]:
    """Under which heading the next line stands, in which fence, and whether a comment goes on."""
    if open_comment:
        return heading, fence, "-->" not in line
    if match := FENCE.match(line):
        if not fence:
            return heading, match[1], False
        return heading, "" if match[1].startswith(fence) else fence, False
    if not fence and (title := HEADING.match(line)):
        return title_in(title), fence, False
    return heading, fence, not fence and line.rfind("<!--") > line.rfind("-->")


def _indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))
