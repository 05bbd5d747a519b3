"""Working in a session on the page: speaking, watching, taking back, changing what is queued; judged by the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Look, Visit, settled
from tests.browser.pictures import picture
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.flows.house import use_model

SAY = "Message"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    with staged(tmp_path_factory.mktemp("session")) as one:
        use_model(one.house, one.model.openai)
        yield one


def sit_down(stage: Stage, title: str, **fields: object) -> str:
    """A new session; gives its id."""
    budget = {"tokens": 2_000_000, "usd_micros": "unlimited"}
    body = {"directory": str(stage.project), "title": title, "budget": budget, "profile": "ask", **fields}
    return str(stage.house.post("/sessions", body)["session"])


def say(page: Page, text: str, key: str = "Enter") -> None:
    """As a person does: into the field, then a key."""
    page.get_by_role("textbox", name=SAY).fill(text)
    page.get_by_role("textbox", name=SAY).press(key)


def bodies(stage: Stage, session: str, kind: str) -> list[dict[str, Any]]:
    """The session's events of a type, oldest first."""
    events = stage.house.get("/events", streams=session, limit=500)["items"]
    return [event["body"] for event in events if event["body"]["type"] == kind]


@pytest.mark.long
def test_several_sessions_are_archived_or_deleted_at_once_after_one_question(stage: Stage, visit: Visit) -> None:
    ids = [sit_down(stage, f"Barge {number}") for number in range(3)]
    picture(visit(stage, "/sessions?q=Barge", PHONE), "sessions-390")
    page = visit(stage, "/sessions?q=Barge")
    for number in (0, 1):
        page.get_by_role("checkbox", name=f"Select Barge {number}").click()
    axe(page)
    picture(page, "sessions-selected")
    page.get_by_role("button", name="Archive 2").click()
    dialog = page.get_by_role("dialog", name="Archive 2?")
    dialog.get_by_role("button", name="Archive 2").click()
    expect(dialog).to_have_count(0)
    listed = page.get_by_role("main").get_by_role("link", name="Barge")
    expect(listed).to_have_count(1)
    assert [stage.house.get(f"/sessions/{id}")["archived"] for id in ids] == [True, True, False]
    listed.focus()
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Stop 1")).to_have_count(0)  # it is not running
    page.get_by_role("button", name="Delete 1").click()
    dialog = page.get_by_role("dialog", name="Delete 1?")
    dialog.get_by_role("button", name="Cancel", exact=True).or_(dialog.get_by_role("button", name="Not now")).click()
    assert not stage.house.get(f"/sessions/{ids[2]}")["archived"], "nothing was done"
    page.get_by_role("button", name="Delete 1").click()
    dialog.get_by_role("button", name="Delete 1").click()
    expect(dialog).to_have_count(0)
    expect(listed).to_have_count(0)
    assert stage.house.get(f"/sessions/{ids[2]}")["trashed_ms"] > 0, "it is in the trash"


@pytest.mark.promise("UI-1.sessions", "SES-1.chat")
def test_a_session_is_opened_spoken_to_and_written_to_while_it_writes(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/sessions")
    page.get_by_role("main").get_by_role("link", name="New session").click()
    page.get_by_role("button", name="Open session").click()
    expect(page.get_by_role("textbox", name="Folder")).to_be_focused()  # nothing was chosen yet
    page.get_by_role("textbox", name="Folder").fill(str(stage.project))
    page.get_by_role("button", name="Open session").click()
    say(page, "Please tell it slowly")
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name="The harbour").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()  # words of a reply that is not over
    expect(page.get_by_role("textbox", name=SAY)).to_have_value("")
    say(page, "and say when you are done")
    expect(main).to_contain_text("Turn 1 done")
    session = page.url.rpartition("/")[2]
    said = [body["text"] for body in bodies(stage, session, "message.received")]
    assert said == ["Please tell it slowly", "and say when you are done"]
    axe(page)


