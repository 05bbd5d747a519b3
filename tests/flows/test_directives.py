"""What the person tells models always reaches the next request of every session, and nothing else of it changes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import sit_down
from tests.promises import promise

BOTH = pytest.mark.parametrize("preset", ["compatible", "anthropic"])
SOUL = "d_0000000000000001"
RULES = "Write every date as 2031-05-04."
PLAIN: Json = {"kind": "custom", "title": "Plain", "text": "Be plain."}
SECOND_SOUL: Json = {"kind": "soul", "title": "Another", "text": "Loud."}


def command(house: LivingHome, *words: str) -> Json:
    """``stead directives WORDS --json``; gives what it prints."""
    done = house.cli("directives", *words, "--json")
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    found: Json = json.loads(done.stdout)
    return found


def write(house: LivingHome, title: str, text: str, **fields: object) -> str:
    """Write a directive; gives its id."""
    body: Json = {"kind": "custom", "title": title, "text": text, **fields}
    return str(house.post("/directives", body)["text"]).rpartition(" ")[2]


def told(seen: Seen) -> str:
    """The instructions of a request, as they were sent."""
    if seen.wire == "anthropic":
        return "\n".join(block["text"] for block in seen.body["system"])
    return str(seen.body["messages"][0]["content"])


@BOTH
@promise("MEM-9.directives")
def test_a_directive_reaches_the_next_turn_and_with_no_change_each_request_goes_on_from_the_one_before(
    house: LivingHome, project: Path, preset: str
) -> None:
    look = Turn("", calls=(Call("read", {"path": "README.md"}),))
    with served(by_turn(look, Turn("One."), look, Turn("Two."), look, Turn("Three."))) as model:
        use_model(house, getattr(model, "openai" if preset == "compatible" else "anthropic"), preset=preset)
        sitting = sit_down(house, project)
        sitting.turn("first")
        sitting.turn("second")
        id = write(house, "Dates", RULES)
        sitting.turn("third")
        requests = model.requests()
        house.post(f"/directives/{id}/switch", {"enabled": False})
        sitting.turn("fourth")
        off = model.requests()[-1]
        changes = sitting.bodies("instructions.set")
    assert len(requests) == 6
    assert [RULES in told(seen) for seen in requests] == [False] * 4 + [True] * 2
    assert all(later.prompt.startswith(earlier.prompt) for earlier, later in pairwise(requests[:4]))
    assert requests[5].prompt.startswith(requests[4].prompt)
    assert requests[4].body["messages"][1:4] == requests[3].body["messages"][1:4], "what was said stays as it was"
    assert len(changes) == 2 and RULES in changes[0]["text"]
    assert told(off) == told(requests[0])


def test_an_objective_hears_of_a_change_at_its_next_request(house: LivingHome, project: Path) -> None:
    asks = Turn("", calls=(Call("write", {"path": "out.md", "text": "x\n"}),))
    with served(by_turn(asks, Turn("Done: out.md is written."))) as model:
        use_model(house, model.openai)
        id = house.give("write out.md", project)
        house.wait(id, "waiting")
        write(house, "Dates", RULES)
        house.finish(id)
        other = house.give("write out.md", project)
        house.finish(other)
        seen = [RULES in told(request) for request in model.requests()]
    assert seen[:2] == [False, True] and all(seen[2:])
    assert len(house.bodies(id, "instructions.set")) == 1
    assert house.bodies(other, "instructions.set") == []
    assert RULES in house.bodies(other, "session.opened")[0]["instructions"]


def test_a_directive_of_a_folder_holds_in_that_folder_alone_and_a_fork_is_told_those_of_its_own(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with served(by_turn(Turn("One."))) as model:
        use_model(house, model.openai)
        write(house, "Dates", RULES, directory=str(project))
        here, there = sit_down(house, project), sit_down(house, elsewhere)
        here.turn("hello")
        there.turn("hello")
        copy = tmp_path / "copy"
        copy.mkdir()
        forks = [here.fork(), here.fork(directory=str(copy))]
        for fork in forks:
            fork.turn("and again")
        seen = [RULES in told(request) for request in model.requests()]
        assert seen == [True, False, True, False]
        assert all(fork.bodies("instructions.set") == [] for fork in forks)


def test_a_conversation_put_back_is_told_what_holds_now_and_not_what_held_then(
    house: LivingHome, project: Path
) -> None:
    with served(by_turn(Turn("One."), Turn("Two."), Turn("Three."))) as model:
        use_model(house, model.openai)
        sitting = sit_down(house, project)
        sitting.turn("first")
        kept = sitting.checkpoint()
        write(house, "Dates", RULES)
        sitting.turn("second")
        sitting.restore(kept["id"], "--conversation", "--yes")
        sitting.turn("second, otherwise")
        last = model.requests()[-1]
    assert RULES in told(last)
    assert len(sitting.bodies("instructions.set")) == 1


@promise("MEM-9.history")
def test_versions_are_kept_compared_and_restored_at_the_command_line_and_a_removed_one_comes_back(
    house: LivingHome,
) -> None:
    id = command(house, "add", "Dates", "--text", "- As 2031-05-04.\n- In UTC.")["id"]
    command(house, "edit", "dates", "--text", "- As 2031-05-04.\n- In local time.", "--why", "nobody reads UTC")
    listed = house.cli("directives", "versions", id).stdout
    assert "nobody reads UTC" in listed and "+1 -1" in listed
    shown = house.cli("directives", "diff", id).stdout.splitlines()
    assert shown[0] == "from version 1 to 2: +1 -1 lines"
    assert [line for line in shown if line[:1] in "+-"] == ["-- In UTC.", "+- In local time."]
    removed = house.cli("directives", "remove", id, "--yes")
    assert f"stead directives restore {id} 2" in removed.stdout
    assert house.cli("directives", "show", id).returncode == 2
    command(house, "restore", id, "1")
    row = command(house, "show", id)["directive"]
    assert (row["text"], row["version"], row["enabled"]) == ("- As 2031-05-04.\n- In UTC.", 3, True)
    versions = house.get(f"/directives/{id}/versions")["items"]
    assert [one["directive"]["version"] for one in versions] == [3, 2, 1]
    assert versions[0]["why"] == "restored from version 1"


@promise("MEM-9.templates", "MEM-9.preview")
def test_a_new_home_has_a_soul_and_starting_points_and_the_preview_is_what_a_model_gets(
    house: LivingHome, project: Path
) -> None:
    rows = house.get("/directives")["items"]
    assert [row["directive"]["kind"] for row in rows if row["directive"]["enabled"]] == ["soul"]
    titles = [row["title"] for row in house.get("/directives/templates")["items"]]
    assert len(titles) >= 12 and titles[0] in house.cli("directives", "templates").stdout
    command(house, "add", "Pythonic", "--kind", "coding_style", "--template", "Python", "--text", "- Type hints.")
    prompt = house.get("/directives/preview", directory=str(project))
    assert [part["source"] for part in prompt["parts"]] == ["core", "directive", "directive"]
    assert prompt["text"] == "\n\n".join(part["text"] for part in prompt["parts"])
    assert all(part["tokens"] > 0 for part in prompt["parts"])
    told_at_line = house.cli("directives", "preview", "--dir", str(project)).stdout
    assert "Stead's own words" in told_at_line and prompt["text"] in told_at_line
    with served(by_turn(Turn("One."))) as model:
        use_model(house, model.openai)
        sit_down(house, project).turn("hello")
        assert told(model.requests()[0]) == prompt["text"]


def test_a_preview_takes_a_draft_for_saved_and_saves_nothing(house: LivingHome) -> None:
    before = house.get("/directives")
    draft = {"kind": "soul", "title": "Soul", "text": "Terse.", "id": SOUL}
    prompt = house.post("/directives/preview", {"draft": draft})
    assert prompt["parts"][1]["text"] == "# Soul\nTerse."
    off = house.post("/directives/preview", {"draft": {**draft, "enabled": False}})
    assert [part["source"] for part in off["parts"]] == ["core"]
    assert house.get("/directives") == before


def test_a_sentence_that_could_be_a_rule_is_offered_and_made_none_by_itself(house: LivingHome) -> None:
    text = "- Never change infra/\n- Be kind. Ask before running `make`."
    said = house.cli("directives", "add", "Guard rails", "--kind", "behavioral_rules", "--text", text).stdout
    assert "stead rules add 'Never change infra/'" in said and "`make`" in said and "kind" not in said.split("\n", 1)[1]
    assert house.get("/rules")["items"] == []
    house.post("/rules", {"text": "never change infra/", "confirmed": True})
    id = said.partition(":")[0]
    assert [rule["text"] for rule in house.get(f"/directives/{id}/rules")["items"]] == ["Ask before running `make`."]


def test_what_cannot_be_is_refused_and_a_change_of_something_newer_is_a_conflict(house: LivingHome) -> None:
    id = write(house, "Dates", RULES)
    body = {"kind": "custom", "title": "Dates", "text": "Otherwise.", "version": 1}
    house.client().put(f"/directives/{id}", body)
    refused: dict[int, list[tuple[str, str, Json]]] = {
        409: [("PUT", f"/directives/{id}", body), ("POST", "/directives", SECOND_SOUL)],
        400: [
            ("POST", "/directives", {**PLAIN, "text": "x" * 20_001}),
            ("POST", "/directives", {**PLAIN, "title": "x" * 81}),
            ("POST", "/directives", {**PLAIN, "text": " \n "}),
            ("POST", "/directives", {**PLAIN, "directory": "/no/such/folder"}),
            ("POST", "/directives", {**PLAIN, "kind": "policy"}),
            ("POST", "/directives/order", {"ids": [id, id]}),
        ],
        404: [
            ("POST", "/directives/d_ffffffffffffffff/switch", {"enabled": True}),
            ("POST", f"/directives/{id}/restore", {"version": 9}),
            ("POST", "/directives/order", {"ids": ["d_ffffffffffffffff"]}),
        ],
    }
    for status, asked in refused.items():
        for method, path, fields in asked:
            with pytest.raises(ApiError) as fault:
                getattr(house.client(), method.lower())(path, fields)
            assert fault.value.status == status, (path, fields, fault.value)


def test_no_session_is_told_more_than_fits_and_what_is_over_is_refused_not_cut(
    house: LivingHome, project: Path
) -> None:
    ids = [write(house, f"Long {n}", "x" * 19_000, directory=str(project)) for n in range(3)]
    with pytest.raises(ApiError, match="switch one off"):
        write(house, "One more", "y" * 19_000)
    house.post(f"/directives/{ids[0]}/switch", {"enabled": False})
    last = write(house, "One more", "y" * 19_000)
    with pytest.raises(ApiError, match="switch one off"):
        house.post(f"/directives/{ids[0]}/switch", {"enabled": True})
    text = house.get("/directives/preview", directory=str(project))["text"]
    assert text.count("x" * 19_000) == 2 and "y" * 19_000 in text
    house.client().command("DELETE", f"/directives/{last}")
    house.post(f"/directives/{ids[0]}/switch", {"enabled": True})


def test_hidden_characters_are_spelled_out_for_the_person_and_told_of(house: LivingHome, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("# House\u202e style\n\nBe brief.\u200b\x1b[2J Then\u2066 stop.\n", "utf-8")
    done = house.cli("directives", "import", str(file))
    assert done.returncode == 0, done.stderr
    [row] = [row for row in house.get("/directives")["items"] if row["directive"]["kind"] == "project_context"]
    assert not row["directive"]["enabled"], "what comes from a file is off until it was read"
    for words in (("show", row["directive"]["id"]), ("list",), ("versions", row["directive"]["id"])):
        shown = house.cli("directives", *words).stdout
        assert not set(shown) & set("\u202e\u200b\u2066\x1b"), words
    assert "\\u202e" in house.cli("directives", "show", row["directive"]["id"]).stdout
    made = house.post("/directives", {**PLAIN, "text": "Be brief.\u202e Then stop."})
    assert made["text"].startswith("your words hold characters that nobody sees (bidi)")


def test_an_export_comes_back_as_it_was_but_switched_off(house: LivingHome, tmp_path: Path, project: Path) -> None:
    write(house, "Dates", RULES, directory=str(project))
    write(house, "More\u2026", "## Inner\n\n- one\n- two")
    file = tmp_path / "directives.md"
    assert house.cli("directives", "export", str(file)).returncode == 0
    before = [row["directive"] for row in house.get("/directives")["items"]]
    for one in before:
        house.client().command("DELETE", f"/directives/{one['id']}")
    assert house.cli("directives", "import", str(file)).returncode == 0
    after = [row["directive"] for row in house.get("/directives")["items"]]
    same = ("kind", "title", "text", "directory")
    assert [[one[name] for name in same] for one in after] == [[one[name] for name in same] for one in before]
    assert not any(one["enabled"] for one in after)


def test_a_thousand_directives_are_listed_ordered_and_composed_and_one_more_is_refused(house: LivingHome) -> None:
    there = len(house.get("/directives")["items"])
    ids = [write(house, f"Number {n}", f"Fact {n}.", enabled=n % 20 == 0) for n in range(1000 - there)]
    with pytest.raises(ApiError, match="the most there can be"):
        write(house, "One more", "x")
    house.post("/directives/order", {"ids": ids[::-1]})
    rows = house.get("/directives")["items"]
    assert len(rows) == 1000 and rows[0]["directive"]["kind"] == "soul"
    prompt = house.get("/directives/preview")
    told_of = [part["title"] for part in prompt["parts"][2:]]
    assert told_of == [f"Number {n}" for n in range(0, 1000 - there, 20)][::-1]


def test_a_value_of_the_vault_is_kept_out_of_a_directive(house: LivingHome) -> None:
    value = "quiet-harbour-4417"
    house.post("/secrets", {"name": "shop", "value": value})
    made = house.post("/directives", {**PLAIN, "text": f"The shop's key is {value}."})
    assert "placeholder" in made["text"]
    assert value not in str(house.events("home")) and value not in str(house.get("/directives"))


def test_a_directive_is_changed_in_the_persons_editor_and_without_one_the_way_out_is_named(
    house: LivingHome,
) -> None:
    id = write(house, "Clock", "- Times in UTC.")
    refused = house.cli("directives", "edit", "clock")
    assert refused.returncode == 2 and "set EDITOR, or give the text with --text or --file" in refused.stderr
    house.env = {"EDITOR": "sed -i s/UTC/CET/"}
    assert house.cli("directives", "edit", "clock").returncode == 0
    assert "nothing was changed" in house.cli("directives", "edit", "clock").stderr
    house.env = {"EDITOR": "false"}
    assert "ended with 1; nothing was changed" in house.cli("directives", "edit", "clock").stderr
    row = command(house, "show", id)["directive"]
    assert (row["text"], row["version"]) == ("- Times in CET.", 2)
