"""Attacks on transactions: out of a job into the layers, into others' jobs, and through a landing into the folder."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.ids import SessionId
from stead.machines.landing import land
from stead.machines.left_out import is_unfinished
from stead.machines.space import Space
from tests.machines.bench import SESSION, Bench, open_bench
from tests.machines.folders import digest

OTHER = SessionId("s_fedcba9876543210")
LIBC = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


async def python(bench: Bench, code: str) -> str:
    """What a program prints inside; it is written below ``/tmp``, so that it changes nothing."""
    ran = await bench.run(f"cat > /tmp/attack.py <<'END'\n{code}\nEND\npython3 -B /tmp/attack.py 2>&1")
    return ran.output


# -- out of a job -----------------------------------------------------------------------------------------------------

REACHES = {
    "its name": "ls /space /space/folder /space/layers /space/kept",
    "the first process's root": "ls /proc/1/root /proc/1/cwd /proc/1/fd /proc/1/map_files",
    "its namespaces": "readlink /proc/1/ns/mnt; nsenter -m -t 1 true && echo in",
    "unmounting": "umount /space; umount -l /space; umount -l /work; ls -A /space",
    "another mount": "mount -t overlay x -o lowerdir=/usr,upperdir=/tmp,workdir=/tmp /mnt && echo in",
    "a mount of the host's": "mount --bind /work /tmp && echo in",
    "a user namespace": "unshare -Urm true && echo in",
    "a mount namespace": "unshare -m true && echo in",
    "another root": "chroot /proc/1/root true && echo in",
    "its memory": "head -c 1 /proc/1/mem; head -c 1 /proc/1/environ; cat /proc/1/maps; cat /proc/1/stack",
    "a debugger": "gdb -p 1 -batch 2>/dev/null | grep -q Attaching && echo in",
    "links of mount points": "for m in $(cut -d' ' -f5 /proc/self/mountinfo); do ls $m/layers $m/folder; done",
    "a write to its files": "echo x > /stead/filter && echo in; echo x > /proc/1/oom_score_adj && echo in",
}


@pytest.mark.parametrize("way", REACHES)
async def test_a_command_reaches_no_layer(bench: Bench, way: str) -> None:
    (bench.project / "canary").write_text("as it was")
    ran = await bench.run(f"({REACHES[way]}) 2>/dev/null")
    for told in ("pending", "jobs", "upper", "canary", "in\n", "mnt:"):
        assert told not in ran.output, ran.output
    assert (bench.project / "canary").read_text() == "as it was"


async def test_a_command_has_no_capability_and_can_get_none(bench: Bench) -> None:
    said = await bench.output("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    assert said.split() == [
        *(word for name in ("Inh", "Prm", "Eff", "Bnd", "Amb") for word in (f"Cap{name}:", "0" * 16)),
        *("NoNewPrivs:", "1", "Seccomp:", "2"),
    ]
    got = await python(bench, LIBC + "print([n for n in range(64) if libc.prctl(47, 2, n, 0, 0) == 0])")
    assert got == "[]\n"


CALLS = """
got = []
for name, number, *arguments in (
    ("ptrace", 101, 16, 1, 0, 0), ("seize", 101, 0x4206, 1, 0, 0), ("readv", 310, 1, 0, 0, 0, 0, 0),
    ("getfd", 438, os.pidfd_open(1), 0, 0), ("setns", 308, os.pidfd_open(1), 0x20000),
    ("open_tree", 428, -100, b"/work", 1), ("mount_setattr", 442, -100, b"/work", 0, 0, 0),
    ("move_mount", 429, -100, b"/work", -100, b"/tmp", 0), ("pivot", 155, b".", b"."), ("fsopen", 430, b"overlay", 0),
    ("by_handle", 304, -100, b"x" * 64, 0), ("unshare", 272, 0x10000000), ("clone", 56, 0x10000011, 0, 0, 0, 0),
):
    if libc.syscall(number, *arguments) >= 0:
        got.append(name)
print(got)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the calls are those of x86_64")
async def test_no_call_of_the_kernels_leads_out(bench: Bench) -> None:
    assert await python(bench, LIBC + CALLS) == "[]\n"


async def test_what_is_seen_of_other_jobs_is_not_what_lands_from_them(bench: Bench) -> None:
    """Through another job's root its changes can be read and made: all jobs of a session are one user's."""
    await bench.output("(until [ -e done ]; do sleep 0.05; done; sleep 60) >&- 2>&- & echo $! > pid")
    landing = await bench.landing("echo evil > /proc/$(cat pid)/root/work/.envrc; echo fine > fine; touch done")
    await bench.landing("true")
    assert not (bench.project / ".envrc").exists() and landing.failed == ""
    assert (bench.project / "fine").read_text() == "fine\n"