@pytest.mark.long
def test_what_is_being_written_survives_a_reload_and_what_was_said_comes_back(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Drafts")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please tell me of the harbour")
    expect(page.get_by_role("main")).to_contain_text("Turn 1 done")
    field = page.get_by_role("textbox", name=SAY)
    field.press("ArrowUp")
    expect(field).to_have_value("Please tell me of the harbour")
    field.press("ArrowDown")
    expect(field).to_have_value("")
    field.fill("half a")
    field.press("Shift+Enter")
    field.press_sequentially("thought")
    page.reload()
    settled(page)
    expect(page.get_by_role("textbox", name=SAY)).to_have_value("half a\nthought")


@pytest.mark.promise("SES-3.queue")
def test_calls_that_wait_are_edited_and_called_off_and_what_is_left_runs(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A queue")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please sweep both quays")
    page.get_by_role("button", name="Queue (3)").click()
    queue = page.get_by_role("list", name="Call queue").get_by_role("listitem")
    queue.nth(2).get_by_role("button", name="Cancel").click()
    expect(queue.nth(2)).to_contain_text("denied")
    queue.nth(1).get_by_role("button", name="Edit").click()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.get_by_role("textbox", name="command").fill("ls notes")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("dialog", name="Edit and run")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("main")).to_contain_text("Both are swept.")
    assert [body["arguments"] for body in bodies(stage, session, "call.edited")] == ['{"command":"ls notes"}']
    assert len(bodies(stage, session, "call.cancelled")) == 1
    ran = [body["arguments"] for body in bodies(stage, session, "tool.started")]
    assert len(ran) == 2
    assert "ls notes" in ran[1]


@pytest.mark.promise("SES-1.diff")
@pytest.mark.long
def test_a_change_is_shown_where_it_was_made_and_undone_there(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "An edit", allow=["edit", "shell"])
    page = visit(stage, f"/sessions/{session}")
    before = (stage.project / "lamps.py").read_text("utf-8")
    say(page, "Please add the west lamp")
    expect(page.get_by_role("main")).to_contain_text("The west lamp is in the list now.")
    assert (stage.project / "lamps.py").read_text("utf-8") != before
    page.get_by_role("button", name="Edit lamps.py").click()
    expect(page.get_by_role("group", name="lamps.py").first).to_contain_text("west")
    axe(page)
    page.get_by_role("button", name="Undo this change").first.click()
    expect(page.get_by_role("button", name="Redo this change").first).to_be_visible()
    assert (stage.project / "lamps.py").read_text("utf-8") == before


