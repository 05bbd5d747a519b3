"""The doctor: what it looks at, that it finds what is planted, and that it always says how to mend it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from stead.cli.checks import Check, home_checks, host_checks, sandbox_checks
from stead.cli.memory_checks import embedder_check
from stead.config import Home
from stead.domain.memory import GLOBAL, LegState
from stead.domain.memory_ports import Place
from stead.domain.providers import ProviderRow
from stead.memory.embedding import wire
from stead.storage.keystore import open_keys
from tests.cli.conftest import Cli
from tests.cli.simulator import Simulator

Serve = Callable[..., Simulator]


def found(cli: Cli, **extra: str) -> dict[str, dict[str, str]]:
    (row,) = cli("doctor", "--json", **extra).rows
    checks = {check["name"]: check for check in row["checks"]}
    assert len(checks) == len(row["checks"]), "each check has a name of its own"
    assert row["ok"] == all(check["verdict"] != "fail" for check in row["checks"])
    return checks


def test_there_are_twenty_checks_and_every_trouble_has_a_fix(cli: Cli, api: Simulator) -> None:
    checks = found(cli)
    assert len(checks) >= 20
    for check in checks.values():
        assert check["verdict"] in ("ok", "warn", "fail")
        assert check["text"]
        assert check["verdict"] == "ok" or check["fix"], check


def test_a_healthy_home_passes_and_the_rehearsal_model_is_named(cli: Cli, api: Simulator) -> None:
    done = cli("doctor", TERM="xterm", LANG="C.UTF-8")
    assert done.code == 0
    assert "ok    daemon" in done.out
    assert "warn  model            the rehearsal model" in done.out
    assert "0 failed" in done.out.splitlines()[-1]


def test_without_a_home_it_works_and_says_what_comes_next(cli: Cli) -> None:
    checks = found(cli)
    assert checks["home"]["fix"] == "stead up makes it"
    assert checks["daemon"]["fix"] == "stead up"


def test_the_key_is_said_to_protect_what_it_protects(cli: Cli, home: Home) -> None:
    home.make()
    open_keys(home, "file", lambda: "")
    text = found(cli)["key"]["text"]
    assert text.startswith("The key is in a plain file that only this account can read.")
    assert "does not protect" in text
    home.key.chmod(0o644)
    assert found(cli)["key"]["verdict"] == "fail"


def test_a_journal_without_its_key_is_a_failure(cli: Cli, home: Home) -> None:
    home.make()
    home.journal.write_bytes(b"x")
    check = found(cli)["key"]
    assert check["verdict"] == "fail"
    assert "stead key recover" in check["fix"]


def plant_open_home(home: Home) -> None:
    home.root.chmod(0o755)


def plant_bad_settings(home: Home) -> None:
    home.settings.write_text("port = 'many'\n")


def plant_unknown_setting(home: Home) -> None:
    home.settings.write_text("colour = 'blue'\n")


def plant_open_journal(home: Home) -> None:
    home.journal.write_bytes(b"")
    home.journal.chmod(0o644)


def plant_large_log(home: Home) -> None:
    with home.log.open("wb") as log:
        log.truncate(200_000_000)


def plant_recovery_note(home: Home) -> None:
    (home.run / "recovery.txt").write_text("ABCD")


def plant_stale_address(home: Home) -> None:
    home.address.write_text(
        json.dumps({"pid": 2**22 + 1, "port": 1, "name": "n", "bearer": "b", "version": "", "started_ms": 0})
    )
    home.address.chmod(0o600)


def plant_open_address(home: Home) -> None:
    home.address.write_text("{}")
    home.address.chmod(0o644)


@pytest.mark.parametrize(
    ("plant", "name", "verdict", "fix"),
    [
        (plant_open_home, "home", "fail", "chmod go-rwx"),
        (plant_bad_settings, "settings", "fail", "fix or remove"),
        (plant_unknown_setting, "settings", "warn", "remove it"),
        (plant_open_journal, "journal file", "fail", "chmod go-rwx"),
        (plant_large_log, "log", "warn", "rm"),
        (plant_recovery_note, "recovery key", "warn", "stead up"),
        (plant_stale_address, "address file", "warn", "stead up"),
        (plant_open_address, "address file", "fail", "stead down; stead up"),
    ],
)
def test_what_is_planted_is_found(
    cli: Cli, home: Home, plant: Callable[[Home], None], name: str, verdict: str, fix: str
) -> None:
    home.make()
    before = found(cli)[name]["verdict"]
    plant(home)
    check = found(cli)[name]
    assert before == "ok"
    assert check["verdict"] == verdict
    assert fix in check["fix"]


def test_a_taken_port_is_found(cli: Cli, home: Home) -> None:
    home.make()
    with socket.create_server(("127.0.0.1", 0)) as server:
        home.settings.write_text(f"port = {server.getsockname()[1]}\n")
        assert found(cli)["port"]["verdict"] == "fail"


def test_a_provider_without_its_key_is_found(cli: Cli, api: Simulator) -> None:
    api.providers["acme"] = ProviderRow("acme", "openai", "", "m", "env:ACME_KEY (not set)", False)
    check = found(cli)["provider keys"]
    assert check["verdict"] == "fail"
    assert "acme (env:ACME_KEY (not set))" in check["text"]
    assert "stead providers set-key acme" in check["fix"]


def test_a_sandbox_that_cannot_be_made_is_explained(cli: Cli, api: Simulator) -> None:
    api.isolation = msgspec.structs.replace(
        api.isolation, available=False, statement="user namespaces are forbidden", missing=("sysctl -w x=1", "or y")
    )
    check = found(cli)["sandbox"]
    assert check["verdict"] == "fail"
    assert "shell and code are off" in check["text"]
    assert check["fix"] == "sysctl -w x=1; or y"
    assert "off: user namespaces are forbidden" in cli("status").out


def test_a_missing_path_and_terminal_are_warnings(cli: Cli, api: Simulator) -> None:
    checks = found(cli, PATH="/nonexistent")
    assert checks["PATH"]["verdict"] == "warn"
    assert checks["bubblewrap"]["verdict"] == "warn"
    assert checks["terminal"]["verdict"] == "warn"


def test_checks_never_raise_where_a_home_is_strange(tmp_path: Path) -> None:
    strange = Home(tmp_path / "file")
    strange.root.write_text("not a folder")
    for checks in (host_checks(), sandbox_checks(), home_checks(strange)):
        assert all(isinstance(check, Check) for check in checks)


@pytest.mark.skipif(os.geteuid() == 0, reason="an administrator may write everywhere")
def test_a_home_that_cannot_be_written_is_found(cli: Cli, home: Home) -> None:
    home.make()
    home.root.chmod(0o500)
    try:
        assert found(cli)["disk"]["verdict"] == "fail"
    finally:
        home.root.chmod(0o700)


def test_an_embedder_without_its_packages_is_told_how_to_get_them(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.make()
    monkeypatch.setattr(wire, "NEEDED", ("no_such_package",))
    check = embedder_check(home)
    assert (check.verdict, "no_such_package" in check.text) == ("warn", True)
    assert "names and words alone" in check.text
    assert check.fix == wire.INSTALL
    home.settings.write_text('embedder = "off"\n')
    assert embedder_check(home).verdict == "ok"
    home.settings.write_text('embedder = "acme/vectors-1"\n')
    assert "acme/vectors-1 makes the vectors" in embedder_check(home).text
    home.settings.write_text("embedder = 7\n")
    assert embedder_check(home).verdict == "warn", "as the default; the settings have a check of their own"


def test_a_way_of_finding_that_is_dead_is_found(cli: Cli, api: Simulator) -> None:
    assert found(cli)["recall"]["verdict"] == "ok"
    api.legs = (LegState("words", True, ""), LegState("meaning", False, "its model could not be built"))
    assert found(cli)["recall"]["verdict"] == "ok", "there is nothing to find"
    api.places = (Place(GLOBAL, "everywhere", "", 1, 0, 0),)
    check = found(cli)["recall"]
    assert check["verdict"] == "warn"
    assert "its model could not be built" in check["text"]
    api.legs = (LegState("words", False, "the index is damaged"),)
    check = found(cli)["recall"]
    assert (check["verdict"], check["text"]) == ("fail", "the index is damaged")


def test_files_of_memory_that_are_not_kept_up_are_found(cli: Cli, api: Simulator) -> None:
    assert found(cli)["memory files"]["verdict"] == "ok"
    api.files = msgspec.structs.replace(api.files, notices=("global/MEMORY.md is not read: it is too long",))
    assert "1 notice" in found(cli)["memory files"]["text"]
    api.files = msgspec.structs.replace(api.files, alive=False, reason="the folder is read-only")
    check = found(cli)["memory files"]
    assert (check["verdict"], check["text"]) == ("warn", "the folder is read-only")
