"""Pictures of pages, for people to look at: in the folder that ``STEAD_PICTURES`` names, or in the test's own."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from playwright.sync_api import Page


def picture(page: Page, name: str, *, whole: bool = False) -> Path:
    """Take one of what the window shows, or of the whole page; gives the file.

    Args:
        page: settled.
        name: such as ``approvals-390-dark``; the same name replaces the picture.
        whole: with what would have to be scrolled to.
    """
    file = _folder() / f"{name}.png"
    page.screenshot(path=file, full_page=whole, animations="disabled", caret="hide")
    return file


@cache
def _folder() -> Path:
    named = os.environ.get("STEAD_PICTURES")
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="stead-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
