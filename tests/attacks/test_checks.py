"""Acceptance checks of every bad kind, over the real daemon and sandbox: clear, bounded, nothing of them is kept."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from stead.client.address import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

__all__ = ["house"]

DONE = Turn("All of it is done.")


def call(tool: str, **arguments: object) -> Turn:
    return Turn("", calls=(Call(tool, arguments),))


WRITE = call("write", path="out.txt", text="hello\n")


def command(line: str, **more: str) -> Json:
    return {"kind": "command", "subject": line, **more}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Makefile").write_text("test:\n\tgrep -q hello never.txt\n")
    return folder


def ended(house: LivingHome, project: Path, *turns: Turn, limits: Json | None = None, **fields: object) -> Json:
    """The row of an objective of a model with these turns, after its end; nothing is sent back."""
    limits = {"repetition": 50, "send_backs": 0, **(limits or {})}
    with served(by_turn(*turns, then=DONE), strict=False) as model:
        use_model(house, model.openai)
        return house.finish(house.give("see to it", project, profile="work", limits=limits, **fields), timeout_s=90)


def came(row: Json) -> list[bool | None]:
    return [check["holds"] for check in row["checks"]]


@promise("OBJ-10.checks")
def test_a_check_leaves_nothing_by_which_another_run_of_it_passes(house: LivingHome, project: Path) -> None:
    """Else one that fails before the work would pass after it, whatever the work is."""
    places = ["left.txt", "/tmp/left", "~/left", "/dev/shm/left"]
    twice = [command(f"test -e {place} || {{ touch {place}; exit 1; }}") for place in places]
    seen = [command(f"test -e {place}") for place in places]
    row = ended(house, project, WRITE, checks=[*twice, *seen])
    assert (row["status"], came(row)) == ("incomplete", [False] * 8)
    assert sorted(path.name for path in project.iterdir()) == ["Makefile", "out.txt"]


def test_a_process_that_a_check_starts_ends_with_it(house: LivingHome, project: Path) -> None:
    serve = (
        "(exec setsid python3 -m http.server 8123 >/dev/null 2>&1 &); until curl -sf http://127.0.0.1:8123/; do :; done"
    )
    row = ended(house, project, WRITE, checks=[command(serve), command("curl -sf http://127.0.0.1:8123/")])
    assert (row["status"], came(row)) == ("incomplete", [True, False])


def test_the_work_puts_no_program_of_its_own_in_place_of_one_that_a_check_calls(
    house: LivingHome, project: Path
) -> None:
    fake = "mkdir -p ~/.local/bin && printf '#!/bin/sh\\nexit 0\\n' > ~/.local/bin/make && chmod +x ~/.local/bin/make"
    row = ended(house, project, call("shell", command=f"{fake} && make test"), checks=[command("make test")])
    assert row["facts"]["ran"][0]["exit_code"] == 0, "the work is deceived by its own program, and nobody else"
    assert (row["status"], came(row)) == ("incomplete", [False])


def test_a_check_that_rests_on_what_the_work_changed_says_so(house: LivingHome, project: Path) -> None:
    easy = call("write", path="Makefile", text="test:\n\ttrue\n")
    row = ended(house, project, easy, checks=[command("make test")])
    assert (row["checks"][0]["touched"], row["facts"]["paths"]) == (["Makefile"], ["Makefile"])
    shown = house.cli("show", str(row["id"])).stdout
    assert "the work changed what this check runs: Makefile" in shown
    (project / "Makefile").write_text("test:\n\tgrep -q hello never.txt\n")
    guarded = [command("make test"), {"kind": "untouched", "subject": "Makefile"}]
    assert ended(house, project, easy, checks=guarded)["status"] == "incomplete"


def test_a_check_that_never_ends_is_held_by_the_limit_of_working_time(house: LivingHome, project: Path) -> None:
    row = ended(house, project, WRITE, checks=[command("sleep 100000")], limits={"wall_s": 1})
    assert (row["status"], row["reason"]) == ("incomplete", "wall_time")


def test_a_check_that_never_ends_is_cancelled_with_its_objective(house: LivingHome, project: Path) -> None:
    with served(by_turn(then=DONE), strict=False) as model:
        use_model(house, model.openai)
        id = house.give("see to it", project, profile="work", checks=[command("exec sleep 100017")])
        house.until(lambda: under_way("sleep", "100017"), "the check to run")
        house.post(f"/objectives/{id}/cancel")
        house.wait(id, "cancelled")
    house.until(lambda: not under_way("sleep", "100017"), "the check's process to be gone")


def under_way(*words: str) -> bool:
    """Whether a process of this machine has these words."""
    line = "".join(f"{word}\0" for word in words).encode()
    found = False
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found = found or place.read_bytes() == line
    return found


def test_a_flood_is_cut_off_and_what_is_kept_begins_with_why(house: LivingHome, project: Path) -> None:
    row = ended(house, project, WRITE, checks=[command("yes | head -c 100000; exit 3"), command("yes", text="y")])
    assert (row["status"], came(row)) == ("incomplete", [False, False])
    first, second = (check["detail"] for check in row["checks"])
    assert first.startswith("exit code 3\n") and second.startswith("exit code 137\n")
    assert max(len(first), len(second)) <= 2000


def test_a_check_has_no_network(house: LivingHome, project: Path) -> None:
    lines = [
        "curl -sSf -m 5 http://web.example.com/",
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 2)'",
    ]
    row = ended(house, project, WRITE, checks=[command(line) for line in lines], hosts=["web.example.com"])
    assert (row["status"], came(row)) == ("incomplete", [False, False])


def test_the_trivial_checks_of_a_model_verify_nothing(house: LivingHome, project: Path) -> None:
    checks = [command("true"), {"kind": "exists", "subject": "out.txt"}, command("test -s out.txt")]
    plan = call("plan", steps=[{"title": "a", "status": "done"}], checks=checks)
    row = ended(house, project, plan, WRITE)
    assert row["status"] == "unverified"
    assert [check["item"]["accepted"] for check in row["checks"]] == [False] * 3


def test_what_is_no_file_is_never_read_as_one(house: LivingHome, project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "dangling").symlink_to("nowhere")
    (project / "hosts").symlink_to("/etc/passwd")
    (project / "environment").symlink_to("/proc/self/environ")
    kinds = [{"kind": "contains", "text": "o"}, {"kind": "matches", "text": "."}, {"kind": "parses", "text": "csv"}]
    names = ("pipe", "dangling", "hosts", "environment", ".")
    row = ended(house, project, WRITE, checks=[{**kind, "subject": name} for kind in kinds for name in names])
    assert row["status"] == "incomplete" and True not in came(row)
    assert "stead:x" not in str(row["checks"])
    row = ended(house, project, WRITE, checks=[{"kind": "exists", "subject": name} for name in ("dangling", "hosts")])
    assert True not in came(row)


def test_an_odd_name_is_the_name_of_that_file_alone(house: LivingHome, project: Path) -> None:
    odd = ["cafe\u0301.txt", "-rf", "*", "日本語/ファイル.txt", " a ", "\U0001f980"]
    (project / "caf\u00e9.txt").write_text("composed\n")
    checks = [{"kind": "contains", "subject": name, "text": f"hello {at}\n"} for at, name in enumerate(odd)]
    written = [call("write", path=name, text=f"hello {at}\n") for at, name in enumerate(odd)]
    row = ended(house, project, *written, checks=[*checks, {"kind": "untouched", "subject": "caf\u00e9.txt"}])
    assert (row["status"], came(row)) == ("verified", [True] * 7)
    assert [(project / name).read_text() for name in odd] == [f"hello {at}\n" for at in range(6)]


def test_a_file_whose_name_cannot_land_is_not_found_by_a_check(house: LivingHome, project: Path) -> None:
    odd = ["\u202egnp.exe", "a\nb.txt"]
    checks = [{"kind": "exists", "subject": name} for name in odd]
    row = ended(house, project, *(call("write", path=name, text="hello\n") for name in odd), checks=checks)
    assert (row["status"], came(row)) == ("incomplete", [False, False])
    assert not any(ord(letter) in (10, 0x202E) for check in row["checks"] for letter in check["words"])


def test_a_zero_byte_and_a_check_too_many_are_refused_and_fifty_are_judged(house: LivingHome, project: Path) -> None:
    for bad in ([command("true\0")], [{"kind": "exists", "subject": "a\0"}], [command(f"test {n}") for n in range(51)]):
        with pytest.raises(ApiError):
            house.give("see to it", project, checks=bad)
    fifty = [command(f"grep -q hello out.txt # {n}") for n in range(25)]
    fifty += [{"kind": "matches", "subject": "out.txt", "text": f"h{{0,{n}}}ello"} for n in range(1, 26)]
    row = ended(house, project, WRITE, checks=fifty)
    assert (row["status"], came(row)) == ("verified", [True] * 50)
