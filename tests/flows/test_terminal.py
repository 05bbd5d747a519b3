"""The command line against the real daemon: up, run, questions, stop, logs, journal, backup, and clear refusals."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import fresh_nap, napping
from tests.promises import promise

GOAL = "read README.md and write SUMMARY.md with its headings"
READ = Turn("", calls=(Call("read", {"path": "README.md"}),))
WRITE = Turn("", calls=(Call("write", {"path": "SUMMARY.md", "text": "Quill\n"}),))


@promise("LLM-6.rehearsal", "TUI-1.headless", "SEC-2.approve", "TOOL-1.read", "TOOL-1.write", "TOOL-1.plan")
def test_the_first_task_runs_without_a_key_and_asks_once_for_the_write(house: LivingHome, project: Path) -> None:
    first = house.cli("run", GOAL, "--profile", "ask", cwd=project)
    assert first.returncode == 3, first.stdout + first.stderr
    assert "stead approve" in first.stdout + first.stderr
    assert not (project / "SUMMARY.md").exists()
    question = house.get("/approvals")["items"][0]
    assert house.cli("approve", question["id"], "--digest", question["digest"]).returncode == 0
    id = house.get("/objectives")["items"][0]["id"]
    row = house.wait(id, *WELL, "incomplete", "failed")
    assert row["status"] in WELL, row
    summary = (project / "SUMMARY.md").read_text("utf-8")
    assert all(heading in summary for heading in ("Quill", "Install", "Use"))
    assert "rehearsal" in row["summary"].lower()
    assert (project / "SUMMARY.md").stat().st_mode & 0o777 == 0o644
    assert len(house.bodies(id, "approval.requested")) == 1


@promise("OPS-1.up", "OPS-1.down", "OPS-1.status", "OPS-1.logs", "OPS-6.disk", "SEC-9.loopback")
def test_up_status_logs_down_and_up_again_at_the_same_port(tmp_path: Path) -> None:
    house = LivingHome(tmp_path / "home")
    house.home.make()
    house.home.settings.write_text('discover = "off"\n', "utf-8")
    up = house.cli("up")
    try:
        assert up.returncode == 0, up.stderr
        assert ".localhost:" in up.stdout
        assert "stead run" in up.stdout
        assert "Recovery key" in up.stdout
        again = house.cli("up", "--json")
        facts = json.loads(again.stdout)
        assert facts["already_running"] is True
        assert "recovery_key" not in facts
        port = facts["port"]
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.2", port)) != 0
        assert house.cli("status").returncode == 0
        assert house.cli("logs").returncode == 0
        room = [json.loads(line) for line in house.cli("disk", "--json").stdout.splitlines()]
        assert {row["part"]: row["bytes"] > 0 for row in room}["journal"]
    finally:
        assert house.cli("down").returncode == 0
    assert house.cli("status").returncode == 4
    assert json.loads(house.cli("up", "--json").stdout)["port"] == port
    assert house.cli("down").returncode == 0


@promise("SEC-5.stop")
def test_stop_kills_a_running_sleep_and_a_streaming_request_at_once(house: LivingHome, project: Path) -> None:
    slow = Turn("word " * 2000, delay_s=0.05)
    nap = fresh_nap()
    sleep = Turn("", calls=(Call("shell", {"command": f"sleep {nap}"}),))
    with served(by_turn(sleep, then=slow)) as model:
        use_model(house, model.openai)
        id = house.give("sleep", project, allow=["shell"])
        house.until(lambda: bool(napping(nap)), "the command to run")
        assert house.cli("stop", id).returncode == 0
        assert house.get(f"/objectives/{id}")["status"] == "paused"
        assert house.bodies(id, "tool.finished")[0]["outcome"] == "cancelled"
        house.until(lambda: not napping(nap), "the sleep to be dead")
        assert house.cli("resume", id).returncode == 0
        house.until(lambda: len(model.requests()) == 2, "the second request")
        assert house.cli("stop", "--all").returncode == 0
        house.until(model.left.is_set, "the connection to be cut")
    assert house.bodies(id, "model.failed")[0]["kind"] == "stopped"


@promise("LLM-2.rate-limit", "LLM-2.outage", "LLM-2.bad-output", "LLM-1.switch")
def test_a_provider_that_fails_is_followed_by_the_fallback(house: LivingHome, project: Path) -> None:
    busy = Turn(status=429, error="slow down", headers={"retry-after": "30"})
    cut = Turn("I will", calls=(Call("shell", {"command": "touch never"}),), stop="none")
    done = by_turn(READ, then=Turn("It has three headings."))
    with served(lambda _: busy) as first, served(done) as second, served(lambda _: cut) as third:
        for name, url in (("first", first.openai), ("second", second.openai), ("third", third.openai)):
            house.post("/providers", {"name": name, "preset": "compatible", "base_url": url, "model": "scripted"})
        house.post(
            "/providers", {"name": "gone", "preset": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
        )

        def run(*names: str) -> str:
            use = house.cli("providers", "use", *(f"{name}/{'m' if name == 'gone' else 'scripted'}" for name in names))
            assert use.returncode == 0, use.stderr
            id = house.give("look", project, allow=["shell"])
            assert house.finish(id)["status"] in WELL
            return id

        replied = house.bodies(run("first", "gone", "second"), "model.replied")
        assert "429" in replied[0]["attempts"][0]
        assert "gone/m" in replied[0]["attempts"][1]
        assert replied[0]["model"]["provider"] == "second"
        id = run("third", "second")
        assert house.bodies(id, "model.failed")[0]["kind"] in ("truncated", "malformed")
    assert not (project / "never").exists()


@promise("LLM-5.daily", "LLM-5.by-day", "OPS-2.tokens")
def test_the_homes_daily_cap_holds_an_objective_and_says_so(house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, then=Turn("It has three headings."))) as model:
        use_model(house, model.openai)
        assert house.cli("cap", "--tokens", "500").returncode == 0
        id = house.give("look", project)
        row = house.wait(id, "paused")
        assert "cap" in row["reason"].lower() or "cap" in str(house.bodies(id, "session.paused"))
        assert house.cli("cap", "--none").returncode == 0
        assert house.cli("resume", id).returncode == 0
        house.wait(id, *WELL)
    assert house.cli("usage").returncode == 0
    assert house.get("/usage")["items"][0]["tokens_in"] > 0


@promise("SEC-11.backup", "SEC-11.restore", "SEC-11.encrypted")
def test_a_backup_restores_elsewhere_with_its_passphrase(house: LivingHome, project: Path, tmp_path: Path) -> None:
    with served(by_turn(READ, then=Turn("The word is quicksilver-canary."))) as model:
        use_model(house, model.openai)
        id = house.give("look", project)
        house.finish(id)
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("correct horse battery\n", "utf-8")
    file = tmp_path / "stead.backup"
    made = house.cli("backup", str(file), "--passphrase-file", str(passphrase))
    assert made.returncode == 0, made.stderr
    house.stop()
    for path in [file, *house.root.rglob("*")]:
        # The files of memory are there to be read by whoever may read this folder.
        if path.is_file() and not {"logs", "memory-files"} & set(path.parts):
            assert b"quicksilver-canary" not in path.read_bytes(), path
    other = LivingHome(tmp_path / "elsewhere", forked=True)
    wrong = tmp_path / "wrong"
    wrong.write_text("not the passphrase\n", "utf-8")
    assert other.cli("restore", str(file), "--passphrase-file", str(wrong)).returncode != 0
    restored = other.cli("restore", str(file), "--passphrase-file", str(passphrase))
    assert restored.returncode == 0, restored.stderr
    other.start()
    try:
        assert other.get(f"/objectives/{id}")["summary"] == "The word is quicksilver-canary."
    finally:
        other.stop()


@promise("OPS-2.search", "OPS-2.events", "OPS-2.open-runs", "OPS-2.rebuild", "OPS-2.stream")
def test_the_history_can_be_searched_read_and_its_views_rebuilt(house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, WRITE, then=Turn("I wrote SUMMARY.md."))) as model:
        use_model(house, model.openai)
        id = house.give("summarise the marmalade notes\n# Oat\nquicksilver is toxic\n# Tin\nend", project)
        house.wait(id, "waiting")
        assert id in house.cli("journal", "open", "--json").stdout
        house.finish(id)
    assert id in house.cli("journal", "search", "marmalade", "--json").stdout
    (hit,) = _hits(house, "quicksilver", "--context", "1")
    assert hit["excerpt"] == "# Oat\n«quicksilver» is toxic\n# Tin", hit
    today = time.strftime("%Y-%m-%d")
    assert _hits(house, "marmalade", "--since", today, "--until", today) == _hits(house, "marmalade")
    assert (
        _hits(house, "marmalade", "--until", "2020-01-01") == _hits(house, "marmalade", "--since", "2100-01-01") == []
    )
    assert house.cli("journal", "search", "marmalade", "--since", "lately").returncode == 2
    shown = house.cli("journal", "search", "quicksilver", "-C", "1").stdout
    assert "    «quicksilver» is toxic\n    # Tin\n" in shown
    assert "objective.ended" in house.cli("journal", "show", id, "--json").stdout
    before = house.get(f"/objectives/{id}")
    assert house.cli("journal", "rebuild").returncode == 0
    assert house.get(f"/objectives/{id}") == before
    watched = house.cli("watch", id, "--json")
    assert watched.returncode == 0
    assert json.loads(watched.stdout.splitlines()[-1])["type"] == "result"


def _hits(house: LivingHome, *words: str) -> list[Json]:
    found = house.cli("journal", "search", *words, "--json")
    assert found.returncode == 0, found.stderr
    return [json.loads(line) for line in found.stdout.splitlines()]


@promise("OPS-1.one-daemon")
def test_a_second_daemon_is_refused_and_a_stale_lock_locks_nobody_out(house: LivingHome) -> None:
    second = house.daemon_once()
    assert second.returncode == 1
    assert "another daemon serves" in second.stderr
    house.get("/status")
    house.kill()
    assert house.home.address.exists()
    house.start()


@promise("OPS-1.bad-home")
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
def test_bad_homes_are_told_apart_and_nothing_is_lost(house: LivingHome, every: int) -> None:
    house.stop()
    journal, key = house.home.journal, house.home.key
    good, good_key = journal.read_bytes(), key.read_bytes()
    for spoil, word in (
        (lambda: journal.write_bytes(b"SQLite format 3\x00" + bytes(4096)), "journal"),
        (lambda: journal.write_bytes(good[:100] + bytes(3000) + good[3100:]), "journal"),
        (lambda: key.write_text("nonsense", "utf-8"), "key"),
        (lambda: key.unlink(), "key"),
        (lambda: key.chmod(0o644), "key"),
    )[::every]:
        journal.write_bytes(good)
        key.write_bytes(good_key)
        key.chmod(0o600)
        spoil()
        spoiled = journal.read_bytes()
        refused = house.daemon_once()
        assert refused.returncode == 1
        assert word in refused.stderr
        assert "Traceback" not in refused.stderr
        assert journal.read_bytes() == spoiled
    journal.write_bytes(good)
    key.write_bytes(good_key)
    key.chmod(0o600)
    house.start()
    assert house.get("/status")["head"] > 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "x", "--dir", "/no/such/folder"], "folder"),
        (["run", "x", "--budget-tokens", "0"], "positive"),
        (["run", "x", "--budget-tokens", "-5"], "positive"),
        (["run", "x", "--budget-usd", "0"], "positive"),
        (["run", ""], "goal"),
        (["run", "x", "--allow", "teleport"], "teleport"),
        (["run", "x", "--dir", "/"], "/"),
        (["show", "s_nothing"], "s_nothing"),
        (["approve", "a_nothing"], "a_nothing"),
        (["providers", "test", "nobody"], "nobody"),
        (["providers", "use", "nobody/m"], "nobody"),
    ],
)
def test_a_request_that_cannot_be_is_refused_with_its_cause(
    shared_house: LivingHome, arguments: list[str], word: str
) -> None:
    refused = shared_house.cli(*arguments)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert word in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_goal_of_a_megabyte_is_refused_and_one_just_below_is_taken(house: LivingHome, project: Path) -> None:
    refused = house.cli("run", "-", cwd=project, stdin="x" * 1_000_000)
    assert refused.returncode == 2
    assert "1 MB" in refused.stderr
    assert house.cli("run", "-", "--detach", cwd=project, stdin="x" * 999_999).returncode == 0


@pytest.mark.long
def test_a_tool_that_prints_100_mb_or_never_ends_is_bounded(house: LivingHome, project: Path) -> None:
    flood = Turn("", calls=(Call("shell", {"command": "yes | head -c 100000000"}),))
    forever = Turn("", calls=(Call("shell", {"command": "sleep 1000", "timeout_s": 1}),))
    with served(by_turn(flood, forever, then=Turn("Both were stopped."))) as model:
        use_model(house, model.openai)
        id = house.give("flood", project, allow=["shell"])
        assert house.finish(id, timeout_s=60)["status"] in WELL
    ends = house.bodies(id, "tool.finished")
    assert all(len(end["text"]) < 20_000 for end in ends)
    assert "killed after 1 s" in ends[1]["text"]
