"""The readable text of an HTML page.

Layer: machines, runner. Standard library only. A page is hostile: this runs in a fork with a deadline, and what comes
out is untrusted text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SKIPPED = {"script", "style", "noscript", "template", "svg", "math", "iframe", "object"}
_BLOCKS = re.compile(
    "address|article|aside|blockquote|d[dlt]|details|div|fieldset|fig(caption|ure)|footer|form|header|hr|main|nav|[ou]l|p"
    "|pre|section|table|t(body|foot|head|r)|title"
)
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_KEPT_SPACE = "\ue000"
_CHARSET = re.compile(rb"<meta[^>]{1,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


def page_text(content: bytes) -> str:
    """Text with line breaks at blocks, ``#`` before headings, ``-`` before list items, links as ``text (url)``."""
    page = _Page()
    page.feed(_decoded(content))
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip().replace(_KEPT_SPACE, " ")


def _decoded(content: bytes) -> str:
    said = _CHARSET.search(content[:2048])
    for charset in (said[1].decode("ascii") if said else "utf-8", "utf-8"):
        try:
            return content.decode(charset)
        except (LookupError, UnicodeDecodeError):
            continue
    return content.decode("windows-1252", "replace")


class _Page(HTMLParser):
    """Collects text; what is never shown (scripts, styles) is skipped with everything in it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._skipping: list[str] = []
        self._link = ""
        self._preformatted = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED or self._skipping:
            if tag in _SKIPPED:
                self._skipping.append(tag)
        elif tag in _HEADINGS:
            self.pieces.append("\n\n" + _HEADINGS[tag])
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag == "pre":
            self._preformatted = True
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag == "br" or _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")
        elif tag == "a":
            self._link = dict(attrs).get("href") or ""
        elif tag == "img" and (text := dict(attrs).get("alt")):
            self.pieces.append(f"[{text}]")

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
        elif tag == "a" and self._link:
            if not self._link.startswith(("#", "javascript:", "data:")):
                self.pieces.append(f" ({self._link})")
            self._link = ""
        elif tag in _HEADINGS or _BLOCKS.fullmatch(tag):
            self._preformatted = self._preformatted and tag != "pre"
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._skipping:
            return
        if self._preformatted:
            self.pieces.append(data.expandtabs(4).replace(" ", _KEPT_SPACE))
        else:
            self.pieces.append(re.sub(r"\s+", " ", data))
