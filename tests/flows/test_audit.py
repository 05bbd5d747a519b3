"""The record under audit, as a person does it: by the command line and the API, beside a daemon and without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.domain.ends import WELL
from stead.storage.database import connect
from stead.storage.keystore import open_keys
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

ROOT = Path(__file__).parents[2]
CALLS = Turn(
    "I will do four things.",
    calls=(
        Call("read", {"path": "README.md"}),
        Call("write", {"path": "new.md", "text": "one\n"}),
        Call("shell", {"command": "python3 -c 'print(1)'"}),
        Call("read", {"path": "../outside"}),
    ),
)
THE_SECRET_GOAL = "tidy the marmalade cupboard"


@pytest.fixture
def lived(house: LivingHome, project: Path) -> str:
    """An objective that read, wrote with leave, was refused a command by the person, and was denied a path."""
    with served(by_turn(CALLS, then=Turn("I have done what I could."))) as model:
        use_model(house, model.openai)
        id = house.give(THE_SECRET_GOAL, project)
        while house.wait(id, "waiting", *WELL)["status"] == "waiting":
            (question,) = house.get("/approvals", session=id)["items"]
            if question["tool"] == "write":
                approved = house.cli("approve", question["id"], "--digest", question["digest"])
                assert approved.returncode == 0, approved.stderr
            else:
                path = f"/approvals/{question['id']}/decision"
                answer = {"answer": "deny", "digest": question["digest"], "reason": "not now", "whole": True}
                house.post(path, answer)
    return id


def verified(house: LivingHome, *words: str) -> tuple[int, Json]:
    """(exit code, report) of a check."""
    done = house.cli("audit", "verify", "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def third_party(export: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Somebody without Stead: Python alone, in a folder and an environment of its own."""
    script = ROOT / "scripts" / "verify_export.py"
    return subprocess.run(
        [sys.executable, "-I", str(script), export.name, *words],
        cwd=export.parent,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@promise("SEC-10.verify", "SEC-10.signed")
def test_the_record_is_verified_beside_a_daemon_and_without_one_and_a_cut_shows(
    house: LivingHome, lived: str, tmp_path: Path
) -> None:
    code, report = verified(house)
    assert (code, report["faults"]) == (3, []), "nothing is wrong, but no head has been signed yet"
    assert "stead audit head" in report["doubts"][0]
    elsewhere = tmp_path / "elsewhere.jsonl"
    signed = house.cli("audit", "head", "--out", str(elsewhere))
    assert signed.returncode == 0, signed.stderr
    code, report = verified(house)
    assert (code, report["ok"], report["doubts"]) == (0, True, [])
    assert report["covered"] == json.loads(elsewhere.read_text("utf-8"))["size"]
    assert house.get("/audit/verify") == {name: value for name, value in report.items() if name != "ok"}

    house.post("/cap", {"daily": {"tokens": 1_000_000, "usd_micros": "unlimited"}})
    house.stop()
    heads = house.home.heads.read_text("utf-8").splitlines()
    assert len(heads) == 2, "the daemon signs when it leaves"
    code, report = verified(house, "--head", str(elsewhere))
    assert (code, report["covered"], report["outside"]) == (0, report["events"], 2)
    assert json.loads(heads[-1])["size"] == report["events"]
    told = house.cli("audit", "verify").stdout
    assert "The record is whole." in told

    with_key = connect(house.home.journal, open_keys(house.home, "file", str).keys.database)
    with_key.execute("DELETE FROM events WHERE seq > ?", (report["events"] - 2,))
    with_key.execute("DELETE FROM heads")
    with_key.close()
    code, report = verified(house)
    assert code == 1
    assert "was cut off at the end" in report["faults"][0]
    told = house.cli("audit", "verify").stdout
    assert "does NOT verify" in told
    house.start()
    house.stop()
    assert "no head of the journal was signed" in house.log_tail(), "it does not sign over a cut"


@promise("SEC-10.verify")
def test_deleting_an_objective_leaves_the_record_whole(house: LivingHome, lived: str, tmp_path: Path) -> None:
    assert house.cli("audit", "head", "--out", str(tmp_path / "before.jsonl")).returncode == 0
    house.post(f"/objectives/{lived}/delete", {"now": True})
    assert house.cli("audit", "head").returncode == 0
    code, report = verified(house, "--head", str(tmp_path / "before.jsonl"))
    assert (code, report["faults"]) == (0, [])
    assert report["erased"] > 5
    assert house.get("/audit", session=lived)["items"] == []


@promise("SEC-10.signed")
def test_the_copy_goes_where_the_settings_say_and_a_lost_one_is_told(tmp_path: Path) -> None:
    house = LivingHome(tmp_path / "home", forked=True)
    house.home.make()
    other = tmp_path / "disk" / "heads.jsonl"
    other.parent.mkdir()
    house.home.settings.write_text(f'discover = "off"\naudit_heads = "{other}"\n', "utf-8")
    try:
        house.start()
        signed = house.post("/audit/head")
        assert house.get("/audit/head") == signed
    finally:
        house.stop()
    assert json.loads(other.read_text("utf-8").splitlines()[0])["size"] == signed["size"]
    assert not house.home.heads.exists()
    key = house.cli("audit", "key")
    assert key.stdout.strip() == signed["key"]
    assert verified(house)[0] == 0
    other.unlink()
    code, report = verified(house)
    assert code == 3
    assert "put the copy back" in report["doubts"][0]
    house.home.settings.write_text('audit_heads = "here.jsonl"\n', "utf-8")
    refused = house.cli("audit", "verify")
    assert refused.returncode == 2
    assert "absolute path" in refused.stderr


@promise("SEC-10.export")
def test_somebody_without_any_key_of_ours_verifies_an_export(house: LivingHome, lived: str, tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    assert house.cli("audit", "head", "--out", str(old)).returncode == 0
    key = house.cli("audit", "key").stdout.strip()
    house.post("/cap", {"daily": {"tokens": 1_000_000, "usd_micros": "unlimited"}})

    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    done = house.cli("audit", "export", "--out", str(whole), "--head", str(old))
    assert done.returncode == 0, done.stderr
    done = house.cli("audit", "export", "--out", str(part), "--session", lived, "--with-payloads", "--head", str(old))
    assert done.returncode == 0, done.stderr
    assert THE_SECRET_GOAL not in whole.read_text("utf-8")
    assert '"salt"' not in whole.read_text("utf-8")
    assert THE_SECRET_GOAL in part.read_text("utf-8")
    assert whole.stat().st_mode & 0o777 == 0o600
    for export in (whole, part):
        for words in ([], ["--key", key], ["--key", key, "--head", old.name]):
            checked = third_party(export, *words)
            assert checked.returncode == 0, checked.stderr
            assert "are those that the key" in checked.stdout
    assert {json.loads(line)["header"][1] for line in part.read_text("utf-8").splitlines()[1:]} == {lived}
    assert house.cli("audit", "export", "--out", str(whole)).returncode == 2, "nothing is written over"
    nothing = house.cli("audit", "export", "--out", str(tmp_path / "none.jsonl"), "--since", "2999-01-01")
    assert nothing.returncode == 2

    for export in (whole, part):
        _every_change_of_an_export_is_found(export, key, old)


def _every_change_of_an_export_is_found(export: Path, key: str, old: Path) -> None:
    lines = export.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    other = export.with_name("changed.jsonl")
    middle = len(lines) // 2
    changed: list[list[Json]] = [
        rows[:middle] + rows[middle + 1 :],
        [rows[0], *rows[1:][::-1]],
        [{**rows[0], "rows": rows[0]["rows"] - 1}, *rows[1:middle], *rows[middle + 1 :]],
        [{**rows[0], "head": {**rows[0]["head"], "size": rows[0]["head"]["size"] + 1}}, *rows[1:]],
        [{**rows[0], "head": {**rows[0]["head"], "root": "0" * 64}}, *rows[1:]],
    ]
    for name, value in (("commitment", "0" * 64), ("header", [*rows[middle]["header"][:4], "person", "", "x", 1])):
        changed.append([*rows[:middle], {**rows[middle], name: value}, *rows[middle + 1 :]])
    if "payload" in rows[middle]:
        other_words = rows[middle]["payload"].replace(":", ": ", 1)
        changed.append([*rows[:middle], {**rows[middle], "payload": other_words}, *rows[middle + 1 :]])
    for number, version in enumerate(changed):
        other.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in version), "utf-8")
        assert third_party(other, "--key", key).returncode == 1, number
    assert third_party(export, "--key", "0" * 64).returncode == 1
    head = json.loads(old.read_text("utf-8"))
    other.write_text(json.dumps({**head, "root": "1" * 64}) + "\n", "utf-8")
    assert third_party(export, "--key", key, "--head", other.name).returncode == 1


