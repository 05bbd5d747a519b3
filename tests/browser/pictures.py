"""Pictures of pages, for people to look at, in the folder that ``STEAD_PICTURES`` names; without one none is taken."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

WANTED = bool(os.environ.get("STEAD_PICTURES"))


def picture(page: Page, name: str, *, whole: bool = False, wanted: bool = WANTED) -> None:
    """Take one of what the window shows, or of the whole page.

    Args:
        page: settled.
        name: such as ``approvals-390-dark``; the same name replaces the picture.
        whole: with what would have to be scrolled to.
        wanted: whether it is taken at all.
    """
    if wanted:
        page.screenshot(path=_folder() / f"{name}.png", full_page=whole, animations="disabled", caret="hide")


@cache
def _folder() -> Path:
    named = os.environ.get("STEAD_PICTURES")
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="stead-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
