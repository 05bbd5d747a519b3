"""Pictures of the page: each scene in four looks for people to look at, and the few that the docs show.

``make pictures`` takes all of them into ``build/pictures``; with ``DOCS=1`` it also takes anew what the docs show. A
test run only sees to it that the docs' own can be taken.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser.chrome import DESKTOP, LOOKS, PHONE, Look, Visit
from tests.browser.pictures import picture
from tests.browser.routes import path
from tests.browser.scenes import SCENES, HomeName, Scene, furnish
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parents[2]
SHOWN = ROOT / "docs" / "pictures"
LARGEST_BYTES = 150_000
QUALITY = 85
"""Of WebP: letters stay sharp."""


def shown_by_docs() -> set[str]:
    """Names of the pictures that pages of the docs show, such as ``inbox-390-dark``."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in re.findall(r"pictures/([\w-]+)\.webp\)", page.read_text("utf-8"))}


@pytest.fixture(scope="module")
def homes() -> Iterator[Callable[[HomeName], Stage]]:
    """The homes of scenes, each furnished when it is first asked for; their paths are short, as pictures show them."""
    root = Path(tempfile.mkdtemp(prefix="ada-", dir="/tmp"))
    running = []

    @cache
    def home(name: HomeName) -> Stage:
        running.append(staged(root / name))
        stage = running[-1].__enter__()
        furnish(stage, name)
        return stage

    try:
        yield home
    finally:
        for one in running:
            one.__exit__(None, None, None)
        shutil.rmtree(root, ignore_errors=True)


def test_what_the_docs_show_is_there_small_and_of_a_scene_and_look_that_exist() -> None:
    known = {f"{name}-{look.name}" for name in SCENES for look in LOOKS}
    assert shown_by_docs()
    assert shown_by_docs() <= known
    files = {file.stem: file for file in SHOWN.iterdir()}
    assert files.keys() == shown_by_docs()
    for name, file in files.items():
        assert file.suffix == ".webp"
        assert file.stat().st_size <= LARGEST_BYTES, name


@pytest.mark.long
@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_pictures_of_every_scene_can_be_taken(
    homes: Callable[[HomeName], Stage], visit: Visit, watch: Watch, look: Look
) -> None:
    watch.expect(404, "/")
    watch.expect_console("ERR_INTERNET_DISCONNECTED")
    wanted = None if os.environ.get("STEAD_PICTURES") else shown_by_docs()
    only = os.environ.get("STEAD_SCENES", "").split()
    failed = []
    for name, scene in SCENES.items():
        looks = [replace(look, dark=dark) for dark in (False, True)]
        looks = [one for one in looks if wanted is None or f"{name}-{one.name}" in wanted]
        if not looks or (scene.desk_alone and look.touch) or (only and name not in only):
            continue
        try:
            page = opened(visit, homes(scene.home), scene, look)
            for one in looks:
                page.emulate_media(color_scheme="dark" if one.dark else "light")
                keep(page, f"{name}-{one.name}")
            if live := homes(scene.home).ids.pop("live", ""):
                homes(scene.home).house.post(f"/sessions/{live}/stop")
            page.context.set_offline(False)
            page.evaluate("localStorage.clear()")
            page.close()
        except (Error, AssertionError) as wrong:
            failed.append(f"{name}: {str(wrong)[:400]}")
    assert not failed, "\n".join(failed)


def opened(visit: Visit, stage: Stage, scene: Scene, look: Look) -> Page:
    """A tab at a scene."""
    page = visit(stage, path(scene.address, stage), look)
    scene.act(page, stage)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    return page


def keep(page: Page, name: str) -> None:
    """Take a picture; what the docs show goes there too, when that is asked for."""
    picture(page, name, wanted=True)
    if os.environ.get("STEAD_DOCS_PICTURES") and name in shown_by_docs():
        session = page.context.new_cdp_session(page)
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        session.detach()
        SHOWN.mkdir(exist_ok=True)
        (SHOWN / f"{name}.webp").write_bytes(base64.b64decode(cast(str, taken["data"])))
