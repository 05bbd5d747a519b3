"""Jobs over the history of a repository: a first commit, a rebase over two turns, a cherry-pick, a search for a bug."""

from __future__ import annotations

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
    same,
    says,
    shell,
    succeeded,
    touched,
    write,
)
from bench.jobs.repositories import AUTHOR, FERRY, IGNORED, NEEDS, change, commit, ferry_project, sound

# -- a new repository ------------------------------------------------------------------------------------------------


def _begin(_registry: Registry) -> Model:
    succeeded((yield shell("git init -b main")))
    yield write("README.md", "# Lighthouse\n")
    yield write("light.py", "def period_s():\n    return 15\n")
    yield write(".gitignore", IGNORED[".gitignore"])
    succeeded((yield shell("git add -A && git commit -m 'A lighthouse' && git switch -c faster")))
    yield edit("light.py", "return 15", "return 10")
    succeeded((yield shell("git commit -am 'Turn faster'")))
    says(succeeded((yield shell("git log --oneline --all"))), "A lighthouse", "Turn faster")
    yield "There is a repository with two branches."


def _begun(done: Done) -> Iterator[str]:
    yield from sound(done, "faster")
    yield from same("git log", done.git("log", "--format=%s|%an <%ae>"), f"Turn faster|{AUTHOR}\nA lighthouse|{AUTHOR}")
    yield from same("light.py on main", "15" in done.git("show", "main:light.py"), True)
    yield from touched(done, "README.md", "light.py", ".gitignore")


BEGIN = Job(
    "a new repository",
    lambda folder: lay_out(folder, {"LICENSE": "MIT\n"}),
    ("Make this a repository with a first commit, and let the light turn faster on a branch.",),
    _begin,
    _begun,
    asks=1,
    needs=NEEDS,
)

# -- a rebase that waits for an answer -------------------------------------------------------------------------------


def _two_opinions(folder: Path) -> None:
    ferry_project(folder)
    prepare(folder, "git", "switch", "-q", "-c", "late")
    change(folder, "ferry.py", "LAST_HOUR = 20", "LAST_HOUR = 23")
    commit(folder, "Run until eleven")
    prepare(folder, "git", "switch", "-q", "main")
    change(folder, "ferry.py", "LAST_HOUR = 20", "LAST_HOUR = 21")
    commit(folder, "Run until nine")
    prepare(folder, "git", "switch", "-q", "late")


def _rebase_and_ask(_registry: Registry) -> Model:
    failed((yield shell("git rebase main")), "CONFLICT")
    yield "Main runs until nine, the branch until eleven. Which is right?"
    says(succeeded((yield shell("git status"))), "rebase in progress", "both modified:   ferry.py")
    yield write("ferry.py", FERRY["ferry.py"].replace("LAST_HOUR = 20", "LAST_HOUR = 22"))
    succeeded((yield shell("git add ferry.py && GIT_EDITOR=true git rebase --continue")))
    says(succeeded((yield shell("git status"))), "nothing to commit")
    yield "It runs until ten now."


def _answered(done: Done) -> Iterator[str]:
    yield from sound(done, "late")
    yield from same("git log", done.git("log", "--format=%s|%an", "main..late"), f"Run until eleven|{PERSON[0]}")
    yield from same("merge base", done.git("merge-base", "main", "late"), done.git("rev-parse", "main"))
    yield from same("ferry.py", done.text("ferry.py"), FERRY["ferry.py"].replace("LAST_HOUR = 20", "LAST_HOUR = 22"))
    yield from same("a rebase under way", (done.folder / ".git/rebase-merge").exists(), False)


REBASE_AND_ASK = Job(
    "a rebase over two turns",
    _two_opinions,
    ("Put the branch `late` on top of main, and ask me where they differ.", "Until ten."),
    _rebase_and_ask,
    _answered,
    asks=1,
    needs=NEEDS,
)

# -- commits that are taken over and mended --------------------------------------------------------------------------


