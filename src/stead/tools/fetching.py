"""Getting one page: a GET, its redirects, and the text at their end.

Layer: tools. It knows nothing of permits and of models, and it parses no page. A redirect is followed only where it
stays with the same scheme, host and port, since leave to send a request to one host is none for another; each is
checked like the first URL. Who connects, and to which address, is ``wire``'s business. What a page says about where to
go next (a Refresh field, a ``meta`` element) is content, and nobody follows it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import urljoin

from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach, Target, Unreachable
from stead.net.dialing import Dialer
from stead.tools.wire import Answer, Request, brief, send

BODY_LIMIT_BYTES = 2_000_000
TIME_LIMIT_S = 20.0
REDIRECT_LIMIT = 5

_ACCEPT = (("Accept", "text/html, text/*, application/json, application/xml;q=0.9"),)
_REDIRECTS = (301, 302, 303, 307, 308)


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
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(url)
        except TimeoutError as error:
            raise FetchFault("{!r} was not answered within {:g} s; try another source", url, self._timeout_s) from error

    async def _follow(self, url: str) -> Page:
        reach = self._dialer.reach
        target = reach.check_url(url)
        if isinstance(target, Unreachable):
            raise FetchFault("{}", target.text)
        for _ in range(REDIRECT_LIMIT + 1):
            async with send(self._dialer, Request(target, headers=_ACCEPT)) as answer:
                found = await _page(answer)
            if isinstance(found, Page):
                return found
            target = next_hop(target, found, reach)
        raise FetchFault("{!r} redirects more than {} times; try another source", url, REDIRECT_LIMIT)


def next_hop(target: Target, location: str, reach: Reach) -> Target:
    """Where a redirect leads, if it may be followed: to the same scheme, host and port.

    The comparison is made between what the check understood of both, so that no spelling of a host is another host.

    Args:
        target: that redirected.
        location: what its answer said; a stranger's word.
        reach: what may be fetched.

    Raises:
        FetchFault: it leads elsewhere, or nowhere; says where to, so that it can be asked for by itself.
    """
    try:
        found = reach.check_url(urljoin(target.url, location))
    except ValueError as error:
        raise FetchFault("{!r} redirects to {!r}, which is no URL", target.url, brief(location)) from error
    if isinstance(found, Unreachable):
        raise FetchFault("{!r} redirects to where nothing is fetched: {}", target.url, found.text)
    if (found.scheme, found.host, found.port) != (target.scheme, target.host, target.port):
        raise FetchFault(
            "{!r} redirects to another place, {!r}, which was not followed; that is the page's word; fetch it "
            "by itself if it is wanted",
            *(target.url, found.url),
        )
    return found


async def _page(answer: Answer) -> Page | str:
    """The page, or where it says to have gone."""
    url = answer.target.url
    if answer.status in _REDIRECTS and "location" in answer.fields:
        return answer.fields["location"]
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
