"""The tool that fetches a web page.

Layer: tools. The daemon parses no page: HTML is made into text by the machine, through the ``Parser`` port.
"""

from __future__ import annotations

import re

import msgspec

from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity, Reason
from stead.domain.ports import Parser
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.fetching import Fetcher, Page
from stead.tools.output import clip
from stead.tools.tool import StructTool

_HTML = ("text/html", "application/xhtml+xml")
_CHARSETS = {
    *("us-ascii", "ascii", "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "latin1", "shift_jis", "euc-jp"),
    *("iso-2022-jp", "euc-kr", "gb2312", "gbk", "gb18030", "big5", "koi8-r"),
    *(f"iso-8859-{part}" for part in range(1, 17) if part != 12),
    *(f"windows-{page}" for page in range(1250, 1259)),
}
"""Charsets that are decoded. Python's registry has more, and not all of its codecs are for text of strangers."""
_LEFT_OUT = re.compile(r"\[(\d{1,9}) hidden parts left out\]\Z")
"""How the machine's parser ends the text of a page that hid something."""


PUBLIC_PAGE = Declaration(
    effect=ToolEffect.FETCH,
    authority_args=("url",),
    url_args=("url",),
    output_trust=Integrity.UNTRUSTED,
    sensitivity=Confidentiality.PUBLIC,
    idempotent=True,  # a GET is safe to repeat (RFC 9110, section 9.2.1)
)
"""What a tool declares that gets one page of the public Internet, whatever it makes of it."""


class FetchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One public page."""

    url: str


class FetchTool(StructTool[FetchArguments]):
    """Fetch one page of the public Internet as text.

    Args:
        fetcher: gets the bytes.
        parser: makes text of HTML, inside the session's machine.
    """

    def __init__(self, fetcher: Fetcher, parser: Parser) -> None:
        super().__init__("fetch", "Get a public web page as text.", FetchArguments, PUBLIC_PAGE)
        self._fetcher = fetcher
        self._parser = parser

    async def work(self, permit: Permit, arguments: FetchArguments, context: ToolContext) -> ToolOutcome:
        """Fetch it, and give its final URL, its type and its text.

        Raises:
            FetchFault: as ``Fetcher.fetch``.
            MachineError: as ``Parser.html_text``.
        """
        page = await self._fetcher.fetch(arguments.url)
        text = await text_of(page, self._parser, permit)
        cut = f", cut at {len(page.body):,} bytes" if page.cut else ""
        said = clip(f"{page.url} ({page.media_type}{cut})\n\n{text}")
        return ToolOutcome("ok", said, len(page.body), warnings=_warnings(page, text), reached=(page.host,))


async def text_of(page: Page, parser: Parser, permit: Permit) -> str:
    """What a page says, whole.

    Raises:
        MachineError: as ``Parser.html_text``.
    """
    if page.media_type in _HTML:
        return await parser.html_text(permit, _for_parser(page))
    return _decoded(page)


def _warnings(page: Page, text: str) -> tuple[Reason, ...]:
    """What the machine left out of a page. A page that imitates the note gets a warning for nothing, and no more."""
    found = _LEFT_OUT.search(text) if page.media_type in _HTML else None
    if found is None:
        return ()
    said = f"The page had {found[1]} parts that a person would not see; the model was not given them."
    return (Reason("hidden-parts", said),)


def _for_parser(page: Page) -> bytes:
    """The page as the machine can read it: in UTF-8, or in whatever the page itself says.

    What the header says goes before what the page says (HTML, 13.2.3.2). So a page in another charset is handed over in
    ASCII with character references, which mean the same whatever the page says of itself.
    """
    if page.charset in ("", "utf-8", "utf8") or page.charset not in _CHARSETS:
        return page.body
    return _decoded(page).encode("ascii", "xmlcharrefreplace")


def _decoded(page: Page) -> str:
    """The body as text by the server's word, or as UTF-8; what does not decode shows as U+FFFD."""
    charset = page.charset if page.charset in _CHARSETS else "utf-8"
    return page.body.decode(charset, "replace")