PASS = """
import array, os, socket, sys, time
address = "\\0passed"
if sys.argv[1] == "keep":
    server = socket.socket(socket.AF_UNIX); server.bind(address); server.listen()
    open("/tmp/listens", "w").close()
    peer, _ = server.accept()
    _, data, _, _ = peer.recvmsg(1, 99)
    fd = array.array("i", data[0][2])[0]
    peer.sendall(b"k")
    while not os.path.exists("/tmp/go"):
        time.sleep(0.01)
    os.pwrite(fd, b"evil!", 0)
    open("/tmp/wrote", "w").close()
    time.sleep(60)
else:
    peer = socket.socket(socket.AF_UNIX); peer.connect(address)
    fd = os.open("plain", os.O_RDWR | os.O_CREAT, 0o644); os.write(fd, b"plain")
    peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    peer.recv(1)
"""


async def test_a_descriptor_that_another_job_was_given_writes_nothing_that_has_landed(bench: Bench) -> None:
    await bench.output(f"cat > /tmp/pass.py <<'END'\n{PASS}\nEND")
    await bench.output("python3 /tmp/pass.py keep >&- 2>&- <&- & until [ -e /tmp/listens ]; do sleep 0.02; done")
    landing = await bench.landing("python3 /tmp/pass.py give")
    assert landing.landed == ("plain",) and (bench.project / "plain").read_text() == "plain"
    await bench.output("touch /tmp/go; until [ -e /tmp/wrote ]; do sleep 0.02; done")
    assert (bench.project / "plain").read_text() == "plain"


HIDE = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 64)
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    fd = os.open("late", os.O_RDWR | os.O_CREAT)
    while not os.path.exists("/tmp/go"):
        time.sleep(0.01)
    os.pwrite(fd, b"late", 0)
    with open(".envrc", "w") as file:
        file.write("evil")
    open("/tmp/wrote", "w").close()
    time.sleep(60)
"""


async def test_a_process_that_hides_and_writes_after_its_commands_end_writes_nothing_that_has_landed(
    bench: Bench,
) -> None:
    await bench.output(f"cat > /tmp/hide.py <<'END'\n{HIDE}\nEND\npython3 /tmp/hide.py")
    await bench.output("touch /tmp/go; until [ -e /tmp/wrote ]; do sleep 0.02; done")
    landing = await bench.landing("true")
    assert [one.path for one in landing.held] in ([".envrc"], [])
    assert not (bench.project / ".envrc").exists()
    await bench.machines.kill(SESSION)
    assert list(await bench.waiting()) == [".envrc"] and (bench.project / "late").read_text() == "late"


async def test_killing_the_helpers_of_the_runner_loses_nothing(bench: Bench) -> None:
    (bench.project / "b").write_text("a" * 60 + "!\n")
    kill = "for p in /proc/[2-9]*; do kill -9 ${p#/proc/}; done 2>/dev/null; kill -9 -1"
    ran = await bench.run(f"echo fine > fine; sync; ({kill}) & wait")
    assert (bench.project / "fine").read_text() == "fine\n" and ran.landing.count >= 1
    assert await bench.output("echo on") == "on\n"


# -- marks of an overlay ----------------------------------------------------------------------------------------------

MARKS = """
import os, stat
os.makedirs("made", exist_ok=True); open("made/file", "w").close(); open("white", "w").close()
got = []
for path in ("made", "made/file", "white", "theirs"):
    for space in ("user", "trusted", "security"):
        for name in ("overlay.opaque", "overlay.whiteout", "overlay.whiteouts", "overlay.redirect",
                     "overlay.metacopy", "overlay.origin", "overlay.impure", "capability"):
            try:
                os.setxattr(path, f"{space}.{name}", b"y")
                got.append((path, space, name))
            except OSError:
                pass
for device in ((0, 0), (1, 3), (8, 0)):
    try:
        os.mknod(f"node{device[0]}", stat.S_IFCHR | 0o666, os.makedev(*device))
        got.append(device)
    except OSError:
        pass
