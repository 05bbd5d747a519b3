"""A page is fetched through the real daemon, after a question, and nothing private ever is."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from stead.domain.ends import WELL
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, in_thread, served
from tests.promises import promise

PAGE = b"<html><head><title>Quill</title><script>let hidden = 1</script></head><body><h1>Quill</h1><p>A pen.</p></body>"


@dataclass
class Site:
    """A web site of one page, and who asked for it."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Give the page."""
        self.requests.append(request)
        await exchange.send(200, PAGE, {"content-type": "text/html; charset=utf-8"})


@contextlib.asynccontextmanager
async def one_page() -> AsyncIterator[Site]:
    """Serve the page."""
    site = Site()
    async with serve(site.handle) as port:
        site.port = port
        yield site


@promise("TOOL-1.fetch", "SEC-6.network")
def test_a_page_is_fetched_after_a_yes_and_private_addresses_are_refused_without_a_question(
    tmp_path: Path, project: Path
) -> None:
    with in_thread(one_page()) as site, in_thread(one_page()) as private:
        house = LivingHome(
            tmp_path / "home", {"FETCH_PORT": str(site.port)}, "tests.flows.loopback_daemon", forked=True
        )
        house.start()
        closed = [f"http://127.0.0.1:{private.port}/", "http://169.254.169.254/latest/", "http://localhost/"]
        refused = Turn("", calls=tuple(Call("fetch", {"url": url}) for url in closed))
        wanted = Turn("", calls=(Call("fetch", {"url": f"http://127.0.0.1:{site.port}/quill"}),))
        try:
            with served(by_turn(refused, wanted, then=Turn("It is about a pen."))) as model:
                use_model(house, model.openai)
                id = house.give("read about Quill", project)
                house.wait(id, "waiting")
                assert (site.requests, private.requests) == ([], [])
                assert len(house.get("/approvals")["items"]) == 1
                assert house.finish(id)["status"] in WELL
                ends = house.bodies(id, "tool.finished")
        finally:
            house.stop()
    assert [end["outcome"] for end in ends] == ["denied", "denied", "denied", "ok"]
    assert "A pen." in ends[-1]["text"]
    assert "hidden" not in ends[-1]["text"]
    assert (len(site.requests), private.requests) == (1, [])
    assert site.requests[0].path == "/quill"
    assert "cookie" not in site.requests[0].headers
