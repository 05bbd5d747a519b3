"""Attacks where changes are kept apart by a copy of the folder: out of the copy, on its manifest, through a landing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.config import Home
from stead.machines.copies import lay
from stead.machines.landing import land
from stead.machines.space import Space
from stead.machines.transactions import Transactions
from tests.attacks.ordinary import as_ordinary_user
from tests.attacks.test_transactions import NEW, OLD, REACHES, Left, files, landing_child, write
from tests.machines.bench import SESSION, Bench, open_bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path, copies=True) as opened:
        yield opened


# -- out of the copy --------------------------------------------------------------------------------------------------

OUT = REACHES | {
    "the view": "ls -A /space/layers/view /work/../space/layers; cat /space/copies/*",
    "moving it": 'python3 -c \'import os; os.rename("/work", "/tmp/work")\' && echo in',
    "another in its place": "mkdir /tmp/mine; rmdir /work; ln -sT /tmp/mine /work && echo in; mv -T /tmp/mine /work && "
    "echo in",
    "a link to its file from elsewhere": "ln canary /home/name && echo in; ln /home/.bashrc canary2 && echo in",
    "a mount over it": "mount --bind /tmp /work && echo in; mount -o remount,rw /work && echo in",
    "links of mount points with dots": "cat /proc/self/cwd/../space/layers/pending/* /proc/self/root/space/copies/view",
}


@pytest.mark.parametrize("way", OUT)
async def test_a_command_reaches_neither_layers_nor_manifests(bench: Bench, way: str) -> None:
    (bench.project / "canary").write_text("as it was")
    ran = await bench.run(f"({OUT[way]}) 2>/dev/null")
    for told in ("pending", "jobs", "upper", "view", "in\n", "mnt:"):
        assert told not in ran.output, ran.output
    assert (bench.project / "canary").read_text() == "as it was"


async def test_the_copy_for_what_only_reads_cannot_be_written(bench: Bench) -> None:
    (bench.project / "f").write_text("as it was")
    assert await bench.output("cat f") == "as it was"
    bench.bind(writable=False)
    ran = await bench.run("echo x > f; touch g; mount -o remount,rw /work; touch g")
    assert ran.output.count("Read-only file system") == 3 and bench.tree() == {"f": "as it was"}


HIDDEN = {
    "the same size and times": "touch -r f /tmp/t; echo 'now' > f; touch -r /tmp/t f",
    "the same file, renamed twice": "mv f g; mv h f; mv g h",
    "another file, exchanged": "touch -r f /tmp/t; echo 'now' > /work/n; touch -r /tmp/t n; mv n f",
    "through another name": "ln f other; touch -r f /tmp/t; echo now > other; touch -r /tmp/t other; rm other",
    "mapped memory": "python3 -c \"import mmap, os; f = open('f', 'r+b'); t = os.stat('f'); "
    "m = mmap.mmap(f.fileno(), 0); m[:3] = b'now'; os.utime('f', ns=(t.st_atime_ns, t.st_mtime_ns))\"",
}


@pytest.mark.parametrize("way", HIDDEN)
async def test_no_change_is_hidden_by_setting_times_back(bench: Bench, way: str) -> None:
    for name, text in (("f", "old\n"), ("h", "now\n")):
        (bench.project / name).write_text(text)
        os.utime(bench.project / name, (1_000_000_000, 1_000_000_000))
    landing = await bench.landing(HIDDEN[way])
    assert "f" in landing.landed and (bench.project / "f").read_text() == "now\n"


async def test_what_may_never_land_does_not_and_is_gone_from_the_next_call(bench: Bench) -> None:
    landing = await bench.landing(
        "mkfifo pipe; ln -s /etc/passwd out; mknod null c 1 3; mkdir d; mkfifo d/pipe; cp /bin/true t; chmod 6755 t; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'"
    )
    assert {one.path for one in landing.refused} == {"pipe", "out", "sock", "d/pipe"}
    assert await bench.output("ls -R") == ".:\nd\nt\n\n./d:\n" and os.stat(bench.project / "t").st_mode & 0o6000 == 0


async def test_names_that_look_like_marks_are_files(bench: Bench) -> None:
    names = [".wh.f", ".wh..wh..opq", "view", "tree", "upper", "f.new", "..x", "user.overlay.opaque"]
    (bench.project / "f").write_text("as it was")
    landing = await bench.landing("touch " + " ".join(names))
    assert set(landing.landed) == set(names) and (bench.project / "f").read_text() == "as it was"


async def test_folders_nested_beyond_reason_are_refused_and_the_next_call_goes_on(bench: Bench) -> None:
    deep = "python3 -c \"import os\nfor n in range(2000): os.mkdir('d'); os.chdir('d')\nos.chmod('.', 0)\""
    landing = await bench.landing(f"touch plain; {deep}")
    assert "plain" in landing.landed and len(landing.refused) == 1 and not landing.failed
    assert await bench.output("echo on") == "on\n"


async def test_folders_that_nobody_may_enter_land_like_any_other(bench: Bench) -> None:
    (bench.project / "theirs").mkdir()
    (bench.project / "theirs/in").write_text("as it was")
    landing = await bench.landing(
        "echo x > theirs/new; rm theirs/in; chmod 0 theirs; mkdir mine; touch mine/f; chmod 0 mine"
    )
    assert not landing.failed and {"theirs/new", "theirs/in"} <= set(landing.landed)
    assert await bench.output("echo on") == "on\n"


async def test_a_command_that_fills_its_copy_with_holes_costs_no_disk(bench: Bench) -> None:
    began = time.monotonic()
    landing = await bench.landing("truncate -s 2000M f1 f2 f3; echo x >> f3")
    assert landing.count == 3 and not landing.failed and time.monotonic() - began < 20
    assert sum((bench.project / name).stat().st_blocks for name in ("f1", "f2", "f3")) < 100


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount such a folder")
def test_a_folder_over_which_the_kernel_lays_no_overlay_is_copied_though_the_host_can_lay_them() -> None:
    """An overlay over an overlay over an overlay is one too many."""
    base = Path(tempfile.mkdtemp(prefix="stead-copied-"))
    base.chmod(0o755)
    mounted = []
    try:
        for at, lower in (("below", "first"), ("project", "below")):
            for name in (lower, f"{at}-upper", f"{at}-work", at):
                (base / name).mkdir(exist_ok=True)
            options = f"lowerdir={base}/{lower},upperdir={base}/{at}-upper,workdir={base}/{at}-work"
            subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, base / at], check=True)
            mounted.append(base / at)
        write(base / "project", {"theirs": "as it was\n", "old": "old"})
        done = as_ordinary_user(base, "tests.attacks.copied_folder", str(base))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [
            ["as it was\n", "old", "new"],
            ["held\nAGENTS.md\nnew\ntheirs\n"],
            ["touch: cannot touch 'more': Read-only file system\nnew\ntheirs\n"],
            [False],
        ]
        assert sorted(os.listdir(base / "project")) == ["new", "theirs"]
    finally:
        for path in reversed(mounted):
            subprocess.run(["umount", "-l", path], check=True)
        shutil.rmtree(base)


# -- being cut off ----------------------------------------------------------------------------------------------------


class Copied(Left):
    """A folder of the person's with a copy that a machine has changed, and nothing collected yet."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, OLD)
        shutil.rmtree(self.job)
        lay(self.space, "7")
        tree = self.job / "tree"
        for name in ("deleted", "kind/in"):
            (tree / name).unlink()
        (tree / "kind").rmdir()
        write(tree, NEW)
        (tree / "mode").chmod(0o755)
        (tree / ".envrc").write_text("evil")


