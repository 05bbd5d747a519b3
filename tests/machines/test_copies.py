"""Transactions over a copy of the folder, where no overlay can be laid: the same landings, and what a copy is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.errors import ToolFault
from stead.domain.objectives import ModelRef
from stead.machines import copies
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.host import probe
from stead.machines.space import Space
from stead.runtime.readiness import parts
from tests.machines.bench import SESSION, Bench, live_permit, open_bench, require_sandbox, until

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount such a disk")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path, copies=True) as opened:
        yield opened


def view(bench: Bench) -> Path:
    return Space(bench.home, SESSION).layers / "view"


# -- where no overlay can be laid -------------------------------------------------------------------------------------


@pytest.fixture
def overlay_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that no overlay can be laid upon, as in a container."""
    for name in ("lower", "upper", "work", "disk"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, tmp_path / "disk"], check=True)
    yield tmp_path / "disk"
    subprocess.run(["umount", "-l", tmp_path / "disk"], check=True)


@ROOT
async def test_a_home_on_a_disk_without_overlays_works_by_copies_and_doctor_says_so(
    tmp_path: Path, overlay_disk: Path
) -> None:
    require_sandbox()
    home = Home(overlay_disk / "home")
    home.make()
    found = probe(home)
    assert found.isolation.copies and "500 MB and 50,000 entries" in found.isolation.statement
    _, part = parts((ModelRef("acme", "m1"),), [], found.isolation)
    assert part.verdict == "warn" and "STEAD_HOME" in part.fix
    assert not [path.name for path in home.root.iterdir() if path.name.startswith("probe-")]

    bench = Bench(tmp_path)
    bench.machines = BubblewrapMachines(home, host=found)
    bench.bind()
    for name in ("gone", "AGENTS.md"):
        (bench.project / name).write_text("as it was")
    (bench.project / "folder").mkdir()
    (bench.project / "folder/in").write_text("as it was")
    try:
        landing = await bench.landing("rm gone AGENTS.md; rm -r folder; echo now > folder; mkdir -p a/node_modules/b")
        assert set(landing.landed) == {"gone", "folder/in", "folder/", "folder", "a/"}
        assert [one.path for one in landing.held] == ["AGENTS.md"] and landing.stayed == 1
        assert await bench.output("ls . a") == ".:\na\nfolder\n\na:\nnode_modules\n"
        assert bench.tree() == {"AGENTS.md": "as it was", "a": "/", "folder": "now\n"}
    finally:
        await bench.machines.close()


def test_a_person_can_choose_copies_where_overlays_can_be_laid(tmp_path: Path) -> None:
    require_sandbox()
    for changes, chosen in (("auto", False), ("copy", True)):
        home = Home(tmp_path / changes, changes="copy" if chosen else "auto")
        home.make()
        assert probe(home).isolation.copies == chosen


# -- what a copy shows ------------------------------------------------------------------------------------------------


