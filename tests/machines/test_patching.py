"""Diffs put into a text: exactly where their lines are, wholly or not at all, whatever the diff is."""

from __future__ import annotations

import difflib
import random
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from stead.domain.errors import ToolFault
from stead.machines.runner.frames import Fault
from stead.machines.runner.patching import patched
from tests.machines.bench import Bench, live_permit

OPEN = "\\ No newline at end of file"
LINE = st.text(st.sampled_from("ab \t-+@\\\r\x0c\u2028é"), max_size=4)
TEXTS = st.tuples(st.lists(LINE, max_size=14), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] and made[0] else "")
)


def diff_of(old: str, new: str, *, around: int = 3) -> str:
    """What difflib says, with the mark that it leaves out for a last line without a line feed."""
    rows = difflib.unified_diff(_lines(old), _lines(new), "a/file", "b/file", lineterm="\n", n=around)
    return "".join(row if row.endswith("\n") else f"{row}\n{OPEN}\n" for row in rows)


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@given(TEXTS, TEXTS)
@example("a\n", "a")
@example("a", "a\n")
@example("a\nb", "a\n")
@example("", "a")
@example("a\r\n", "b\r\n")
@example("-- a\n", "++ b\n")
@example("x\n-- a/file\ny\n", "x\n++ b/file\ny\n")
def test_the_difference_of_two_texts_makes_one_of_the_other(old: str, new: str) -> None:
    assume(old != new)
    assert patched(old, diff_of(old, new), "file")[0] == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_the_program_of_the_same_name_makes_the_same_of_it(old: str, new: str) -> None:
    assume(old and new and old != new)  # it would delete the file, or ask about it
    with TemporaryDirectory() as folder:
        file, diff = Path(folder, "file"), diff_of(old, new)
        file.write_text(old, "utf-8", newline="")
        command = ["patch", "--binary", "--fuzz=0", "--posix", str(file)]
        done = subprocess.run(command, input=diff.encode(), capture_output=True, timeout=20)
        assert done.returncode == 0, done.stdout
        assert patched(old, diff, "file")[0] == file.read_bytes().decode()


UNIQUE = st.lists(st.integers(0, 200).map(lambda n: f"line {n}"), unique=True, min_size=1, max_size=25)


@given(UNIQUE, st.data())
def test_lines_that_came_in_elsewhere_do_not_matter(lines: list[str], data: st.DataObject) -> None:
    changed = [f"{line}!" if data.draw(st.booleans()) else line for line in lines]
    assume(changed != lines)
    hunks = diff_of("\n".join(lines) + "\n", "\n".join(changed) + "\n", around=data.draw(st.integers(1, 4)))
    above = [f"above {n}" for n in range(data.draw(st.integers(0, 30)))]
    below = [f"below {n}" for n in range(data.draw(st.integers(0, 3)))]
    moved = "\n".join([*above, *lines, *below]) + "\n"
    assert patched(moved, hunks, "file")[0] == "\n".join([*above, *changed, *below]) + "\n"


@given(TEXTS, st.text(max_size=200) | st.lists(LINE.map(lambda line: " " + line), max_size=9).map("\n".join))
def test_no_diff_breaks_it(text: str, diff: str) -> None:
    for whole in (diff, f"@@ -1,3 +1,3 @@\n{diff}", f"@@\n{diff}\n+x"):
        try:
            _, count = patched(text, whole, "file")
        except Fault as fault:
            assert str(fault)
        else:
            assert count > 0


