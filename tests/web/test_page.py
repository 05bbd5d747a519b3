"""The status page in a real browser: signing in, watching, answering; and what a hostile neighbour gets: nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from stead.domain.events import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    Event,
    ModelReplied,
    ModelRequested,
    ObjectiveEnded,
    PlanMade,
    PlanStep,
    Spend,
    ToolFinished,
    ToolStarted,
)
from stead.domain.ids import ApprovalId, CallDigest, CallKey, RequestNo, SessionId
from stead.domain.live import OutputDelta, Presence, Progress, TextDelta
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Integrity, Label, Origin, Reason, Risk
from tests.build import desk
from tests.web.browser import CHROMIUM, Browser, Page, chromium
from tests.web.door import NAME, Door, open_door
from tests.web.neighbour import neighbour
from tests.web.simulator import REHEARSAL, Home
from tests.web.test_commands import give

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; install it to test the page")

HOSTILE = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>\u202egnp.exe"


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


async def signed_in(door: Door, browser: Browser) -> Page:
    """A tab that came by the link of ``stead open``."""
    page = await browser.page()
    await page.goto(door.auth.make_code()[1])
    await page.until("document.querySelector('#pill').textContent === 'live'")
    return page


# -- the cookie -----------------------------------------------------------------------------------------------------


async def test_a_server_that_an_agent_starts_on_another_port_never_receives_the_cookie(
    door: Door, browser: Browser
) -> None:
    page = await signed_in(door, browser)
    cookies = (await page.send("Network.getCookies", urls=[door.page]))["cookies"]
    (ours,) = [cookie for cookie in cookies if cookie["name"] == "stead"]
    assert (ours["domain"], ours["httpOnly"], ours["sameSite"]) == (f"{NAME}.localhost", True, "Strict")
    async with neighbour() as other:
        hosts = ("127.0.0.1", "localhost", "preview-77.localhost", f"sub.{NAME}.localhost")
        for host in (*hosts, *hosts):
            await page.goto(f"http://{host}:{other.port}/")
            assert await page.run("document.title") == "neighbour"
            await page.run("fetch('/again', {credentials: 'include'}).then(r => r.text())")
    assert len(other.requests) >= 4 * len(hosts)
    assert any(b"own=1" in request for request in other.requests), "the neighbour's own cookie does come back"
    assert not any(b"stead=" in request or ours["value"].encode() in request for request in other.requests)
    await page.goto(door.page)
    await page.until("document.querySelector('#pill').textContent === 'live'")


async def test_a_neighbours_page_can_neither_read_nor_change_anything(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    session = await give(door, "not for neighbours")
    attempts = f"""Promise.all([
        fetch('{door.page}/api/v1/objectives', {{credentials: 'include'}}).then(r => r.text()),
        fetch('{door.page}/api/v1/stop', {{method: 'POST', credentials: 'include', mode: 'no-cors', body: '{{}}',
            headers: {{'Content-Type': 'text/plain'}}}}).then(r => r.type),
        fetch('{door.page}/api/v1/stop', {{method: 'POST', credentials: 'include', body: '{{}}',
            headers: {{'Content-Type': 'application/json', 'X-Stead': '1'}}}}).then(r => r.text()),
        new Promise((done) => {{
            const socket = new WebSocket('ws://{NAME}.localhost:{door.port}/api/v1/live?after=0');
            socket.onmessage = (message) => done('heard ' + message.data);
            socket.onerror = () => done('refused');
        }}),
        new Promise((done) => {{
            const stream = new EventSource('{door.page}/api/v1/events/stream', {{withCredentials: true}});
            stream.onmessage = (message) => done('heard ' + message.data);
            stream.onerror = () => done('refused');
        }}),
    ].map((attempt) => attempt.catch(() => 'refused')))"""
    async with neighbour() as other:
        for host in ("127.0.0.1", "preview-77.localhost", f"{NAME}.localhost"):
            await page.goto(f"http://{host}:{other.port}/")
            results = await page.run(attempts)
            assert results == ["refused"] * 5, host
    (event,) = door.home.journal.events()
    assert event.session == session


async def test_a_session_that_people_work_in_is_no_objective_on_the_board(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    desks = SessionId("s_00000000000000d1")
    await door.home.record(desks, desk("a desk of its own"))
    door.home.show(Presence(desks, (), 0), Progress(desks, "checkpoint", 1, 2))
    await give(door, "tidy the notes")  # the desk's row was read before this one's
    await page.until("document.body.innerText.includes('tidy the notes')")
    assert not await page.run("document.body.innerText.includes('a desk of its own')")
    assert page.errors == []


# -- signing in and out ---------------------------------------------------------------------------------------------


async def test_the_link_signs_in_once_and_leaves_no_code_behind(door: Door, browser: Browser) -> None:
    code, link = door.auth.make_code()
    page = await browser.page()
    await page.goto(link)
    await page.until("document.querySelector('#pill').textContent === 'live'")
    assert await page.run("location.href") == f"{door.page}/"
    assert await page.run("history.length") <= 2
    assert code not in json.dumps(page.requests)
    assert await page.run("document.cookie") == ""
    assert await page.run("localStorage.length + sessionStorage.length") == 0
    assert page.errors == []
    again = await browser.page()
    await again.goto("about:blank")
    await again.send("Network.clearBrowserCookies")
    await again.goto(link)
    await again.until("document.body.innerText.includes('was used')")
    assert "stead open" in await again.run("document.body.innerText")


async def test_a_browser_that_is_not_signed_in_is_told_how(door: Door, browser: Browser) -> None:
    page = await browser.page()
    await page.goto(door.page)
    await page.until("document.body.innerText.includes('stead open')")
    assert await page.run("document.querySelector('#pill').hidden")


async def test_signing_out_ends_what_is_watched(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    await give(door, "seen before")
    await page.until("document.body.innerText.includes('seen before')")
    await page.click("#sign-out")
    await page.until("document.body.innerText.includes('not signed in')")
    assert not await page.run("document.body.innerText.includes('seen before')")


# -- the work -------------------------------------------------------------------------------------------------------


async def test_a_goal_is_given_followed_and_its_question_answered_on_the_page(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    await page.type("#new-goal", "tidy the harbour lights")
    await page.type("#new-directory", "/")
    await page.type("#new-tokens", "9000")
    await page.click("form.new button")
    await page.until("document.querySelector('h1')?.textContent === 'tidy the harbour lights'")
    (created,) = door.home.journal.events()
    session = created.session
    await work(door.home, session)
    await page.until("document.querySelector('.side .plan .doing')?.textContent.includes('Look around')")
    await page.until("document.querySelector('.steps')?.textContent.includes('I look at the lamps')")
    approval = await door.home.ask(session, "ls lamps")
    await page.until("document.querySelector('.question pre')?.textContent === 'ls lamps'")
    assert await page.run("document.title") == "(1) tidy the harbour lights · Stead"
    assert "1 waits for you" in await page.run("document.querySelector('#waits').textContent")
    await page.click(".question button", "Allow once")
    await page.until("document.querySelector('.question .outcome').textContent === 'Allowed here.'")
    assert door.home.approval(approval).status == "given"
    await door.home.record(session, ObjectiveEnded("completed", "done", "The lamps are tidy."))
    await page.until("document.querySelector('.head .state')?.textContent.includes('completed')")
    await page.click(".back a")
    await page.until("document.querySelector('#before + ul')?.textContent.includes('tidy the harbour lights')")
    assert page.errors == []
    host = f"{NAME}.localhost:{door.port}"
    assert {url.split("/")[2] for url in page.requests if "//" in url} == {host}


async def work(home: Home, session: SessionId) -> None:
    """A turn of a model, seen as it comes."""
    key = CallKey("call_1_0")
    await home.record(session, PlanMade((PlanStep("Look around", "doing"), PlanStep("Tidy")), "model"))
    await home.record(session, ModelRequested(RequestNo(1), "", 1, 500, Spend(600, 10)))
    home.show(TextDelta(session, RequestNo(1), 0, "I look"), TextDelta(session, RequestNo(1), 6, " at the lamps"))
    parts = (Text("I look at the lamps"), ToolCall(key, "glob", '{"pattern":"*"}'))
    usage = Usage(400, 30)
    await home.record(
        session,
        ModelReplied(RequestNo(1), parts, "tool_call", REHEARSAL, usage, Spend(430, 7), (), 900, 200),
        ToolStarted(key, "glob", '{"pattern":"*"}', CallDigest("d" * 64), True),
    )
    home.show(OutputDelta(session, key, 0, "lamp-1\n"))
    await home.record(session, ToolFinished(key, "glob", "ok", "lamp-1\nlamp-2", Label(), 13, 20))


async def test_a_denial_carries_its_reason_and_nothing_is_allowed_by_enter_alone(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    session = await give(door, "build")
    approval = await door.home.ask(session, "rm -r build", "confirm")
    await page.until("!!document.querySelector('.question')")
    for _ in range(3):
        await page.press("Enter", 13)
    await page.run("document.querySelector('.question input').focus()")
    await page.press("Enter", 13)
    assert await page.run("[...document.querySelectorAll('.question button')].map(b => b.textContent)") == [
        "Deny",
        "Allow once",
    ]
    assert door.home.approval(approval).status == "pending"
    await page.type(".question input", "keep the build")
    await page.click(".question button", "Deny")
    await page.until("document.querySelector('.question .outcome').textContent === 'Denied here.'")
    *_, last = door.home.journal.events(session=session)
    assert isinstance(last, Event)
    assert isinstance(last.body, ApprovalDenied)
    assert last.body.reason == "keep the build"


async def test_a_question_says_where_its_target_came_from_and_offers_to_trust_that_source_alone(
    door: Door, browser: Browser
) -> None:
    page = await signed_in(door, browser)
    session = await give(door, "read on")
    key, why = CallKey("call_1_0"), Reason("tainted-argument", "Its 'url' comes from elsewhere.")
    asked = ApprovalRequested(
        ApprovalId("a_0000000000000001"),
        key,
        "fetch",
        '{"url":"https://shop.example.com/?leak=1"}',
        CallDigest("d" * 64),
        "each",
        why,
        Risk.LOW,
        door.home.clock.now_ms() + 3_600_000,
        shape="host:shop.example.com",
        sources=("workspace", "web:shop.example.com"),
        origins=(Origin("url", Integrity.UNTRUSTED, "web:shop.example.com"),),
    )
    await door.home.record(session, asked)
    await page.until("!!document.querySelector('.question')")
    assert await page.run("[...document.querySelectorAll('.question button')].map(b => b.textContent)") == [
        "Deny",
        "Allow, and trust pages of shop.example.com here",
        "Allow for this session",
        "Allow once",
    ]
    facts = await page.run("document.querySelector('.question .facts').innerText")
    assert "comes from pages of shop.example.com (untrusted)" in facts
    assert "A yes for the session covers every request to shop.example.com." in facts
    assert "tainted-argument" in facts and "files of this folder" not in facts


async def test_a_question_that_another_door_answers_says_so(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    session = await give(door, "build")
    approval = await door.home.ask(session, "make")
    await page.until("!!document.querySelector('.question button')")
    row = door.home.approval(approval)
    await door.home.record(session, ApprovalGiven(approval, row.key, row.digest, "cli"))
    await page.until("document.querySelector('.question .outcome').textContent === 'Allowed at the command line.'")
    assert not await page.run("!!document.querySelector('.question button')")


async def test_what_models_tools_and_files_say_is_only_ever_text(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    session = await give(door, HOSTILE, title=HOSTILE)
    await door.home.record(
        session,
        PlanMade((PlanStep(HOSTILE),), "model"),
        ModelRequested(RequestNo(1), "", 1, 500, Spend()),
        ModelReplied(RequestNo(1), (Text(HOSTILE),), "stop", REHEARSAL, Usage(), Spend(), (), 1, 1),
        ToolStarted(CallKey("call_1_0"), HOSTILE, HOSTILE, CallDigest("d"), True),
        ToolFinished(CallKey("call_1_0"), HOSTILE, "ok", HOSTILE, Label(), 1, 1),
    )
    await door.home.ask(session, HOSTILE)
    await page.until("document.querySelector('.question pre')?.textContent.includes('<img')")
    assert "\\u{202e}" in await page.run("document.querySelector('.question pre').textContent")
    await page.run(f"location.hash = '#/o/{session}'")
    await page.until("document.querySelectorAll('.step').length >= 4")
    await page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert await page.run("document.querySelectorAll('main img, main script, main svg').length") == 0
    assert "\u202e" not in await page.run("document.body.innerText")
    assert "pwned" not in str(await page.run("document.title")).replace("'pwned'", "")
    assert page.errors == []


async def test_no_sideways_scrolling_on_a_phone(door: Door, browser: Browser) -> None:
    page = await signed_in(door, browser)
    session = await give(door, "unbroken" * 40)
    await door.home.ask(session, "echo " + "unbroken" * 60)
    await page.until("!!document.querySelector('.question')")
    for width in (390, 320):
        await page.size(width, 800)
        for view in ("#/", f"#/o/{session}"):
            await page.run(f"location.hash = {view!r}")
            await page.until("!!document.querySelector('main h1, main h2')")
            assert await page.run("document.documentElement.scrollWidth") <= width, (width, view)


async def test_the_page_comes_back_by_itself_when_the_daemon_does(home: Home, browser: Browser) -> None:
    async with open_door(home) as door:
        page = await signed_in(door, browser)
    await page.until("document.querySelector('#pill').textContent === 'offline'")
    async with open_door(home, port=door.port) as again:
        await give(again, "while you were away")
        await page.until("document.body.innerText.includes('while you were away')")
        await page.until("document.querySelector('#pill').textContent === 'live'")
    async with open_door(home, port=door.port, epoch="another journal") as replaced:
        await give(replaced, "in the other journal")
        await page.until("document.body.innerText.includes('in the other journal')")


async def test_twelve_tabs_are_live_at_once(door: Door, browser: Browser) -> None:
    tabs = [await signed_in(door, browser)]
    for _ in range(11):
        tabs.append(await browser.page())
        await tabs[-1].goto(door.page)
    for tab in tabs:
        await tab.until("document.querySelector('#pill').textContent === 'live'")
    await give(door, "seen by all of them")
    for tab in tabs:
        await tab.until("document.body.innerText.includes('seen by all of them')")
        assert tab.errors == []
