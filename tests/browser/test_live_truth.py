"""The page tells the truth about now: replies under way are whole, silence is told as silence, what is settled goes."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.chrome import DESKTOP, PHONE, Look, Visit, is_live, settled
from tests.browser.pictures import picture
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import SAY, bodies, say, sit_down
from tests.browser.watch import Watch
from tests.browser.watching import question
from tests.flows.house import use_model

TRUE_WITHIN_MS = 5000
SAID = """() => {
  const began = performance.now()
  const tick = 50
  let [last, late] = [began, 0]
  const timer = setInterval(() => {
    late = Math.max(late, performance.now() - last - tick)
    last = performance.now()
  }, tick)
  window.said = new Promise((done) => {
    new MutationObserver((_, watching) => {
      if (!document.querySelector("[role=status][aria-label=Connection]")?.textContent.includes("offline")) return
      watching.disconnect()
      clearInterval(timer)
      done([performance.now() - began, late])
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
}"""
"""How long the page takes to say that it is offline, and by how much its timers are late meanwhile, in ms: ``said``."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    with staged(tmp_path_factory.mktemp("truth")) as one:
        use_model(one.house, one.model.openai)
        yield one


def items(page: Page) -> Locator:
    """What stands in the conversation, each message, reply and line by itself."""
    return page.get_by_role("region", name="Timeline").locator("li[data-index]")


def story(page: Page) -> Locator:
    """What stands last in the conversation."""
    return items(page).last


def begun(page: Page) -> None:
    """Wait until the model has written a part of its long reply."""
    expect(page.get_by_role("region", name="Timeline").get_by_text("Nobody was at the quay.").first).to_be_visible()


def is_whole(page: Page) -> None:
    """The reply under way is there from its first word on, as Markdown."""
    heading = page.get_by_role("region", name="Timeline").get_by_role("heading", name="The harbour").first
    expect(heading).to_be_attached()
    said = story(page).inner_text().strip()
    assert said.startswith("The harbour"), said[:80]
    assert "…" not in said


def test_a_second_tab_and_a_reload_show_the_reply_under_way_from_its_first_word(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Two tabs")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please tell it at length")
    begun(page)
    other = visit(stage, f"/sessions/{session}")
    begun(other)
    is_whole(other)
    page.reload()
    settled(page)
    begun(page)
    is_whole(page)
    picture(page, "live-reloaded-in-mid-stream")
    assert not bodies(stage, session, "model.replied"), "it was under way all the time"
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Stopped by you, in the page")


@pytest.mark.long
def test_a_device_ten_times_slower_stays_usable_while_a_long_reply_streams(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A slow device")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please tell it at length")
    begun(page)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 10})
    page.reload()
    settled(page)
    is_whole(page)
    box = page.get_by_role("textbox", name=SAY)
    began = time.monotonic()
    box.fill("Enough of that")
    expect(box).to_have_value("Enough of that")
    page.get_by_role("button", name="Stop", exact=True).click()
    assert time.monotonic() - began < 10
    expect(page.get_by_role("main")).to_contain_text("Stopped by you, in the page")


@pytest.mark.long
@pytest.mark.parametrize("how", ["Stop", "Interrupt", "a crash"])
def test_text_of_a_reply_that_was_interrupted_stays_grey_and_marked(
    stage: Stage, visit: Visit, watch: Watch, how: str
) -> None:
    if how == "a crash":
        watch.expect_outage()
    session = sit_down(stage, "Cut short")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please tell it at length")
    begun(page)
    if how == "Interrupt":
        page.get_by_role("textbox", name=SAY).fill("Enough of that")
        page.get_by_role("button", name="Send now").click()
    elif how == "Stop":
        page.get_by_role("button", name="Stop", exact=True).click()
    else:
        stage.house.kill()
        is_live(page, "offline")
        stage.house.start()
        is_live(page)
    main = page.get_by_role("main")
    kept = items(page).filter(has_text="reserved for it").first
    expect(kept).to_contain_text(re.compile("Nobody was at the quay.*Interrupted", re.DOTALL))
    expect(main).not_to_contain_text("No usable reply")
    if how == "a crash":
        page.get_by_role("button", name="Stop", exact=True).click()  # it goes on by itself, from the start
        return
    page.reload()
    settled(page)
    expect(kept).to_contain_text("Nobody was at the quay.")
    expect(kept.get_by_role("heading").first).to_be_attached()
    kept.get_by_text("Interrupted").scroll_into_view_if_needed()
    picture(page, f"live-{how.lower()}")
    (failed,) = bodies(stage, session, "model.failed")
    assert failed["partial"].startswith("## The harbour")


@contextmanager
def soon_offline(page: Page) -> Iterator[None]:
    """What is done inside cuts the page off, and it says so in time by its own clock.

    As late as its timers are on a loaded computer, it may be.
    """
    page.evaluate(SAID)
    yield
    is_live(page, "offline")
    took_ms, late_ms = page.evaluate("said")
    assert took_ms - late_ms <= TRUE_WITHIN_MS, (took_ms, late_ms)


def test_a_daemon_that_is_frozen_and_a_network_that_is_cut_are_told_within_five_seconds(
    stage: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect_outage()
    watch.expect_console("ERR_INTERNET_DISCONNECTED")
    session = sit_down(stage, "Silence")
    page = visit(stage, f"/sessions/{session}")
    with soon_offline(page):
        page.context.set_offline(True)
    page.context.set_offline(False)
    is_live(page)
    assert stage.house.process is not None
    try:
        with soon_offline(page):
            os.kill(stage.house.process.pid, signal.SIGSTOP)
        expect(page.get_by_role("alert")).to_contain_text("does not respond")
        box = page.get_by_role("textbox", name=SAY).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= DESKTOP.height, "the note leaves the composer in the window"
        picture(page, "live-frozen-daemon")
    finally:
        os.kill(stage.house.process.pid, signal.SIGCONT)
    is_live(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_socket_that_nobody_is_at_the_other_end_of_and_a_frame_that_is_none_lose_nothing(
    stage: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect_outage()
    session = sit_down(stage, "Half open")
    page = visit(stage, "/settings")
    spoilt, dead = threading.Event(), threading.Event()

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def down(message: str | bytes) -> None:
            if dead.is_set():
                return
            if spoilt.is_set() and b'"seq"' in (message if isinstance(message, bytes) else message.encode()):
                spoilt.clear()
                socket.send('[{"v":1,"body"')
                return
            socket.send(message)

        server.on_message(down)

    page.route_web_socket(re.compile("/api/v1/live"), between)
    page.goto(f"{stage.origin}/sessions/{session}")
    settled(page)
    spoilt.set()
    say(page, "Please tell me of the harbour")
    expect(page.get_by_role("main")).to_contain_text("Turn 1 done")
    assert not spoilt.is_set(), "a frame was spoilt"
    is_live(page)
    with soon_offline(page):
        dead.set()
    dead.clear()
    is_live(page)


def covered(page: Page, toast: Locator) -> list[str]:
    """Names of buttons, links and fields that a toast lies over."""
    found: list[str] = toast.evaluate(
        """(toast) => {
          const at = toast.getBoundingClientRect()
          return [...document.querySelectorAll("button, a[href], input, textarea")]
            .filter((one) => !toast.contains(one))
            .filter((one) => {
              const box = one.getBoundingClientRect()
              if (box.width === 0 || getComputedStyle(one).visibility === "hidden") return false
              if (one.closest(".sr-only") || one.classList.contains("sr-only")) return false
              return box.left < at.right && at.left < box.right && box.top < at.bottom && at.top < box.bottom
            })
            .map((one) => one.getAttribute("aria-label") || one.textContent)
        }"""
    )
    return found


@pytest.mark.parametrize(
    "look",
    [pytest.param(DESKTOP, marks=pytest.mark.long), PHONE, pytest.param(Look(1024, 768), marks=pytest.mark.long)],
    ids=["desktop", "phone", "laptop"],
)
def test_a_toast_covers_no_button_goes_when_its_question_is_settled_and_stays_behind_the_bell(
    stage: Stage, visit: Visit, look: Look
) -> None:
    other = sit_down(stage, "Something else")
    page = visit(stage, f"/sessions/{other}", look)
    expect(page.get_by_role("region", name="Notifications")).to_be_attached()
    asking = sit_down(stage, "The lamps")
    stage.house.post(f"/sessions/{asking}/messages", {"text": "Please light the lamps"})
    approval = question(stage, asking)
    toast = page.get_by_role("region", name="Notifications").get_by_role("dialog")
    expect(toast.get_by_role("button", name="Review")).to_be_visible()
    assert covered(page, toast) == []
    picture(page, f"live-toast-{look.width}")
    row = stage.house.get(f"/approvals/{approval}")
    stage.house.post(f"/approvals/{approval}/decision", {"answer": "deny", "digest": row["digest"]})
    expect(toast).to_have_count(0)
    page.reload()
    settled(page)
    page.get_by_role("button", name="Notifications").click()
    notices = page.get_by_role("dialog", name="Notifications")
    expect(notices).to_contain_text("Run a shell command in quill")
    picture(page, f"live-notices-{look.width}")
    stage.house.post(f"/sessions/{asking}/stop", {"why": "enough"})


@pytest.mark.long
def test_pause_while_a_command_runs_says_that_it_waits_for_it_and_stop_stays(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Pausing", allow=["shell"])
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please keep watch")
    expect(page.get_by_role("main")).to_contain_text("running")
    page.get_by_role("button", name="Pause").click()
    state = page.get_by_role("status", name="State")
    expect(state).to_contain_text("Pausing after this step…")
    picture(page, "live-pausing")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(state).to_contain_text("Paused")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    stage.house.until(lambda: bool(bodies(stage, session, "tool.finished")), "the command to end")
    (ended,) = bodies(stage, session, "tool.finished")
    assert ended["outcome"] == "cancelled"


@pytest.mark.long
def test_nothing_that_has_happened_is_shown_as_to_come(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/approvals")
    session = sit_down(stage, "Fresh")
    stage.house.post(f"/sessions/{session}/messages", {"text": "Please light the lamps"})
    question(stage, session)
    page.get_by_role("button", name="Details").first.click()
    expect(page.get_by_text("Asked").first).to_be_visible()
    times = page.get_by_role("main").locator("time").all_inner_texts()
    assert times
    late = [
        text for text in times if text.startswith("in ") and not re.match(r"in (23|24|\d+) (hours|days)|tomorrow", text)
    ]
    assert late == []
    stage.house.post(f"/sessions/{session}/stop", {"why": "enough"})


class Guarded(BaseHTTPRequestHandler):
    """A server that refuses every key."""

    def do_GET(self) -> None:
        body = b'{"error": {"message": "bad key"}}'
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def guarded() -> Iterator[str]:
    """The address of a model server that refuses every key."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.mark.long
def test_a_wrong_key_is_told_as_one_and_the_provider_stays_in_its_group(
    fresh: Stage, visit: Visit, guarded: str
) -> None:
    page = visit(fresh, "/setup")
    page.get_by_role("radio", name="Another server").check()
    page.get_by_role("textbox", name="Address").fill(guarded)
    page.get_by_placeholder("Type or paste it once").fill("an-invented-wrong-key")
    page.get_by_role("button", name="Test connection").click()
    note = page.get_by_role("alert").filter(has_text="did not answer")
    expect(note).to_contain_text("The key was refused")
    group = page.get_by_role("group", name="Cloud providers and servers")
    expect(group.get_by_role("radio", name="server", exact=False).first).to_be_checked()
    expect(page.get_by_role("group", name="On this computer")).to_have_count(0)
    picture(page, "live-wrong-key")
