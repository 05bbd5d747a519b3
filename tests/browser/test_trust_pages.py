"""What people set up to be safe, and take back: secrets, hosts, rules, leave. Adding a secret is a journey."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from stead.domain.ends import WELL
from tests.browser.axe import axe
from tests.browser.chrome import Visit
from tests.browser.stage import Stage
from tests.browser.test_settings import holds
from tests.browser.watch import Watch
from tests.browser.watching import question, says

OLD = "an-invented-value-5520"
NEW = "an-invented-value-6631"


def open_row(page: Page, grid: str, text: str) -> None:
    """Open the row of a table that has this text."""
    page.get_by_role("grid", name=grid).get_by_role("row").filter(has_text=text).get_by_text(text).first.click()


def test_a_secret_gets_another_value_loses_its_destination_and_goes(walked: Stage, visit: Visit, watch: Watch) -> None:
    walked.house.post("/secrets", {"name": "beacon", "value": OLD})
    walked.house.post("/secrets/beacon/bindings", {"binding": {"type": "host", "host": "api.beacon.example.com"}})
    page = visit(walked, "/secrets")
    open_row(page, "secrets", "beacon")
    drawer = page.get_by_role("dialog", name="beacon")
    (before,) = walked.house.get("/secrets")["items"]
    expect(drawer).to_contain_text(before["placeholder"])
    drawer.get_by_role("button", name="Replace the value").click()
    drawer.get_by_role("textbox", name="Value").fill(NEW)
    assert holds(page, NEW)
    drawer.get_by_role("button", name="Replace it").click()
    expect(drawer).not_to_contain_text(before["placeholder"])
    assert not holds(page, OLD)
    walked.house.until(lambda: not holds(page, NEW), "the field to be cleared")  # it may show its effect before
    drawer.get_by_role("button", name="Remove the destination api.beacon.example.com").click()
    expect(drawer).to_contain_text("None. Until a destination is added, the value never leaves the vault.")
    (row,) = walked.house.get("/secrets")["items"]
    assert row["bindings"] == []
    assert row["placeholder"] != before["placeholder"]
    drawer.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove beacon?").get_by_role("button", name="Remove").click()
    says(page, "No secrets yet")
    assert walked.house.get("/secrets")["items"] == []
    assert not any(value in url for value in (OLD, NEW) for url in watch.requests)


def test_a_host_is_allowed_for_a_folder_and_no_longer(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/network")
    page.get_by_role("button", name="Allow a host").click()
    dialog = page.get_by_role("dialog", name="Allow a host")
    dialog.get_by_role("button", name="Allow").click()
    expect(dialog).to_contain_text("Give a host.")
    dialog.get_by_role("textbox", name="Host").fill("docs.quay.example.com")
    dialog.get_by_role("textbox", name="Folder").fill(str(walked.project))
    expect(dialog).to_contain_text("Stead can work here.")
    axe(page)
    dialog.get_by_role("button", name="Allow").click()
    expect(dialog).to_have_count(0)
    (row,) = walked.house.get("/egress/hosts")["items"]
    assert (row["host"], row["directory"]) == ("docs.quay.example.com", str(walked.project))
    open_row(page, "allowed hosts", "docs.quay.example.com")
    page.get_by_role("dialog", name="Remove docs.quay.example.com?").get_by_role("button", name="Remove").click()
    says(page, "No allowed hosts")
    assert walked.house.get("/egress/hosts")["items"] == []


@pytest.mark.long
def test_package_registries_are_allowed_at_once_and_shown_spelled_out(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/network")
    page.get_by_role("button", name="Allow a host").click()
    dialog = page.get_by_role("dialog", name="Allow a host")
    dialog.get_by_role("checkbox", name="Package registries").click()
    expect(dialog.get_by_role("textbox", name="Host")).to_have_count(0)
    dialog.get_by_role("checkbox", name="Pre-approvals still hold after installing packages").click()
    dialog.get_by_role("textbox", name="Folder").fill(str(walked.project))
    axe(page)
    dialog.get_by_role("button", name="Allow").click()
    expect(dialog).to_have_count(0)
    (row,) = walked.house.get("/egress/hosts")["items"]
    assert row["host"] == "registries" and row["grants_last"]
    says(page, "Package registries, and what you allow ahead holds after installing: pypi.org")
    open_row(page, "allowed hosts", "registries")
    ending = page.get_by_role("dialog", name="Remove registries?")
    expect(ending).to_contain_text("pypi.org, files.pythonhosted.org, registry.npmjs.org")
    ending.get_by_role("button", name="Remove").click()
    says(page, "No allowed hosts")


def test_a_rule_is_made_shown_as_it_was_understood_and_taken_back(walked: Stage, visit: Visit, watch: Watch) -> None:
    page = visit(walked, "/rules")
    sentence = page.get_by_role("textbox", name="Add a rule")
    sentence.fill("be nice to the boats")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="What the rule would do")).to_contain_text("This makes no rule yet")
    assert walked.house.get("/rules")["items"] == []
    sentence.fill("never run `make`")
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="What the rule would do")
    expect(preview).to_contain_text("running programs; the command is make")
    assert walked.house.get("/rules")["items"] == []
    preview.get_by_role("button", name="Add rule").click()
    row = page.get_by_role("grid", name="rules").get_by_role("row").filter(has_text="never run")
    expect(row).to_contain_text("deny")
    expect(row).to_contain_text("running programs; the command is make")
    expect(row).to_contain_text("every folder")
    assert [rule["decision"] for rule in walked.house.get("/rules")["items"]] == ["deny"]
    open_row(page, "rules", "never run")
    dialog = page.get_by_role("dialog", name="Delete this rule?")
    expect(dialog).to_contain_text("running programs; the command is make")
    dialog.get_by_role("button", name="Delete rule").click()
    says(page, "No rules yet")
    assert walked.house.get("/rules")["items"] == []


@pytest.mark.long
def test_a_rule_is_changed_in_its_form_and_ends_on_a_day(walked: Stage, visit: Visit) -> None:
    walked.house.post("/rules", {"text": "never run `make deploy`", "confirmed": True})
    (made,) = walked.house.get("/rules")["items"]
    page = visit(walked, "/rules")
    open_row(page, "rules", "never run `make deploy`")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit")
    dialog.get_by_role("checkbox", name="deleting").check()
    dialog.get_by_label("Last day").fill("2099-12-31")
    dialog.get_by_role("button", name="Preview").click()
    axe(page)
    dialog.get_by_role("button", name="Add rule").click()
    expect(dialog).to_have_count(0)
    (rule,) = walked.house.get("/rules")["items"]
    assert rule["id"] == made["id"]
    assert (rule["what"], time.gmtime(rule["expires_at_ms"] / 1000).tm_year) == (["delete", "run"], 2100)
    expect(page.get_by_text("How much it asks, and how you answer")).to_be_visible()
    assert walked.house.cli("rules", "remove", str(rule["id"]), "--yes").returncode == 0


def test_leave_that_was_given_for_a_folder_is_taken_back_and_stead_asks_again(walked: Stage, visit: Visit) -> None:
    id = walked.house.give("Please count the boats", walked.project)
    asked = question(walked, id)
    digest = walked.house.get(f"/approvals/{asked}")["digest"]
    walked.house.post(f"/approvals/{asked}/decision", {"answer": "project", "digest": digest, "whole": True})
    walked.house.wait(id, *WELL, timeout_s=60)
    page = visit(walked, "/rules")
    open_row(page, "approvals", "shell")
    dialog = page.get_by_role("dialog", name="Revoke shell?")
    expect(dialog).to_contain_text(str(walked.project))
    dialog.get_by_role("button", name="Revoke").click()
    says(page, "None yet")
    expect(page.get_by_role("grid", name=re.compile("approvals"))).to_have_count(0)
    again = walked.house.give("Please count the boats", walked.project)
    assert question(walked, again)
    walked.house.post(f"/objectives/{again}/cancel")


@pytest.mark.long
def test_a_tool_is_forbidden_where_a_condition_holds_from_the_table_of_tools(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/rules")
    tools = page.get_by_role("grid", name="tools")
    expect(tools.get_by_role("row").filter(has_text="api_call")).to_contain_text("asks with all shown")
    open_row(page, "tools", "api_call")
    dialog = page.get_by_role("dialog", name="What api_call may do")
    dialog.get_by_role("combobox", name="Effect").click()
    page.get_by_role("option", name="deny").click()
    dialog.get_by_role("button", name="Add a condition").click()
    dialog.get_by_role("combobox", name="What is tested").click()
    page.get_by_role("option", name="host").click()
    dialog.get_by_role("textbox", name="Values").fill("rival.example")
    axe(page)
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.get_by_role("region", name="What the rule would do")).to_contain_text("Speaks of 1 of your")
    dialog.get_by_role("button", name="Add rule").click()
    expect(dialog).to_have_count(0)
    expect(tools.get_by_role("row").filter(has_text="api_call")).to_contain_text("the host is rival.example")
    (rule,) = walked.house.get("/rules")["items"]
    assert (rule["decision"], rule["tools"], rule["where"][0]["values"]) == ("deny", ["api_call"], ["rival.example"])
    page.get_by_role("button", name="Try it on your last calls").nth(2).click()
    expect(page.get_by_text(re.compile("Your last .* call|There are no calls yet"))).to_be_visible()
    assert walked.house.cli("rules", "remove", str(rule["id"]), "--yes").returncode == 0
