"""Setting up: each step proves itself, can be left, taken up again and done anew.

How long the whole way takes with the rehearsal model, and how much it asks, is ``test_budgets.py``'s; here it is
walked with a model server.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import Visit, settled
from tests.browser.stage import Stage, staged
from tests.browser.watching import says
from tests.promises import promise

TELLING_S = 5.0
"""A server that is not there is told of within this."""


@pytest.fixture
def dead() -> Iterator[str]:
    """Where a model server should be, and none listens."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{kept.getsockname()[1]}/v1"


@pytest.fixture(scope="module")
def unboxed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home whose owner switched the sandbox off."""
    root = tmp_path_factory.mktemp("stage")
    with staged(root, start=False) as stage:
        stage.house.root.mkdir(mode=0o700)
        (stage.house.root / "config.toml").write_text('machine = "off"\n', "utf-8")
        stage.house.start()
        yield stage


def step(page: Page, name: str) -> Locator:
    """One of the steps, by its heading."""
    return page.get_by_role("region", name=re.compile(name))


def is_open(page: Page, name: str) -> None:
    """Wait until a step is the one that is worked on: it alone has nothing that opens it."""
    expect(step(page, name).get_by_role("button", name=re.compile("^(Open|Change)$"))).to_have_count(0)


def try_server(page: Page, address: str) -> None:
    """Choose a server of one's own, and try it."""
    page.get_by_role("radio", name="Another server").check()
    page.get_by_role("textbox", name="Address").fill(address)
    page.get_by_role("button", name="Test connection").click()


@promise("UI-1.setup")
def test_the_setup_is_skipped_left_and_taken_up_again_where_it_was(fresh: Stage, visit: Visit) -> None:
    page = visit(fresh, "/")
    page.get_by_role("link", name="Set up Stead").click()
    settled(page)
    is_open(page, "Connect a model")
    page.get_by_role("button", name="Skip for now").click()
    is_open(page, "Check the sandbox")
    expect(page.get_by_role("heading", name="Check the sandbox")).to_be_focused()
    page.reload()
    settled(page)
    is_open(page, "Check the sandbox")
    expect(step(page, "Check the sandbox")).to_contain_text("Commands run isolated from your computer")
    page.get_by_role("button", name="Continue").click()
    is_open(page, "Run a first objective")
    page.goto(f"{fresh.origin}/setup")
    settled(page)
    is_open(page, "Connect a model")
    step(page, "Run a first objective").get_by_role("button", name="Open").click()
    is_open(page, "Run a first objective")
    axe(page)


def test_a_server_that_is_not_there_is_told_with_cause_and_cure_and_nothing_is_chosen(
    fresh: Stage, visit: Visit, dead: str
) -> None:
    page = visit(fresh, "/setup")
    with page.expect_response(re.compile("/test$")) as answer:
        try_server(page, dead)
    note = page.get_by_role("alert").filter(has_text="did not answer")
    expect(note).to_contain_text("Check the address and the network; if it is your own server, start it.")
    expect(note).to_contain_text("Details")
    answer.value.finished()
    assert answer.value.request.timing["responseEnd"] <= TELLING_S * 1000
    is_open(page, "Connect a model")
    assert not fresh.house.get("/status")["chosen"]
    page.get_by_role("button", name="Remove this provider").click()
    expect(page.get_by_role("button", name="Remove this provider")).to_have_count(0)
    assert [row["preset"] for row in fresh.house.get("/providers")["items"]] == ["rehearsal"]


def test_a_server_that_answers_is_chosen_does_the_first_objective_and_is_changed_for_another(
    fresh: Stage, visit: Visit
) -> None:
    page = visit(fresh, "/setup")
    try_server(page, fresh.model.openai)
    says(page, "server is connected")
    page.get_by_role("button", name="Use scripted").click()
    is_open(page, "Check the sandbox")
    (first,) = fresh.house.get("/status")["chain"]
    assert first == {"provider": "server", "model": "scripted"}
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("textbox", name="Folder").fill(str(fresh.project))
    page.get_by_role("textbox", name="Goal").fill("Please count the boats")
    page.get_by_role("button", name="Start").click()
    says(page, "Done.")
    assert (fresh.project / "counted.txt").exists()
    page.reload()
    settled(page)
    says(page, "Done.")
    expect(page.get_by_role("heading", name=re.compile("^Step ., done"))).to_have_count(3)
    fresh.house.post("/providers", {"name": "quay", "preset": "compatible", "base_url": fresh.model.openai})
    step(page, "Connect a model").get_by_role("button", name="Change").click()
    page.get_by_role("radio", name="quay").check()
    page.get_by_role("button", name="Test connection").click()
    says(page, "quay is connected")
    page.get_by_role("button", name="Use scripted").click()
    is_open(page, "Check the sandbox")
    assert fresh.house.get("/status")["chain"] == [{"provider": "quay", "model": "scripted"}]


@pytest.mark.long
def test_what_a_sandbox_lacks_is_named_and_work_goes_on_without_it_by_choice_alone(
    unboxed: Stage, visit: Visit
) -> None:
    page = visit(unboxed, "/setup?step=sandbox")
    box = step(page, "Check the sandbox")
    expect(box).to_contain_text("Shell, files and code are off until this is fixed")
    expect(box).to_contain_text('set machine = "auto" in config.toml')
    axe(page)
    box.get_by_role("button", name="Check again").click()
    expect(box.get_by_role("button", name="Check again")).to_be_enabled()
    is_open(page, "Check the sandbox")
    box.get_by_role("button", name="Continue without it").click()
    is_open(page, "Run a first objective")
    expect(page.get_by_role("heading", name=re.compile("done: A sandbox"))).to_have_count(0)


@pytest.mark.long
def test_home_says_what_the_setup_lacks_once_there_is_work(unboxed: Stage, visit: Visit) -> None:
    page = visit(unboxed, "/")
    expect(page.get_by_role("link", name="Set up Stead")).to_be_visible()
    unboxed.house.post("/sessions", {"directory": str(unboxed.project), "title": "The harbour"})
    says(page, "Setup is not finished: no model is connected")
    page.get_by_role("main").get_by_role("link", name="Continue setup").click()
    settled(page)
    is_open(page, "Connect a model")
    unboxed.house.post("/chain", {"chain": [{"provider": "rehearsal", "model": "rehearsal"}]})
    page.goto(unboxed.origin)
    says(page, "Setup is not finished: the sandbox is not available")