def steps_of(root: Path) -> int:
    root.mkdir()
    done = landing_child(Copied(root), 10**9)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def kill_at(root: Path, step: int) -> None:
    root.mkdir()
    left = Copied(root)
    died = landing_child(left, step)
    assert died.returncode == -signal.SIGKILL, died.stderr
    for path, text in files(left.project).items():
        assert text in (OLD.get(path), NEW.get(path)), f"{path} is half of a file"
    done = landing_child(left, 10**9)
    assert done.returncode == 0, done.stderr
    assert files(left.project) == NEW, "the rest did not land"
    assert (left.project / "mode").stat().st_mode & 0o777 == 0o755
    assert files(left.space.pending) == {".envrc": "evil"}
    shutil.rmtree(root)


@pytest.mark.parametrize("kills", [9, pytest.param(24, marks=pytest.mark.long)])
def test_a_landing_from_a_copy_that_is_killed_loses_nothing(tmp_path: Path, kills: int) -> None:
    total = steps_of(tmp_path / "whole")
    for at in range(kills):
        kill_at(tmp_path / str(at), 1 + at * (total - 1) // kills)


DAEMON = """
import asyncio, sys
from pathlib import Path
from tests.machines.bench import Bench
async def main():
    bench = Bench(Path(sys.argv[1]), copies=True)
    (bench.project / "f").write_text("as it was")
    bench.bind()
    await bench.run("echo begun > made; rm f; echo; sleep 60", on_output=lambda text: print("begun", flush=True))
asyncio.run(main())
"""


async def test_what_a_command_had_changed_when_the_daemon_was_killed_waits_for_the_person(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", DAEMON, str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=environment) as daemon:
        assert daemon.stdout and daemon.stdout.readline() == b"begun\n"
        daemon.kill()
    home, project = Home(tmp_path / "stead-home"), tmp_path / "project"

    async def nobody(*_: object) -> tuple[bytes, ...]:
        return ()

    await Transactions(home, nobody).take_up_left()
    space = Space(home, SESSION)
    assert sorted(os.listdir(space.pending)) == ["f", "made"] and files(project) == {"f": "as it was"}
    assert (
        not space.left() and os.listdir(space.layers) == ["jobs", "pending"] and not os.listdir(space.root / "copies")
    )


def test_a_copy_that_could_not_be_made_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = Copied(tmp_path)
    assert left.land()[2] == ""
    write(left.project, {f"sub/f{number}": "the person's" for number in range(20)})
    before = files(left.project)
    monkeypatch.setattr("stead.machines.copies.MOST_ENTRIES", 15)
    with pytest.raises(Exception, match="15 entries"):
        lay(left.space, "8")
    landing = land(left.space, {"8": {}}, "obeyed")
    assert landing.count == 0 and files(left.project) == before
    assert (left.project / "sub").stat().st_mode & 0o777 == 0o755