print(got)
"""


async def test_a_job_makes_no_mark_of_an_overlay(bench: Bench) -> None:
    (bench.project / "theirs").mkdir()
    (bench.project / "theirs/file").write_text("as it was")
    said = await python(bench, MARKS)
    # A whiteout by hand is a file that is not there; the kernel lets every user make one.
    assert said in ("[]\n", "[(0, 0)]\n")
    assert bench.tree()["theirs/file"] == "as it was" and "node0" not in bench.tree()


@pytest.mark.parametrize("name", ["theirs", "theirs/file"])
async def test_a_mark_of_a_deletion_made_by_hand_deletes_no_more_than_a_deletion(bench: Bench, name: str) -> None:
    (bench.project / "theirs").mkdir()
    for number in range(150):
        (bench.project / f"theirs/{number}").write_text("as it was")
    (bench.project / "theirs/file").write_text("as it was")
    aside = f"import os; os.rename({name!r}, 'aside'); os.mknod({name!r}, 0o20000, 0)"
    await python(bench, aside)
    assert (
        len(list((bench.project / "theirs").iterdir())) >= 150 or len(list((bench.project / "aside").iterdir())) == 151
    )


# -- a space, as a hostile machine could have left it -----------------------------------------------------------------


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


class Left:
    """A folder of the person's, and what waits to land in it."""

    def __init__(self, root: Path, old: Mapping[str, str] = {}) -> None:
        self.project = root / "project"
        self.project.mkdir()
        write(self.project, old)
        self.home = Home(root / "home")
        self.home.make()
        self.space = Space(self.home, SESSION, str(self.project))
        self.space.prepare()
        self.job = self.space.jobs / "7"
        self.upper = self.job / "upper"
        self.upper.mkdir(parents=True)

    def land(self) -> tuple[set[str], set[str], str]:
        """What landed, what was held or refused, and what failed."""
        landing = land(self.space, {"7": {}}, "obeyed")
        assert not self.job.exists()
        return (
            set(landing.landed),
            {one.path for one in (*landing.held, *landing.refused)},
            landing.failed,
        )


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


@pytest.mark.parametrize("mark", ["user.overlay.redirect", "user.overlay.metacopy"])
def test_marks_that_no_overlay_of_ours_makes_lead_nowhere(left: Left, mark: str) -> None:
    (left.project / "secret").mkdir()
    (left.project / "secret/file").write_text("as it was")
    (left.upper / "made").mkdir()
    (left.upper / "made/in").write_text("x")
    (left.upper / "file").write_text("x")
    for name in ("made", "file"):
        os.setxattr(left.upper / name, mark, b"/secret")
    landed, told, failed = left.land()
    assert landed == set() and told == {"made", "file"} and not failed
    assert sorted(os.listdir(left.project)) == ["secret"]


def test_a_mark_of_a_whole_new_folder_deletes_what_it_covers_and_asks_where_that_is_much(left: Left) -> None:
    (left.project / "theirs").mkdir()
    for number in range(150):
        (left.project / f"theirs/{number}").write_text("as it was")
    (left.upper / "theirs").mkdir()
    os.setxattr(left.upper / "theirs", "user.overlay.opaque", b"y")
    landed, told, _ = left.land()
    assert landed == set() and len(told) >= 150
    assert len(list((left.project / "theirs").iterdir())) == 150


def test_a_file_has_neither_marks_nor_other_names_nor_bits_when_it_lands(left: Left) -> None:
    (left.upper / "plain").write_text("x")
    os.setxattr(left.upper / "plain", "user.note", b"y")
    os.link(left.upper / "plain", left.job / "kept")
    (left.upper / "set").write_text("x")
    (left.upper / "set").chmod(0o6755)
    landed, told, _ = left.land()
    assert landed == {"plain"} and told == {"set"}
    status = (left.project / "plain").stat()
    assert status.st_nlink == 1 and os.listxattr(left.project / "plain") == [] and status.st_mode & 0o7000 == 0


def test_a_name_for_a_plain_file_and_an_obeyed_one_do_not_stay_one_file(left: Left) -> None:
    (left.project / "AGENTS.md").write_text("mine")
    os.link(left.project / "AGENTS.md", left.project / "plain")
    os.utime(left.job)  # it began after that
    (left.upper / "plain").write_text("evil")
    (left.upper / "new").write_text("evil")
    os.link(left.upper / "new", left.upper / ".envrc")
    landed, told, _ = left.land()
    assert landed == {"plain", "new"} and told == {".envrc"}
    assert (left.project / "AGENTS.md").read_text() == "mine" and not (left.project / ".envrc").exists()
    (left.space.pending / ".envrc").write_text("changed later")
    assert (left.project / "new").read_text() == "evil"


