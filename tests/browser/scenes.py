"""What pictures are taken of: every address of the app, and the states that an address alone does not show.

A scene changes nothing that another one shows. Its name and a look's make a picture's name, ``inbox-390-dark``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Page, expect

from stead.domain.ends import WELL
from tests.browser import seeds
from tests.browser.routes import ADDRESSES
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, filled
from tests.flows.house import use_model
from tests.flows.sitting import Sitting

HomeName = Literal["some", "empty", "fresh"]
Act = Callable[[Page, Stage], None]


def _stay(_page: Page, _stage: Stage) -> None:
    """The address shows it."""


@dataclass(frozen=True)
class Scene:
    """What is seen.

    Args:
        address: as in ``routes.ROUTES``.
        act: what a person does there first; read-only.
        home: whose: somebody's who works there, one with a model alone, one where nobody was yet.
        desk_alone: there is nothing of the kind on a phone.
    """

    address: str
    act: Act = _stay
    home: HomeName = "some"
    desk_alone: bool = False


def furnish(stage: Stage, home: HomeName) -> None:
    """Make a home what its scenes need; ``ids`` as in ``seeds.some``, and ``table``, ``asks``, ``refused``."""
    if home == "empty":
        use_model(stage.house, stage.model.openai)
    if home != "some":
        return
    seeds.some(stage)
    stage.ids["table"] = _worked(stage, "Please add a tide table", allow=["edit", "write", "shell"])
    wharf = {"directory": str(filled(stage.project.parent / "wharf")), "title": "Tides of the harbour"}
    stage.ids["asks"] = _opened(stage, "Please add a tide table", allow=["edit", "write"], **wharf)
    stage.ids["refused"] = _worked(stage, "Please fail")
    for title in ("Please correct the tides", "Please test the harbour", "Please weigh the boats"):
        session = _opened(stage, title)
        stage.house.until(lambda id=session: bool(stage.house.get("/approvals", session=id)["items"]), title)  # type: ignore[misc]  # the id of this round
    stage.house.wait(stage.ids["done"], *WELL)


def _opened(stage: Stage, words: str, **fields: object) -> str:
    """A session that was told something; gives its id."""
    body = {"directory": str(stage.project), "budget": GENEROUS, "profile": "ask", **fields}
    session = Sitting(stage.house, str(stage.house.post("/sessions", body)["session"]))
    session.say(words)
    return session.id


def _worked(stage: Stage, words: str, **fields: object) -> str:
    """A session that was told something and is done with it; gives its id."""
    id = _opened(stage, words, **fields)
    stage.house.until(lambda: bool(stage.house.bodies(id, "turn.ended")), f"the end of {words}")
    return id


def _live(stage: Stage, words: str, **fields: object) -> str:
    """A session that works while its picture is taken, ``ids["live"]``; gives its id."""
    stage.ids["live"] = _opened(stage, words, **fields)
    return stage.ids["live"]


def _rested(page: Page, _stage: Stage) -> None:
    if page.get_by_role("article").count():  # on a phone the inbox is a list alone
        expect(page.get_by_role("button", name="Allow once").first).to_be_enabled()


def _streaming(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.origin}/sessions/{_live(stage, 'Please tell it at length')}")
    expect(page.get_by_role("main").get_by_role("heading", name="The harbour").nth(1)).to_be_visible()


def _running(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.origin}/sessions/{_live(stage, 'Please keep watch', allow=['shell'])}")
    expect(page.get_by_role("main")).to_contain_text("sleep 60")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()


def _keys(*keys: str) -> Act:
    """Press keys where nothing is being typed."""

    def act(page: Page, _stage: Stage) -> None:
        page.get_by_role("heading", level=1).click()
        for key in keys:
            page.keyboard.press(key)

    return act


def _typed(text: str, shown: str) -> Act:
    """Type into the composer until a list of this name is offered."""

    def act(page: Page, _stage: Stage) -> None:
        field = page.get_by_role("textbox", name=re.compile("^(Message|Goal)$"))
        field.fill("")
        field.press_sequentially(text)
        if shown:
            expect(page.get_by_role("listbox", name=shown).get_by_role("option").first).to_be_visible()

    return act


def _tab(name: str) -> Act:
    """A panel of a session; on a phone it takes the conversation's place."""

    def act(page: Page, _stage: Stage) -> None:
        show = page.get_by_role("button", name="Show the side panel")
        if show.is_visible():
            show.click()
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()

    return act


def _asks(page: Page, stage: Stage) -> None:
    _rested(page, stage)
    _review(page, stage)


def _review(page: Page, stage: Stage) -> None:
    _tab("Changes")(page, stage)
    expect(page.get_by_role("region", name=re.compile(r"^tides\.py")).first).to_be_visible()


def _review_in_full(page: Page, stage: Stage) -> None:
    _review(page, stage)
    page.get_by_role("button", name="Full window").click()
    line = page.get_by_role("dialog", name="Changes").get_by_text("def table").first
    line.click()
    page.keyboard.press("c")
    page.keyboard.insert_text("Take the times from notes/tides.md instead.")


def _restore(page: Page, _stage: Stage) -> None:
    page.get_by_role("button", name="Undo…").first.click()
    expect(page.get_by_role("dialog", name="Restore this checkpoint")).to_contain_text("tides.py")


def _offline(page: Page, _stage: Stage) -> None:
    page.context.set_offline(True)
    expect(page.get_by_role("status", name="Connection")).to_contain_text("offline")


STATES: Mapping[str, Scene] = {
    "first-run": Scene("/", home="fresh"),
    "setup-fresh": Scene("/setup", home="fresh"),
    "home-empty": Scene("/", home="empty"),
    "composer-files": Scene("/sessions/{table}", _typed("Look at @no", "Files")),
    "composer-commands": Scene("/sessions/{table}", _typed("/", "Commands")),
    "inbox-empty": Scene("/approvals", home="empty"),
    "sessions-empty": Scene("/sessions", home="empty"),
    "memories-empty": Scene("/memories", home="empty"),
    "usage-empty": Scene("/usage", home="empty"),
    "approvals": Scene("/approvals", _rested),
    "approvals--approval": Scene("/approvals/{approval}", _rested),
    "sessions--asking": Scene("/sessions/{asking}", _rested),
    "objectives--waiting": Scene("/objectives/{waiting}", _rested),
    "session-asks": Scene("/sessions/{asks}", _asks),
    "session-done": Scene("/sessions/{table}"),
    "session-streams": Scene("/sessions", _streaming),
    "session-runs": Scene("/sessions", _running),
    "session-detailed": Scene("/sessions/{table}", _keys("t")),
    "session-summary": Scene("/sessions/{table}", _keys("t", "t")),
    "session-failed": Scene("/sessions/{refused}"),
    "session-files": Scene("/sessions/{table}", _tab("Files")),
    "session-context": Scene("/sessions/{table}", _tab("Context")),
    "session-checkpoints": Scene("/sessions/{table}", _tab("Checkpoints")),
    "review": Scene("/sessions/{table}", _review),
    "review-full": Scene("/sessions/{table}", _review_in_full, desk_alone=True),
    "restore": Scene("/sessions/{table}", _restore),
    "palette": Scene("/", _keys("Control+k")),
    "shortcuts": Scene("/settings", _keys("?")),
    "not-found": Scene("/nowhere"),
    "session-unknown": Scene("/sessions/s_0000000000000bad"),
    "offline": Scene("/sessions/{table}", _offline),
}


def _named(address: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in address).strip("-") or "home"


SCENES: Mapping[str, Scene] = {**{_named(address): Scene(address) for _, address in ADDRESSES}, **STATES}
