"""A key that is an entry of the system's keychain: through the real library, over keychains that are files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.models import ServedModel, Turn
from tests.flows.house import LivingHome
from tests.flows.served import served
from tests.promises import promise

KEY = "sk-invented-entry-2718"
IN_A_FILE = "keyrings.alt.file.PlaintextKeyring"
LOCKED = """
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

class Locked(KeyringBackend):
    priority = 9
    def get_password(self, service, username): raise KeyringLocked("the collection is locked")
    def set_password(self, service, username, password): raise KeyringLocked("the collection is locked")
"""
"""The library's own interface of a backend, as the one of a desktop behaves before its person has signed in."""
ABSENT = "raise ModuleNotFoundError(\"No module named 'keyring'\", name='keyring')\n"


@contextmanager
def _living(folder: Path, backend: str, **modules: str) -> Iterator[LivingHome]:
    """A daemon whose account has a keychain; ``modules`` are found before those that are installed."""
    house = LivingHome(folder / "home")
    site = folder / "site"
    site.mkdir()
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text, "utf-8")
    path = f"{site}:{house.environment['PYTHONPATH']}"
    house.env = {"PYTHON_KEYRING_BACKEND": backend, "PYTHONPATH": path}
    house.start()
    try:
        yield house
    finally:
        house.stop()


def _keep(house: LivingHome, service: str, name: str, value: str) -> None:
    """Put an entry into the keychain, as a person does: with the library's own command."""
    subprocess.run(
        [house.python, "-m", "keyring", "set", service, name],
        env=house.environment,
        input=value,
        text=True,
        check=True,
        timeout=20,
        capture_output=True,
    )


def _add(house: LivingHome, model: ServedModel, *more: str) -> None:
    url = ("--preset", "compatible", "--url", model.openai, "--model", "scripted")
    added = house.cli("providers", "add", "lan", *url, "--key", "keychain:acme/main", *more)
    assert added.returncode == 0, added.stderr
    assert house.cli("providers", "use", "lan/scripted").returncode == 0


@promise("LLM-1.keychain")
def test_a_key_of_the_keychain_reaches_the_server_and_nothing_else(tmp_path: Path, project: Path) -> None:
    with served(lambda _: Turn("Done.")) as model, _living(tmp_path, IN_A_FILE) as house:
        _keep(house, "acme", "main", KEY)
        _keep(house, "acme", "gateway", "gw-invented-16180")
        _add(house, model, "--header", "X-Gateway=keychain:acme/gateway")
        listed = house.cli("providers", "list").stdout
        assert "keychain:acme/main" in listed
        ran = house.cli("run", "say hello", "--dir", str(project))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        for seen in model.requests():
            assert seen.request.headers["authorization"] == f"Bearer {KEY}"
            assert seen.request.headers["x-gateway"] == "gw-invented-16180"
        assert model.requests()
        told = str(house.events()) + house.log_tail() + house.cli("providers", "list", "--json").stdout
        assert KEY not in told and "gw-invented" not in told


@pytest.mark.long
@promise("LLM-1.keychain")
def test_an_entry_that_is_missing_is_named_and_found_once_it_is_there(tmp_path: Path) -> None:
    with served(lambda _: Turn("Done.")) as model, _living(tmp_path, IN_A_FILE) as house:
        _add(house, model)
        tried = house.cli("providers", "test", "lan")
        assert tried.returncode == 1 and "its key (keychain:acme/main) is not set" in tried.stdout
        assert not model.requests()
        _keep(house, "acme", "main", KEY)
        assert house.cli("providers", "test", "lan").returncode == 0
        assert model.requests()[0].request.headers["authorization"] == f"Bearer {KEY}"


@promise("LLM-1.keychain")
@pytest.mark.parametrize(
    ("backend", "modules", "said"),
    [
        pytest.param(
            "keyring.backends.fail.Keyring",
            {},
            "the keychain cannot be read (NoKeyringError)",
            marks=pytest.mark.long,
        ),
        ("locked_keychain.Locked", {"locked_keychain": LOCKED}, "the keychain cannot be read (KeyringLocked); unlock"),
        pytest.param(
            "nowhere.Backend", {}, "the keychain cannot be read (ModuleNotFoundError)", marks=pytest.mark.long
        ),
        pytest.param(
            IN_A_FILE, {"keyring": ABSENT}, "needs the extra: install 'stead[keyring]'", marks=pytest.mark.long
        ),
    ],
    ids=["none", "locked", "misconfigured", "library absent"],
)
def test_a_keychain_that_cannot_be_read_is_said_with_what_to_do(
    tmp_path: Path, project: Path, backend: str, modules: dict[str, str], said: str
) -> None:
    with served(lambda _: Turn("Done.")) as model, _living(tmp_path, backend, **modules) as house:
        _add(house, model)
        tried = house.cli("providers", "test", "lan")
        assert tried.returncode == 1 and said in tried.stdout, tried.stdout + tried.stderr
        id = house.give("say hello", project)
        stopped = house.wait(id, "paused", "failed", "incomplete")
        assert said in str(stopped) + str(house.events(id))
        assert not model.requests()
