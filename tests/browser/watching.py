"""What journeys wait for: what the page says, and what the daemon has."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.stage import Stage


def question(stage: Stage, session: str) -> str:
    """The id of what a session asks, once it asks."""

    def asks() -> bool:
        return bool(stage.house.get("/approvals", session=session)["items"])

    stage.house.until(asks, f"{session} to ask", timeout_s=60)
    return str(stage.house.get("/approvals", session=session)["items"][0]["id"])


def says(page: Page, text: str) -> None:
    """Wait until the page says this."""
    expect(page.get_by_role("main")).to_contain_text(text)


def status_of(stage: Stage, approval: str) -> str:
    """Of a question, as the daemon has it."""
    return str(stage.house.get(f"/approvals/{approval}")["status"])