@promise("SEC-10.log")
def test_every_decision_tells_what_why_by_which_rule_and_who_answered_through_which_door(
    house: LivingHome, lived: str
) -> None:
    items = house.get("/audit", session=lived)["items"]
    assert [item["seq"] for item in items] == sorted((item["seq"] for item in items), reverse=True)
    told = {(item["tool"], item["verdict"]): item for item in items}
    assert told["read", "allow"]["outcome"] == "ok"
    assert told["read", "deny"]["outcome"] == "denied"
    assert told["read", "deny"]["rule"] == "outside-workspace"
    wrote, ran = told["write", "ask"], told["shell", "ask"]
    assert (wrote["answer"], wrote["answered_by"], wrote["outcome"]) == ("given", "cli", "ok")
    assert json.loads(wrote["arguments"]) == {"path": "new.md", "text": "one\n"}
    after = told["write", "allow"]
    assert (after["rule"], after["answer_seq"], after["answered_by"]) == ("approved", wrote["answer_seq"], "cli")
    assert (ran["answer"], ran["answer_reason"], ran["outcome"]) == ("denied", "not now", "denied")
    for item in items:
        recorded = next(event for event in house.events(lived) if event["seq"] == item["seq"])["body"]
        fields = {"type", "key", "tool", "verdict", "reason", "risk", "digest"}
        assert item["further"].keys() <= recorded.keys() | item["further"].keys()
        assert {name: value for name, value in recorded.items() if name not in fields} == item["further"]
    denied = house.get("/audit", verdict="deny")["items"]
    assert {item["verdict"] for item in denied} == {"deny"}
    pages = list(house.client().items("/audit", session=lived, limit=2))
    assert pages == items
    with pytest.raises(ApiError) as refused:
        house.get("/audit/decisions/1")
    assert refused.value.status == 404


@promise("SEC-10.log")
def test_the_log_is_read_on_the_command_line(house: LivingHome, lived: str) -> None:
    log = house.cli("audit", "log", "--session", lived)
    assert log.returncode == 0, log.stderr
    for word in ("RULE", "outside-workspace", "deny", "cli", lived):
        assert word in log.stdout
    only = house.cli("audit", "log", "--verdict", "deny", "--json", "-n", "5")
    items = [json.loads(line) for line in only.stdout.splitlines()]
    assert {item["verdict"] for item in items} == {"deny"}
    asked = next(item for item in house.get("/audit", verdict="ask")["items"] if item["tool"] == "shell")
    for words in ([str(asked["seq"])], [asked["key"], "--session", lived], [asked["key"]]):
        shown = house.cli("audit", "show", *words)
        assert shown.returncode == 0, shown.stderr
        for text in ("print(1)", "by the rule", "not now", asked["digest"], "answer"):
            assert text in shown.stdout, words
    assert house.cli("audit", "show", "call_99_9").returncode == 2
    assert house.cli("audit", "show", "999999").returncode == 2
