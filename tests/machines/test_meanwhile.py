"""Files that the person and a machine change at the same time: merged where that is clean, else both are kept."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead.config import Home
from stead.domain.ids import SessionId
from stead.domain.trials import Choice, Landing
from stead.machines.changes import changes
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.landing import land
from stead.machines.space import Space
from tests.machines.bench import SESSION, Bench, open_bench
from tests.machines.folders import opened_checkpoints, quiet

LINES = [f"line {number}\n" for number in range(12)]
BASE = "".join(LINES)
WHY = "you changed it meanwhile, and the two cannot be merged; both are kept, and the review shows how they differ"


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[FolderCheckpoints]:
    with opened_checkpoints(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
async def bench(tmp_path: Path, checkpoints: FolderCheckpoints) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        opened.machines.transactions.before = checkpoints.held
        (opened.project / "f").write_text(BASE)
        yield opened


async def keep(bench: Bench, checkpoints: FolderCheckpoints) -> None:
    await checkpoints.take(str(bench.project), (), quiet)


async def both_change(bench: Bench, command: str, theirs: str | bytes, name: str = "f") -> Landing:
    """The person writes a file while a command that has begun waits for that."""
    begun = asyncio.Event()
    waiting = "echo ready; until [ -e /tmp/go ]; do sleep 0.02; done; rm /tmp/go"
    running = asyncio.create_task(bench.run(f"{command}; {waiting}", on_output=lambda _text: begun.set()))
    await begun.wait()
    (bench.project / name).write_bytes(theirs if isinstance(theirs, bytes) else theirs.encode())
    await bench.output("touch /tmp/go")  # it sees what is in the folder now and then only
    ran = await running
    assert ran.exit_code == 0, ran.output
    return ran.landing


def with_line(number: int, text: str) -> str:
    return "".join([*LINES[:number], f"{text}\n", *LINES[number + 1 :]])


async def test_changes_of_other_lines_are_merged_and_the_call_says_so(
    bench: Bench, checkpoints: FolderCheckpoints
) -> None:
    await keep(bench, checkpoints)
    landing = await both_change(bench, "sed -i 's/line 2$/ours/' f", with_line(9, "theirs"))
    both = with_line(2, "ours").replace("line 9\n", "theirs\n")
    assert (bench.project / "f").read_text() == both
    assert landing.merged == ("f",) and "f" in landing.landed and landing.holding == 0 and not landing.failed
    assert await bench.output("cat f") == both
    assert (await bench.landing("echo more >> f")).merged == ()
    assert (bench.project / "f").read_text() == both + "more\n"


async def test_changes_of_the_same_line_are_both_kept_and_the_review_shows_them(
    bench: Bench, checkpoints: FolderCheckpoints
) -> None:
    await keep(bench, checkpoints)
    landing = await both_change(bench, "sed -i 's/line 2$/ours/' f", with_line(2, "theirs"))
    assert [(one.path, one.why) for one in landing.held] == [("f", WHY)] and landing.merged == ()
    assert (bench.project / "f").read_text() == with_line(2, "theirs")
    change = (await bench.waiting())["f"]
    assert change.held == "conflict" and "+ours" in change.diff and "-theirs" in change.diff
    assert (await bench.held_changes.apply_trial(SESSION, Choice(force=True))).done == ("f",)
    assert (bench.project / "f").read_text() == with_line(2, "ours")


async def test_without_a_version_from_before_both_are_kept(bench: Bench, checkpoints: FolderCheckpoints) -> None:
    landing = await both_change(bench, "sed -i 's/line 2$/ours/' f", with_line(9, "theirs"))
    assert [one.why for one in landing.held] == [WHY]
    assert (bench.project / "f").read_text() == with_line(9, "theirs")


async def test_a_checkpoint_that_already_has_the_persons_change_is_no_version_from_before(
    bench: Bench, checkpoints: FolderCheckpoints
) -> None:
    """With it as the common one, what the person changed would be taken for what the machine removed."""
    begun = asyncio.Event()
    command = "sed -i 's/line 2$/ours/' f; echo ready; until [ -e /tmp/go ]; do sleep 0.02; done"
    running = asyncio.create_task(bench.run(command, on_output=lambda _text: begun.set()))
    await begun.wait()
    (bench.project / "f").write_text(with_line(9, "theirs"))
    await keep(bench, checkpoints)
    await bench.output("touch /tmp/go")
    assert [one.why for one in (await running).landing.held] == [WHY]
    assert (bench.project / "f").read_text() == with_line(9, "theirs")


async def test_what_landed_since_the_checkpoint_is_not_taken_for_the_persons_own(
    bench: Bench, checkpoints: FolderCheckpoints
) -> None:
    """The person takes back a line that landed; on the older version it would come back."""
    await keep(bench, checkpoints)
    await bench.landing("sed -i 's/line 9$/landed/' f")
    landing = await both_change(bench, "sed -i 's/line 2$/ours/' f", BASE)
    assert [one.why for one in landing.held] == [WHY] and (bench.project / "f").read_text() == BASE


@pytest.mark.parametrize("case", ["binary", "too large", "another mode", "new on both sides"])
async def test_what_is_no_text_of_both_is_not_merged(bench: Bench, checkpoints: FolderCheckpoints, case: str) -> None:
    command, theirs, name = "sed -i 's/line 2$/ours/' f", with_line(9, "theirs").encode(), "f"
    if case == "binary":
        command, theirs = "printf 'ours\\0' >> f", theirs + b"\0"
    elif case == "too large":
        (bench.project / "f").write_text("long\n" * 300_000)
        command, theirs = "sed -i 1s/long/ours/ f", b"long\n" * 300_000 + b"theirs\n"
    elif case == "another mode":
        command += "; chmod 755 f"
    else:
        command, name = "echo ours > new", "new"
    await keep(bench, checkpoints)
    landing = await both_change(bench, command, theirs, name)
    assert [one.path for one in landing.held] == [name] and landing.merged == ()
    assert (bench.project / name).read_bytes() == theirs


async def test_what_lives_on_does_not_undo_the_persons_part_of_a_merge(
    bench: Bench, checkpoints: FolderCheckpoints
) -> None:
    """It still works on its own version, and writes that again."""
    await keep(bench, checkpoints)
    script = "sed -i 's/line 2$/ours/' f; echo ready; until [ -e go ]; do sleep 0.02; done; "
    script += "(until [ -e on ]; do sleep 0.02; done; sed -i 's/line 5$/later/' f; touch over) >&- 2>&- &"

    def meanwhile(_text: str) -> None:
        (bench.project / "f").write_text(with_line(9, "theirs"))
        (bench.project / "go").touch()

    landing = (await bench.run(script, on_output=meanwhile)).landing
    assert landing.merged == ("f",) and landing.open
    await bench.landing("touch on")
    await bench.until_output("ls over 2>&1 || true", "over\n")
    await bench.landing("true")
    text = (bench.project / "f").read_text()
    assert "ours\n" in text and "theirs\n" in text and "later\n" in text


async def test_settings_of_the_persons_git_change_no_merge(
    bench: Bench, checkpoints: FolderCheckpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text(
        f'[alias]\n\tmerge-file = "!touch {tmp_path}/ran"\n[merge]\n\tdefault = evil\n[merge "evil"]\n'
        f"\tdriver = touch {tmp_path}/ran\n[core]\n\tfsmonitor = touch {tmp_path}/ran\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    (bench.project / ".gitattributes").write_text("* merge=evil filter=evil\n")
    await keep(bench, checkpoints)
    assert (await both_change(bench, "sed -i 's/line 2$/ours/' f", with_line(9, "theirs"))).merged == ("f",)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("theirs", ["", "theirs\n"])
def test_a_landing_that_was_cut_off_knows_what_the_person_changed_since(tmp_path: Path, theirs: str) -> None:
    home, project = Home(tmp_path / "home"), tmp_path / "project"
    home.make()
    project.mkdir()
    space = Space(home, SESSION, str(project))
    space.prepare()
    change(space, "1", "one\n")
    assert land(space, {"1": {}}, "obeyed").landed == ("f",)
    change(space, "2", "one\ntwo\n")
    require_died(lambda: land(space, {"2": {}}, "obeyed", barred=lambda *_: os._exit(DIED)))
    assert (space.pending / "f").exists() and not os.listdir(space.jobs / "2" / "upper")
    if theirs:
        until_later(project)
        (project / "f").write_text(theirs)
    change(space, "3", "one\ntwo\nthree\n")
    landing = land(space, {"2": {}, "3": {}}, "all")
    assert landing.holding == 1 and not landing.failed
    (waits,) = changes(space)
    assert waits.held == ("conflict" if theirs else "")


DIED = 7


def change(space: Space, job: str, text: str) -> None:
    """As a transaction that changes a file leaves it; nothing that was changed before it has its time."""
    until_later(Path(space.directory))
    upper = space.jobs / job / "upper"
    upper.mkdir(parents=True)
    (upper / "f").write_text(text)
    until_later(Path(space.directory))


def until_later(folder: Path) -> None:
    """The clock of files is a coarse one: wait until it has gone on."""
    began = time.time_ns()
    while True:
        (folder / "clock").touch()
        if (folder / "clock").stat().st_mtime_ns > began:
            break
    (folder / "clock").unlink()


def require_died(run: Callable[[], object]) -> None:
    """In a process of its own, as a kill would have it."""
    if not (pid := os.fork()):
        run()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == DIED


HOW = st.sampled_from(["change", "add", "remove"])
EDITS = st.lists(st.tuples(st.integers(0, 11), HOW), max_size=4, unique_by=lambda edit: edit[0])


def edited(edits: list[tuple[int, str]], who: str) -> list[str]:
    lines = []
    for number, line in enumerate(LINES):
        how = dict(edits).get(number)
        if how != "remove":
            lines.append(f"{who} instead of {number}\n" if how == "change" else line)
        if how == "add":
            lines.append(f"{who} after {number}\n")
    return lines


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ours=EDITS, theirs=EDITS)
def test_what_is_merged_has_both_sides_changes_and_else_both_are_whole(
    tmp_path_factory: pytest.TempPathFactory, ours: list[tuple[int, str]], theirs: list[tuple[int, str]]
) -> None:
    root = tmp_path_factory.mktemp("both")
    home, project = Home(root / "home"), root / "project"
    home.make()
    project.mkdir()
    mine, yours = edited(ours, "ours"), edited(theirs, "theirs")
    (project / "f").write_text("".join(yours))
    space = Space(home, SessionId("s_0123456789abcdef"), str(project))
    space.prepare()
    upper = space.jobs / "7" / "upper"
    upper.mkdir(parents=True)
    (upper / "f").write_text("".join(mine))
    os.utime(upper.parent, ns=(1, 1))
    landing = land(space, {"7": {}}, "obeyed", before=lambda *_: BASE.encode())
    result = (project / "f").read_text().splitlines(keepends=True)
    if landing.holding:
        assert result == yours and (space.pending / "f").read_text() == "".join(mine)
        return
    base = Counter(LINES)
    wanted = base - (base - Counter(mine)) - (base - Counter(yours)) + (Counter(mine) - base) + (Counter(yours) - base)
    assert Counter(result) == wanted, landing
    for side in (mine, yours):  # and in their order
        kept = [line for line in side if line in wanted]
        assert [line for line in result if line in set(kept)] == kept
