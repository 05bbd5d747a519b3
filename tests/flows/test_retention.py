"""Old sessions move into archives by the person's policy: listed, read, exported and verified; searched no more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.fakes.models import Turn
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

DAY_MS = 86_400_000


@promise("OPS-6.archiving")
def test_a_session_at_rest_moves_into_an_archive_and_is_still_listed_read_exported_and_verified(
    tmp_path: Path, project: Path
) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, 0)
    house = LivingHome(tmp_path / "home", {"CLOCK": str(clock)}, module="tests.flows.clocked_daemon", forked=True)
    house.start()
    try:
        with served(by_turn(Turn("The harbour is closed."), Turn("It opens in spring."))) as model:
            use_model(house, model.openai)
            old = str(json.loads(house.cli("session", "new", "--json", cwd=project).stdout)["session"])
            assert house.cli("session", "send", old, "is the harbour closed?", "--wait").returncode == 0
        exported = house.cli("session", "export", old, "--format", "jsonl").stdout
        assert [row["session"] for row in house.get("/search", q="harbour")["items"]] != []
        house.stop()
        assert not (house.home.data / "archives").exists(), "something is archived without a policy"

        with house.home.settings.open("a") as file:
            file.write("archive_after_days = 30\n")
        set_clock(clock, 31 * DAY_MS)
        house.start()
        house.until(lambda: list(house.home.data.glob("archives/*.stead")) != [], "the archive")
        house.until(lambda: house.get("/search", q="harbour")["items"] == [], "the search to be without it")
        house.until(lambda: old not in house.cli("session", "list").stdout, "the list to be without it")
        assert old in house.cli("session", "list", "--archived", "yes").stdout
        assert "It is" not in exported and "The harbour is closed." in exported
        now = house.cli("session", "export", old, "--format", "jsonl").stdout
        assert [line for line in now.splitlines() if "harbour" in line] == [
            line for line in exported.splitlines() if "harbour" in line
        ]
        assert json.loads(house.cli("audit", "verify", "--json").stdout)["faults"] == []
        assert house.cli("journal", "rebuild").returncode == 0
        assert house.get("/search", q="harbour")["items"] == []
        assert old in house.cli("session", "list", "--archived", "yes").stdout
        disk = [json.loads(line) for line in house.cli("disk", "--json").stdout.splitlines()]
        (archives,) = (row for row in disk if row["part"] == "archives of old sessions")
        assert (archives["files"], archives["bytes"] > 0) == (1, True)

        (archive,) = house.home.data.glob("archives/*.stead")
        shutil.move(archive, tmp_path / "taken")
        assert house.cli("audit", "verify").returncode == 1
        shutil.move(tmp_path / "taken", archive)

        forgotten = house.cli("memory", "forget", "harbour", "--yes")
        assert forgotten.returncode == 0, forgotten.stderr
        assert "harbour" not in house.cli("session", "export", old, "--format", "jsonl").stdout.lower()
        assert json.loads(house.cli("audit", "verify", "--json").stdout)["faults"] == []
    finally:
        house.stop()
