"""What a home says of itself, what it does without a sandbox, and where a key is, and is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

KEY = "sk-invented-canary-2718281828"


def living(tmp_path: Path, settings: str, **env: str) -> LivingHome:
    """A home with these lines in its settings, not yet running."""
    house = LivingHome(tmp_path / "home", env, forked=True)
    house.home.make()
    house.home.settings.write_text(f'discover = "off"\n{settings}\n', "utf-8")
    return house


def checks(house: LivingHome) -> dict[str, Json]:
    """What doctor finds, by name."""
    shown = house.cli("doctor", "--json")
    assert shown.returncode in (0, 1), shown.stderr
    return {check["name"]: check for check in json.loads(shown.stdout)["checks"]}


@pytest.fixture
def without_machines(tmp_path: Path) -> Iterator[LivingHome]:
    """A daemon that has no sandbox to offer."""
    house = living(tmp_path, 'machine = "off"')
    house.start()
    yield house
    house.stop()


@promise("SEC-5.refuses")
def test_without_a_sandbox_nothing_runs_and_doctor_says_why(without_machines: LivingHome, project: Path) -> None:
    house = without_machines
    calls = (Call("shell", {"command": "touch ran"}), Call("write", {"path": "ran", "text": "x"}))
    with served(by_turn(Turn("", calls=calls), then=Turn("Nothing runs here."))) as model:
        use_model(house, model.openai)
        id = house.give("run something", project, allow=["shell", "write"])
        assert house.finish(id)["status"] in WELL
    judged = house.bodies(id, "call.judged")
    assert [(body["verdict"], body["reason"]["rule"]) for body in judged] == [("deny", "no-machine")] * 2
    assert house.bodies(id, "tool.started") == []
    assert not (project / "ran").exists()
    told = str(model.requests()[1].body["messages"])
    assert "no sandbox" in told
    sandbox = checks(house)["sandbox"]
    assert sandbox["verdict"] == "fail"
    assert "shell and code are off" in sandbox["text"]
    assert 'machine = "auto"' in sandbox["fix"]


@promise("OPS-1.doctor")
def test_doctor_says_what_works_what_does_not_and_what_to_do(house: LivingHome) -> None:
    found = checks(house)
    assert len(found) >= 20
    assert all(check["text"] for check in found.values())
    assert all(check["fix"] for check in found.values() if check["verdict"] != "ok")
    for name in ("daemon", "journal", "sandbox", "home", "key", "settings", "python"):
        assert found[name]["verdict"] == "ok", found[name]
    assert "rehearsal" in found["model"]["text"]
    house.stop()
    house.home.root.chmod(0o755)
    house.home.settings.write_text('machine = "maybe"\n', "utf-8")
    broken = house.cli("doctor", "--json")
    assert broken.returncode == 1
    found = checks(house)
    assert (found["daemon"]["verdict"], found["daemon"]["fix"]) == ("warn", "stead up")
    assert (found["home"]["verdict"], found["home"]["fix"][:5]) == ("fail", "chmod")
    assert found["settings"]["verdict"] == "fail"
    assert "'maybe'" in found["settings"]["text"]


@promise("SEC-11.key")
@pytest.mark.parametrize(
    ("source", "where", "not_against"),
    [
        ("file", "in a plain file that only this account can read", "a thief of the whole disk"),
        ("passphrase", "encrypted under your passphrase", "while Stead is running"),
    ],
)
def test_where_the_key_is_and_what_that_protects_is_said_plainly(
    tmp_path: Path, source: str, where: str, not_against: str
) -> None:
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("correct horse battery\n", "utf-8")
    house = living(tmp_path, f'key_source = "{source}"', STEAD_PASSPHRASE_FILE=str(passphrase))
    house.start()
    try:
        said = checks(house)["key"]["text"]
    finally:
        house.stop()
    assert where in said
    assert "It protects" in said
    assert "It does not protect against" in said
    assert not_against in said
    assert house.home.key.stat().st_mode & 0o777 == 0o600


@promise("SEC-7.vault", "LLM-1.vault-key")
def test_a_key_from_the_vault_is_shown_to_its_vendor_and_to_nobody_else(house: LivingHome, project: Path) -> None:
    look = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; env; touch looking; sleep 1"
    script = by_turn(Turn("", calls=(Call("shell", {"command": look}),)), then=Turn("I saw no key."))
    with served(script) as model:
        house.cli("providers", "add", "acme", "--preset", "compatible", "--url", model.openai, "--key-vault")
        stored = house.cli("providers", "set-key", "acme", stdin=f"{KEY}\n")
        assert stored.returncode == 0, stored.stderr
        assert house.cli("providers", "use", "acme/scripted").returncode == 0
        id = house.give("look for keys", project, allow=["shell"])
        house.until(lambda: (project / "looking").exists(), "the command to run")
        assert _processes_that_show(KEY) == []
        assert house.finish(id)["status"] in WELL
        house.stop()
        house.start()
        assert house.finish(house.give("look again", project, allow=["shell"]))["status"] in WELL
        assert [seen.request.headers["authorization"] for seen in model.requests()] == [f"Bearer {KEY}"] * 4
    (looked,) = house.bodies(id, "tool.finished")
    assert "HOME=/home" in looked["text"]
    said = str(house.events()) + stored.stdout + stored.stderr
    said += "".join(house.cli(*words).stdout for words in (["providers"], ["logs"], ["doctor", "--json"]))
    assert KEY not in said
    house.stop()
    files = [path for path in house.root.rglob("*") if path.is_file()]
    assert house.home.journal in files
    assert house.home.log in files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def _processes_that_show(text: str) -> list[str]:
    """Processes of this machine on whose command line or in whose environment a text stands."""
    shown = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                content = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:  # it has ended, or belongs to another account
                continue
            if text.encode() in content:
                shown.append(entry.name)
    return shown