NAMES = ["x" * 255, os.fsdecode(b"\xff\xfe"), "new\nline", "\x1b[2Jred", "\u202egpj.exe", " ", "-rf", "*", "c:"]


def test_names_of_any_kind_are_told_as_they_are_or_land(left: Left) -> None:
    for name in NAMES:
        (left.upper / name).write_text("x")
    landed, told, failed = left.land()
    assert landed == {"x" * 255, " ", "-rf", "*", "c:"} and not failed
    assert told == {r"\udcff\udcfe", r"new\nline", r"\x1b[2Jred", r"\u202egpj.exe"}
    assert all(one.isprintable() for one in told)
    assert sorted(os.listdir(left.project)) == sorted(landed)


def test_a_sparse_file_of_a_hundred_gigabytes_lands_as_holes(left: Left) -> None:
    with (left.upper / "sparse").open("wb") as file:
        try:
            file.truncate(100 << 30)
        except OSError:
            pytest.skip("this file system has no file of 100 GB")
        file.seek(50 << 30)
        file.write(b"in the middle")
    began = time.monotonic()
    landed, _, failed = left.land()
    assert landed == {"sparse"} and not failed and time.monotonic() - began < 5
    status = (left.project / "sparse").stat()
    assert status.st_size == 100 << 30 and status.st_blocks * 512 < 1 << 20


@pytest.mark.parametrize("deep", [150, 3000])
def test_folders_nested_beyond_reason_are_refused_and_cleared_away(left: Left, deep: int) -> None:
    (left.upper / "plain").write_text("x")
    fd = os.open(left.upper, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    landed, told, failed = left.land()
    assert "plain" in landed and len(told) == 1 and not failed
    assert "too deep" not in str(landed) and len(max(landed, key=len)) < 1000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_another_owner_is_the_folders_owners_when_it_lands(left: Left) -> None:
    (left.upper / "made").mkdir(mode=0)
    (left.upper / "made/in").write_text("x")
    for path in (left.upper / "made", left.upper / "made/in"):
        os.chown(path, 4242, 4242)
    landed, _, failed = left.land()
    assert landed == {"made/", "made/in"} and not failed
    assert {(left.project / path).stat().st_uid for path in landed} == {left.project.stat().st_uid}


@pytest.mark.parametrize("at", ["the folder", "a folder in it", "the file"])
def test_a_link_in_a_folders_place_is_followed_by_no_landing(left: Left, tmp_path: Path, at: str) -> None:
    """By the person, or by another session, between the look and the landing."""
    outside = tmp_path / "outside"
    (outside / "in").mkdir(parents=True)
    (outside / "in/file").write_text("as it was")
    before = digest(outside)
    (left.upper / "sub/in").mkdir(parents=True)
    (left.upper / "sub/in/file").write_text("evil")
    if at == "the folder":
        (left.project / "sub").symlink_to(outside)
    elif at == "a folder in it":
        (left.project / "sub").mkdir()
        (left.project / "sub/in").symlink_to(outside / "in")
    else:
        (left.project / "sub/in").mkdir(parents=True)
        (left.project / "sub/in/file").symlink_to(outside / "in/file")
    left.land()
    assert digest(outside) == before


# -- many, and at once ------------------------------------------------------------------------------------------------


@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [6_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_thousands_of_files_land_and_the_loop_goes_on(bench: Bench, count: int) -> None:
    longest, running = 0.0, True

    async def watch() -> None:
        nonlocal longest
        while running:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - began)

    watching = asyncio.create_task(watch())
    ran = await bench.run(f"mkdir many; cd many; seq {count} | xargs touch", timeout_s=60)
    running = False
    await watching
    assert ran.landing.failed or ran.landing.count == count + 1
    assert ran.landing.failed or sum(1 for _ in os.scandir(bench.project / "many")) == count
    assert longest < 1.0, f"nothing else ran for {longest:.2f} s"


async def test_two_sessions_that_land_into_one_folder_at_once_lose_nothing(bench: Bench) -> None:
    bench.bind(session=OTHER)
    made = "for n in $(seq 200); do mkdir -p d$n; echo {0} > d$n/{0}; echo {0}{0} > both$n; done"
    both = await asyncio.gather(bench.run(made.format("a")), bench.run(made.format("b"), session=OTHER))
    assert not any(one.landing.failed for one in both)
    for n in range(1, 201):
        assert sorted(os.listdir(bench.project / f"d{n}")) == ["a", "b"]
        assert (bench.project / f"both{n}").read_text() in ("aa\n", "bb\n")


async def test_a_parent_that_is_renamed_into_an_obeyed_name_is_held_with_all_that_is_in_it(bench: Bench) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(bench.project / "data")], check=True)
    before = digest(bench.project)
    await bench.output(
        "mkdir -p a/hooks; echo evil > a/hooks/pre-commit; mv a .git; mkdir b; echo evil > b/x; mv b .vscode"
    )
    assert digest(bench.project) == before
    await bench.output("mv data .GIT")
    assert not (bench.project / ".GIT").exists() and not (bench.project / ".git").exists()
    assert (bench.project / "data/config").exists() and (bench.project / "data/HEAD").exists()


