"""The main flows in Debian's Firefox: open by the link, send, watch it stream, answer, review, change settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.firefox import FIREFOX, Firefox, firefox
from tests.browser.stage import FILES, Stage, staged
from tests.flows.house import use_model
from tests.machines.bench import require_sandbox

pytestmark = [
    pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox here; make test-firefox gets it"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model, and one session, so that Home knows the folder."""
    require_sandbox()
    with staged(tmp_path_factory.mktemp("firefox")) as one:
        use_model(one.house, one.model.openai)
        one.house.post("/sessions", {"directory": str(one.project)})
        yield one


@pytest.fixture
def tab(stage: Stage) -> Iterator[Firefox]:
    """A Firefox that is signed in by a link and live; nothing may complain, and nobody else be asked for anything."""
    with firefox() as browser:
        browser.open(stage.link())
        browser.find("heading", "What should Stead do?")
        browser.until(lambda: "live" in browser.text(), "the connection to be live")
        yield browser
        browser.ask("browsingContext.getTree")  # what was said before is heard before this is answered
        assert browser.heard == []
        assert browser.hosts <= {stage.host, ""}, browser.hosts


def test_a_goal_is_sent_streams_is_allowed_and_its_change_reviewed_and_undone(stage: Stage, tab: Firefox) -> None:
    tab.press("textbox", "Message")
    tab.type("Please tell it slowly")
    tab.key("Enter")
    tab.says("Nobody was at the quay.")
    session = tab.url.rpartition("/")[2]
    assert stage.house.get(f"/sessions/{session}")["status"] == "running"
    tab.says("Turn 1 done")
    tab.press("textbox", "Message")
    tab.type("Please hang the west lamp")
    tab.key("Enter")
    tab.says("quay.example.com")
    tab.press("button", "Allow once")
    tab.says("The west lamp hangs.")
    tab.press("button", "Review")
    tab.find("region", "lamps.py")
    tab.key("c")
    tab.find("textbox", "Comment on lamps.py:1")
    tab.type("Is it lit at night?")
    tab.key("Control+Enter")
    tab.press("button", "Send comment")
    tab.says("Review sent")
    tab.press("button", "Undo the changes of lamps.py")
    tab.says("Restored")
    assert "Is it lit at night?" in stage.house.bodies(session, "message.received")[-1]["text"]
    assert (stage.project / "lamps.py").read_text("utf-8") == FILES["lamps.py"]


def test_the_inbox_is_answered_by_a_letter_and_settings_are_kept(stage: Stage, tab: Firefox) -> None:
    body = {"directory": str(stage.project), "title": "Boats", "profile": "ask"}
    session = stage.house.post("/sessions", body)["session"]
    stage.house.post(f"/sessions/{session}/messages", {"text": "Please count the boats"})
    tab.open(f"{stage.origin}/approvals")
    tab.says("counted.txt")
    tab.find("button", "Allow once")
    tab.key("a")
    tab.says("All clear")
    stage.house.until((stage.project / "counted.txt").exists, "the command to have run")
    tab.open(f"{stage.origin}/settings")
    tab.press("link", "Appearance")
    tab.press("radio", "Dark")
    tab.until(lambda: tab.run("() => document.documentElement.dataset.theme") == "dark", "the page to be dark")
    tab.open(f"{stage.origin}/memories")
    tab.open(f"{stage.origin}/usage")
    tab.find("heading", "Usage")
    assert tab.run("() => document.documentElement.dataset.theme") == "dark"
