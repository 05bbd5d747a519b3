"""File work by the runner: exact, atomic, bounded, and never outside the workspace."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import stat
import string
import time
from pathlib import Path

import pytest

from stead.domain.errors import ToolFault
from stead.domain.ports import FileText
from stead.machines.sandbox import Limits
from tests.machines.bench import SESSION, Bench, live_permit, open_bench


async def read(bench: Bench, path: str, first_line: int = 1, lines: int = 10_000) -> FileText:
    return await bench.machines.read(live_permit(), path, first_line=first_line, lines=lines)


async def test_lines_are_read_with_how_many_there_are(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\ntwö\nthree\nfour")
    assert await read(bench, "a.txt") == FileText("one\ntwö\nthree\nfour", 1, 4, 19, False)
    assert await read(bench, "a.txt", 2, 2) == FileText("twö\nthree", 2, 4, 19, False)
    assert (await read(bench, "a.txt", 9)).text == ""


async def test_an_empty_file_has_no_lines(bench: Bench) -> None:
    (bench.project / "empty").touch()
    assert await read(bench, "empty") == FileText("", 1, 0, 0, False)


async def test_a_long_file_is_cut_and_says_so(bench: Bench) -> None:
    (bench.project / "long").write_text("é" * 400_000)
    found = await read(bench, "long")
    assert found.truncated and found.text == "é" * (128 << 10) and found.size_bytes == 800_000


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("nul", b"a\0b", "no UTF-8 text"),
        ("latin", "café".encode("latin-1"), "no UTF-8 text"),
        ("cut", "é".encode()[:1], "no UTF-8 text"),
    ],
)
async def test_what_is_no_text_is_refused_with_a_way_out(bench: Bench, name: str, content: bytes, says: str) -> None:
    (bench.project / name).write_bytes(content)
    with pytest.raises(ToolFault, match=f"{says}.*use shell"):
        await read(bench, name)


async def test_a_file_of_two_gigabytes_is_refused_at_once(bench: Bench) -> None:
    with (bench.project / "huge").open("wb") as file:
        file.truncate(2 << 30)
    started = time.monotonic()
    with pytest.raises(ToolFault, match=r"larger than 16 MB \(2147483648 bytes\); use shell"):
        await read(bench, "huge")
    with pytest.raises(ToolFault, match="larger than 16 MB"):
        await bench.machines.edit(live_permit(), "huge", "a", "b", every=True)
    assert time.monotonic() - started < 5


async def test_folders_pipes_devices_and_nothing_are_told_apart(bench: Bench) -> None:
    (bench.project / "folder").mkdir()
    os.mkfifo(bench.project / "pipe")
    (bench.project / "loop").symlink_to("loop")
    (bench.project / "file").touch()
    for path, says in (
        ("folder", "is a folder; use glob"),
        ("pipe", "is no regular file"),
        ("loop", "Too many levels"),
        ("nothing", "'nothing': No such file"),
        ("file/below", "Not a directory"),
        ("a" * 300, "name too long"),
    ):
        with pytest.raises(ToolFault, match=says):
            await read(bench, path)


@pytest.mark.parametrize("path", ["/etc/passwd", "../etc/passwd", "out/passwd", "self/status", "zero"])
async def test_no_path_and_no_link_leads_out(bench: Bench, path: str) -> None:
    for link, target in (("out", "/etc"), ("self", "/proc/self"), ("zero", "/dev/zero")):
        (bench.project / link).symlink_to(target)
    with pytest.raises(ToolFault, match="leads out of the workspace"):
        await read(bench, path)
    for change in (
        bench.machines.write(live_permit(), path, "x"),
        bench.machines.edit(live_permit(), path, "root", "x", every=True),
        bench.machines.grep(live_permit(), "root", path, ""),
    ):
        with pytest.raises(ToolFault, match="leads out of the workspace"):
            await change


async def test_a_link_within_the_workspace_is_followed_and_stays(bench: Bench) -> None:
    (bench.project / "real").write_text("old")
    (bench.project / "link").symlink_to("real")
    await bench.machines.write(live_permit(), "link", "new")
    assert (bench.project / "link").is_symlink() and (bench.project / "real").read_text() == "new"


async def test_writing_creates_folders_and_tells_what_it_did(bench: Bench) -> None:
    made = await bench.machines.write(live_permit(), "a/b/c.txt", "one\ntwo\n")
    assert made.created and made.size_bytes == 8 and made.diff == "@@ -1,0 +1,2 @@\n+one\n+two"
    again = await bench.machines.write(live_permit(), "a/b/c.txt", "one\n2\n")
    assert not again.created and again.diff == "@@ -1,2 +1,2 @@\n one\n-two\n+2"
    assert (bench.project / "a/b/c.txt").read_text() == "one\n2\n"
    assert os.listdir(bench.project / "a/b") == ["c.txt"]


async def test_writing_keeps_the_mode_and_never_a_setuid_bit(bench: Bench) -> None:
    script = bench.project / "run.sh"
    script.write_text("old")
    script.chmod(0o4755)
    await bench.machines.write(live_permit(), "run.sh", "new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755


async def test_writing_replaces_the_name_and_leaves_other_hard_links_alone(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    os.link(outside, bench.project / "linked")
    await bench.machines.write(live_permit(), "linked", "changed")
    await bench.machines.edit(live_permit(), "linked", "changed", "again", every=False)
    assert outside.read_text() == "precious" and (bench.project / "linked").read_text() == "again"


async def test_a_reader_never_sees_half_a_write(bench: Bench) -> None:
    target = bench.project / "whole"
    target.write_text("a" * 200_000)
    seen: set[str] = set()

    async def look() -> None:
        while "b" not in seen or "a" not in seen:
            text = target.read_text()
            assert len(text) == 200_000 and len(set(text)) == 1
            seen.add(text[0])
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    for letter in "abababab":
        await bench.machines.write(live_permit(), "whole", letter * 200_000)
    await asyncio.wait_for(looking, 10)


async def test_what_cannot_be_written_leaves_nothing_behind(bench: Bench) -> None:
    (bench.project / "folder").mkdir()
    with pytest.raises(ToolFault, match="is a folder"):
        await bench.machines.write(live_permit(), "folder", "x")
    written = await bench.machines.write(live_permit(), ".git/hooks/pre-commit", "x")
    assert [one.path for one in written.landing.held] == [".git/hooks/pre-commit"]
    assert os.listdir(bench.project) == ["folder"]


async def test_a_binary_file_can_be_replaced_without_a_diff(bench: Bench) -> None:
    (bench.project / "logo").write_bytes(b"\0\1\2")
    written = await bench.machines.write(live_permit(), "logo", "text")
    assert not written.created and written.diff == ""


async def test_an_edit_replaces_exactly_and_keeps_line_ends(bench: Bench) -> None:
    (bench.project / "dos").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    written = await bench.machines.edit(live_permit(), "dos", "two\r\n", "2\r\n", every=False)
    assert written.replaced == 1 and (bench.project / "dos").read_bytes() == b"one\r\n2\r\nthree\r\n"


@pytest.mark.parametrize(("old", "new"), [("one\ntwo\n", "1\n2\n"), ("one\r\ntwo", "1\r\n2"), ("two", "2\nand a half")])
async def test_an_edit_in_lines_finds_lines_that_end_otherwise(bench: Bench, old: str, new: str) -> None:
    before = "one\ntwo\nthree\n"
    (bench.project / "dos").write_bytes(before.replace("\n", "\r\n").encode())
    await bench.machines.edit(live_permit(), "dos", old, new, every=False)
    after = before.replace(old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    assert (bench.project / "dos").read_bytes() == after.replace("\n", "\r\n").encode()


async def test_an_edit_in_a_file_with_both_line_ends_takes_the_text_as_it_is(bench: Bench) -> None:
    (bench.project / "both").write_bytes(b"a\nb\r\na\r\nb\r\n")
    await bench.machines.edit(live_permit(), "both", "a\nb", "A\nB", every=False)
    assert (bench.project / "both").read_bytes() == b"A\nB\r\na\r\nb\r\n"


async def test_an_edit_must_find_its_text_once_unless_every(bench: Bench) -> None:
    (bench.project / "a").write_text("x y x")
    for old, says in (("z", "occurs 0 times in 'a'; read the file"), ("x", "occurs 2 times in 'a'; give more")):
        with pytest.raises(ToolFault, match=says):
            await bench.machines.edit(live_permit(), "a", old, "w", every=False)
    assert (bench.project / "a").read_text() == "x y x"
    assert (await bench.machines.edit(live_permit(), "a", "x", "w", every=True)).replaced == 2
    assert (bench.project / "a").read_text() == "w y w"


@pytest.mark.parametrize(
    ("old", "nearest"),
    [
        ("    if count = 1:\n        return None\n", "2:     if count == 1:\n3:         return None"),
        ("if count = 1:", "2:     if count == 1:"),
        ("def total(count):\n  if count == 1:", "1: def total(count):\n2:     if count == 1:"),
        ("while\n    raise Absent\n", ""),
    ],
    ids=["one line is the same", "one letter is missing", "other spaces", "nothing alike"],
)
async def test_an_edit_that_finds_nothing_shows_the_nearest_lines(bench: Bench, old: str, nearest: str) -> None:
    (bench.project / "a.py").write_text("def total(count):\n    if count == 1:\n        return None\n    return 2\n")
    with pytest.raises(ToolFault) as fault:
        await bench.machines.edit(live_permit(), "a.py", old, "", every=False)
    said, _, shown = str(fault.value).partition(" Nearest are these lines:\n")
    assert said.startswith("the old text occurs 0 times in 'a.py'; read the file and copy it exactly")
    assert shown.startswith(nearest) and bool(shown) == bool(nearest)


async def test_looking_for_the_nearest_lines_is_bounded(bench: Bench) -> None:
    lines = random.Random(7).choices(string.ascii_letters + " ", k=8_000_000)
    (bench.project / "a").write_text("\n".join("".join(lines[at : at + 200]) for at in range(0, 8_000_000, 200)))
    began = time.monotonic()
    with pytest.raises(ToolFault, match="occurs 0 times"):
        await bench.machines.edit(live_permit(), "a", "etaoin shrdlu " * 20, "", every=False)
    assert time.monotonic() - began < 5


async def test_a_diff_shows_where_in_a_long_file_and_is_bounded(bench: Bench) -> None:
    (bench.project / "long").write_text("".join(f"line {number}\n" for number in range(1, 5001)))
    written = await bench.machines.edit(live_permit(), "long", "line 4000\n", "changed\n", every=False)
    assert written.diff.splitlines() == [
        *("@@ -3997,7 +3997,7 @@", " line 3997", " line 3998", " line 3999"),
        *("-line 4000", "+changed", " line 4001", " line 4002", " line 4003"),
    ]
    rewritten = await bench.machines.write(live_permit(), "long", "other\n" * 5000)
    assert rewritten.diff.splitlines() == ["@@ 5000 lines from line 1 became 5000 @@", "… 10000 more lines"]


async def test_hashes_tell_files_folders_and_absence(bench: Bench) -> None:
    (bench.project / "a").write_bytes(b"content")
    (bench.project / "big").write_bytes(b"x" * (9 << 20))
    (bench.project / "folder").mkdir()
    (bench.project / "out").symlink_to("/etc/passwd")
    found = await bench.machines.fingerprint(SESSION, ["a", "folder", "none", "a/b", "out", "", "a"])
    assert found == {
        "a": hashlib.sha256(b"content").hexdigest(),
        "folder": "folder",
        "none": "absent",
        "a/b": "absent",
        "out": "unreadable",
        "": "folder",
    }
    large = await bench.machines.fingerprint(SESSION, ["big", "none"])
    assert large == {"big": hashlib.sha256(b"x" * (9 << 20)).hexdigest(), "none": "absent"}
    assert await bench.machines.fingerprint(SESSION, []) == {}


async def test_a_glob_finds_at_any_depth_shallow_folders_first(bench: Bench) -> None:
    for path in ("b.py", "a/c.py", "a/deep/d.py", "a/e.txt", ".hidden/f.py", ".git/g.py"):
        (bench.project / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / path).touch()
    for pattern, rows in (
        ("**/*.py", ("b.py", ".hidden/f.py", "a/c.py", "a/deep/d.py")),
        ("*.py", ("b.py",)),
        ("a/*", ("a/c.py", "a/deep/", "a/e.txt")),
        ("/work/a/**/d.py", ("a/deep/d.py",)),
        ("./b.py", ("b.py",)),
        ("[bc].p?", ("b.py",)),
        ("**/nothing", ()),
        (".git/*", (".git/g.py",)),
    ):
        assert (await bench.machines.glob(live_permit(), pattern)).rows == rows, pattern


async def test_searches_do_not_follow_links_or_loop(bench: Bench) -> None:
    (bench.project / "a").mkdir()
    (bench.project / "a/loop").symlink_to("..")
    (bench.project / "a/usr").symlink_to("/usr")
    (bench.project / "a/file").write_text("needle")
    assert (await bench.machines.glob(live_permit(), "**/file")).rows == ("a/file",)
    assert (await bench.machines.grep(live_permit(), "needle", "", "")).rows == ("a/file:1:needle",)
    with pytest.raises(ToolFault, match="leads out"):
        await bench.machines.glob(live_permit(), "a/usr/*")


async def test_names_with_control_characters_are_shown_escaped(bench: Bench) -> None:
    for name in ("two\nlines", "\x1b[31mred", os.fsdecode(b"not\xffutf8")):
        (bench.project / name).write_text("needle\x1b[2J")
    found = await bench.machines.glob(live_permit(), "*")
    assert found.rows == (r"\x1b[31mred", r"not\udcffutf8", r"two\nlines")
    rows = (await bench.machines.grep(live_permit(), "needle", "", "")).rows
    assert rows[2] == r"two\nlines:1:needle·[2J"


async def test_grep_takes_a_file_a_folder_or_names(bench: Bench) -> None:
    for path, text in (("a.py", "x = 1\ny = 2\n"), ("sub/b.py", "x = 3\n"), ("sub/c.txt", "x = 4\n")):
        (bench.project / path).parent.mkdir(exist_ok=True)
        (bench.project / path).write_text(text)
    (bench.project / "binary").write_bytes(b"x = \0")
    for path, include, rows in (
        ("", "", ("a.py:1:x = 1", "sub/b.py:1:x = 3", "sub/c.txt:1:x = 4")),
        (".", "*.py", ("a.py:1:x = 1", "sub/b.py:1:x = 3")),
        ("sub", "", ("sub/b.py:1:x = 3", "sub/c.txt:1:x = 4")),
        ("sub/b.py", "", ("sub/b.py:1:x = 3",)),
        ("/work", "sub/*.txt", ("sub/c.txt:1:x = 4",)),
    ):
        assert (await bench.machines.grep(live_permit(), r"^x = \d", path, include)).rows == rows
    for pattern, path, says in (("(", "", "not a regular expression"), ("x", "none", "there is no 'none'")):
        with pytest.raises(ToolFault, match=says):
            await bench.machines.grep(live_permit(), pattern, path, "")


async def test_rows_are_capped_and_counted(bench: Bench) -> None:
    (bench.project / "many").write_text("needle\n" * 5000)
    found = await bench.machines.grep(live_permit(), "needle", "", "")
    assert len(found.rows) == 1000 and found.total == 5000 and not found.timed_out
    (bench.project / "wide").write_text("wide " + "x" * 100_000)
    wide = await bench.machines.grep(live_permit(), "wide", "", "")
    assert len(wide.rows[0]) < 400


async def test_a_catastrophic_expression_ends_and_keeps_nothing_else_waiting(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(search_s=3)) as bench:
        await catastrophe(bench)


async def catastrophe(bench: Bench) -> None:
    (bench.project / "a").write_text("fine aaa!\n")
    (bench.project / "b").write_text("a" * 60 + "!\n")
    searching = asyncio.create_task(bench.machines.grep(live_permit(), r"(a+)+$|fine", "", ""))
    started = time.monotonic()
    assert await bench.output("echo meanwhile") == "meanwhile\n"
    assert time.monotonic() - started < 5
    found = await searching
    assert found.timed_out and found.rows == ("a:1:fine aaa!",)


async def test_a_search_that_is_killed_from_inside_is_a_fault(bench: Bench) -> None:
    (bench.project / "b").write_text("a" * 60 + "!\n")
    searching = asyncio.create_task(bench.machines.grep(live_permit(), r"(a+)+$", "", ""))
    fork = "for p in /proc/[2-9]*; do grep -qs 'start[.]pyc' $p/cmdline && kill -9 ${p#/proc/} && exit; done"
    await bench.output(f"while :; do {fork}; done")
    with pytest.raises(ToolFault, match="cut off"):
        await searching


async def test_a_page_becomes_text_with_links_headings_and_lists(bench: Bench) -> None:
    page = b"""<!doctype html><html><head><title>News</title><style>p{}</style></head><body>
    <script>alert('no')</script><h1>Top &amp; first</h1><p>See <a href="https://example.com/a">this
    page</a> or <a href="#here">here</a>.<ul><li>one<li>two</ul>
    <pre>if x:
    y</pre><table><tr><td>a</td><td>b</td></tr></table><img alt="A chart" src=x><svg><text>no</text></svg>"""
    text = await bench.machines.html_text(live_permit(), page)
    assert text.splitlines() == [
        *("News", "", "# Top & first", "", "See this page (https://example.com/a) or here.", "", "- one", "- two"),
        *("", "if x:", "    y", "", "| a | b", "", "[A chart]"),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<meta charset=latin1><p>café".encode("latin-1"), "café"),
        (b"<meta charset=nonsense><p>plain", "plain"),
        ("<p>café".encode("windows-1252"), "café"),
        (b"", ""),
        (b"<a href='x'" * 100, ""),
        (b"<div>" * 50_000 + b"deep", "deep"),
    ],
)
async def test_odd_pages_still_become_text(bench: Bench, content: bytes, text: str) -> None:
    assert text in await bench.machines.html_text(live_permit(), content)
