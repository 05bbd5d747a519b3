"""A release: made twice it is the same, and it names no place of this machine.

What makes a release takes minutes and is marked long. The install script is tried in CI with small archives.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from scripts.release import bill, newest_glibc, sign
from stead import __version__
from stead.cli.releases import files_in, order
from tests.flows.released import make
from tests.flows.test_upgrades import FAULT, release
from tests.promises import promise

ROOT = Path(__file__).parents[2]
DEV_TOOLS = ("pytest", "ruff", "mypy", "hypothesis", "playwright", "hatchling", "uv", "pip", "setuptools")
long = pytest.mark.long
takes_long = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def unpacked(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    (archive,) = made.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / f"stead-{__version__}"


@long
@takes_long
@promise("OPS-5.sbom")
def test_a_release_has_sums_of_all_its_files_and_a_bill_of_what_is_in_it(made: Path, unpacked: Path) -> None:
    lines = (made / "SHA256SUMS").read_text().splitlines()
    assert sorted(line.split("  ")[1] for line in lines) == sorted(
        p.name for p in made.iterdir() if p.suffix or "." in p.name
    )
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest
    document = json.loads((made / f"stead-{__version__}.cdx.json").read_text())
    named = {part["name"].lower().replace("-", "_").replace(".", "_") for part in document["components"]}
    there = {path.name.partition("-")[0].lower().replace(".", "_") for path in unpacked.rglob("*.dist-info")}
    assert there - {"stead"} <= named
    assert {"python3_11_minimal", "libssl3"} <= named
    _require_valid(document)


@long
@takes_long
@promise("OPS-5.archive")
def test_the_archive_has_no_path_of_this_machine_no_development_tool_and_no_link(made: Path, unpacked: Path) -> None:
    places = {str(ROOT), str(made), os.path.expanduser("~/.pyenv"), str(ROOT.parent)} - {"/", "/root"}
    for path in unpacked.rglob("*"):
        assert not path.is_symlink(), path
        if path.is_file():
            content = path.read_bytes()
            assert [place for place in places if place.encode() in content] == [], path
    packages = {path.name.partition("-")[0].lower() for path in unpacked.rglob("*.dist-info")}
    assert packages & set(DEV_TOOLS) == set()
    assert packages >= {"icalendar", "keyring", "textual"}, "pip adds no extra to it"
    assert (unpacked / "NEEDS").read_text() == f"glibc {newest_glibc(unpacked)}\n"


@long
@takes_long
@promise("OPS-5.deb")
def test_the_debian_package_has_no_error_and_no_warning_of_lintians(made: Path) -> None:
    assert shutil.which("lintian"), "it takes Debian's lintian: make release-check installs it"
    (deb,) = made.glob("*.deb")
    words = ["lintian", "--fail-on", "error,warning", "--allow-root", str(deb)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@long
@takes_long
def test_a_release_made_twice_is_the_same_to_the_byte(made: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    again = make(tmp_path / "out", tmp_path / "work")
    assert (again / "SHA256SUMS").read_text() == (made / "SHA256SUMS").read_text()


# -- the install script -----------------------------------------------------------------------------------------------


def install(tmp_path: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(
        ["sh", ROOT / "scripts" / "install.sh", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "person"), "STEAD_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def quiet(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('discover = "off"\nembedder = "off"\nmachine = "off"\n')


@pytest.mark.long
@promise("OPS-5.script")
def test_the_script_installs_upgrades_in_place_and_removes_all_but_the_home(tmp_path: Path) -> None:
    quiet(tmp_path)
    first = release(tmp_path / "first", __version__).parent
    link = tmp_path / "person/.local/bin/stead"
    for _ in range(2):  # again changes nothing
        assert f"Stead {__version__} is in" in install(tmp_path, "--from", str(first))
    said = subprocess.run([link, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert said == f"stead {__version__}\n"

    second = release(tmp_path / "second", "0.2.0").parent
    install(tmp_path, "--from", str(second))
    assert os.readlink(tmp_path / "person/.local/share/stead/current") == "versions/0.2.0"
    assert (tmp_path / "home/data/journal.db").exists(), "the new version was not tried"

    broken = release(tmp_path / "broken", "0.3.0", fault=FAULT).parent
    assert "does not start" in install(tmp_path, "--from", str(broken), code=1)
    assert os.readlink(tmp_path / "person/.local/share/stead/current") == "versions/0.2.0"

    assert "removed" in install(tmp_path, "--uninstall")
    assert not link.is_symlink()
    assert not (tmp_path / "person/.local/share/stead").exists()
    assert (tmp_path / "home/data/journal.db").exists()


def test_the_script_installs_nothing_that_is_not_what_the_sums_say(tmp_path: Path) -> None:
    archive = release(tmp_path / "first", __version__)
    with archive.open("ab") as file:
        file.write(b"x")
    assert "damaged or changed" in install(tmp_path, "--from", str(archive.parent), code=1)
    assert "there is no SHA256SUMS" in install(tmp_path, "--from", str(tmp_path), code=1)
    assert "not an https address" in install(tmp_path, "--from", "http://example.com/stead", code=1)
    assert "no option" in install(tmp_path, "--form", code=1)
    assert not (tmp_path / "person/.local/bin/stead").exists()


@promise("OPS-5.script")
def test_the_script_takes_only_what_the_named_key_has_signed(tmp_path: Path) -> None:
    quiet(tmp_path)
    for name in ("own", "other"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(made, check=True, timeout=60)
    archive = release(tmp_path / "first", __version__)
    words = ("--from", str(archive.parent), "--signer")
    sums = archive.parent / "SHA256SUMS"
    assert "there is no SHA256SUMS.sig" in install(tmp_path, *words, str(tmp_path / "own.pub"), code=1)
    sign(sums, tmp_path / "own")
    assert "is not signed by" in install(tmp_path, *words, str(tmp_path / "other.pub"), code=1)
    assert "there is no key" in install(tmp_path, *words, str(tmp_path / "none.pub"), code=1)
    signed = sums.read_text()
    sums.write_text(signed + "\n")
    assert "is not signed by" in install(tmp_path, *words, str(tmp_path / "own.pub"), code=1)
    assert not (tmp_path / "person/.local/share/stead/versions").exists()
    sums.write_text(signed)
    assert f"Stead {__version__} is in" in install(tmp_path, *words, str(tmp_path / "own.pub"))


# -- parts ------------------------------------------------------------------------------------------------------------


def test_versions_are_compared_by_their_numbers() -> None:
    versions = ["0.9.0", "0.10.0a1", "0.10.0rc1", "0.10.0", "0.10.1", "1.0"]
    assert sorted(reversed(versions), key=order) == versions


def test_only_files_for_this_computer_count_and_an_archive_comes_before_a_wheel() -> None:
    digest = "0" * 64
    machine = os.uname().machine
    names = [
        "stead-0.2.0-py3-none-any.whl", f"stead-0.2.0-linux-{machine}.tar.gz", "stead-0.3.0-linux-vax.tar.gz",
        f"../stead-9.0-linux-{machine}.tar.gz", "stead_0.2.0_amd64.deb", f"stead-0.10.0-linux-{machine}.tar.gz",
    ]  # fmt: skip
    found = files_in("".join(f"{digest}  {name}\n" for name in names) + "nonsense\n")
    assert [file.name for file in found] == [names[5], names[1], names[0]]


def test_a_bill_of_materials_is_valid_and_the_same_each_time() -> None:
    part = {"type": "library", "bom-ref": "pkg:pypi/h11@0.16.0", "name": "h11", "version": "0.16.0",
            "purl": "pkg:pypi/h11@0.16.0"}  # fmt: skip
    made = bill("1.0", 1_795_000_000, [part])
    assert made == bill("1.0", 1_795_000_000, [part])
    _require_valid(json.loads(made))


def _require_valid(document: object) -> None:
    """By the schema that the standard's own library ships."""
    import cyclonedx.schema
    from jsonschema import Draft7Validator  # type: ignore[import-untyped]
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7

    folder = Path(cyclonedx.schema.__file__).parent / "_res"
    texts = {path.name: json.loads(path.read_text()) for path in folder.glob("*.json") if "strict" not in path.name}
    made = {name: Resource.from_contents(text, DRAFT7) for name, text in texts.items()}
    at = {f"http://cyclonedx.org/schema/{name}": resource for name, resource in made.items()}
    registry = Registry().with_resources([*made.items(), *at.items()])
    validator = Draft7Validator(texts["bom-1.5.SNAPSHOT.schema.json"], registry=registry)
    assert [error.message for error in validator.iter_errors(document)] == []