def _with_fix_elsewhere(folder: Path) -> None:
    ferry_project(folder)
    prepare(folder, "git", "switch", "-q", "-c", "next")
    lay_out(folder, {"islands.py": "ISLANDS = ('Sund',)\n"})
    commit(folder, "Add islands")
    change(folder, "ferry.py", "range(FIRST_HOUR, LAST_HOUR)", "range(FIRST_HOUR, LAST_HOUR + 1)")
    commit(folder, "Cout the last hour")
    prepare(folder, "git", "switch", "-q", "main")


def _take_over(_registry: Registry) -> Model:
    says(succeeded((yield shell("git log --oneline next"))), "Cout the last hour")
    succeeded((yield shell("git cherry-pick next && git commit --amend -m 'Count the last hour'")))
    succeeded((yield shell("git revert --no-edit HEAD~1 && test ! -e LICENSE")))
    succeeded((yield shell("git reset --soft HEAD~1 && git commit -m 'Drop the licence'")))
    says(succeeded((yield shell("python3 -m unittest && git status --short --branch"))), "OK", "## main")
    yield "The fix is on main, and the licence is gone."


def _taken_over(done: Done) -> Iterator[str]:
    yield from sound(done, "main")
    log = done.git("log", "--format=%s", "-3").splitlines()
    yield from same("git log", log, ["Drop the licence", "Count the last hour", "Add a licence"])
    yield from same("the branch next", done.git("log", "-1", "--format=%s", "next"), "Cout the last hour")
    yield from touched(done, "ferry.py", "LICENSE")


TAKE_OVER = Job(
    "cherry-pick and amend",
    _with_fix_elsewhere,
    ("Take the last commit of `next` over to main with its subject mended, and revert the licence.",),
    _take_over,
    _taken_over,
    needs=NEEDS,
)

# -- the commit that broke it ----------------------------------------------------------------------------------------

_COMMITS = 12
_BAD = 7


def _long_history(folder: Path) -> None:
    ferry_project(folder)
    for at in range(1, _COMMITS + 1):
        if at == _BAD:
            change(folder, "ferry.py", "range(FIRST_HOUR, LAST_HOUR)", "range(FIRST_HOUR + 1, LAST_HOUR)")
        lay_out(folder, {f"notes/{at:02d}.md": f"Note {at}\n"})
        commit(folder, f"Note {at}")


def _bisect(_registry: Registry) -> Model:
    failed((yield shell("python3 -m unittest")), "7 != 6")
    told = succeeded((yield shell(f"git bisect start HEAD HEAD~{_COMMITS} && git bisect run python3 -m unittest -q")))
    says(told, "is the first bad commit", f"Note {_BAD}")
    succeeded((yield shell("git bisect reset && git status --short --branch")))
    yield edit("ferry.py", "range(FIRST_HOUR + 1, LAST_HOUR)", "range(FIRST_HOUR, LAST_HOUR)")
    says(succeeded((yield shell("python3 -m unittest && git commit -am 'Begin at the first hour again'"))), "OK")
    yield f"The commit 'Note {_BAD}' left out the first hour. It is mended."


def _found(done: Done) -> Iterator[str]:
    yield from sound(done, "main")
    yield from same("head", done.git("log", "-1", "--format=%s|%an <%ae>"), f"Begin at the first hour again|{AUTHOR}")
    yield from same("commits", done.git("rev-list", "--count", "main"), str(3 + _COMMITS + 1))
    yield from same("a search under way", (done.folder / ".git/BISECT_LOG").exists(), False)
    yield from passes(done, "python3", "-m", "unittest")
    yield from touched(done, "ferry.py")


BISECT = Job(
    "bisect",
    _long_history,
    ("A test fails that once passed. Find the commit that broke it, and mend it.",),
    _bisect,
    _found,
    needs=NEEDS,
)

JOBS = (BEGIN, REBASE_AND_ASK, TAKE_OVER, BISECT)
