"""The first start by one command, completion that installs itself, and a doctor that fixes and reports."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import at_terminal
from tests.fakes.models import Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.test_readiness import refusing  # noqa: F401 - a fixture
from tests.promises import promise

KEY = "acme-invented-4711-qwertz"
CANARY = "canary-" + "7f3a9c5e1b2d4f60"
SHAPED = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def model() -> Iterator[str]:
    """The address of a model server that answers."""
    with served([Turn("ready")] * 8) as server:
        yield server.openai


def steps(house: LivingHome, *words: str, stdin: str = "", code: int = 0) -> dict[str, tuple[str, str]]:
    """What became of each step."""
    done = house.cli(*words, "--json", stdin=stdin)
    assert done.returncode == code, done.stdout + done.stderr
    return {step["name"]: (step["state"], step["text"]) for step in json.loads(done.stdout)["steps"]}


@promise("OPS-1.auth")
def test_setup_asks_nothing_with_yes_and_can_be_run_again(house: LivingHome, project: Path, model: str) -> None:
    words = ("setup", "--yes", "--provider", "acme", "--preset", "openai", "--url", model, "--model", "scripted")
    done = steps(house, *words, "--api-key-stdin", "--folder", str(project), stdin=KEY + "\n")
    assert {name: state for name, (state, _) in done.items()} == dict.fromkeys(
        ("sandbox", "provider", "model", "folder"), "ok"
    )
    assert house.get("/chain")["chain"][0] == {"provider": "acme", "model": "scripted"}
    (row,) = [row for row in house.get("/providers")["items"] if row["name"] == "acme"]
    assert (row["key"], row["checked"]["ok"]) == ("vault", True)
    head = house.get("/status")["head"]
    again = steps(house, "setup", "--yes", "--provider", "acme", "--folder", str(project))
    assert again["model"] == ("ok", "new work uses acme/scripted already")
    assert "has a session already" in again["folder"][1]
    assert house.get("/status")["head"] == head, "a second run changes nothing"
    assert len(house.get("/sessions")["items"]) == 1


def test_a_key_is_taken_from_a_variable_and_stands_in_no_argument_and_no_output(house: LivingHome, model: str) -> None:
    house.env = {**house.env, "ACME_KEY": KEY}
    words = ("setup", "--yes", "--provider", "acme", "--preset", "openai", "--url", model, "--model", "scripted")
    done = house.cli(*words, "--api-key-env", "ACME_KEY")
    assert done.returncode == 0, done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr + house.log_tail()
    unset = house.cli("setup", "--yes", "--provider", "acme", "--api-key-env", "NOT_SET")
    assert unset.returncode == 2 and "'NOT_SET' is not set" in unset.stderr
    as_word = house.cli("setup", "--yes", "--provider", "acme", "--api-key", KEY)
    assert as_word.returncode == 2 and KEY not in as_word.stdout + as_word.stderr


def test_a_refused_key_fails_the_step_says_how_to_go_on_and_leaves_the_model(
    house: LivingHome,
    refusing: str,  # noqa: F811
) -> None:
    words = ("--provider", "acme", "--preset", "openai", "--url", refusing, "--model", "m1", "--api-key-stdin")
    done = steps(house, "setup", "--yes", *words, stdin=KEY, code=1)
    assert done["provider"] == ("failed", "acme: 401 the key was refused")
    assert "model" not in done and not house.get("/status")["chosen"]
    logged_in = house.cli("auth", "login", *words, stdin=KEY)
    assert logged_in.returncode == 1 and "401 the key was refused" in logged_in.stdout
    assert KEY not in logged_in.stdout + logged_in.stderr


@pytest.mark.long
def test_an_unknown_provider_and_a_missing_terminal_are_said(house: LivingHome) -> None:
    assert steps(house, "setup", "--yes", "--provider", "nobody", code=1)["provider"][0] == "failed"
    alone = house.cli("setup")
    assert alone.returncode == 3 and "stead setup --yes" in alone.stderr
    assert steps(house, "setup", "--yes")["provider"][0] == "skipped", "the rehearsal model serves"


@pytest.mark.long
def test_auth_login_gives_a_known_provider_another_key(house: LivingHome, model: str) -> None:
    use_model(house, model, preset="openai")
    done = house.cli("auth", "login", "--provider", "acme", stdin=KEY)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = [row for row in house.get("/providers")["items"] if row["name"] == "acme"]
    assert row["key"] == "vault"


@promise("OPS-1.setup")
def test_at_a_terminal_the_wizard_asks_verifies_and_each_question_can_be_skipped(
    house: LivingHome, model: str, project: Path
) -> None:
    with at_terminal(Cli(house.home, project), "setup", "--preset", "openai", "--url", model, "--model", "m") as screen:
        screen.until("provider (Enter: none")
        screen.type("acme\n")
        screen.until("key of acme (it is not shown)")
        screen.type(KEY + "\n")
        screen.until("provider: acme answered")
        screen.until("folder to work in first (Enter: later)")
        screen.type("\n")
        screen.until("Stead is set up.")
        assert screen.end() == 0
        assert KEY not in screen.seen
    assert house.get("/chain")["chain"][0] == {"provider": "acme", "model": "m"}
    with at_terminal(Cli(house.home, project), "setup") as screen:
        screen.until("provider (Enter: none")
        screen.type("\n")
        screen.until("(Enter: later)")
        screen.type("\n")
        screen.until("Stead is set up.")
        assert screen.end() == 0


@promise("OPS-1.completion")
@pytest.mark.parametrize(
    ("shell", "name"),
    [
        ("bash", ".local/share/bash-completion/completions/stead"),
        pytest.param("zsh", ".local/share/zsh/site-functions/_stead", marks=pytest.mark.long),
        pytest.param("fish", ".config/fish/completions/stead.fish", marks=pytest.mark.long),
    ],
)
def test_completion_is_installed_once_and_uninstalled_and_another_s_file_stays(
    house: LivingHome, shell: str, name: str
) -> None:
    file = house.root.parent / name
    house.env = {**house.env, "SHELL": f"/usr/bin/{shell}"}
    first = json.loads(house.cli("completion", "install", "--json").stdout)
    assert first == {"shell": shell, "file": str(file), "changed": True}
    assert file.read_text("utf-8") == house.cli("completion", shell).stdout
    assert json.loads(house.cli("completion", "install", shell, "--json").stdout)["changed"] is False
    assert house.cli("completion", "uninstall", shell).returncode == 0
    assert not file.exists()
    assert "Nothing is installed" in house.cli("completion", "uninstall", shell).stdout
    file.write_text("complete -c stead\n", "utf-8")
    for action in ("install", "uninstall"):
        refused = house.cli("completion", action, shell)
        assert refused.returncode == 1 and "is not Stead's" in refused.stderr
    assert file.read_text("utf-8") == "complete -c stead\n"


@pytest.mark.long
def test_completion_without_a_known_shell_names_those_that_there_are(house: LivingHome) -> None:
    house.env = {**house.env, "SHELL": "/bin/tcsh"}
    refused = house.cli("completion", "install")
    assert refused.returncode == 2 and "bash, zsh, fish" in refused.stderr


def test_doctor_fixes_what_it_says_and_leaves_the_rest_with_a_reason(house: LivingHome) -> None:
    house.stop()
    house.root.chmod(0o755)
    house.home.key.chmod(0o644)
    house.home.address.write_text('{"pid": 999999999, "port": 1, "name": "x", "bearer": "y"}', "utf-8")
    house.home.address.chmod(0o600)
    (house.home.settings).write_text(house.home.settings.read_text("utf-8") + 'colour = "red"\n', "utf-8")
    asked = house.cli("doctor", "--fix")
    assert asked.returncode == 3 and house.root.stat().st_mode & 0o777 == 0o755, "it asks first"
    done = house.cli("doctor", "--fix", "--yes", "--json")
    try:
        found = json.loads(done.stdout)
        fixed = {row["name"]: row["done"] for row in found["fixed"]}
        assert {"home", "key", "daemon", "address file"} <= {name for name, good in fixed.items() if good}
        assert house.root.stat().st_mode & 0o777 == 0o700 and house.home.key.stat().st_mode & 0o777 == 0o600
        verdicts = {check["name"]: check["verdict"] for check in found["checks"]}
        assert verdicts["home"] == verdicts["key"] == verdicts["daemon"] == "ok"
        assert verdicts["settings"] == "warn" and "colour" in house.home.settings.read_text("utf-8"), "yours to change"
        again = house.cli("doctor", "--fix", "--yes")
        assert "left to you: settings" in again.stdout and "nothing is wrong that doctor can fix" in again.stderr
    finally:
        house.cli("down")


def test_doctor_does_not_follow_a_link_that_another_put_in_the_place_of_the_key(house: LivingHome) -> None:
    house.stop()
    elsewhere = house.root.parent / "elsewhere"
    elsewhere.write_text("not Stead's\n", "utf-8")
    elsewhere.chmod(0o644)
    house.home.key.unlink()
    house.home.key.symlink_to(elsewhere)
    house.cli("doctor", "--fix", "--yes")
    house.cli("down")
    assert elsewhere.stat().st_mode & 0o777 == 0o644


def test_a_report_has_no_secret_and_nothing_that_was_said(house: LivingHome, project: Path, tmp_path: Path) -> None:
    house.post("/secrets", {"name": "shop", "value": CANARY + "-secret"})
    with served([Turn(f"I say {CANARY}-reply.")] * 3) as server:
        use_model(house, server.openai)
        id = house.give(f"say {CANARY}-goal", project, title=f"{CANARY}-title")
        house.finish(id)
    with house.home.log.open("a", encoding="utf-8") as log:
        log.write(f"2026-01-01 00:00:00,000 WARNING stead: the key {SHAPED} was refused\n")
        log.write(f"2026-01-01 00:00:00,001 WARNING stead: there is no file '{CANARY}-file'\n")
        log.write(f"2026-01-01 00:00:00,002 WARNING stead: told of {CANARY}-env by the caller\n")
        log.write(f'Traceback (most recent call last):\n  File "x.py", line 1, in run\n    say("{CANARY}-line")\n')
        log.write(f"ValueError: {CANARY}-fault\n{CANARY}-loose\n")
    house.env = {**house.env, "OTHER_TOKEN": CANARY + "-env"}
    report = tmp_path / "report.tar.gz"
    done = house.cli("doctor", "--bundle", str(report))
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("log.txt") < done.stdout.index("Written to"), "it says first what is in it"
    assert report.stat().st_mode & 0o777 == 0o600
    with tarfile.open(report) as archive:
        texts = {
            os.path.basename(member.name): archive.extractfile(member).read().decode()  # type: ignore[union-attr]
            for member in archive
        }
    assert sorted(texts) == ["doctor.json", "log.txt", "providers.json", "settings.json", "versions.json"]
    whole = "\n".join(texts.values())
    assert CANARY not in whole and SHAPED not in whole
    assert str(house.root) not in whole and str(house.root.parent) not in whole
    assert 'File "x.py", line 1, in run\nValueError\n' in texts["log.txt"]
    assert "was refused" in texts["log.txt"] and "ready: pid" in texts["log.txt"]
    assert json.loads(texts["providers.json"])["providers"][0]["preset"] == "compatible"
    again = house.cli("doctor", "--bundle", str(report))
    assert again.returncode == 2 and "already" in again.stderr
