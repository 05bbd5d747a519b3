"""The entries of an RSS or Atom feed.

Layer: tools. Everything in a feed is a stranger's. Expat reads it piece by piece; a document type, which is all that
could define entities, is refused, and so is what is nested deep. Nothing else is made of it than short texts.

Sources: RSS 2.0 (rssboard.org), RFC 4287.
"""

from __future__ import annotations

from xml.parsers import expat

from stead.domain.errors import FetchFault
from stead.domain.watches import MOST_ENTRIES, digest

_DEEPEST, _MOST_CHARS, _MOST_TITLE = 50, 2_000, 200
_PARTS = ("guid", "id", "link", "title")


class _Reader:
    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self._path: list[str] = []
        self._entry: dict[str, str] | None = None
        self._level = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self._path.append(local)
        if len(self._path) > _DEEPEST:
            raise ValueError("it is nested too deep")
        if self._entry is None and local in ("item", "entry"):
            self._entry, self._level = {}, len(self._path)
        elif self._entry is not None and local == "link" and "href" in attributes:
            self._entry.setdefault("link", attributes["href"][:_MOST_CHARS])

    def text(self, text: str) -> None:
        part = self._path[-1] if self._path else ""
        if self._entry is not None and len(self._path) == self._level + 1 and part in _PARTS:
            self._entry[part] = (self._entry.get(part, "") + text)[:_MOST_CHARS]

    def end(self, _name: str) -> None:
        self._path.pop()
        if self._entry is not None and len(self._path) < self._level:
            entry = {part: " ".join(text.split()) for part, text in self._entry.items()}
            id = next((entry[part] for part in _PARTS if entry.get(part)), "")
            if id and len(self.entries) < MOST_ENTRIES:
                words = f"- {entry.get('title', '')[:_MOST_TITLE]} {entry.get('link', '')[:_MOST_TITLE]}".rstrip()
                self.entries.setdefault(digest(id.encode()), words)
            self._entry = None


def read_feed(body: bytes, url: str) -> dict[str, str]:
    """A line for each entry, by a digest of its id (its address or title where it has none); up to 1,000.

    Raises:
        FetchFault: it is no feed.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")

    def refuse(*_: object) -> None:
        raise ValueError("it has a document type, which feeds need not have")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.buffer_text = True
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, ValueError) as error:
        raise FetchFault("{!r} is no feed: {}", url, error) from error
    return reader.entries
