"""Pictures and documents on the page: picked, pasted, dropped, seen, sent, opened; files that the agent made."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.keyboard import tab_to
from tests.browser.pictures import picture
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import SAY, bodies, say, sit_down
from tests.browser.watch import Watch
from tests.fakes.pictures import EXIF, chunk, pdf, png
from tests.flows.house import use_model
from tests.promises import promise

PLAN = png(400, 300, chunk(b"eXIf", EXIF))
ATTACH = "Attach images or PDFs"
_EVENT = """([kind, name, type, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), held = new DataTransfer();
  held.items.add(new File([bytes], name, {type}));
  const told = {bubbles: true, cancelable: true};
  if (kind === "paste") {
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", {...told, clipboardData: held}));
    return;
  }
  for (const step of kind === "drop" ? ["dragover", "drop"] : ["dragover"])
    document.querySelector("h1").dispatchEvent(new DragEvent(step, {...told, dataTransfer: held}));
}"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    with staged(tmp_path_factory.mktemp("pictures")) as one:
        use_model(one.house, one.model.openai)
        yield one


def give(page: Page, kind: str, name: str, type_: str, data: bytes) -> None:
    """A file as the browser hands it over: ``paste`` where the focus is, ``drop`` or ``hold`` above the heading."""
    page.evaluate(_EVENT, [kind, name, type_, b64encode(data).decode()])


def shown(page: Page, name: str) -> None:
    """The picture of this name is drawn, not only there."""
    drawn = page.get_by_role("img", name=f"Image {name}").last
    expect(drawn).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert drawn.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 400


@promise("LLM-7.message", "LLM-7.door")
@pytest.mark.long
def test_files_are_picked_pasted_and_dropped_seen_before_they_are_sent_and_after(
    stage: Stage, visit: Visit, watch: Watch
) -> None:
    session = sit_down(stage, "Pictures")
    page = visit(stage, f"/sessions/{session}")
    with page.expect_file_chooser() as choosing:
        tab_to(page, "button", ATTACH)
        page.keyboard.press("Enter")
    choosing.value.set_files([FilePayload(name="plan.png", mimeType="image/png", buffer=PLAN)])
    shown(page, "plan.png")
    page.get_by_role("textbox", name=SAY).focus()
    give(page, "paste", "copied.png", "image/png", png(400, 301))
    shown(page, "copied.png")
    give(page, "hold", "offer.pdf", "application/pdf", pdf(3))
    expect(page.get_by_text("Drop the files anywhere")).to_be_visible()
    picture(page, "pictures-held")
    give(page, "drop", "offer.pdf", "application/pdf", pdf(3))
    files = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files).to_have_count(3)
    expect(files.nth(2)).to_contain_text("3 pages")
    watch.expect(400, "/attachments$")
    watch.expect_console("400")
    give(page, "drop", "logo.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    expect(page.get_by_text(re.compile("attach logo.svg"))).to_be_visible()
    picture(page, "pictures-composer")
    axe(page)
    page.get_by_role("button", name="Remove copied.png").click()
    say(page, "Please tell me of the harbour")
    main = page.get_by_role("main")
    expect(main).to_contain_text("Turn 1 done")
    expect(page.get_by_role("button", name="Remove plan.png")).to_have_count(0)
    shown(page, "plan.png")
    picture(page, "pictures-said")
    axe(page)
    with page.expect_popup() as opening:
        page.get_by_role("link", name="Image plan.png").click()
    large = opening.value
    assert large.evaluate("document.images[0].naturalWidth") == 400
    with page.expect_download() as saving:
        page.get_by_role("link", name=re.compile("offer.pdf")).click()
    assert saving.value.path().read_bytes() == pdf(3)
    (said,) = bodies(stage, session, "message.received")
    assert [one["name"] for one in said["attachments"]] == ["plan.png", "offer.pdf"]
    sent = stage.model.requests()[-1].prompt.decode()
    assert b64encode(png(400, 300)).decode() in sent and b64encode(pdf(3)).decode() in sent
    page.reload()
    settled(page)
    shown(page, "plan.png")


@promise("LLM-7.message")
def test_a_new_objective_carries_what_was_dropped_and_pasted(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/objectives/new")
    page.get_by_role("textbox", name="Goal").fill("Please tell me of the harbour")
    page.get_by_role("textbox", name="Goal").focus()
    give(page, "paste", "plan.png", "image/png", PLAN)
    shown(page, "plan.png")
    give(page, "drop", "offer.pdf", "application/pdf", pdf(2))
    files = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files).to_have_count(2)
    axe(page)
    picture(page, "pictures-objective")
    page.get_by_role("textbox", name="Folder").fill(str(stage.project))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/objectives/s_\w+$"))
    settled(page)
    shown(page, "plan.png")
    picture(page, "pictures-objective-begun")
    id = page.url.rpartition("/")[2]
    (opened,) = stage.house.bodies(id, "session.opened")
    assert [one["name"] for one in opened["attachments"]] == ["plan.png", "offer.pdf"]


@promise("LLM-7.read", "SES-1.files", "SES-3.parallel")
def test_what_the_agent_read_and_made_is_seen_counted_and_saved(stage: Stage, visit: Visit) -> None:
    (stage.project / "plan.png").write_bytes(PLAN)
    (stage.project / "offer.pdf").write_bytes(pdf(2))
    session = sit_down(stage, "Made")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please look at the plan")
    expect(page.get_by_role("main")).to_contain_text("It is red.")
    events = stage.house.get("/events", streams=session, limit=500)["items"]
    order = [kind for event in events if (kind := event["body"]["type"]).startswith("tool.")]
    assert order == ["tool.started"] * 2 + ["tool.finished"] * 2  # side by side
    page.get_by_role("button", name=re.compile("^(Explored|Read) 2")).first.click()
    page.get_by_role("button", name=re.compile("plan.png")).first.click()
    shown(page, "plan.png")
    axe(page)
    page.get_by_role("tab", name="Context").click()
    panel = page.get_by_role("tabpanel", name="Context")
    expect(panel).to_contain_text("read")
    picture(page, "pictures-context")
    context = stage.house.get(f"/sessions/{session}/context")
    seen = sum(part["tokens"] for part in context["parts"] if part["kind"] == "results")
    assert seen > context["tokens"] / 2  # a picture and two pages; of words, the instructions have most
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("treeitem", name=re.compile("plan.png")).click()
    drawn = page.get_by_role("img", name="plan.png", exact=True)
    expect(drawn).to_be_visible()
    picture(page, "pictures-files")
    for name, data in (("plan.png", PLAN), ("offer.pdf", pdf(2))):
        page.get_by_role("treeitem", name=re.compile(name)).click()
        with page.expect_download() as saving:
            page.get_by_role("region", name=name).get_by_role("link", name="Download").click()
        assert saving.value.suggested_filename == name and saving.value.path().read_bytes() == data
    picture(page, "pictures-files-pdf")


@pytest.mark.long
def test_files_are_attached_on_a_phone(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A phone")
    page = visit(stage, f"/sessions/{session}", PHONE)
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name=ATTACH).click()
    files = [FilePayload(name=f"{at}.png", mimeType="image/png", buffer=png(400, at)) for at in (1, 2)]
    choosing.value.set_files(files)
    shown(page, "2.png")
    axe(page)
    picture(page, "pictures-phone")
