"""The readable text of an HTML page.

Layer: machines, runner. Standard library only. A page is hostile: this runs in a fork with a deadline, and what comes
out is untrusted text. What a person would not see (by attributes and inline styles; style sheets are not applied) is
left out, and how often that happened is said at the end.
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
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_ENDS_BEFORE = {  # a start tag that closes an open element of these names, as the closing tag may be missing
    "li": {"li"},
    "p": {"p"},
    "tr": {"tr", "td", "th"},
    "td": {"td", "th"},
    "th": {"td", "th"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "option": {"option"},
}
_HOLDERS = {"table", "ul", "ol", "dl", "select", "div"}  # inside these the next item is another one's
_UNSEEN_STYLE = re.compile(
    r"display:none|visibility:(hidden|collapse)|opacity:0?(\.0\d*)?(?![\d.])|font-size:(0+(\.0\d*)?[a-z%]*|[01]px)(?=[;!]|$)"
    r"|(left|top|right|bottom|text-indent|margin-left|margin-top):-\d{3,}|clip:rect\(0|clip-path:inset\((50|100)%"
    r"|transform:(scale\(0|translate[xy]?\(-\d{3,})|content-visibility:hidden"
)
_NO_SIZE = re.compile(r"(?:^|;)(max-)?(height|width):[01](\.\d+)?(px)?(?=[;!]|$)")
_DEEPEST = 500  # elements open in a hidden one that are tracked one by one; deeper ones end with those around them
_KEPT_SPACE = "\ue000"
_CHARSET = re.compile(rb"<meta[^>]{1,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


def page_text(content: bytes) -> str:
    """Text with line breaks at blocks, ``#`` before headings, ``-`` before list items, links as ``text (url)``."""
    page = _Page()
    page.feed(_decoded(content))
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.pieces).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip().replace(_KEPT_SPACE, " ")
    return f"{text}\n\n[{page.hidden} hidden parts left out]".lstrip() if page.hidden else text


def _decoded(content: bytes) -> str:
    said = _CHARSET.search(content[:2048])
    for charset in (said[1].decode("ascii") if said else "utf-8", "utf-8"):
        try:
            return content.decode(charset)
        except (LookupError, UnicodeDecodeError):
            continue
    return content.decode("windows-1252", "replace")


def _unseen(attrs: dict[str, str | None]) -> bool:
    """Whether an element's own attributes hide it and everything in it."""
    if "hidden" in attrs or (attrs.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = re.sub(r"/\*.*?\*/|[\s\\]", "", (attrs.get("style") or "").lower())
    clipped = "overflow:hidden" in style or "overflow:clip" in style
    return bool(_UNSEEN_STYLE.search(style) or (clipped and _NO_SIZE.search(style)))


class _Page(HTMLParser):
    """Collects text; what is never shown (scripts, styles) and what is hidden is skipped with everything in it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden = 0
        self._skipping: list[str] = []
        self._unseen: list[str] = []
        self._link = ""
        self._preformatted = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._is_hidden(tag, attrs):
            return
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

    def _is_hidden(self, tag: str, attrs: list[tuple[str, str | None]]) -> bool:
        """Keeps the hidden element that is open, with what is open in it."""
        if self._skipping:
            return False
        if self._unseen and self._unseen[0] in _ENDS_BEFORE.get(tag, ()) and not _HOLDERS.intersection(self._unseen):
            self._unseen.clear()
        if not self._unseen and not _unseen(dict(reversed(attrs))):  # of two of one name, the first counts
            return False
        self.hidden += not self._unseen
        if tag not in _VOID and len(self._unseen) < _DEEPEST:
            self._unseen.append(tag)
        return True

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """In HTML the slash of ``<div/>`` says nothing."""
        self.handle_starttag(tag, attrs)

    def handle_comment(self, data: str) -> None:
        """Comments with words in them are a hidden part; conditional ones and markers are not."""
        self.hidden += len(data.split()) > 3 and not data.startswith("[")

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            if tag in self._unseen:  # what was left open inside ends too
                while self._unseen.pop() != tag:
                    pass
        elif self._skipping:
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
        if self._skipping or self._unseen:
            return
        if self._preformatted:
            self.pieces.append(data.expandtabs(4).replace(" ", _KEPT_SPACE))
        else:
            self.pieces.append(re.sub(r"\s+", " ", data))
