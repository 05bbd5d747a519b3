"""What the jobs in git repositories share: a small project with a history, and what is right of every repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.jobs.job import PERSON, Done, lay_out, prepare, same

NEEDS = ("git", "python3")
AUTHOR = "{} <{}>".format(*PERSON)
IGNORED = {".gitignore": "__pycache__/\n"}
FERRY = IGNORED | {
    "README.md": "# Ferry\n\nTimes of the ferry.\n",
    "ferry.py": '"""Times of the ferry."""\n\nFIRST_HOUR = 6\nLAST_HOUR = 20\n\n\ndef hours():\n'
    "    return list(range(FIRST_HOUR, LAST_HOUR))\n",
    "test_ferry.py": "import unittest\n\nimport ferry\n\n\nclass FerryTest(unittest.TestCase):\n"
    "    def test_the_first(self):\n        self.assertEqual(ferry.hours()[0], ferry.FIRST_HOUR)\n",
}


def commit(folder: Path, message: str) -> None:
    prepare(folder, "git", "add", "-A")
    prepare(folder, "git", "commit", "-q", "-m", message)


def change(folder: Path, path: str, old: str, new: str) -> None:
    text = (folder / path).read_text("utf-8")
    assert old in text, path
    (folder / path).write_text(text.replace(old, new), "utf-8")


def ferry_project(folder: Path) -> None:
    """A repository with three commits on main."""
    lay_out(folder, FERRY)
    prepare(folder, "git", "init", "-q")
    commit(folder, "Times of the ferry")
    change(folder, "README.md", "Times of the ferry.", "Times of the ferry to the island.")
    commit(folder, "Say where it goes")
    lay_out(folder, {"LICENSE": "MIT\n"})
    commit(folder, "Add a licence")


def sound(done: Done, branch: str, *, dirty: str = "") -> Iterator[str]:
    """Complaints where the repository is not as git wants it, or not on the branch, or not clean."""
    yield from same("git fsck", done.git("fsck", "--full", "--strict", "--no-dangling"), "")
    yield from same("branch", done.git("branch", "--show-current"), branch)
    yield from same("git status", done.git("status", "--short"), dirty)
