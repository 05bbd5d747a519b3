"""What a fresh clone is set up from: whole locks without addresses, and a script that says what it takes."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS = PROJECT["dependency-groups"]


def locked(name: str) -> dict[str, str]:
    """Each package of a lock with its version, its marker and its hashes."""
    text = (ROOT / name).read_text("utf-8")
    found = re.findall(r"^([a-z0-9-]+)==(.+?(?:\\\n    --hash=sha256:[0-9a-f]{64} ?)+)$", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^\S", text, re.MULTILINE)), f"{name} has a line that is no locked package"
    return dict(found)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_has_hashes_for_everything_and_addresses_of_nothing(lock: Path) -> None:
    assert locked(lock.name)
    assert not re.search(r"://|index|find-links| @ ", lock.read_text("utf-8"))


@pytest.mark.parametrize(
    ("pins", "lock"),
    [
        (PROJECT["project"]["dependencies"], "requirements.lock"),
        (PROJECT["project"]["dependencies"], "requirements-dev.lock"),
        (GROUPS["dev"], "requirements-dev.lock"),
        (GROUPS["uv"], "requirements-uv.lock"),
        (GROUPS["build"], "requirements-build.lock"),
        (PROJECT["build-system"]["requires"], "requirements-build.lock"),
        (PROJECT["build-system"]["requires"], "requirements-dev.lock"),
        (GROUPS["page"], "requirements-page.lock"),
        (GROUPS["bwrap"], "requirements-bwrap.lock"),
        (GROUPS["code-bases"], "requirements-code-bases.lock"),
        (GROUPS["embed"], "requirements-embed.lock"),
        (PROJECT["project"]["optional-dependencies"]["embed"], "requirements-embed.lock"),
        (PROJECT["project"]["optional-dependencies"]["bwrap"], "requirements-bwrap.lock"),
    ],
)
def test_every_pin_is_in_its_lock(pins: list[str], lock: str) -> None:
    versions = {name: entry.split()[0] for name, entry in locked(lock).items()}

    for pin in pins:
        name, _, version = re.sub(r"\[.*\]", "", pin).partition("==")
        assert versions[name] == version, f"{pin}: run `make lock`"


def test_what_the_tests_need_includes_exactly_what_runs() -> None:
    runtime, dev = locked("requirements.lock"), locked("requirements-dev.lock")

    assert {name: entry for name, entry in dev.items() if name in runtime} == runtime


def test_the_embedder_is_added_to_what_is_there_and_changes_none_of_it() -> None:
    assert set(locked("requirements-embed.lock")) == {pin.partition("==")[0] for pin in GROUPS["embed"]}
    assert not set(locked("requirements-embed.lock")) & set(locked("requirements-dev.lock"))


def test_an_install_without_extras_stays_small() -> None:
    assert len(locked("requirements.lock")) <= 70


def test_setup_says_what_it_takes() -> None:
    done = subprocess.run(
        ["sh", "scripts/setup.sh", "everything"], cwd=ROOT, capture_output=True, text=True, timeout=10
    )

    assert done.returncode == 2
    assert "run|test|page" in done.stderr


def test_extras_that_were_added_are_known_and_so_is_what_they_take() -> None:
    def said(*names: str) -> list[str]:
        words = [sys.executable, "scripts/extras.py", *names]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout.split()

    extras = PROJECT["project"]["optional-dependencies"]
    assert {"slack", "discord", "email"} <= set(said()) <= set(extras), "the tests have the libraries of channels"
    assert said("slack", "discord") == sorted({*extras["slack"], *extras["discord"]})
