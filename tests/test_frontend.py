"""The page in its own tools: its unit tests pass, and what a browser loads first is small and comes from here alone."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts import check_page_size
from scripts.check_page_size import INITIAL_SCRIPT_BYTES, PAGE, measure
from stead.web.pages import MEDIA_TYPES
from tests.page_sides import sides, sources

ROOT = Path(__file__).parents[1]
VITEST_S = 300


@pytest.mark.timeout(VITEST_S + 20)
def test_the_pages_own_tests_pass() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "with_node.sh", "npm", "--prefix", ROOT / "frontend", "test"],
        env={**os.environ, "NO_COLOR": "1", "CI": "1"},
        capture_output=True,
        text=True,
        timeout=VITEST_S,
        check=False,
    )

    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert re.search(r"Tests +[1-9]\d* passed", done.stdout), done.stdout[-1000:]


def test_what_loads_before_the_first_paint_is_small() -> None:
    sizes = measure()

    assert sizes.script <= INITIAL_SCRIPT_BYTES, sizes
    assert any(name.endswith(".js") for name in sizes.files)
    assert any(name.endswith(".css") for name in sizes.files)


def test_every_file_that_was_built_may_be_served_and_what_is_kept_for_ever_names_its_content() -> None:
    built = [file for file in PAGE.rglob("*") if file.is_file()]

    assert [file.name for file in built if file.suffix not in {*MEDIA_TYPES, ".gz"}] == []
    assets = [file.name.removesuffix(".gz") for file in built if file.parent.name == "assets"]
    assert [name for name in assets if not re.search(r"-[\w-]{8}\.\w+$", name)] == []
    for packed in PAGE.rglob("*.gz"):
        assert gzip.decompress(packed.read_bytes()) == packed.with_suffix("").read_bytes()


def test_every_package_of_the_page_is_pinned_and_accounted_for() -> None:
    package = json.loads((ROOT / "frontend" / "package.json").read_text("utf-8"))
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text("utf-8"))["packages"]
    record = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "adr").glob("*.md"))
    named = {part for words in re.findall(r"^\| (.+?) \|", record, re.MULTILINE) for part in words.split(", ")}
    built_with = set(re.findall(r"@?[\w-]+(?:/[\w-]+)?", record))

    for name, version in (package["dependencies"] | package["devDependencies"]).items():
        assert lock[f"node_modules/{name}"]["version"] == version, f"{name} is not pinned exactly"
    assert package["dependencies"].keys() - named == set()
    assert package["devDependencies"].keys() - built_with == set()
    assert [name for name, entry in lock.items() if name and not {"integrity", "inBundle"} & entry.keys()] == []
    assert [name for name, entry in lock.items() if "resolved" in entry] == [], "a lock names no addresses"


def test_the_index_holds_no_script_and_no_style_and_names_nothing_elsewhere() -> None:
    """The content policy would drop each of them, and the page would be blank."""
    text = (PAGE / "index.html").read_text("utf-8")

    assert not re.search(r"<style|\son\w+=|\sstyle=|(?:src|href)=[\"']?(?:\w+:)?//", text)
    assert re.findall(r"<script(?![^>]*\ssrc=)", text) == []


def test_the_size_follows_imports_and_leaves_out_what_is_loaded_later(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    files = {
        "index.html": '<link rel="stylesheet" href="/assets/a.css"><script type="module" src="/assets/a.js"></script>'
        '<link rel="modulepreload" href="/assets/b.js"><link rel="icon" href="/icon.svg">',
        "assets/a.js": 'import{x as y}from"./b.js";import"./c.js";const l=()=>import("./later.js");l("./d.js")',
        "assets/b.js": 'import*as z from"../assets/e.js";export{x};export*from"./f.js"',
        "assets/c.js": "1",
        "assets/e.js": "2",
        "assets/f.js": "3",
        "assets/a.css": "body{}",
        "assets/later.js": "x" * 5000,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "assets" / "c.js.gz").write_bytes(b"x" * 1000)

    sizes = check_page_size.measure(tmp_path)

    assert sizes.files == tuple(f"assets/{name}" for name in ("a.css", "a.js", "b.js", "c.js", "e.js", "f.js"))
    assert 1000 < sizes.script < 2000
    assert sizes.style == len(gzip.compress(b"body{}", 9))


WRONG = """"mr-2 flex"; "-left-1 x"; cx("text-right"); "md:border-l "; paddingLeft: 4; "a rounded-tl-md";
margin-left: 0; "float-left"; "data-checked:translate-x-4"; "origin-left"; { text-align: right }"""


@pytest.mark.parametrize("wrong", WRONG.split(";"))
def test_a_style_that_names_a_side_is_found(wrong: str) -> None:
    assert sides(wrong)


@pytest.mark.parametrize(
    "right", ['"me-2 border-s text-end -start-1"', '"origin-left rtl:origin-right"', "left: Line;"]
)
def test_a_style_that_turns_with_the_writing_is_let_be(right: str) -> None:
    assert sides(right) == []


def test_styles_follow_the_direction_of_writing() -> None:
    """``ms-2``, ``text-end``, ``border-s``; what has no such form says how it is from right to left (``rtl:``)."""
    found = {file.relative_to(ROOT).as_posix(): sides(file.read_text("utf-8")) for file in sources(ROOT)}

    assert {name: where for name, where in found.items() if where} == {}
    assert len(found) > 300
