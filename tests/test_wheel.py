"""The wheel has the page in it, whole, and serves it where there is no Node; a wheel without a page is not made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from scripts.check_page_size import PAGE, PAGE_BYTES
from tests.flows.house import LivingHome

ROOT = Path(__file__).parents[1]
BELOW = "stead/web/static/"
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "hatch_build.py", "src", "frontend")
BUILD_S = 110


def build(kind: str, folder: Path, root: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the build backend that pyproject.toml names, as ``make wheel`` does, without an environment of its own."""
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder],
        cwd=root,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = build("wheel", folder)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_the_whole_page_once_and_it_is_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
    page = [entry for entry in entries if entry.filename.startswith(BELOW)]
    built = {file.relative_to(PAGE).as_posix() for file in PAGE.rglob("*") if file.is_file()}

    assert {entry.filename.removeprefix(BELOW) for entry in page} == built
    assert "index.html" in built
    assert [name for name, count in Counter(entry.filename for entry in entries).items() if count > 1] == []
    assert [entry.filename for entry in entries if entry.filename.endswith((".map", ".ts", ".tsx"))] == []
    assert sum(entry.compress_size for entry in page) <= PAGE_BYTES


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """What a wheel is made from, without a built page."""
    root = tmp_path / "sources"
    root.mkdir()
    left_out = shutil.ignore_patterns("node_modules", "static", "__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, root / name)
    (root / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "with_node.sh", root / "scripts")
    return root


def without_node(folder: Path) -> str:
    """A PATH with a shell's few words on it, and no Node."""
    folder.mkdir()
    for name in ("sh", "dirname"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


def test_a_wheel_without_the_page_is_not_made_unless_that_is_asked_for(sources: Path, tmp_path: Path) -> None:
    path = without_node(tmp_path / "bin")

    refused = build("wheel", tmp_path / "refused", sources, PATH=path)
    assert refused.returncode != 0
    assert "the page is not built" in refused.stderr
    assert "make wheel" in refused.stderr
    assert list(tmp_path.glob("refused/*.whl")) == []

    skipped = build("wheel", tmp_path / "skipped", sources, PATH=path, STEAD_SKIP_UI="1")
    assert skipped.returncode == 0, skipped.stderr
    (made,) = tmp_path.glob("skipped/*.whl")
    with zipfile.ZipFile(made) as archive:
        assert [name for name in archive.namelist() if name.startswith(BELOW)] == []


def test_a_source_archive_has_the_built_page_so_that_its_wheel_needs_no_node(sources: Path, tmp_path: Path) -> None:
    shutil.copytree(PAGE, sources / "src" / "stead" / "web" / "static")
    done = build("sdist", tmp_path / "out", sources)
    assert done.returncode == 0, done.stderr
    (made,) = tmp_path.glob("out/*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (root,) = (tmp_path / "unpacked").iterdir()

    assert not list(root.rglob("node_modules"))
    again = build("wheel", tmp_path / "again", root, PATH=without_node(tmp_path / "bin"))
    assert again.returncode == 0, again.stderr
    with zipfile.ZipFile(next(tmp_path.glob("again/*.whl"))) as packed:
        assert f"{BELOW}index.html" in packed.namelist()


def test_an_installed_wheel_serves_the_page_where_there_is_no_node(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    uv = str(ROOT / ".uv" / "bin" / "uv")
    for words in (
        ["venv", "--quiet", "--offline", "--python", sys.executable, str(place)],
        ["pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(place / "bin" / "python"), str(wheel)],
    ):
        subprocess.run([uv, *words], check=True, capture_output=True, timeout=60)
    libraries = sysconfig.get_path(
        "purelib"
    )  # what it depends on; this clone is there by a path file, which is not read
    env = {"PATH": without_node(tmp_path / "bin"), "PYTHONPATH": libraries}
    house = LivingHome(tmp_path / "home", env, python=str(place / "bin" / "python"))
    house.start()
    try:
        link = house.post("/sign-in-codes")["url"]
        host = link.removeprefix("http://").partition("/")[0]
        address = f"http://127.0.0.1:{host.rpartition(':')[2]}"
        with httpx2.Client(base_url=address, headers={"Host": host}, trust_env=False, timeout=20) as browser:
            index = browser.get("/")
            assert (index.status_code, index.content) == (200, (PAGE / "index.html").read_bytes())
            assert browser.get("/objectives").content == index.content
            for file in sorted(PAGE.glob("assets/*.js")):
                assert browser.get(f"/assets/{file.name}").content == file.read_bytes()
        assert "+" in house.get("/status")["build"]
        asked = [house.python, "-c", "import stead; print(stead.__file__)"]
        where = subprocess.run(asked, env=house.environment, capture_output=True, text=True, timeout=20, check=True)
        assert where.stdout.startswith(str(place)), "the clone itself was served"
    finally:
        house.stop()
