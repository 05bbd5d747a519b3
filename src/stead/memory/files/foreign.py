"""Statements out of other programs' files of memory: Markdown of agents, and JSON of mem0.

Layer: memory. Pure. One bullet is one statement, with what is indented below it; so is a paragraph, and a block of
code. The heading above is the name that it is found by. Nothing of a file is an instruction: what it says becomes text
that came from elsewhere, and counts as that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from stead.brain.remembering import clean
from stead.domain.errors import InvalidRequest
from stead.domain.memory import KEY_CHARS, Kind
from stead.memory.files.codec import FENCE, HEADING, Bullet, parse, title_in
from stead.memory.files.merge import kind_at

MOST_BYTES = 10_000_000
MOST_LINES = 100_000
FileKind = Literal["markdown", "mem0", "stead", "soul"]
EXPORTED = '{"stead":"memory export'
"""How a part of an export of Stead's begins."""
_PART = re.compile(rf"(?m)^[\ufeff \t]*{re.escape(EXPORTED)}")
_NUMBER = re.compile(r"(?m)^( {0,3})\d{1,9}[.)][ \t]+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_WORDS = ("memory", "text", "data", "content")
_LISTS = ("results", "memories", "data", "items")


class Statement(msgspec.Struct, frozen=True):
    """Something that a file says.

    Args:
        number: of it in the file, from 1.
        text: its words.
        kind: from the heading, as far as that tells.
        aliases: the heading.
        said_ms: when it was said, 0 when the file does not tell.
    """

    number: int
    text: str
    kind: Kind = "knowledge"
    aliases: tuple[str, ...] = ()
    said_ms: int = 0


def kind_of(name: str, text: str) -> FileKind:
    """What a file is, by its name and how it begins.

    Raises:
        InvalidRequest: it is too long.
    """
    size = len(text.encode())
    if size > MOST_BYTES or text.count("\n") > MOST_LINES:
        raise InvalidRequest(
            f"a file to import has up to {MOST_BYTES} bytes and {MOST_LINES} lines, this has {size} and "
            f"{text.count(chr(10)) + 1}; import it in parts"
        )
    base = name.replace("\\", "/").rpartition("/")[2].casefold()
    if base == "soul.md":
        return "soul"
    if text.lstrip("\ufeff \t\r\n").startswith(EXPORTED):
        return "stead"
    if base.endswith((".json", ".jsonl")):
        return "mem0"
    return "markdown"


def parts_of(text: str) -> list[str]:
    """The parts of an export of Stead's, each with its first and its last line."""
    starts = [found.start() for found in _PART.finditer(text)]
    return [text[at:until] for at, until in zip(starts, [*starts[1:], len(text)], strict=True)]


def from_markdown(name: str, text: str) -> Iterator[Statement]:
    """The statements of a Markdown file, in order."""
    file = name.replace("\\", "/").rpartition("/")[2].casefold()
    found = ((heading, clean(words)) for heading, words in _blocks(text))
    for number, (heading, words) in enumerate((one for one in found if one[1]), start=1):
        alias = clean(heading).casefold()[:KEY_CHARS]
        yield Statement(number, words, kind_at(file, heading), (alias,) if alias else ())


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The bullets, paragraphs and blocks of code of a file, each with the heading above."""
    heading, fenced = "", False
    lines: list[str] = []
    plain = _COMMENT.sub("", _NUMBER.sub(r"\1- ", _without_front_matter(text)))
    for part in parse(plain).parts:
        fence = isinstance(part, str) and bool(FENCE.match(part))
        if isinstance(part, str) and (fence or fenced or (part.strip() and not HEADING.match(part))):
            fenced = fenced is not fence
            lines.append(part)
            continue
        yield heading, "\n".join(lines)
        lines = []
        if isinstance(part, Bullet):
            heading = part.heading
            yield heading, part.text
        elif title := HEADING.match(part):
            heading = title_in(title)
    yield heading, "\n".join(lines)


def from_mem0(text: str) -> Iterator[Statement]:
    """The statements of an export of mem0: a list, or an object that has one, or one object a line.

    Raises:
        InvalidRequest: it is none.
    """
    for number, item in enumerate(_items(text), start=1):
        words = item if isinstance(item, str) else ""
        said_ms = 0
        if isinstance(item, Mapping):
            words = next((item[key] for key in _WORDS if isinstance(item.get(key), str)), "")
            said_ms = _moment(item.get("created_at"))
        if words := clean(words):
            yield Statement(number, words, said_ms=said_ms)


def _items(text: str) -> Sequence[object]:
    try:
        found = msgspec.json.decode(text.lstrip("\ufeff"))
    except msgspec.DecodeError:
        try:
            return [msgspec.json.decode(line) for line in text.lstrip("\ufeff").split("\n") if line.strip()]
        except msgspec.DecodeError as error:
            raise InvalidRequest(f"the file is no JSON: {error}; export it again, or import it as Markdown") from error
    if isinstance(found, Mapping):
        found = next((found[key] for key in _LISTS if isinstance(found.get(key), list)), [found])
    if not isinstance(found, list):
        raise InvalidRequest("the file has no list of memories; export it again, or import it as Markdown")
    return found


def _moment(written: object) -> int:
    try:
        moment = datetime.fromisoformat(written) if isinstance(written, str) else None
        if moment is None:
            return 0
        return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000))
    except (ValueError, OverflowError):
        return 0


def _without_front_matter(text: str) -> str:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        end = next(at for at, line in enumerate(lines[1:], start=1) if line.strip() == "---")
        return "\n".join(lines[end + 1 :])
    return "\n".join(lines)
