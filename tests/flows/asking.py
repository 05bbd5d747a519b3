"""Questions of a living home, answered one by one; and a web site on loopback whose pages a script can obey.

For flows. A daemon fetches from the site only where it is composed so, see ``loopback_daemon``.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.http import Exchange, Request, serve
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome
from tests.flows.served import in_thread

SITE = "web:127.0.0.1"
"""What a page of the site is known as."""


@dataclass
class Site:
    """Pages by path, as plain text, and every path that was asked for."""

    pages: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    asked: list[str] = field(default_factory=list)

    def url(self, path: str = "/") -> str:
        """The address of a page."""
        return f"http://127.0.0.1:{self.port}{path}"

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Give a page, with ``SITE/`` in it as the site's own address."""
        self.asked.append(request.path)
        text = self.pages.get(request.path, "Nothing.").replace("SITE/", self.url())
        await exchange.send(200, text.encode(), {"content-type": "text/plain; charset=utf-8"})


@contextlib.asynccontextmanager
async def serving(site: Site) -> AsyncIterator[Site]:
    """The site on a port of its own."""
    async with serve(site.handle) as port:
        site.port = port
        yield site


@contextlib.contextmanager
def house_with_site(root: Path, pages: Mapping[str, str]) -> Iterator[tuple[LivingHome, Site]]:
    """A home whose daemon may fetch from a site with these pages, and from nowhere else."""
    with in_thread(serving(Site(pages))) as site:
        house = LivingHome(root, {"FETCH_PORT": str(site.port)}, "tests.flows.loopback_daemon", forked=True)
        try:
            house.start()
            yield house, site
        finally:
            house.stop()


def turn(tool: str, **arguments: object) -> Turn:
    """A reply with one call."""
    return Turn("", calls=(Call(tool, arguments),))


def plan(*calls: Json) -> Turn:
    """A reply with a plan of one step that names calls."""
    return turn("plan", steps=[{"title": "do it"}], calls=list(calls))


def question(house: LivingHome, id: str) -> Json:
    """The one question that an objective waits for."""
    house.wait(id, "waiting")
    rows = house.get("/approvals", session=id)["items"]
    assert len(rows) == 1, rows
    row: Json = rows[0]
    return row


def answer(house: LivingHome, row: Json, word: str) -> None:
    """Answer exactly what a question shows."""
    house.post(f"/approvals/{row['id']}/decision", {"answer": word, "digest": row["digest"], "whole": True})


def settle(house: LivingHome, id: str, word: str) -> Json:
    """Answer the one question that an objective waits for; gives what was asked."""
    row = question(house, id)
    answer(house, row, word)
    return row


def verdicts(house: LivingHome, id: str, tool: str = "") -> list[str]:
    """The rule of every verdict on a call, in order; of one tool if named."""
    judged = house.bodies(id, "call.judged")
    return [body["reason"]["rule"] for body in judged if tool in ("", body["tool"])]
