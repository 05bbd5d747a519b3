"""A browser for the folder, a home for each module, a watch and a visit for each test.

The browser is closed when the run leaves this folder: Playwright's loop runs in the tests' own thread for as long as it
is open, and an asynchronous test elsewhere could not start one beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import seeds
from tests.browser.chrome import CHROMIUM, Visit, chromium
from tests.browser.hands import Hands, Keys, Mouse
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.flows.house import use_model


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; without one the test is skipped."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; install it to test the page")
    with chromium() as running:
        yield running


@pytest.fixture
def watch() -> Watch:
    """What the test's pages complain of."""
    return Watch()


@pytest.fixture
def visit(browser: Browser, watch: Watch) -> Iterator[Visit]:
    """Opens pages; at the end the test fails over whatever they complained of."""
    visits = Visit(browser, watch)
    yield visits
    visits.close()
    complaints = watch.complaints()
    assert not complaints, "nobody expected:\n" + "\n".join(complaints)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home where nobody was yet: no model but the rehearsal one, nothing done."""
    with staged(_folder(tmp_path_factory)) as stage:
        yield stage


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home where somebody works; see ``seeds.some``."""
    with staged(_folder(tmp_path_factory)) as stage:
        seeds.some(stage)
        yield stage


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model and nothing else, for journeys that bring their own work."""
    with staged(_folder(tmp_path_factory)) as stage:
        use_model(stage.house, stage.model.openai)
        yield stage


@pytest.fixture(params=[pytest.param(Mouse(), marks=pytest.mark.long), Keys()], ids=["mouse", "keyboard"])
def hands(request: pytest.FixtureRequest) -> Hands:
    """How a journey is walked: each by keyboard, which the mouse's own tests do not cover; ``long``: by mouse too."""
    made: Hands = request.param
    return made


@pytest.fixture(scope="module")
def plenty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with far too much in it; see ``seeds.plenty``."""
    with staged(_folder(tmp_path_factory), start=False) as stage:
        seeds.plenty(stage)
        stage.house.launch()
        stage.house.until(stage.house.answers, "the daemon to have read it all", timeout_s=180)
        yield stage


def _folder(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("stage")
