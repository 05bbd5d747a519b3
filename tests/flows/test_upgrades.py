"""A new version is installed beside the old one, takes the home over, and gives it back where it does not start."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stead import __version__
from tests.promises import promise

ROOT = Path(__file__).parents[2]
WRAPPER = """\
#!/bin/sh
self=$0
while [ -h "$self" ]; do
    link=$(readlink "$self")
    case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
export PYTHONPATH="$(dirname "$self")/../lib"
exec {python} -P -m stead "$@"
"""
STEP = "CREATE TABLE later (seq integer PRIMARY KEY);\nINSERT INTO later SELECT seq FROM events;\n"
FAULT = '\n\ndef proven(home: Home, version: str) -> None:\n    raise StorageFault("planted: this version is broken")\n'


def tree(folder: Path, version: str, *, fault: str = "") -> Path:
    """What an archive of a version has in it; its interpreter is that of the tests."""
    package = folder / "lib" / "stead"
    shutil.copytree(ROOT / "src" / "stead", package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    (package / "__init__.py").write_text(f'__version__ = "{version}"\n')
    if version != __version__:
        newest = len(list(package.glob("storage/schema/[0-9]*.sql")))
        (package / "storage" / "schema" / f"{newest + 1:04d}_later.sql").write_text(STEP)
    with (package / "storage" / "upgrading.py").open("a") as file:
        file.write(fault)
    (folder / "NEEDS").write_text("glibc 2.36\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "stead").write_text(WRAPPER.format(python=sys.executable))
    (folder / "bin" / "stead").chmod(0o755)
    return folder


def release(folder: Path, version: str, **how: str) -> Path:
    """An archive of a version, with its sums."""
    folder.mkdir()
    archive = folder / f"stead-{version}-linux-{os.uname().machine}.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(tree(folder / "tree", version, **how), f"stead-{version}")
    shutil.rmtree(folder / "tree")
    sums = hashlib.sha256(archive.read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{sums}  {archive.name}\n")
    return archive


class Installed:
    """Stead as the install script leaves it, and a home."""

    def __init__(self, root: Path) -> None:
        self.root = root / "share"
        self.home = root / "home"
        tree(self.root / "versions" / __version__, __version__)
        (self.root / "current").symlink_to(f"versions/{__version__}")
        self.home.mkdir()
        (self.home / "config.toml").write_text('discover = "off"\nembedder = "off"\nmachine = "off"\n')

    def run(self, *words: str, code: int = 0) -> Any:
        """A command of the version that runs; gives its JSON."""
        done = subprocess.run(
            [self.root / "current" / "bin" / "stead", "--home", self.home, "--json", *words],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home.parent), "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()] or [done.stderr]
        return lines[0] if len(lines) == 1 else lines

    @property
    def current(self) -> str:
        return os.readlink(self.root / "current")

    def sessions(self) -> Any:
        """What the read models have of sessions, and the whole of their journal."""
        listed = self.run("objectives")
        return listed, self.run("audit", "verify")["events"]


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installed]:
    made = Installed(tmp_path)
    yield made
    made.run("down")


@promise("OPS-5.upgrade")
def test_an_upgrade_takes_the_home_over_and_the_way_back_gives_both_back(installed: Installed, tmp_path: Path) -> None:
    installed.run("up")
    installed.run("run", "read README.md and write SUMMARY.md with its headings", "--detach")
    installed.run("down")
    installed.run("up")
    before = installed.run("objectives")
    archive = release(tmp_path / "release", "0.2.0")

    done = installed.run("upgrade", str(archive))
    assert done == {"version": "0.2.0", "before": __version__, "upgraded": True}
    assert installed.current == "versions/0.2.0"
    assert installed.run("status")["version"] == "0.2.0"
    assert installed.run("objectives") == before
    assert installed.run("audit", "verify")["faults"] == []

    installed.run("run", "read README.md and write SUMMARY.md with its headings", "--detach")
    went = installed.run("upgrade", "--back", "--yes")
    assert (went["program"], installed.current) == (__version__, f"versions/{__version__}")
    assert went["set_aside"] > 0
    assert Path(went["moved_to"], "journal.db").is_file()
    assert installed.run("status")["version"] == __version__
    assert installed.run("objectives") == before
    assert installed.run("audit", "verify")["faults"] == []


@promise("OPS-5.upgrade")
def test_a_version_that_does_not_start_is_left_by_itself_and_the_home_is_as_it_was(
    installed: Installed, tmp_path: Path
) -> None:
    installed.run("up")
    archive = release(tmp_path / "release", "0.3.0", fault=FAULT)

    said = json.dumps(installed.run("upgrade", str(archive), code=1))
    assert "planted: this version is broken" in said
    assert installed.current == f"versions/{__version__}"
    assert installed.run("status")["version"] == __version__
    assert installed.run("audit", "verify")["faults"] == []


@pytest.mark.long
def test_a_start_that_follows_a_kill_in_the_middle_of_an_upgrade_falls_back_too(
    installed: Installed, tmp_path: Path
) -> None:
    installed.run("up")
    installed.run("down")
    tree(installed.root / "versions" / "0.3.0", "0.3.0", fault=FAULT)
    (installed.root / "previous").symlink_to(f"versions/{__version__}")
    (installed.root / "unproven").touch()
    (installed.root / "current").unlink()
    (installed.root / "current").symlink_to("versions/0.3.0")  # killed here

    said = json.dumps(installed.run("up", code=4))
    assert f"Stead {__version__} is in its place again" in said
    assert installed.run("up")["version"] == __version__


def test_an_archive_that_is_not_what_its_sums_say_changes_nothing(installed: Installed, tmp_path: Path) -> None:
    archive = release(tmp_path / "release", "0.2.0")
    with archive.open("ab") as file:
        file.write(b"x")
    assert "damaged or changed" in json.dumps(installed.run("upgrade", str(archive), code=1))
    (archive.parent / "SHA256SUMS").write_text("")
    assert "not among" in json.dumps(installed.run("upgrade", str(archive), code=2))
    assert installed.current == f"versions/{__version__}"
    assert os.listdir(installed.root / "versions") == [__version__]


@pytest.mark.parametrize("name", ["stead-0.2.0/../../evil", "/etc/evil", "other/evil", "link"])
def test_an_archive_that_reaches_out_of_its_folder_is_refused(installed: Installed, tmp_path: Path, name: str) -> None:
    archive = tmp_path / f"stead-0.2.0-linux-{os.uname().machine}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        entry = tarfile.TarInfo("stead-0.2.0/link" if name == "link" else name)
        if name == "link":
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(entry)
    sums = hashlib.sha256(archive.read_bytes()).hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{sums}  {archive.name}\n")
    assert "no release of Stead has" in json.dumps(installed.run("upgrade", str(archive), code=1))
    assert os.listdir(installed.root / "versions") == [__version__]


@promise("OPS-5.update")
def test_updates_are_looked_for_only_where_and_when_the_person_says(installed: Installed, tmp_path: Path) -> None:
    assert "asks nobody by itself" in json.dumps(installed.run("upgrade", "--check", code=2))
    archive = release(tmp_path / "release", "0.10.0")
    with (installed.home / "config.toml").open("a") as file:
        file.write(f'updates = "{archive.parent}"\n')
    found = installed.run("upgrade", "--check")
    assert (found["version"], found["newest"], found["newer"]) == (__version__, "0.10.0", True)
    assert installed.current == f"versions/{__version__}", "a check changed something"
    sums = archive.parent / "SHA256SUMS"
    sums.write_text(sums.read_text().replace("0.10.0", "0.0.9"))
    assert installed.run("upgrade", "--check")["newer"] is False