@pytest.mark.promise("SES-3.cancel", "SES-6.interrupts")
def test_what_runs_is_cut_in_on_stopped_and_goes_on(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A watch", allow=["shell"])
    page = visit(stage, f"/sessions/{session}")
    main = page.get_by_role("main")
    say(page, "Please keep watch")
    expect(main).to_contain_text("running")
    page.get_by_role("textbox", name=SAY).fill("Tell me of the harbour instead")
    page.get_by_role("button", name="Send now").click()
    expect(main).to_contain_text("interrupted")
    page.get_by_role("button", name="Queue (1)").click()  # what runs is finished first, unless it is called off
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(main).to_contain_text("cancelled")
    expect(main).to_contain_text("Turn 1 done")
    say(page, "Please keep watch again")
    expect(main).to_contain_text("running")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(main).to_contain_text("Stopped by you, in the page")
    assert stage.house.get(f"/sessions/{session}")["status"] == "paused"
    page.get_by_role("button", name="Resume").click()
    expect(main).to_contain_text("Turn 2 done")
    assert [body["interrupts"] for body in bodies(stage, session, "message.received")] == [False, True, False]


@pytest.mark.long
def test_the_plan_is_the_persons_to_change(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A plan")
    page = visit(stage, f"/sessions/{session}", PHONE)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Plan").click()
    for number, title in enumerate(("Trim the wick", "Fill the oil", "Forget this"), 1):
        page.get_by_role("button", name="Add a step").click()
        page.get_by_role("textbox", name=f"Step {number}").fill(title)
    page.get_by_role("button", name="Remove step 3").click()
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_role("main")).to_contain_text("You changed the plan")
    plan = stage.house.get(f"/sessions/{session}")["plan"]
    assert [step["title"] for step in plan] == ["Trim the wick", "Fill the oil"]


@pytest.mark.long
def test_a_session_is_forked_put_away_and_erased(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(404, "/files")  # what the page reads after each event may be asked for just before it is erased
    watch.expect_console("404")
    session = sit_down(stage, "The first")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please tell me of the harbour")
    expect(page.get_by_role("main")).to_contain_text("Turn 1 done")
    menu = page.get_by_role("button", name="More", exact=True)
    menu.click()
    page.get_by_role("menuitem", name="Fork from here").click()
    page.get_by_role("textbox", name="Title").fill("The second")
    page.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="The second")).to_be_visible()
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("Please tell me of the harbour")  # what was carried over
    expect(timeline).to_contain_text("The north lamp is lit")
    expect(timeline.get_by_role("link", name="The first")).to_have_attribute("href", f"/sessions/{session}")
    menu.click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_role("button", name="Delete…").click()
    expect(timeline).to_contain_text("moved to the trash for 30 days")
    menu.click()
    expect(page.get_by_role("menuitem", name="Restore")).to_be_visible()
    page.get_by_role("menuitem", name="Delete forever…").click()
    page.get_by_role("button", name="Delete forever…").click()
    expect(page.get_by_role("heading", level=1, name="This session was deleted")).to_be_visible()
    assert session in {row["id"] for row in stage.house.get("/sessions")["items"]}
    assert len(stage.house.get("/sessions")["items"]) == len(
        {row["id"] for row in stage.house.get("/sessions")["items"]}
    )


@pytest.mark.long
def test_a_session_gets_another_name_tags_and_a_place_in_the_archive(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Boats")
    page = visit(stage, f"/sessions/{session}")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Rename, tags and goal…").click()
    dialog = page.get_by_role("dialog", name="Name, tags and goal")
    dialog.get_by_role("textbox", name="Name").fill("Ferries")
    dialog.get_by_role("textbox", name="Tags").fill("harbour winter")
    dialog.get_by_role("checkbox", name="Archived").check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    row = stage.house.get(f"/sessions/{session}")
    assert (row["title"], row["tags"], row["archived"]) == ("Ferries", ["harbour", "winter"], True)


@pytest.mark.long
def test_the_conversation_keeps_its_width_in_every_window_of_a_desk(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Widths")
    for width in (1024, 1100, 1279):
        page = visit(stage, f"/sessions/{session}", Look(width, 768))
        box = page.get_by_role("textbox", name=SAY).bounding_box()
        assert box is not None and box["x"] < 300 and page.get_by_role("region", name="Session panels").count() == 0
        assert _chat(page) >= 480
        page.get_by_role("button", name="Show the side panel").click()
        expect(page.get_by_role("dialog", name="Files").get_by_role("tab", name="Files")).to_be_visible()
        axe(page)
        page.keyboard.press("Escape")
    wide = visit(stage, f"/sessions/{session}", Look(1900, 900))
    wide.get_by_role("separator", name="Width of this panel").press("Home")
    assert _chat(wide) >= 480
    wide.set_viewport_size({"width": 1300, "height": 900})
    expect(wide.get_by_role("region", name="Session panels")).to_be_visible()
    assert _chat(wide) >= 480


def _chat(page: Page) -> float:
    """How wide the conversation is, in CSS pixels."""
    box = page.get_by_role("region", name="Timeline").bounding_box()
    assert box is not None
    return box["width"]
