"""Changes that wait for the person: on Home, with the approvals, and in the session, where they are settled."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe
from tests.browser.chrome import Visit, settled
from tests.browser.stage import Stage
from tests.fakes.models import Call, Turn
from tests.flows.house import use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox


@pytest.mark.long
def test_what_waits_is_found_from_home_and_settled_in_its_session(fresh: Stage, visit: Visit) -> None:
    require_sandbox()
    house, project = fresh.house, fresh.project
    turn = Turn("At work.", calls=(Call("shell", {"command": "echo west >> lamps.py; echo run > .envrc"}),))
    with served(by_turn(turn, then=Turn("The lamp is lit."))) as model:
        use_model(house, model.openai)
        opened = {"directory": str(project), "mode": "trial", "allow": ["shell"], "title": "Light the west lamp"}
        id = str(house.post("/sessions", opened)["session"])
        house.post(f"/sessions/{id}/messages", {"text": "Light the west lamp"})

        def ended() -> bool:
            for row in house.get("/approvals", session=id)["items"]:
                yes = {"answer": "once", "digest": row["digest"], "whole": True}
                house.post(f"/approvals/{row['id']}/decision", yes)
            return bool(house.bodies(id, "turn.ended"))

        house.until(ended, "the turn's end", timeout_s=60)
    page = visit(fresh, "/approvals")
    main = page.get_by_role("main")
    expect(main).to_contain_text("2 changes need your review")
    page.goto(f"{fresh.origin}/")
    settled(page)
    expect(main.get_by_role("region", name="Needs your approval")).to_contain_text(".envrc")
    axe(page)
    main.get_by_role("link", name="Review the changes of Light the west lamp").click()
    page.wait_for_url("**/sessions/s_*")
    settled(page)
    panel = main.get_by_role("region", name="Pending changes")
    expect(panel.get_by_role("region", name="lamps.py", exact=True)).to_contain_text("west")  # its diff is open
    axe(page)
    panel.get_by_role("button", name="Apply one change").click()
    house.until(lambda: (project / "lamps.py").read_text("utf-8").endswith("west\n"), "the change to be applied")
    expect(panel).not_to_contain_text("lamps.py")
    assert not (project / ".envrc").exists()
    panel.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(panel).to_have_count(0)
    expect(main).to_contain_text("Pending changes were discarded")
    house.until(lambda: house.get("/reviews")["items"] == [], "the review to be over")
