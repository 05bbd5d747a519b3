"""Changes of a session, reviewed as a pull request is: by keys, with comments as one message, and undone in part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import DESKTOP, PHONE, Look, Visit, settled
from tests.browser.stage import Stage, staged
from tests.fakes.models import Call, Turn
from tests.flows.house import use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox
from tests.promises import promise

LAMPS = "\n".join(["LAMPS = [", *(f'    "lamp {at}",' for at in range(30)), "]", ""])
CHANGED = LAMPS.replace('"lamp 2"', '"west"').replace('"lamp 25",', '"lamp 25",\n    "east",')
TIDE = 'def tide(hour: int) -> str:\n    return "high" if hour == 6 else "low"\n'


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    require_sandbox()
    with staged(tmp_path_factory.mktemp("review")) as one:
        yield one


def worked(stage: Stage, title: str) -> str:
    """A session whose model changed two files and then listens; gives its id."""
    (stage.project / "lamps.py").write_text(LAMPS, "utf-8")
    (stage.project / "notes" / "tide.py").unlink(missing_ok=True)
    calls = (
        Call("write", {"path": "lamps.py", "text": CHANGED}),
        Call("write", {"path": "notes/tide.py", "text": TIDE}),
    )
    with served(by_turn(Turn("At work.", calls=calls), then=Turn("Both are there."))) as model:
        use_model(stage.house, model.openai)
        body = {"directory": str(stage.project), "title": title, "allow": ["write"]}
        id = str(stage.house.post("/sessions", body)["session"])
        stage.house.post(f"/sessions/{id}/messages", {"text": "Please light the lamps"})
        stage.house.until(lambda: bool(stage.house.bodies(id, "turn.ended")), "the turn's end", timeout_s=60)
    return id


def said(stage: Stage, session: str) -> list[Any]:
    return [body["text"] for body in stage.house.bodies(session, "message.received")]


def opened(stage: Stage, visit: Visit, session: str, look: Look = DESKTOP) -> tuple[Page, Locator]:
    """The review, opened by its key from the composer."""
    page = visit(stage, f"/sessions/{session}", look)
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.press("Control+Shift+e")
    panel = page.get_by_role("tabpanel", name="Changes")
    expect(panel.get_by_role("region", name=re.compile("^lamps.py"))).to_be_visible()
    return page, panel


@promise("SES-1.diff", "WS-3.restore")
@pytest.mark.long
def test_changes_are_reviewed_commented_and_undone_in_six_keys(stage: Stage, visit: Visit) -> None:
    session = worked(stage, "Seven keys")
    page, panel = opened(stage, visit, session)  # 1
    axe(page)
    page.keyboard.press("j")  # 2
    expect(panel.get_by_role("region", name="lamps.py", exact=True)).to_be_focused()
    page.keyboard.press("c")  # 3
    page.keyboard.type("Why west?")
    page.keyboard.press("Control+Enter")  # 4
    expect(panel).to_contain_text("Why west?")
    axe(page)
    page.keyboard.press("u")  # 5
    expect(page.get_by_text("Restored", exact=True)).to_be_visible()
    assert (stage.project / "lamps.py").read_text("utf-8") == LAMPS
    page.keyboard.press("r")  # 6
    expect(page.get_by_text("Review sent")).to_be_visible()
    assert said(stage, session)[-1] == ('Review comments on your changes:\n\nlamps.py:4: Why west?\n> +    "west",')


@pytest.mark.long
def test_lines_are_commented_together_a_hunk_is_undone_alone_and_viewed_files_stay_closed(
    stage: Stage, visit: Visit
) -> None:
    session = worked(stage, "By line")
    page, panel = opened(stage, visit, session)
    lamps = panel.get_by_role("region", name="lamps.py", exact=True)
    lamps.get_by_text('"east",').click()
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("c")
    expect(panel.get_by_role("textbox", name="Comment on lamps.py:27-28")).to_be_focused()
    page.keyboard.type("Both?")
    page.keyboard.press("Control+Enter")
    lamps.get_by_role("button", name="Undo hunk at line 28").click()
    expect(lamps).not_to_contain_text('"east"')
    assert (stage.project / "lamps.py").read_text("utf-8") == LAMPS.replace('"lamp 2"', '"west"')
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(lamps).to_contain_text('"east"')
    assert (stage.project / "lamps.py").read_text("utf-8") == CHANGED
    page.reload()
    settled(page)
    expect(panel).to_contain_text("Both?")  # comments and marks are kept in the browser
    panel.get_by_role("button", name="Message to be sent").click()
    expect(panel).to_contain_text('> +    "east",')
    tide = panel.get_by_role("region", name="notes/tide.py", exact=True)
    tide.get_by_role("checkbox", name="Viewed").click()
    expect(panel).to_contain_text("1 of 2 viewed")
    page.reload()
    settled(page)
    expect(tide.get_by_role("button", name="notes/tide.py").first).to_have_attribute("aria-expanded", "false")
    (stage.project / "notes" / "tide.py").write_text(TIDE + "\n# more\n", "utf-8")
    page.reload()
    settled(page)
    expect(tide).to_contain_text("# more")  # other content is not what was viewed
    expect(panel).to_contain_text("0 of 2 viewed")


@pytest.mark.long
def test_a_review_takes_the_whole_window_in_two_columns_and_on_a_phone(stage: Stage, visit: Visit) -> None:
    session = worked(stage, "In full")
    page, panel = opened(stage, visit, session)
    panel.get_by_role("button", name="Full window").click()
    sheet = page.get_by_role("dialog", name="Changes")
    expect(sheet.get_by_role("navigation", name="Changed files")).to_contain_text("tide.py")
    lines = sheet.get_by_role("region", name="lamps.py", exact=True).get_by_text('"lamp 5",')
    expect(lines).to_have_count(2)
    sheet.get_by_role("combobox", name="Layout").click()
    page.get_by_role("option", name="Unified").click()
    expect(lines).to_have_count(1)
    axe(page)
    phone, panel = opened(stage, visit, session, PHONE)
    box = panel.bounding_box()
    assert box is not None
    assert box["height"] > 0.75 * 844, "the whole height but for the tabs"
    panel.get_by_text('"west",').click()
    panel.get_by_role("button", name="Comment on line 4").first.click()
    panel.get_by_role("textbox", name="Comment on lamps.py:4").fill("From the train")
    panel.get_by_role("button", name="Add comment").click()
    axe(phone)
    panel.get_by_role("button", name="Send comment").click()
    expect(phone.get_by_text("Review sent")).to_be_visible()
    assert "From the train" in said(stage, session)[-1]


@pytest.mark.long
def test_the_tree_of_files_marks_what_changed_and_stays_when_one_is_opened(stage: Stage, visit: Visit) -> None:
    session = worked(stage, "Marks")
    page, _ = opened(stage, visit, session)
    page.get_by_role("tab", name="Files").click()
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem", name="lamps.py changed")).to_be_visible()
    tree.get_by_role("treeitem", name="notes").click()
    tree.get_by_role("treeitem", name="tide.py added").click()
    expect(page.get_by_role("region", name="notes/tide.py")).to_contain_text("def tide")
    expect(tree.get_by_role("treeitem", name="README.md")).to_be_visible()
    axe(page)
