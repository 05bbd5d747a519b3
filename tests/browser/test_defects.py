"""Defects that a review of the page found, each as the person would meet it; see the names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe
from tests.browser.chrome import Visit, settled
from tests.browser.pictures import picture
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import bodies, say, sit_down
from tests.flows.house import use_model


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens work of its own."""
    with staged(tmp_path_factory.mktemp("defects")) as one:
        use_model(one.house, one.model.openai)
        yield one


def test_after_a_models_failure_the_turn_is_tried_again_by_a_button(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A failing model")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please be busy")
    footer = page.get_by_role("main").get_by_text("Model error", exact=True)
    expect(footer).to_be_visible()  # what the footer says while it waits, next to the countdown
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_role("button", name="Retry")).to_have_count(0)  # it tries by itself
    expect(page.get_by_role("status", name="State")).to_contain_text("Idle", timeout=60_000)
    expect(timeline.get_by_role("button", name="Switch model")).to_be_visible()
    picture(page, "defect-failed-model")
    axe(page)
    timeline.get_by_role("button", name="Retry").click()
    expect(timeline).to_contain_text("Done.")
    expect(timeline.get_by_role("button", name="Retry")).to_have_count(0)
    assert len(bodies(stage, session, "message.received")) == 2


def test_an_objective_that_its_model_failed_gets_another_model_before_it_is_tried_again(
    stage: Stage, visit: Visit
) -> None:
    id = stage.house.give("Please be busy", stage.project, budget=GENEROUS)
    stage.house.wait(id, "failed", timeout_s=60)
    page = visit(stage, f"/objectives/{id}")
    outcome = page.get_by_role("region", name="Failed")
    expect(outcome.get_by_role("button", name="Retry")).to_be_visible()
    picture(page, "defect-failed-objective")
    outcome.get_by_role("button", name="Switch model").click()
    dialog = page.get_by_role("dialog", name="Switch model")
    dialog.get_by_role("textbox", name="Model").fill("another")
    dialog.get_by_role("button", name="Switch", exact=True).click()
    expect(dialog).to_have_count(0)
    settled(page)
    assert stage.house.get(f"/objectives/{id}")["chain"][0]["model"] == "another"
