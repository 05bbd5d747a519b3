"""MCP servers over stdio: set up, approved, found, called through the gate, and believed in nothing."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.models import Call
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import add, carry_out, home_events, told, use
from tests.promises import promise

__all__ = ["house"]


@promise("MCP-1.stdio")
def test_a_tool_of_a_server_is_found_asked_for_and_called_in_a_machine(house: LivingHome, project: Path) -> None:
    tools = add(house, "pears")
    assert tools["count_pears"]["state"] == "approved" and tools["count_pears"]["effect"] == "send"
    find = Call("find_tools", {"query": "count pears in an orchard"})
    sitting = carry_out(house, project, find, use("mcp__pears__count_pears", orchard="north"))
    found, counted = told(sitting)
    assert "mcp__pears__count_pears: [in the words of the MCP server pears] Counts the pears" in found[2]
    assert counted == ("mcp__pears__count_pears", "ok", "There are 41 pears in north.")
    labels = [body["label"]["integrity"] for body in sitting.bodies("tool.finished")]
    assert labels == ["untrusted", "untrusted"]
    [question] = sitting.bodies("approval.requested")
    assert question["level"] == "confirm"
    assert home_events(house, "mcp.tools_approved")[0]["door"] == "cli"
