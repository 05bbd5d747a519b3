"""The person's zone: one setting, by which the cap, usage and memory name days."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

SETTINGS = 'discover = "off"\nembedder = "off"\n'


def _today(zone: str) -> str:
    return datetime.now(ZoneInfo(zone)).date().isoformat()


def _start(house: LivingHome, zone: str) -> None:
    house.home.make()
    house.home.settings.write_text(f'{SETTINGS}time_zone = "{zone}"\n', "utf-8")
    house.start()


def _usage(house: LivingHome, *arguments: str) -> list[dict[str, object]]:
    shown = house.cli("usage", "--json", *arguments)
    assert shown.returncode == 0, shown.stderr
    return [json.loads(line) for line in shown.stdout.splitlines()]


def test_cap_and_usage_follow_the_persons_zone_and_a_move_loses_nothing(tmp_path: Path, project: Path) -> None:
    east, west = "Pacific/Kiritimati", "Pacific/Pago_Pago"  # 25 hours apart: never the same day
    house = LivingHome(tmp_path / "home", forked=True)
    with served(lambda _: Turn("Done.", usage=(1000, 10, 0, 0))) as model:
        _start(house, east)
        use_model(house, model.openai)
        before = _today(east)
        assert house.cli("run", "say hello", "--dir", str(project)).returncode == 0
        (row,) = _usage(house)
        assert row["day"] in (before, _today(east)) and house.get("/cap")["today"] in (before, _today(east))
        assert house.cli("cap", "--tokens", "1500").returncode == 0
        stopped = house.give("again", project)
        assert f"are spent or reserved on {row['day']} and" in str(house.wait(stopped, "paused"))
        house.stop()

        _start(house, west)
        assert _usage(house) == [row]  # where the person is now it is the day before, and this day is not lost
        assert house.cli("cap", "--tokens", "50000").returncode == 0
        before = _today(west)
        assert house.cli("run", "say hello", "--dir", str(project)).returncode == 0
        rows = _usage(house)
        house.stop()
    assert len(rows) == 2 and rows[0] == row and rows[1]["day"] in (before, _today(west))
    assert [one["tokens_in"] for one in rows] == [1000, 1000]


@pytest.mark.long
def test_months_are_those_of_the_days(tmp_path: Path, project: Path) -> None:
    house = LivingHome(tmp_path / "home", forked=True)
    with served(lambda _: Turn("Done.")) as model:
        _start(house, "Pacific/Kiritimati")
        use_model(house, model.openai)
        assert house.cli("run", "say hello", "--dir", str(project)).returncode == 0
        (day,), (month,) = _usage(house), _usage(house, "--per", "month")
        house.stop()
    assert month == {**day, "day": str(day["day"])[:7]}


@promise("LLM-5.monthly")
def test_a_month_has_a_cap_of_its_own(tmp_path: Path, project: Path) -> None:
    house = LivingHome(tmp_path / "home", forked=True)
    with served(lambda _: Turn("Done.", usage=(1000, 10, 0, 0))) as model:
        _start(house, "Pacific/Kiritimati")
        use_model(house, model.openai)
        assert house.cli("run", "say hello", "--dir", str(project)).returncode == 0
        assert house.cli("cap", "--month", "--tokens", "1500").returncode == 0
        stopped = house.give("again", project)
        assert "monthly cap of 1,500 tokens would be passed: 1,010 are" in str(house.wait(stopped, "paused"))
        assert house.cli("cap", "--month", "--none").returncode == 0
        assert house.cli("resume", stopped).returncode == 0
        assert house.finish(stopped)["status"] in WELL
        house.stop()


@pytest.mark.parametrize(
    "wrong", ["Vienna", *(pytest.param(other, marks=pytest.mark.long) for other in ("Europe/Vien", "CEST+2"))]
)
def test_a_wrong_name_is_refused_at_start_with_what_to_write(tmp_path: Path, wrong: str) -> None:
    house = LivingHome(tmp_path / "home")
    house.home.make()
    house.home.settings.write_text(f'{SETTINGS}time_zone = "{wrong}"\n', "utf-8")
    left = house.daemon_once()
    assert left.returncode == 1
    assert f"time_zone = '{wrong}'" in left.stderr and 'such as "Europe/Vienna"' in left.stderr


@pytest.mark.long
def test_memory_and_machines_are_in_the_same_zone(tmp_path: Path, project: Path) -> None:
    """What was said is in the journal of the person's day, and a command's clock shows the person's."""
    zone = "Pacific/Kiritimati" if datetime.now(UTC).hour >= 10 else "Pacific/Pago_Pago"  # not UTC's day
    house = LivingHome(tmp_path / "home", forked=True)
    _start(house, zone)
    before = _today(zone)
    clock = Turn(calls=(Call("shell", {"command": "date +%z"}),))
    with served(by_turn(clock, then=Turn("It is that."))) as model:
        use_model(house, model.openai)
        id = house.give("look at the clock", project)
        house.finish(id)
    finished = house.bodies(id, "tool.finished")[0]
    assert finished["text"].startswith("+1400" if "Kiri" in zone else "-1100"), finished
    files = house.home.memory_files
    house.until(lambda: any(files.rglob("20*.md")), "a day's file of memory")
    names = {path.stem for path in files.rglob("20*.md")}
    house.stop()
    assert names <= {before, _today(zone)}
