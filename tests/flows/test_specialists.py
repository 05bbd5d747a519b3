"""Specialists, as a person keeps them in files and as subagents are told by them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, children, report, spawn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

MENDER = """---
kind: mender
description: Mends clocks.
tools: [read]
max_iterations: 7
---
mission={{mission}} depth={{depth}}/{{max_depth}} most={{max_iterations}} goal={{goal_id}} in={{working_dir}}
scheduled={{is_scheduled}} parent={{parent_session_id}} mode={{execution_mode}} task={{task}}
"""


@promise("OBJ-7.specialists", "OBJ-7.variables")
def test_a_persons_file_is_a_specialist_at_once_and_its_variables_are_filled_in(
    house: LivingHome, project: Path
) -> None:
    find = Turn("", calls=(Call("find_tools", {"query": "spawn a subagent that mends clocks"}),))
    parts = {
        "ROOT": (find, Turn("", calls=(spawn("MM: the clock", specialist="mender"),)), Turn("Done.")),
        "MM": (Turn("Mended."),),
    }
    written = project / "mender.md"
    written.write_text(MENDER, "utf-8")
    saved = house.cli("specialist", "edit", "mender", "--file", str(written))
    assert saved.returncode == 0, saved.stderr
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: have the clock mended", project))
        told = [seen.body["messages"] for seen in model.requests() if "mission=" in json.dumps(seen.body["messages"])]
    found = next(body for body in house.bodies(row["id"], "tool.finished") if body["tool"] == "find_tools")
    assert "mender: Mends clocks." in found["text"] and "reviewer: " in found["text"]
    (child,) = children(house, row["id"])
    assert (child["specialist"], house.bodies(row["id"], "agent.spawned")[0]["source"]) == ("mender", "person")
    first = next(message["content"] for message in told[0] if message["role"] == "user")
    said = first if isinstance(first, str) else first[0]["text"]
    assert "mission=ROOT: have the clock mended depth=1/3 most=7 " in said
    assert (
        f"goal={row['id']} in={project}\nscheduled=false parent={row['id']} mode=workspace task=MM: the clock" in said
    )
    assert house.bodies(child["id"], "session.opened")[0]["tools"] == ["read"]


@promise("OBJ-7.specialists")
def test_a_file_in_place_of_a_bundled_one_counts_and_a_broken_one_stands_in_its_way(
    house: LivingHome, project: Path
) -> None:
    folder = house.home.specialists
    assert house.cli("specialist", "show", "coder").stdout.startswith("---\nkind: coder\n")
    parts = {"ROOT": (Turn("", calls=(spawn("CC: do it", specialist="coder"),)), Turn("Done.")), "CC": (Turn("Done."),)}
    own = MENDER.replace("mender", "coder").replace("clocks", "code in our way")
    folder.mkdir()
    (folder / "coder.md").write_text(own, "utf-8")
    listed = json.loads(house.cli("--json", "specialist", "list").stdout)["specialists"]
    assert [(row["source"], row["overrides"]) for row in listed if row["kind"] == "coder"] == [("person", True)]
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        first = house.finish(house.give("ROOT: have it done", project))
        assert house.bodies(first["id"], "agent.spawned")[0]["source"] == "person"
        (folder / "coder.md").write_text(own.replace("tools:", "powers:"), "utf-8")
        second = house.finish(house.give("ROOT: have it done again", project))
    told = report(house, second["id"])
    assert told["outcome"] == "error" and "coder.md, line 4: there is no field 'powers'" in told["text"]
    assert children(house, second["id"]) == []
    checked = house.cli("specialist", "check")
    assert checked.returncode == 1 and "line 4: there is no field 'powers'" in checked.stdout
    refused = house.cli("specialist", "edit", "coder", "--file", str(folder / "coder.md"))
    assert refused.returncode != 0 and "line 4" in refused.stderr