# -- a landing that is killed -----------------------------------------------------------------------------------------

LAND = """
import os, signal, sys
from pathlib import Path
from stead.config import Home
from stead.domain.ids import SessionId
from stead.machines.landing import land
from stead.machines.left_out import UNFINISHED, is_unfinished
from stead.machines.space import Space
space = Space(Home(Path(sys.argv[1])), SessionId(sys.argv[2]))
left = int(sys.argv[3])
def count(event, _arguments):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
base = {"both": "one two three four ".replace(" ", chr(10)).encode()}
land(space, {name: {} for name in space.left()}, "obeyed", before=lambda _folder, path, *_: base.get(path), busy=True)
print(int(sys.argv[3]) - left)
"""
THEIRS, OURS, BOTH = "one\ntwo\nthree\ntheirs\n", "ours\ntwo\nthree\nfour\n", "ours\ntwo\nthree\ntheirs\n"
SETTINGS = "[core]\n\tbare = false\n"
OLD = {
    "changed": "old " * 5000,
    "deleted": "old",
    "sub/changed": "old",
    "kind/in": "old",
    "mode": "old",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": SETTINGS,
}
NEW = {
    "changed": "new " * 5000,
    "sub/changed": "new",
    "kind": "new",
    "mode": "old",
    "fresh": "new",
    "made/in/it": "new",
    ".git/HEAD": OLD[".git/HEAD"],
    ".git/config": SETTINGS + "[user]\n\tname = Ada\n",
}


def landing_child(left: Left, steps: int) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", LAND, str(left.home.root), SESSION, str(steps)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(line, capture_output=True, text=True, timeout=60, env=environment)


def prepare(root: Path) -> Left:
    left = Left(root, OLD | {"both": "not yet"})
    write(left.upper, NEW)
    (left.upper / "mode").chmod(0o755)
    os.mknod(left.upper / "deleted", 0o20000)
    (left.upper / ".envrc").write_text("evil")
    (left.upper / "both").write_text(OURS)
    os.utime(left.job)
    while (left.project / "both").stat().st_ctime_ns <= left.job.stat().st_mtime_ns:
        (left.project / "both").write_text(THEIRS)  # by the person, after the call began
    return left


def steps_of(root: Path) -> int:
    """How many steps a landing has that nobody kills."""
    done = landing_child(prepare(root), 10**9)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file() and not is_unfinished(path.name))
    return {str(path.relative_to(folder)): path.read_text() for path in found}


def kill_at(root: Path, step: int) -> None:
    left = prepare(root)
    died = landing_child(left, step)
    assert died.returncode == -signal.SIGKILL, died.stderr
    for path, text in files(left.project).items():
        assert text in (OLD.get(path), NEW.get(path), *((THEIRS, BOTH) if path == "both" else ())), f"{path} is half"
    for path in OLD.keys() & NEW.keys():
        assert (left.project / path).exists(), f"{path} is gone"
    done = landing_child(left, 10**9)
    assert done.returncode == 0, done.stderr
    assert files(left.project) == NEW | {"both": BOTH}, "the rest did not land"
    assert (left.project / "mode").stat().st_mode & 0o777 == 0o755
    assert files(left.space.pending) == {".envrc": "evil"}


def test_a_landing_that_is_killed_leaves_each_file_whole_and_the_next_one_brings_the_rest(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    total = steps_of(tmp_path / "whole")
    for at in range(20):
        root = tmp_path / str(at)
        root.mkdir()
        kill_at(root, 1 + at * (total - 1) // 20)
        shutil.rmtree(root)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_landing_that_is_killed_at_any_step_of_two_hundred(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    total = steps_of(tmp_path / "whole")
    for step in range(1, total + 1, max(1, total // 200)):
        root = tmp_path / str(step)
        root.mkdir()
        kill_at(root, step)
        shutil.rmtree(root)
