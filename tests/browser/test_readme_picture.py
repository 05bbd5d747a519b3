"""The picture that the README opens with, taken of a real session that a real daemon works in.

``make picture`` takes it anew; a test run only sees to it that it can be taken, and that there is one of its size.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.chrome import DESKTOP, Visit
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.flows.house import use_model
from tests.flows.sitting import Sitting

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "session.png"


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A home whose path is short: it is in the picture."""
    root = Path(tempfile.mkdtemp(prefix="ada-", dir="/tmp"))
    try:
        with staged(root) as stage:
            use_model(stage.house, stage.model.openai)
            yield stage
    finally:
        shutil.rmtree(root, ignore_errors=True)


def size_of(png: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", png.read_bytes()[16:24])
    return int(width), int(height)


def test_the_picture_of_the_readme_can_be_taken(stage: Stage, visit: Visit, tmp_path: Path) -> None:
    body = {"directory": str(stage.project), "title": "The harbour's lamps", "budget": GENEROUS, "profile": "ask"}
    body["allow"] = ["edit"]
    session = Sitting(stage.house, str(stage.house.post("/sessions", body)["session"]))
    session.say("Please add the west lamp")
    stage.house.until(lambda: bool(stage.house.get("/approvals", session=session.id)["items"]), "a question")
    page = visit(stage, f"/sessions/{session.id}", DESKTOP)
    page.get_by_role("tab", name="Changes").click()
    expect(page.get_by_role("tabpanel", name="Changes")).to_contain_text("west")
    expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
    target = PICTURE if os.environ.get("STEAD_README_PICTURE") else tmp_path / "session.png"
    target.parent.mkdir(exist_ok=True)
    page.screenshot(path=target)
    assert size_of(target) == size_of(PICTURE) == (DESKTOP.width, DESKTOP.height)