@pytest.mark.parametrize(
    ("old", "diff", "new"),
    [
        ("a\nb\nc\n", "--- a/file\n+++ b/file\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "diff --git a/file b/file\nindex 1..2 100644\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "--- /work/file\n+++ ./file\t2020-01-01\n@@\n b\n+B\n", "a\nb\nB\nc\n"),
        ("a\nb\nc\n", "@@ -90,2 +90,3 @@ def f():\n a\n+A\n b\n", "a\nA\nb\nc\n"),  # the numbers are wrong
        (
            "a\n\nc\n",
            "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n\n\n",
            "a\n\nC\n",
        ),  # a blank line for a blank one; others only end
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"),
        ("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c", "a\nb\nc"),
        ("a\nb", f"@@ -2 +2 @@\n-b\n{OPEN}\n+b\n", "a\nb\n"),
        ("a\nb\n", f"@@ -2 +2 @@\n-b\n+b\n{OPEN}\n", "a\nb"),
        ("a\nb", "@@ -1,2 +1 @@\n a\n-b\n", "a\n"),
        ("a\n", "@@ -1 +0,0 @@\n-a\n", ""),
        ("a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n", "a\r\nB\r\nc\r\n"),
        ("a\r\nb", "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n", "a\r\nB\r\nc"),
        ("a\r\nb\nc\r\n", "@@ -1,3 +1,3 @@\n-a\n+A\n b\n-c\n+C\n", "A\r\nb\nC\r\n"),
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n", "a\r\nb\n"),  # the diff itself speaks of what ends lines
        ("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n"),  # it came so
        (None, "--- /dev/null\n+++ b/file\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"),
        (None, f"@@ -0,0 +1 @@\n+a\n{OPEN}\n", "a"),
        ("", "@@ -0,0 +1 @@\n+a\n", "a\n"),
        ("a\nb\na\nb\n", "@@ -3,2 +3,2 @@\n a\n-b\n+B\n", "a\nb\na\nB\n"),  # twice there, and the number says which
        ("x\ny\nz\n", "@@ -3 +3 @@\n-z\n+Z\n@@ -1 +1 @@\n-x\n+X\n", "X\ny\nZ\n"),  # in any order
    ],
)
def test_a_diff_goes_where_its_lines_are(old: str | None, diff: str, new: str) -> None:
    assert patched(old, diff, "file")[0] == new


