"""A session's services on the page, their previews in the browser, and what the page of a hostile preview gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import Visit, settled
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import use_model
from tests.flows.served import served
from tests.flows.sitting import Sitting, sit_down
from tests.machines.bench import require_sandbox
from tests.promises import promise

SITE = """
import http.server
class Site(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        print(self.path, self.headers["Cookie"] or "no cookie", flush=True)
    def end_headers(self):
        for way in ("Domain=localhost", "Domain=.localhost", "Path=/"):
            self.send_header("Set-Cookie", f"stead=planted; {way}")
        super().end_headers()
http.server.HTTPServer(("127.0.0.1", 8123), Site).serve_forever()
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Sitting]]:
    """A home with a session that serves its folder."""
    require_sandbox()

    def says(seen: Seen) -> Turn:
        called = seen.body["messages"][-1]["role"] == "tool"
        arguments = {"command": "python3 -u site.py", "service": "web"}
        return Turn("It is served.") if called else Turn("", (Call("shell", arguments),))

    with staged(tmp_path_factory.mktemp("services")) as stage, served(says) as model:
        use_model(stage.house, model.openai)
        (stage.project / "site.py").write_text(SITE)
        (stage.project / "index.html").write_text("<title>Quay</title><h1>Quay</h1>")
        sitting = sit_down(stage.house, stage.project, profile="work", title="The quay")
        sitting.turn("Serve it.")
        yield stage, sitting


def services(page: Page, sitting: Sitting) -> None:
    """Open the session with what it runs."""
    page.goto(f"{urlsplit(page.url).scheme}://{urlsplit(page.url).netloc}/sessions/{sitting.id}")
    settled(page)
    page.get_by_role("tab", name="Terminal").click()


@promise("WS-2.services")
def test_a_service_is_seen_opened_read_and_stopped(desk: tuple[Stage, Sitting], visit: Visit, watch: Watch) -> None:
    stage, sitting = desk
    page = visit(stage)
    services(page, sitting)
    section = page.get_by_role("region", name="Services")
    expect(section).to_contain_text("Running")
    expect(section).to_contain_text("python3 -u site.py")
    watch.expect_console("favicon.ico")  # the service has none, and a browser may ask for it
    watch.expect_host(urlsplit(url := sitting.house.post(f"{sitting.path}/services/web/preview", {})["url"]).netloc)
    with page.context.expect_page() as opened:
        section.get_by_role("button", name="Open preview").click()
    shown = opened.value
    expect(shown.get_by_role("heading", name="Quay")).to_be_visible()
    assert shown.url == url
    assert shown.evaluate("window.opener") is None
    assert shown.evaluate("document.referrer") == ""
    shown.close()
    section.get_by_role("button", name="Log of web").click()
    expect(section.get_by_role("region", name="Log of web")).to_contain_text("/ no cookie")
    axe(page)
    section.get_by_role("button", name="Stop web").click()
    expect(section).to_contain_text("Ended, exit code 137")
    expect(section.get_by_role("button", name="Open preview")).to_be_hidden()
    sitting.turn("Serve it again.")


def test_the_page_of_a_preview_gets_no_cookie_of_ours_and_can_call_nothing(
    desk: tuple[Stage, Sitting], visit: Visit, watch: Watch
) -> None:
    stage, sitting = desk
    watch.expect_console("")  # whatever the preview's page complains of is right
    watch.expect(403, "^/api/")
    watch.expect(421, "^/api/")
    url = sitting.house.post(f"{sitting.path}/services/web/preview", {})["url"]
    watch.expect_host(urlsplit(url).netloc)
    page = visit(stage)
    (ours,) = [one for one in page.context.cookies(stage.origin) if one.get("name") == "stead"]
    before = stage.house.get("/status")["head"]

    page.goto(url)
    assert page.title() == "Quay"
    attempts = f"""Promise.all(['GET', 'POST'].map((method) =>
        fetch('{stage.origin}/api/v1/' + (method === 'GET' ? 'sessions' : 'stop'), {{
            method, credentials: 'include', ...(method === 'POST' && {{ body: '{{}}', headers: {{
                'Content-Type': 'application/json', 'X-Stead': '1', 'Idempotency-Key': 'preview-1' }} }}) }})
            .then((answer) => answer.text()).catch(() => 'refused')))"""
    assert page.evaluate(attempts) == ["refused", "refused"]
    page.evaluate("document.cookie = 'stead=planted; domain=localhost; path=/'")
    page.evaluate("document.cookie = 'stead=planted; domain=.localhost; path=/'")
    page.goto(url)

    assert stage.house.get("/status")["head"] == before
    log = stage.house.get(f"{sitting.path}/services/web")["text"]
    assert "/ no cookie" in log and str(ours["value"]) not in log
    kept = [one for one in page.context.cookies(stage.origin) if one.get("name") == "stead"]
    assert [one["value"] for one in kept] == [ours["value"]], "what a preview sets is sent to nobody else"
    page.goto(stage.origin)
    settled(page)  # still signed in
    stranger = visit.stranger(stage)
    stranger.add_cookies([{"name": "stead", "value": "planted", "url": url}])
    assert not stranger.cookies(stage.origin)
    assert str(ours["value"]) not in json.dumps(stage.house.events())