async def test_it_is_the_folder_with_links_modes_and_times_and_without_what_is_no_file(bench: Bench) -> None:
    tool = bench.project / "tool"
    tool.write_text("#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    os.utime(tool, (1_000_000_000, 1_000_000_000))
    (bench.project / "link").symlink_to("tool")
    (bench.project / "closed").mkdir(mode=0o555)
    os.mkfifo(bench.project / "pipe")
    said = await bench.output("./link; stat -c '%a %Y %U' tool; stat -c %a closed; ls")
    assert said == "ran\n755 1000000000 stead\n555\nclosed\nlink\ntool\n"
    assert (bench.project / "pipe").is_fifo()


async def test_what_only_reads_sees_what_is_held_and_what_the_person_does(bench: Bench) -> None:
    (bench.project / "plain").write_text("one")
    await bench.landing("echo held > AGENTS.md; mkdir -p node_modules; echo cached > node_modules/m")

    async def text(path: str) -> str:
        return (await bench.machines.read(live_permit(), path, first_line=1, lines=9)).text

    assert [await text(path) for path in ("AGENTS.md", "node_modules/m", "plain")] == ["held", "cached", "one"]
    (bench.project / "plain").write_text("two")
    (bench.project / "late").write_text("late")
    assert [await text(path) for path in ("plain", "late")] == ["two", "late"]
    (bench.project / "late").unlink()
    assert (await bench.machines.glob(live_permit(), "*", ignored=True)).rows == ("AGENTS.md", "plain", "node_modules/")
    await bench.machines.edit(live_permit(), "plain", "two", "three", every=False)
    assert (bench.project / "plain").read_text() == "three"


async def test_a_session_that_may_change_nothing_sees_the_folder_and_needs_no_copy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MOST_ENTRIES", 1)
    bench.bind(writable=False)
    for name in ("a", "b"):
        (bench.project / name).write_text(name)
    ran = await bench.run("cat a b; echo x > a; rm b; touch c")
    assert ran.output.startswith("ab") and ran.output.count("Read-only file system") == 3
    assert bench.tree() == {"a": "a", "b": "b"} and not view(bench).exists()


async def test_only_what_changed_is_copied_again(bench: Bench) -> None:
    for number in range(20):
        (bench.project / f"f{number}").write_text("x")
    await bench.output("echo more >> f3; rm f4; echo new > g")
    before = {path.name: path.stat().st_ctime_ns for path in view(bench).iterdir()}
    (bench.project / "f5").write_text("the person's")
    assert await bench.output("cat f3 f5 g; ls | wc -l") == "xmore\nthe person'snew\n20\n"
    after = {path.name: path.stat().st_ctime_ns for path in view(bench).iterdir()}
    assert {name for name in after if after[name] != before.get(name)} == {"f3", "f5", "g"}
    await bench.machines.kill(SESSION)
    assert not view(bench).exists()


async def test_calls_at_the_same_time_have_a_copy_each(bench: Bench) -> None:
    (bench.project / "f").write_text("base\n")
    await bench.output("true")
    script = "echo {0} >> f; touch /tmp/{0}; until [ -e /tmp/a ] && [ -e /tmp/b ]; do sleep 0.02; done; cat f"
    one = bench.output(script.format("a"))
    other = bench.output(script.format("b"))
    assert sorted(await asyncio.gather(one, other)) == ["base\na\n", "base\nb\n"]


async def test_a_terminal_lands_what_it_changes_while_it_is_open_and_at_its_end(bench: Bench) -> None:
    terminals = bench.machines.terminals
    (bench.project / "f").write_text("base\n")
    await terminals.open(SESSION, "t_0000000000000001", 24, 80)
    await terminals.at(SESSION, "t_0000000000000001").type(b"echo typed >> f; mkdir d; touch d/e\n")
    # What one line changed may land in two steps: the shell can be between its two commands when the first is taken.
    await until(lambda: (bench.project / "d/e").exists() and (bench.project / "f").read_text() == "base\ntyped\n", 30)
    assert await bench.output("echo called >> f; rm -r d; cat f") == "base\ntyped\ncalled\n"
    await terminals.at(SESSION, "t_0000000000000001").type(b"rm f; echo 1 > last; exit\n")
    await until(lambda: (bench.project / "last").exists() and not (bench.project / "f").exists(), 30)
    assert not (bench.project / "d").exists()


# -- its limits -------------------------------------------------------------------------------------------------------


async def test_a_folder_that_is_too_large_is_refused_and_nothing_of_it_is_changed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (bench.project / f"f{number}").write_text("x" * 5000)
    await bench.output("touch made")
    for limit, value in (("MOST_ENTRIES", 20), ("MOST_BYTES", 50_000)):
        with monkeypatch.context() as patched:
            patched.setattr(copies, limit, value)
            (bench.project / "f1").write_text("the person's")
            with pytest.raises(ToolFault, match="choose a smaller one"):
                await bench.run("echo ran > f1; rm f2")
            with pytest.raises(ToolFault):
                await bench.machines.write(live_permit(), "f1", "written")
        assert (bench.project / "f1").read_text() == "the person's" and len(bench.tree()) == 21
    assert await bench.output("rm f2; cat f1") == "the person's" and len(bench.tree()) == 20


async def test_a_sparse_file_of_a_hundred_gigabytes_is_copied_as_holes(bench: Bench) -> None:
    with (bench.project / "sparse").open("wb") as file:
        try:
            file.truncate(100 << 30)
        except OSError:
            pytest.skip("this file system has no file of 100 GB")
    began = time.monotonic()
    assert await bench.output("stat -c '%s %b' sparse; echo x > other") == f"{100 << 30} 0\n"
    assert time.monotonic() - began < 20


async def test_a_folder_that_grows_while_it_is_copied_is_copied_once(bench: Bench) -> None:
    (bench.project / "log").write_text("")
    stop = threading.Event()

    def grow() -> None:
        number = 0
        while not stop.is_set():
            with (bench.project / "log").open("a") as file:
                file.write("line\n" * 100)
            (bench.project / f"f{number % 50}").write_text("x")
            (bench.project / f"f{(number + 25) % 50}").unlink(missing_ok=True)
            number += 1

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        for number in range(5):
            landing = await bench.landing(f"echo {number} > made{number}")
            assert landing.landed == (f"made{number}",) and not landing.failed
    finally:
        stop.set()
        growing.join()


@ROOT
async def test_files_that_are_for_others_to_read_are_not_shown_and_not_touched(bench: Bench) -> None:
    theirs = bench.project / "theirs"
    theirs.write_text("secret")
    theirs.chmod(0o600)
    os.chown(theirs, 4242, 4242)
    (bench.project / "room").mkdir(mode=0o700)
    (bench.project / "room/in").write_text("secret")
    os.chown(bench.project / "room", 4242, 4242)
    ran = await bench.run("cat theirs room/in; chmod 777 theirs room; echo mine > f")
    assert "secret" not in ran.output and ran.output.count("ermission denied") + ran.output.count("permitted") >= 4
    assert ran.landing.landed == ("f",) and theirs.stat().st_uid == 4242 and theirs.read_text() == "secret"


async def test_a_machine_reaches_its_copy_whatever_the_daemon_keeps_to_itself(bench: Bench) -> None:
    before = os.umask(0o077)  # as a daemon's
    try:
        for text in ("one", "two"):
            assert (await bench.landing(f"echo {text} > new")).landed == ("new",)
            assert (bench.project / "new").read_text() == f"{text}\n"
    finally:
        os.umask(before)
