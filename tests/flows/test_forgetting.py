"""Words that were said, remembered, written into files and told again are forgotten, and nothing has them then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.storage.contents import index_key
from stead.storage.keystore import open_keys
from tests.fakes.models import Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import sit_down
from tests.promises import promise
from tests.storage.raw import raw

NAME = "Torvald Weißbach"
SPELLED = ("torvald weißbach", "torvald weissbach", "torvald_weissbach", "torvald-weissbach", "torvald_weißbach")
PIN = "PIN is 4711"


def files_with(house: LivingHome, *words: str) -> list[str]:
    """The home's files that have one of these, as a thief of its files and keys reads them; small letters are given."""
    keys = open_keys(house.home, "file", lambda: "").keys
    found = []
    for path in sorted(path for path in house.root.rglob("*") if path.is_file()):
        try:
            content = [path.read_bytes()]
            if path.name.endswith((".db", ".db-wal")):
                content += [raw(path, key) for key in (keys.database, keys.views, index_key(keys.checkpoints))]
        except FileNotFoundError:  # one that the daemon wrote beside another, to take its place
            continue
        name = path.relative_to(house.root).as_posix()
        read = "\n".join([name, *(one.decode("utf-8", "ignore") for one in content)]).casefold()
        if any(word.casefold() in read for word in words):
            found.append(name)
    return found


def remember(house: LivingHome, *items: Json) -> list[Json]:
    """Everything that is remembered, after these."""
    house.post("/memories", {"items": list(items)})
    return remembered(house)


def remembered(house: LivingHome) -> list[Json]:
    return [row["memory"] for row in house.get("/memories", limit=200)["items"]]


def forgotten(house: LivingHome, *words: str) -> Json:
    """Forget by the command line; gives the receipt."""
    done = house.cli("memory", "forget", *words, "--yes", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    row: Json = json.loads(done.stdout.splitlines()[-1])
    return row


@promise("MEM-7.batch", "MEM-7.forget", "MEM-7.proof")
def test_a_person_is_forgotten_in_every_file_and_does_not_come_back(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    items = [{"text": f"Lamp no. {number} hangs in the hall."} for number in range(50)]
    person = {"text": f"{NAME} keeps the spare key.", "kind": "person", "key": "torvald_weissbach.keeps"}

    def reply(seen: Seen) -> Turn:
        return Turn(
            f"Noted, {NAME.upper()}." if NAME in json.dumps(seen.body, ensure_ascii=False) else "I know nobody."
        )

    with served(reply) as model:
        use_model(house, model.openai)
        assert len(remember(house, *items, person)) == 51
        mirrored = house.home.memory_files
        house.until(lambda: bool(files_with(house, *SPELLED)) and any(mirrored.rglob("torvald*.md")), "the files")
        first = sit_down(house, project)
        first.turn(f"My neighbour is called {NAME}, remember him.")
        first.turn("Who is he?")
        second = sit_down(house, project)
        second.turn("Who keeps the spare key?")
        assert "Weißbach" in json.dumps(model.requests()[-1].body, ensure_ascii=False)
        with house.home.log.open("a") as log:
            log.write(f"a line of the log about {NAME}\n")
        shown = house.post("/memories/forget/preview", {"words": [NAME.upper()], "match": "any_case"})
        assert [text for _, text in shown["memories"]] == [person["text"]]
        receipt = forgotten(house, NAME.upper())
        assert receipt["receipt"]["left"] == []
        assert files_with(house, *SPELLED) == []

        after = sit_down(house, project)
        after.turn("Who keeps the spare key?")
        second.turn("And now?")
        for request in model.requests()[-2:]:
            told = json.dumps(request.body, ensure_ascii=False).casefold()
            assert "weißbach" not in told
            assert "weissbach" not in told
        with pytest.raises(ApiError, match="forgotten for good"):
            remember(house, {"text": f"I met {NAME.lower()} today."})
        (project / "CLAUDE.md").write_text(f"- {NAME} keeps the spare key.\n- Lamps are blue.\n", "utf-8")
        taken = house.cli("memory", "import", "CLAUDE.md", "--dir", ".", cwd=project)
        assert "1 made, 0 there already, 1 refused" in taken.stdout
        house.post("/memories/consolidate")
    house.stop()
    house.start()
    assert len(remembered(house)) == 51
    assert files_with(house, *SPELLED) == []
    proof = tmp_path / "receipt.json"
    proof.write_text(json.dumps(receipt), "utf-8")
    assert "weissbach" not in proof.read_text("utf-8").casefold()
    verified = house.cli("memory", "verify", str(proof))
    assert (verified.returncode, verified.stdout[:4]) == (0, "good")
    audited = house.cli("audit", "verify")
    assert audited.returncode == 0, audited.stdout


@promise("MEM-7.forget", "MEM-7.proof")
def test_a_short_memory_is_forgotten_by_its_id_where_it_was_told_too(house: LivingHome, project: Path) -> None:
    with served(by_turn(Turn("Hello."), then=Turn("Done."))) as model:
        use_model(house, model.openai)
        ids = {held["text"]: held["id"] for held in remember(house, {"text": PIN}, {"text": "Ada likes tea."})}
        sitting = sit_down(house, project)
        sitting.turn("Hello there.")
        assert PIN in json.dumps(model.requests()[-1].body)
        receipt = forgotten(house, ids[PIN])
        sitting.turn("And now?")
        assert PIN not in json.dumps(model.requests()[-1].body)
    assert receipt["receipt"]["left"] == []
    assert files_with(house, PIN) == []
    assert [held["text"] for held in remembered(house)] == ["Ada likes tea."]
    (loaded,) = (event for event in sitting.bodies("memory.loaded"))
    assert "Ada likes tea." in repr(loaded)


@promise("MEM-7.forget")
def test_words_are_found_exactly_in_any_case_or_nearly(house: LivingHome) -> None:
    texts = ("The Heirloom tomatoes are ripe.", "An heirloom is in the safe.", "The boiler is old.")
    remember(house, *({"text": text} for text in texts))

    def shown(**wanted: object) -> list[str]:
        answer = house.post("/memories/forget/preview", wanted)
        return sorted(text for _, text in answer["memories"])

    assert shown(words=["Heirloom"], match="exact") == [texts[0]]
    assert shown(words=["HEIRLOOM"], match="any_case") == sorted(texts[:2])
    assert shown(nearly="heirlom tomatos") == [texts[0]]
    forgotten(house, "--exact", "Heirloom")
    assert [held["text"] for held in remembered(house)] == list(reversed(texts[1:]))
    # No memory says "person", and every memory of a person's has it in the name of a field.
    assert shown(words=["user_said"], match="any_case") == []
