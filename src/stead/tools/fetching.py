"""Getting one page: a GET, and the text at the end of its redirects.

Layer: tools. It knows nothing of permits and of models, and it parses no page. Who connects, to which address, and
which redirect is followed, is ``wire``'s business. What a page says about where to go next (a Refresh field, a ``meta``
element) is content, and nobody follows it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from stead.domain.errors import FetchFault
from stead.guardian.reach import Unreachable
from stead.net.dialing import Dialer
from stead.net.exchange import Answer, Request, brief, follow

BODY_LIMIT_BYTES = 2_000_000
TIME_LIMIT_S = 20.0
REDIRECT_LIMIT = 5

_ACCEPT = (("Accept", "text/html, text/*, application/json, application/xml;q=0.9"),)


@dataclass(frozen=True)
class Page:
    """What came back.

    Args:
        url: after redirects.
        host: that sent it.
        media_type: lower-case, without parameters: ``text/html``.
        charset: as the server named it; "" when it did not.
        body: decompressed, at most ``BODY_LIMIT_BYTES``.
        cut: there was more.
    """

    url: str
    host: str
    media_type: str
    charset: str
    body: bytes
    cut: bool


class Fetcher:
    """Fetches pages of the public Internet.

    Args:
        dialer: how hosts are reached, and which URLs and addresses may be; a name is resolved once a hop.
        timeout_s: for everything together, redirects included.
    """

    def __init__(self, dialer: Dialer, *, timeout_s: float = TIME_LIMIT_S) -> None:
        self._dialer = dialer
        self._timeout_s = timeout_s

    async def fetch(self, url: str) -> Page:
        """Get a page by GET, following up to five redirects of one host to itself.

        Raises:
            FetchFault: refused, not reached, too slow, not text, sent elsewhere, or an answer that is no page; anything
                else is a bug.
        """
        target = self._dialer.reach.check_url(url)
        if isinstance(target, Unreachable):
            raise FetchFault("{}", target.text)
        request = Request(target, headers=_ACCEPT)
        try:
            async with asyncio.timeout(self._timeout_s), follow(self._dialer, request, REDIRECT_LIMIT) as answer:
                return await _page(answer)
        except TimeoutError as error:
            raise FetchFault("{!r} was not answered within {:g} s; try another source", url, self._timeout_s) from error


async def _page(answer: Answer) -> Page:
    url = answer.target.url
    if not 200 <= answer.status < 300:
        raise FetchFault("{!r} answered {}", url, answer.status)
    media_type, charset = answer.media_type
    if not is_text(media_type):
        raise FetchFault("{!r} is {}; only text is fetched", url, brief(media_type) or "of no stated type")
    body, cut = await answer.body(BODY_LIMIT_BYTES)
    return Page(url, answer.target.host, media_type, charset, body, cut)


def is_text(media_type: str) -> bool:
    """Whether what has this type can be read as text."""
    main, _, sub = media_type.partition("/")
    return main == "text" or (main == "application" and (sub in ("json", "xml") or sub.endswith(("+json", "+xml"))))