@pytest.mark.parametrize(
    ("old", "diff", "says"),
    [
        ("a\nb\na\nb\n", "@@ -2,2 +2,2 @@\n a\n-b\n+B\n", "fits 2 places of 'file', at lines 1, 3; show more"),
        ("  a\n", "@@ -1 +1 @@\n- a\n+b\n", "At line 1 the file has '  a' where the hunk has ' a'"),
        ("a\t\n", "@@ -1 +1 @@\n-a\n+b\n", r"has 'a\\t' where"),
        ("a\u200b\n", "@@ -1 +1 @@\n-a\n+b\n", r"has 'a\\u200b' where"),
        ("a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "has no more lines where"),
        ("a\nb\n", "@@ -3,0 +3 @@\n+c\n", "shows no line of 'file'"),
        ("a\n", "@@ -1 +1 @@\n a\n", "changes nothing"),
        ("a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+x\n@@ -2,2 +2,2 @@\n b\n-c\n+x\n", "hunks 1 and 2 overlap"),
        ("a\n", f"@@ -1 +1 @@\n-a\n{OPEN}\n+b\n", "without a newline, and it does not"),
        ("a\nb\n", f"@@ -1 +1 @@\n-a\n+x\n{OPEN}\n", "ends where it goes on"),
        ("a\n", f"@@ -1 +1 @@\n{OPEN}\n-a\n", "begins with 'No newline"),
        ("a\n", f"@@ -1 +1 @@\n-a\n+b\n{OPEN}\n+c\n", "goes on after 'No newline"),
        (None, "@@ -1 +1 @@\n-a\n+b\n", "there is no file 'file'"),
        ("", "@@ -1 +1 @@\n-a\n+b\n", "there is nothing in 'file'"),
        ("a\n", "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-a\n+b\n", "is for 'a/other' and not for 'file'"),
        ("a\n", "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\n+b\n--- a/other\n+++ b/other\n@@ -1 +1 @@\n-a\n", "a/other"),
        ("a\n", "--- a/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "deletes no file; use shell"),
        ("a\n", "*** Begin Patch\n*** Update File: file\n", "line 1 of the diff belongs to no hunk"),
        ("a\n", "@@ -1 +1 @@\n-a\n+b\n```\n", "line 4 of the diff belongs to no hunk"),
        ("a\n", "-a\n+b\n", "line 1 of the diff belongs to no hunk"),
        ("a\n", "--- a/file\n+++ b/file\n", "has no hunk"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_mend(old: str | None, diff: str, says: str) -> None:
    with pytest.raises(Fault, match=says):
        patched(old, diff, "file")


def test_the_nearest_lines_are_shown_with_their_numbers() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 400))
    with pytest.raises(Fault) as refused:
        patched(text, "@@ -5,3 +5,3 @@\n line 301\n line  302\n-line 303\n+x\n", "file")
    assert "\n301: line 301\n302: line 302\n303: line 303\n" in str(refused.value)
    assert "At line 302 the file has 'line 302' where the hunk has 'line  302'" in str(refused.value)


MB = 1_000_000
ALIKE = "".join(f"{letter}\n" for letter in random.Random(7).choices("ab", k=MB))
AROUND = "".join(f" {letter}\n" for letter in random.Random(8).choices("ab", k=40))


@pytest.mark.parametrize(
    ("text", "diff"),
    [
        ("x\n" * MB, "@@ -9 +9 @@\n-y\n+x\n" * 10_000),
        (ALIKE, f"@@ -1 +1 @@\n{AROUND}-a\n" * 10_000),
        ("".join(f"{n % 150}\n" for n in range(MB)), ("@@ -1 +1 @@\n" + " 1\n" * 60 + "-2\n") * 5_000),
        ("".join(f"{n}\n" for n in range(MB)), "".join(f"@@ -1 +1 @@\n-{n * 90}\n+x\n" for n in range(10_000))),
        ("a\n", "@@\n" * (MB // 3)),
        ("a\n", "--- file\n" * (MB // 9)),
        ("a\n", "@@ -1,999999 +1 @@\n-a\n" + "\n" * MB),
        ("a\n", "@@\n" + " \n" * (MB // 2) + "-x"),
        ("a" * MB, "@@\n-" + "a" * MB + "b\n"),
    ],
    ids=["nowhere", "everywhere", "almost", "shifted", "headers", "names", "blank", "long", "wide"],
)
def test_a_hostile_diff_costs_seconds_at_most(text: str, diff: str) -> None:
    started = time.process_time()
    try:
        patched(text, diff, "file")
    except Fault as fault:
        assert len(str(fault)) < 5_000
    assert (
        time.process_time() - started < 3
    )  # a third of a second on a quiet machine; quadratic work would take minutes


# -- in a machine ---------------------------------------------------------------------------------------------------


async def test_a_file_is_patched_in_the_machine_and_what_changed_is_told(bench: Bench) -> None:
    file = bench.project / "a.py"
    file.write_text("one\ntwo\nthree\n")
    file.chmod(0o755)
    written = await bench.machines.patch(live_permit(), "a.py", "@@ -2 +2 @@\n-two\n+2\n@@ -3 +3 @@\n-three\n+3\n")
    assert (written.created, written.replaced, written.size_bytes) == (False, 2, 8)
    assert written.diff == "@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("one\n2\n3\n", 0o755)
    made = await bench.machines.patch(live_permit(), "d/new", "@@ -0,0 +1 @@\n+one\n")
    assert made.created and (bench.project / "d/new").read_text() == "one\n"


async def test_a_patch_that_does_not_fit_changes_nothing(bench: Bench) -> None:
    (bench.project / "a").write_text("one\ntwo\n")
    (bench.project / "out").symlink_to("/etc/hostname")
    (bench.project / "logo").write_bytes(b"\0\1")
    for path, diff, says in (
        ("a", "@@ -1 +1 @@\n-one\n+1\n@@ -2 +2 @@\n-2\n+3\n", "hunk 2 does not fit 'a'; nothing was changed"),
        ("out", "@@ -0,0 +1 @@\n+x\n", "leads out of the workspace"),
        ("../a", "@@ -0,0 +1 @@\n+x\n", "leads out of the workspace"),
        ("logo", "@@ -1 +1 @@\n-x\n+y\n", "no UTF-8 text"),
        ("", "@@ -0,0 +1 @@\n+x\n", "is a folder"),
        (".git/hooks/pre-commit", "@@ -0,0 +1 @@\n+x\n", "Read-only file system"),
    ):
        with pytest.raises(ToolFault, match=says):
            await bench.machines.patch(live_permit(), path, diff)
    assert (bench.project / "a").read_text() == "one\ntwo\n"
