"""Jobs in repositories with a history: a branch with commits, a rebase and a merge, work put aside, a moved folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from bench.jobs.job import (
    PERSON,
    Done,
    Job,
    Model,
    Registry,
    edit,
    failed,
    lay_out,
    passes,
    prepare,
    read,
    same,
    says,
    shell,
    succeeded,
    touched,
    write,
)
from bench.jobs.repositories import AUTHOR, FERRY, IGNORED, NEEDS, change, commit, ferry_project, sound

# -- commits on a branch ---------------------------------------------------------------------------------------------


def _commit_on_branch(_registry: Registry) -> Model:
    says(succeeded((yield shell("git status --short --branch && git log --oneline"))), "## main", "Add a licence")
    succeeded((yield shell("git switch -c last-hour")))
    yield edit("ferry.py", "range(FIRST_HOUR, LAST_HOUR)", "range(FIRST_HOUR, LAST_HOUR + 1)")
    succeeded((yield shell("git add ferry.py && git commit -m 'Count the last hour, too'")))
    test = "    def test_the_last(self):\n        self.assertEqual(ferry.hours()[-1], ferry.LAST_HOUR)\n"
    succeeded((yield shell(f"cat >> test_ferry.py <<'EOF'\n\n{test}EOF")))
    says(succeeded((yield shell("python3 -m unittest"))), "OK")
    succeeded((yield shell("git add -A && git commit -m 'Test the last hour' && git status --short")))
    says(succeeded((yield shell("git log --oneline main..last-hour"))), "Test the last hour", "Count the last hour")
    yield "Two commits are on the branch last-hour."


def _two_commits(done: Done) -> Iterator[str]:
    yield from sound(done, "last-hour")
    log = done.git("log", "--format=%s|%an <%ae>|%cn <%ce>", "main..last-hour").splitlines()
    wanted = [f"{what}|{AUTHOR}|{AUTHOR}" for what in ("Test the last hour", "Count the last hour, too")]
    yield from same("git log", log, wanted)
    yield from same("commits on main", done.git("rev-list", "--count", "main"), "3")
    yield from passes(done, "python3", "-m", "unittest")
    yield from touched(done, "ferry.py", "test_ferry.py")


COMMIT = Job(
    "commit on a branch",
    ferry_project,
    ("The last hour is missing. Mend it on a branch `last-hour`, the test in a commit of its own.",),
    _commit_on_branch,
    _two_commits,
    needs=NEEDS,
)

# -- a rebase with a conflict ----------------------------------------------------------------------------------------


def _two_sides(folder: Path) -> None:
    ferry_project(folder)
    prepare(folder, "git", "switch", "-q", "-c", "winter")
    change(folder, "ferry.py", "FIRST_HOUR = 6", "FIRST_HOUR = 8  # in winter")
    commit(folder, "Begin later in winter")
    change(folder, "README.md", "# Ferry\n", "# Ferry\n\nWinter times.\n")
    commit(folder, "Mention the winter")
    prepare(folder, "git", "switch", "-q", "main")
    change(folder, "ferry.py", "FIRST_HOUR = 6", "FIRST_HOUR = 7")
    commit(folder, "Begin at seven")
    prepare(folder, "git", "switch", "-q", "winter")


def _rebase(_registry: Registry) -> Model:
    says(succeeded((yield shell("git log --oneline --all --graph"))), "Begin at seven", "Mention the winter")
    failed((yield shell("git rebase main")), "CONFLICT", "ferry.py")
    says((yield read("ferry.py")), "<<<<<<<", "FIRST_HOUR = 7", "FIRST_HOUR = 8  # in winter", ">>>>>>>")
    mend = "sed -i -e '/^<<<<<<< /d' -e '/^FIRST_HOUR = 7$/d' -e '/^=======$/d' -e '/^>>>>>>> /d' ferry.py"
    succeeded((yield shell(mend)))
    says((yield read("ferry.py")), "FIRST_HOUR = 8  # in winter")
    succeeded((yield shell("git add ferry.py && GIT_EDITOR=true git rebase --continue")))
    says(succeeded((yield shell("git status && python3 -m unittest"))), "nothing to commit", "OK")
    yield "The branch stands on main now, with the times of the winter."


def _rebased(done: Done) -> Iterator[str]:
    yield from sound(done, "winter")
    log = done.git("log", "--format=%s|%an", "main..winter").splitlines()
    yield from same("git log", log, [f"Mention the winter|{PERSON[0]}", f"Begin later in winter|{PERSON[0]}"])
    yield from same("merge base", done.git("merge-base", "main", "winter"), done.git("rev-parse", "main"))
    yield from same("commits", done.git("rev-list", "--count", "winter"), "6")
    wanted = FERRY["ferry.py"].replace("FIRST_HOUR = 6", "FIRST_HOUR = 8  # in winter")
    yield from same("ferry.py", done.text("ferry.py"), wanted)
    yield from same("a rebase under way", (done.folder / ".git/rebase-merge").exists(), False)
    yield from passes(done, "python3", "-m", "unittest")


REBASE = Job(
    "rebase with a conflict",
    _two_sides,
    ("Put the branch `winter` on top of main. In winter the first hour is 8.",),
    _rebase,
    _rebased,
    needs=NEEDS,
)

# -- a merge ---------------------------------------------------------------------------------------------------------


def _two_branches(folder: Path) -> None:
    ferry_project(folder)
    prepare(folder, "git", "switch", "-q", "-c", "prices")
    lay_out(folder, {"prices.py": "ADULT, CHILD = 12, 6\n"})
    commit(folder, "Add prices")
    prepare(folder, "git", "switch", "-q", "main")
    change(folder, "README.md", "# Ferry", "# The ferry")
    commit(folder, "Name it")


def _merge(_registry: Registry) -> Model:
    says(succeeded((yield shell("git branch -a && git diff main...prices --stat"))), "prices.py")
    succeeded((yield shell("git merge --no-ff prices -m 'Merge the prices'")))
    succeeded((yield shell("git branch -d prices && git tag -a v1.0 -m 'The first that has prices'")))
    says(succeeded((yield shell("git log --oneline --graph"))), "Merge the prices")
    yield "The prices are on main, and it is tagged v1.0."


def _merged(done: Done) -> Iterator[str]:
    yield from sound(done, "main")
    yield from same("head", done.git("log", "-1", "--format=%s|%an <%ae>"), f"Merge the prices|{AUTHOR}")
    yield from same("parents", len(done.git("log", "-1", "--format=%p").split()), 2)
    yield from same("branches", done.git("branch", "--format=%(refname:short)"), "main")
    yield from same("tag", done.git("rev-parse", "v1.0^{commit}"), done.git("rev-parse", "main"))
    yield from same("prices.py", done.text("prices.py"), "ADULT, CHILD = 12, 6\n")
    yield from touched(done, "prices.py")


MERGE = Job(
    "merge a branch",
    _two_branches,
    ("Merge `prices` into main with a merge commit, remove the branch, and tag it v1.0.",),
    _merge,
    _merged,
    needs=NEEDS,
)

# -- work put aside --------------------------------------------------------------------------------------------------


def _half_done(folder: Path) -> None:
    ferry_project(folder)
    prepare(folder, "git", "switch", "-q", "-c", "seasons")
    change(folder, "ferry.py", "LAST_HOUR = 20", "LAST_HOUR = 22  # half done")
    lay_out(folder, {"seasons.py": "SUMMER = range(5, 10)\n"})


def _stash(_registry: Registry) -> Model:
    says(succeeded((yield shell("git status --short"))), " M ferry.py", "?? seasons.py")
    succeeded((yield shell("git stash push --include-untracked -m 'seasons, half done'")))
    succeeded((yield shell("git switch main")))
    yield edit("README.md", "to the island", "to the island of Sund")
    succeeded((yield shell("git commit -am 'Name the island'")))
    succeeded((yield shell("git switch seasons && git stash pop")))
    says(succeeded((yield shell("git status --short"))), " M ferry.py", "?? seasons.py")
    yield "The island has its name on main, and the work on seasons is as it was."


def _back_again(done: Done) -> Iterator[str]:
    yield from sound(done, "seasons", dirty="M ferry.py\n?? seasons.py")
    yield from same("main", done.git("log", "-1", "--format=%s|%an", "main"), f"Name the island|{PERSON[0]}")
    yield from same("README.md on main", "Sund" in done.git("show", "main:README.md"), True)
    yield from same("stashes", done.git("stash", "list"), "")
    yield from touched(done)


STASH = Job(
    "stash, mend, pop",
    _half_done,
    ("Leave my half-done work as it is, but name the island on main: Sund.",),
    _stash,
    _back_again,
    needs=NEEDS,
)

# -- a moved folder --------------------------------------------------------------------------------------------------

_STOPS = 60
_ACROSS = os.strerror(errno.EXDEV)
_TEST_ROUTE = (
    "import unittest\n\nimport route\n\n\nclass RouteTest(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(route.s07.NAME, 'stop 7')\n"
)


def _many_stops(folder: Path) -> None:
    stops = {f"stops/s{at:02d}.py": f"NAME = 'stop {at}'\n" for at in range(_STOPS)}
    route = "".join(f"from stops import s{at:02d}\n" for at in range(_STOPS))
    lay_out(folder, IGNORED | stops | {"stops/__init__.py": "", "route.py": route, "test_route.py": _TEST_ROUTE})
    prepare(folder, "git", "init", "-q")
    commit(folder, "Stops of the route")


def _move(_registry: Registry) -> Model:
    if _ACROSS in (yield shell("git mv stops piers")):  # an overlay renames no folder that it did not make itself
        succeeded((yield shell("mv stops piers && git add -A")))
    succeeded((yield shell("sed -i 's/^from stops import/from piers import/' route.py")))
    says(succeeded((yield shell("PYTHONPATH=. python3 -m unittest -q; git status --short | head -3"))), "OK")
    succeeded((yield shell("git commit -qam 'Call them piers' && ls -d piers && ! ls stops")))
    yield "The folder is called piers."


def _moved(done: Done) -> Iterator[str]:
    yield from sound(done, "main")
    yield from same("git log", done.git("log", "--format=%s").splitlines(), ["Call them piers", "Stops of the route"])
    both = [f"{name}/s{at:02d}.py" for name in ("stops", "piers") for at in range(_STOPS)]
    yield from touched(done, "route.py", "stops/__init__.py", "piers/__init__.py", *both)
    yield from same("the old folder", (done.folder / "stops").exists(), False)
    yield from passes(done, "python3", "-m", "unittest")


MOVE = Job("rename a folder", _many_stops, ("Rename the package `stops` to `piers`.",), _move, _moved, needs=NEEDS)

# -- what the forge runs ---------------------------------------------------------------------------------------------

_CI = """name: tests
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: python3 -m unittest
"""
_CI_NEW = _CI.replace("on: [push]", "on: [push, pull_request]")


def _with_ci(folder: Path) -> None:
    ferry_project(folder)
    lay_out(folder, {".github/workflows/tests.yml": _CI})
    commit(folder, "Run the tests at each push")


def _change_ci(_registry: Registry) -> Model:
    says((yield read(".github/workflows/tests.yml")), "on: [push]")
    yield edit(".github/workflows/tests.yml", "on: [push]", "on: [push, pull_request]")
    lint = "name: lint\non: [push]\njobs:\n  lint:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ruff check\n"
    yield write(".github/workflows/lint.yml", lint)
    yield edit("README.md", "# Ferry\n", "# Ferry\n\nTests run at each push and pull request.\n")
    says(succeeded((yield shell("cat .github/workflows/*.yml"))), "pull_request", "ruff check")
    yield "Tests run for pull requests, too, and ruff looks at each push."


def _ci_changed(done: Done) -> Iterator[str]:
    yield from same("tests.yml", done.text(".github/workflows/tests.yml"), _CI_NEW)
    yield from same("lint.yml", "ruff check" in done.text(".github/workflows/lint.yml"), True)
    yield from touched(done, ".github/workflows/tests.yml", ".github/workflows/lint.yml", "README.md")


CHANGE_CI = Job(
    "change CI files",
    _with_ci,
    ("Run the tests for pull requests, too, and have ruff look at each push.",),
    _change_ci,
    _ci_changed,
    asks=1,
    held=(".github/workflows/tests.yml", ".github/workflows/lint.yml"),
    needs=NEEDS,
)

JOBS = (COMMIT, REBASE, MERGE, STASH, MOVE, CHANGE_CI)
