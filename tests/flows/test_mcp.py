"""MCP servers over stdio: set up, approved, found, called through the gate, and believed in nothing."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.counting import counting, offered
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import PEARS, RESULT, add, carry_out, everything, home_events, told, use
from tests.flows.sitting import sit_down
from tests.promises import promise

__all__ = ["house"]

NODE_MODULES = Path(__file__).parents[1] / "fakes" / "node" / "node_modules"


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


def test_the_person_lowers_a_tool_and_takes_it_back(house: LivingHome, project: Path) -> None:
    add(house, "lowered")
    assert house.cli("mcp", "effect", "lowered", "count_pears", "read").returncode == 0
    sitting = carry_out(house, project, use("mcp__lowered__count_pears", orchard="north"), answer="deny")
    assert told(sitting)[0][1] == "ok" and not sitting.bodies("approval.requested")
    [finished] = sitting.bodies("tool.finished")
    assert (finished["label"]["integrity"], finished["label"]["confidentiality"]) == ("untrusted", "private")
    assert house.cli("mcp", "effect", "lowered", "count_pears", "off").returncode == 0
    sitting = carry_out(house, project, use("mcp__lowered__count_pears", orchard="north"))
    assert told(sitting)[0][1] == "denied"


def test_arguments_that_do_not_fit_are_refused_before_the_server_is_asked(house: LivingHome, project: Path) -> None:
    add(house, "strict")
    tool = "mcp__strict__count_pears"
    sitting = carry_out(house, project, use(tool), use(tool, orchard="north", to="a@example.com"))
    assert [outcome for _, outcome, _ in told(sitting)] == ["denied", "denied"]
    assert "'orchard' is missing" in told(sitting)[0][2] and "it has no 'to'" in told(sitting)[1][2]


def test_resources_and_prompts_are_read_as_data_and_long_results_by_pages(house: LivingHome, project: Path) -> None:
    add(house, "shelf", "long")
    sitting = carry_out(
        house,
        project,
        use("mcp_read", server="shelf"),
        use("mcp_read", server="shelf", uri="pear://conference"),
        use("mcp_prompt", server="shelf", name="praise", arguments={"pear": "Williams"}),
        use("mcp__shelf__count_pears", orchard="all"),
        use("mcp_page", result=RESULT, page=2),
        use("mcp_page", result=RESULT, page=99),
    )
    listed, read, prompt, long, paged, missing = told(sitting)
    assert "pear://conference: Conference" in listed[2]
    assert "A green pear." in read[2] and prompt[2] == "user: Praise Williams."
    assert long[2].startswith("pear 0\n") and "[page 1 of " in long[2] and len(long[2]) < 17_000
    assert "[page 2 of " in paged[2] and missing[1] == "error"
    assert {body["label"]["integrity"] for body in sitting.bodies("tool.finished")[:5]} == {"untrusted"}


def test_what_a_server_asks_is_put_to_the_person_who_sees_the_answer_before_it_goes(
    house: LivingHome, project: Path
) -> None:
    add(house, "curious", "asks")

    def reply(seen: object) -> Turn:
        said = json.dumps(seen.body["messages"])  # type: ignore[attr-defined]
        if "mcp_answer" not in said:
            return Turn("", calls=(use("mcp__curious__count_pears", orchard="north"),))
        if "The person said" in said:
            return Turn("Done.")
        id = said.partition('\\\\\\"question\\\\\\": \\\\\\"')[2][:9] or said.partition('question\\": \\"')[2][:9]
        return Turn("", calls=(use("mcp_answer", question=id, content={"kind": "Conference"}),))

    with counting(house, reply, "compatible"):
        sitting = sit_down(house, project)
        sitting.turn("count the pears")
    question, answered = told(sitting)
    assert "asks the person something first, in its own words: Which kind of pear?" in question[2]
    assert answered[1] == "ok"
    assert '"content": {"ripe": true, "kind": "Conference"}' in answered[2], answered
    assert [body["level"] for body in sitting.bodies("approval.requested")] == ["confirm", "confirm"]


def test_a_secret_of_a_server_is_in_its_process_and_nowhere_else(house: LivingHome, project: Path) -> None:
    value = "pear-secret-5d41402abc4b2a76"
    words = (
        "mcp",
        "add",
        "keyed",
        "--secret",
        "PEAR_KEY",
        "--set",
        "ROW=seven",
        "--command",
        shlex.join(["python3", "-c", PEARS, "env"]),
    )
    done = house.cli(*words, stdin=value)
    assert done.returncode == 0, done.stderr
    assert house.cli("mcp", "review", "keyed", "--yes").returncode == 0
    tool = "mcp__keyed__count_pears"
    shell = Call("shell", {"command": "env; grep -r pear-secret /proc/*/environ 2>/dev/null"})
    sitting = carry_out(house, project, use(tool, orchard="ROW"), use(tool, orchard="PEAR_KEY"), shell)
    plain, secret, _ = told(sitting)
    assert plain[2] == "seven"
    assert "{{secret:mcp-keyed" in secret[2], "the server has it, and what it says of it is redacted"
    assert value not in everything(house)
    assert house.cli("mcp", "remove", "keyed", "--yes").returncode == 0


@promise("MCP-1.stdio")
def test_the_files_of_other_programs_are_shown_and_their_values_go_into_the_vault(
    house: LivingHome, tmp_path: Path
) -> None:
    value = "fk-0123456789abcdef-pears"
    servers = {
        "Pear Tree": {"command": "python3", "args": ["-c", PEARS], "env": {"TOKEN": value, "HOST": "${NO_SUCH:-here}"}},
        "unset": {"command": "npx", "args": ["-y", "pears"], "env": {"KEY": "${NO_SUCH}"}},
        "old": {"type": "sse", "url": "https://pears.example.com/sse"},
    }
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    shown = house.cli("mcp", "import", str(file))
    assert (
        "into the vault: TOKEN, HOST" in shown.stdout and "needs NO_SUCH" in shown.stdout and value not in shown.stdout
    )
    assert "pear-tree" not in {row["server"]["name"] for row in house.get("/mcp")["items"]}, "nothing was confirmed"
    done = house.cli("mcp", "import", str(file), "--yes")
    assert done.returncode == 0 and value not in done.stdout
    rows = {row["server"]["name"]: row for row in house.get("/mcp")["items"]}
    assert sorted(rows["pear-tree"]["server"]["secrets"]) == ["HOST", "TOKEN"]
    assert {"unset", "old"} & set(rows) == set()
    assert rows["pear-tree"]["approved"] == 0
    assert value not in everything(house)
    code = tmp_path / "mcp.json"
    code.write_text(json.dumps({"servers": {"coded": {"url": "https://pears.example.com/mcp"}}}), "utf-8")
    codex = tmp_path / "config.toml"
    codex.write_text('[mcp_servers.toml]\ncommand = "uvx"\nargs = ["pears"]\n', "utf-8")
    for one in (code, codex):
        assert house.cli("mcp", "import", str(one), "--yes").returncode == 0
    rows = {row["server"]["name"]: row for row in house.get("/mcp")["items"]}
    assert rows["coded"]["server"]["url"] and rows["toml"]["server"]["hosts"] == ["registries"]


def test_a_server_shows_the_folder_where_it_is_told_to_and_changes_nothing_in_it(
    house: LivingHome, project: Path
) -> None:
    add(house, "blind", "files")
    add(house, "seeing", "files", "--folder", cwd=project)
    calls = [use(f"mcp__{name}__count_pears", orchard="/work") for name in ("blind", "seeing")]
    sitting = carry_out(house, project, *calls)
    blind, seeing = told(sitting)
    assert blind[:2] == ("mcp__blind__count_pears", "ok") and "README.md" not in blind[2]
    assert "README.md" in seeing[2], seeing


@pytest.mark.long
def test_the_first_request_is_the_same_with_a_hundred_tools_of_servers(own_house: LivingHome, project: Path) -> None:
    def first_request() -> bytes:
        with counting(own_house, lambda _: Turn("Done."), "compatible") as (model, _):
            sitting = sit_down(own_house, project)
            sitting.turn("hello")
            names = offered(model.requests()[0])
            assert not any(name.startswith("mcp") for name in names)
            return json.dumps(model.requests()[0].body["tools"]).encode()

    before = first_request()
    assert len(add(own_house, "many", "many")) == 101
    assert first_request() == before


def test_settings_that_cannot_be_are_refused_with_the_way_out(house: LivingHome) -> None:
    for body, said in (
        ({"name": "Bad"}, "a small letter"),
        ({"name": "none"}, "either the command"),
        ({"name": "clear", "url": "http://pears.example.com/mcp"}, "in the clear"),
        ({"name": "both", "url": "https://pears.example.com/mcp", "command": ["x"]}, "either the command"),
        ({"name": "host", "command": ["x"], "hosts": ["127.0.0.1"]}, "is an address"),
        ({"name": "ours", "url": "https://pears.example.com/mcp", "settings": {"Host": "x"}}, "'Host' cannot be set"),
        ({"name": "lines", "url": "https://pears.example.com/mcp", "settings": {"X": "a\nb"}}, "what it cannot"),
        ({"name": "cc", "url": "https://a.example.com/", "grant": "client_credentials"}, "need --client-id"),
    ):
        with pytest.raises(ApiError, match=said):
            house.post("/mcp", body)
    assert house.cli("mcp", "test", "nobody").returncode == 2


@pytest.mark.long
def test_the_file_server_of_the_protocols_makers_works_in_a_machine(own_house: LivingHome, tmp_path: Path) -> None:
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "pears.txt").write_text("41 pears\n", "utf-8")
    shutil.copytree(NODE_MODULES, folder / "node_modules", copy_function=linked, symlinks=True)
    program = "/work/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    done = own_house.cli("mcp", "add", "files", "--folder", "--command", f"node {program} /work", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert own_house.cli("mcp", "review", "files", "read_text_file", "write_file", "--yes").returncode == 0
    read = use("mcp__files__read_text_file", path="/work/pears.txt")
    write = use("mcp__files__write_file", path="/work/new.txt", content="a pear")
    outside = use("mcp__files__read_text_file", path="/etc/shadow")
    ended = told(carry_out(own_house, folder, read, write, outside))
    assert ended[0][1] == "ok" and "41 pears" in ended[0][2], ended
    assert ended[1][1] == "ok" and not (folder / "new.txt").exists(), "what it changes is thrown away"
    assert ended[2][1] == "error"


def linked(source: str, target: str) -> None:
    """A file as a link where that can be, else as a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
