"""Attacks on the runner by the programs that it runs, which have its user id and share its namespaces.

Nothing that the runner says is trusted; still it should be hard to speak in its name, and whatever happens to it must
stay within its own session: calls fail, the next one starts a fresh machine, and the host does not notice.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.ports import Ran
from stead.domain.terminals import Ended
from stead.machines import machine
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.host import Host, compile_inside
from stead.machines.sandbox import Limits
from tests.machines.bench import (
    SESSION,
    Bench,
    fresh_nap,
    live_permit,
    napping,
    open_bench,
    processes_with,
    this_host,
    until,
)

MB = 1 << 20
TERMINAL = "t_0123456789abcdef"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


@pytest.fixture
def nap() -> str:
    return fresh_nap()


def starts(bench: Bench) -> int:
    return sum(change[1] == "started" for change in bench.changes)


# -- its memory, its descriptors, its signals -----------------------------------------------------------------------


async def test_its_entries_in_proc_are_closed(bench: Bench) -> None:
    script = """
import os
for entry in ("mem", "environ", "maps", "fd", "fdinfo", "root", "cwd", "exe", "auxv", "syscall", "io"):
    path = f"/proc/1/{entry}"
    try:
        print("OPEN", os.listdir(path) if os.path.isdir(path) else os.readlink(path) if os.path.islink(path)
              else open(path, "rb").read(100))
    except PermissionError:
        print("closed")
"""
    (bench.project / "attack.py").write_text(script)
    assert await bench.output("python3 -I attack.py") == "closed\n" * 11


@pytest.mark.parametrize("flags", ["os.O_RDWR", "os.O_WRONLY", "os.O_RDONLY"])
async def test_its_memory_cannot_be_opened(bench: Bench, flags: str) -> None:
    attack = f"import os; os.open('/proc/1/mem', {flags})"
    ran = await bench.run(f'python3 -c "{attack}"')
    assert ran.exit_code == 1 and "PermissionError" in ran.output


async def test_frames_cannot_be_forged_on_its_output(bench: Bench) -> None:
    """Each descriptor that could be its pipe is tried: its own by number, and every one of every process."""
    forged = r"""
import glob, os
frame = b"\0\0\0\x18" + b"\0\0\0\x08AAAAAAAA" + b"\0\0\0\x04done" + b"\0\0\0\0"
opened = []
for path in [f"/proc/1/fd/{n}" for n in range(64)] + glob.glob("/proc/*/fd/*") + glob.glob("/proc/*/task/*/fd/*"):
    if path.startswith((f"/proc/{os.getpid()}/", "/proc/self/", "/proc/thread-self/")):
        continue
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        os.write(fd, frame)
        opened.append((path, os.readlink(path)))
    except OSError:
        pass
print([entry for entry in opened if entry[0].startswith("/proc/1/")])
"""
    (bench.project / "attack.py").write_text(forged)
    ran = await bench.run("python3 -I attack.py")
    assert ran.output.endswith("[]\n")
    assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_commands_inherit_nothing_but_three_descriptors(bench: Bench) -> None:
    listed = await bench.output("python3 -I -c \"import os; print(sorted(os.listdir('/proc/self/fd'))[:-1])\"")
    assert listed == "['0', '1', '2']\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look at the descriptors of an undumpable process")
def test_it_closes_what_it_inherits_before_it_does_anything(tmp_path: Path) -> None:
    secret = os.open(tmp_path, os.O_RDONLY)
    code = "import sys; from stead.machines.runner.main import main; main(sys.argv[1:])"
    line = [sys.executable, "-c", code, *Limits().words(), "job=0"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[secret]) as runner:
        os.close(secret)
        assert runner.stdout and b"hello" in os.read(runner.stdout.fileno(), 25)
        links = [os.readlink(entry) for entry in Path(f"/proc/{runner.pid}/fd").iterdir()]
        runner.kill()
    assert not [link for link in links if str(tmp_path) in link]


async def test_no_signal_from_inside_reaches_it(bench: Bench) -> None:
    await bench.output("for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; kill -9 1; true")
    assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_killing_everything_leaves_it_and_its_other_callers(bench: Bench, nap: str) -> None:
    other = asyncio.create_task(bench.run(f"sleep {nap}"))
    await until(lambda: bool(napping(nap)))
    ran = await bench.run("kill -9 -1; echo I am left")
    assert ran.exit_code in (0, 137)
    assert (await other).exit_code == 137
    assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_its_limits_and_its_death_score_cannot_be_changed(bench: Bench) -> None:
    attack = "prlimit --pid 1 --nofile=3:3; prlimit --pid 1 --cpu=0:0; echo -1000 > /proc/1/oom_score_adj; "
    attack += "echo -1000 > /proc/self/oom_score_adj; cat /proc/1/oom_score_adj /proc/self/oom_score_adj"
    ran = await bench.run(attack)
    assert ran.output.endswith("900\n900\n") and starts(bench) == 1


async def test_its_code_is_read_only_and_the_workspace_adds_nothing_to_it(bench: Bench) -> None:
    ran = await bench.run("echo x > /stead/start.pyc; touch /stead/runner/evil.pyc; mv /stead /gone")
    assert ran.output.count("Read-only file system") >= 2 and ran.exit_code != 0
    for module in ("re", "difflib", "hashlib", "fnmatch", "sitecustomize", "usercustomize", "html", "runner"):
        (bench.project / f"{module}.py").write_text("open('/work/PLANTED', 'w').write('x')")
    await bench.machines.kill(SESSION)
    await bench.machines.write(live_permit(), "a", "one\n")
    await bench.machines.edit(live_permit(), "a", "one", "two", every=False)
    await bench.machines.grep(live_permit(), "two", "a", "")
    await bench.machines.html_text(live_permit(), b"<p>x")
    await bench.machines.fingerprint(SESSION, ["a"])
    assert not (bench.project / "PLANTED").exists()


async def test_files_swapped_for_links_while_it_writes_lead_nowhere(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    swap = f"""
import os, time
os.makedirs("a", exist_ok=True)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for target in ("/proc/1/fd", "/proc/self/fd", {str(tmp_path)!r}, "/etc"):
        os.rename("a", "b"); os.symlink(target, "a"); os.unlink("a"); os.rename("b", "a")
"""
    (bench.project / "swap.py").write_text(swap)
    swapping = asyncio.create_task(bench.run("python3 -I swap.py"))
    done = 0
    while not swapping.done():
        for name in ("a/1", "a/outside", "a/passwd"):
            try:
                await bench.machines.write(live_permit(), name, "planted")
                done += 1
            except ToolFault:
                pass
    await swapping
    assert done and outside.read_text() == "precious" and starts(bench) == 1
    assert sorted(os.listdir(tmp_path)) == ["outside", "project", "stead-home"]


# -- bombs ----------------------------------------------------------------------------------------------------------


async def test_a_fork_bomb_stays_small_and_can_be_killed(bench: Bench, nap: str) -> None:
    bomb = asyncio.create_task(bench.run(f"b() {{ b | b & }}; b; sleep {nap}", timeout_s=60))
    await until(lambda: bool(napping(nap)))
    with suppress(ToolFault, MachineDied):  # whether anything else finds room beside it depends on the host's load
        for _ in range(20):
            await bench.run("true", timeout_s=5)
            await bench.machines.grep(live_permit(), "x", "", "")
    assert await bench.machines.kill(SESSION)
    with pytest.raises(MachineDied):
        await bomb
    assert not napping(nap)
    assert await bench.output("echo fine") == "fine\n"


async def test_more_calls_at_once_than_it_can_keep_are_refused_and_the_others_served(bench: Bench) -> None:
    calls = [asyncio.create_task(bench.run("until [ -e go ]; do sleep 0.2; done")) for _ in range(50)]
    calls += [asyncio.create_task(bench.run("true")) for _ in range(30)]
    (bench.project / "go").touch()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert {result.exit_code for result in results if isinstance(result, Ran)} == {0}
    assert all(isinstance(result, Ran | ToolFault) for result in results)
    assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_processes_are_limited_for_the_whole_machine(bench: Bench, nap: str) -> None:
    many = """
import subprocess, sys
try:
    for number in range(700):
        subprocess.Popen(["sleep", sys.argv[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
except BlockingIOError:
    print(number)
"""
    (bench.project / "many.py").write_text(many)
    count = int(await bench.output(f"python3 -I many.py {nap}"))
    assert 480 < count < 512 and len(napping(nap)) == count


async def test_one_process_cannot_have_all_memory(tmp_path: Path, nap: str) -> None:
    async with open_bench(tmp_path, Limits(memory_bytes=400 * MB)) as bench:
        ran = await bench.run(
            f"sleep {nap} & python3 -c 'x = [b\"x\" * (1 << 20) for _ in range(1 << 20)]'", timeout_s=60
        )
        assert ran.exit_code == 137 and "too much memory" in ran.output and not napping(nap)
        assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_address_space_costs_no_memory_and_is_not_limited(bench: Bench) -> None:
    reserve = "import mmap; m = mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | 0x4000); print(len(m))"
    assert await bench.output(f"python3 -c '{reserve}'") == f"{64 << 30}\n"


async def test_many_processes_together_cannot_either(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(memory_bytes=400 * MB)) as bench:
        eater = 'python3 -c "x = bytearray(120 << 20); import time; time.sleep(60)"'
        ran = await bench.run(f"for i in 1 2 3 4 5 6; do {eater} & done; wait", timeout_s=60)
        assert ran.exit_code == 137 and "too much memory" in ran.output
        assert await bench.output("echo fine") == "fine\n" and starts(bench) == 1


async def test_what_fills_the_disk_is_stopped_before_it_is_full(tmp_path: Path, nap: str) -> None:
    async with open_bench(tmp_path, Limits(disk_bytes=1 << 60)) as bench:
        ran = await bench.run(f"sleep {nap}", timeout_s=60)
        assert ran.exit_code == 137 and "the disk is nearly full" in ran.output


async def test_a_file_cannot_grow_past_its_limit(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(file_bytes=64 * MB)) as bench:
        ran = await bench.run("head -c 100M /dev/zero > big; stat -c %s big; rm big", timeout_s=60)
        assert f"\n{64 * MB}\n" in "\n" + ran.output


async def test_a_folder_in_memory_cannot_grow_past_its_limit(bench: Bench) -> None:
    for folder, size in (("/tmp", 512), ("/run", 16), ("/dev/shm", 64)):
        fill = f"for i in 1 2; do head -c {size}M /dev/zero > {folder}/$i; done 2>/dev/null; du -sm {folder} | cut -f1"
        assert int((await bench.run(f"{fill}; rm -f {folder}/[12]", timeout_s=60)).output) <= size
    for folder in ("/", "/dev", "/etc", "/stead", "/usr", "/proc"):
        assert (await bench.run(f"touch {folder}/new")).exit_code == 1, folder


async def test_a_gigabyte_of_binary_output_is_bounded(bench: Bench) -> None:
    started = time.monotonic()
    ran = await bench.run("head -c 1G /dev/urandom", cap_bytes=MB, timeout_s=60)
    assert ran.exit_code == 137 and 10 * MB < ran.size_bytes < 11 * MB and time.monotonic() - started < 30


async def test_a_daemonised_child_dies_with_the_machine(bench: Bench, nap: str) -> None:
    daemonise = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            if number not in (9, 19, 32, 33):
                signal.signal(number, signal.SIG_IGN)
        os.closerange(0, 10)
        os.execv("/usr/bin/sleep", ["sleep", sys.argv[1]])
os._exit(0)
"""
    (bench.project / "daemonise.py").write_text(daemonise)
    await bench.run(f"python3 -I daemonise.py {nap}")
    await until(lambda: bool(napping(nap)))
    assert await bench.machines.kill(SESSION)
    assert not napping(nap)


# -- its death ------------------------------------------------------------------------------------------------------


async def test_a_runner_that_dies_fails_its_calls_and_the_next_call_starts_another(bench: Bench, nap: str) -> None:
    running = asyncio.create_task(bench.run(f"sleep {nap}"))
    await until(lambda: bool(napping(nap)))
    (sleeper,) = napping(nap)
    inside = os.readlink(f"/proc/{sleeper}/ns/pid")
    runners = [pid for pid in processes_with("/stead/start.pyc") if namespace(pid) == inside]
    os.kill(runners[0], signal.SIGKILL)
    with pytest.raises(MachineDied, match="went away"):
        await running
    await until(lambda: len(bench.changes) == 2)
    assert not napping(nap) and bench.changes[1] == (SESSION, "ended", "it ended")
    assert await bench.output("echo again") == "again\n" and starts(bench) == 2


def namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


async def test_a_machine_dies_with_a_daemon_that_is_killed(tmp_path: Path, nap: str) -> None:
    daemon = f"""
import asyncio
from pathlib import Path
from tests.machines.bench import open_bench
async def main():
    async with open_bench(Path({str(tmp_path)!r})) as bench:
        await bench.run(f"sleep {nap} >/dev/null 2>&1 &")
        print("up", flush=True)
        await bench.run(f"sleep {nap}")
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "up\n"
        await until(lambda: len(napping(nap)) == 2)
        process.kill()
    await until(lambda: not napping(nap) and not processes_with(str(tmp_path)))


# -- a runner in other hands ----------------------------------------------------------------------------------------

_HELLO = """
import os, sys, time
def frame(*fields):
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    os.write(1, len(body).to_bytes(4, "big") + body)
def asked():
    body = os.read(0, int.from_bytes(os.read(0, 4), "big"))
    return body[4:12]
def who(path):
    found = os.stat(path, follow_symlinks=False)
    return b"%d:%d" % (found.st_dev, found.st_ino)
"""
_GREET = 'frame(b"", b"hello", who("/space/folder"), b"1")\n'


def in_other_hands(bench: Bench, code: str) -> None:
    """Give the bench machines whose runner is this code."""
    tools = this_host().require()
    compiled = compile_inside(tools, {"start.py": _HELLO + code})
    host = Host(this_host().isolation, tools, {name: bytes.fromhex(data) for name, data in compiled.code.items()})
    bench.machines = BubblewrapMachines(
        bench.home, on_change=lambda session, what, why: bench.changes.append((session, what, why)), host=host
    )
    bench.bind()


@pytest.mark.parametrize(
    "answer",
    [
        'frame(asked(), b"done")',
        'frame(asked(), b"done", b"not a number", b"1", b"exit")',
        'frame(asked(), b"done", b"0", b"1", b"exit", b"0", b"more")',
        'frame(b"AAAAAAAA", b"done", b"0", b"1", b"exit")',
        'asked(); os.write(1, b"\\xff" * 8)',
        "asked(); sys.exit(1)",
    ],
)
async def test_answers_that_make_no_sense_end_the_machine(bench: Bench, answer: str) -> None:
    in_other_hands(bench, f"{_GREET}{answer}\ntime.sleep(60)")
    with pytest.raises(MachineDied):
        await bench.run("true")
    await until(lambda: [change[1] for change in bench.changes] == ["started", "ended"])


@pytest.mark.parametrize("code", ['b"9" * 3000', 'b"-1"', 'b"256"', 'b" 1"', '"\u0661".encode()', 'b"0x1"'])
async def test_a_terminal_ends_with_no_code_that_no_shell_has(bench: Bench, code: str) -> None:
    """It would be told over a socket, whose last words are short, and written down for ever."""
    answer = f'frame(asked(), b"done"); frame(asked(), b"done", b"", {code}, b"exited")'
    in_other_hands(bench, f"{_GREET}{answer}\ntime.sleep(60)")
    await bench.machines.terminals.open(SESSION, TERMINAL, 24, 80)
    terminal = bench.machines.terminals.at(SESSION, TERMINAL)
    await until(lambda: terminal.ended is not None)
    assert terminal.ended == Ended(137, "lost")


@pytest.mark.parametrize("taken", ['b"many"', 'b"-1"', 'b"7"', 'b"9" * 5000', 'b""'])
async def test_a_terminal_that_took_more_than_it_was_given_is_ended(bench: Bench, taken: str) -> None:
    answer = f'frame(asked(), b"done"); asked(); frame(asked(), b"done", {taken})'
    in_other_hands(bench, f"{_GREET}{answer}\ntime.sleep(60)")
    await bench.machines.terminals.open(SESSION, TERMINAL, 24, 80)
    terminal = bench.machines.terminals.at(SESSION, TERMINAL)
    await asyncio.sleep(0)  # the question for output goes first
    await asyncio.wait_for(terminal.type(b"typed\n"), 10)
    await until(lambda: terminal.ended is not None)
    assert terminal.ended == Ended(137, "lost")


async def test_a_runner_that_sends_output_for_ever_is_bounded_in_memory_and_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.machines.bubblewrap._SLACK_S", 0.5)
    in_other_hands(bench, f'{_GREET}ident = asked()\nwhile True: frame(ident, b"output", bytes(30000))')
    with pytest.raises(MachineDied, match="did not answer"):
        await bench.run("true", timeout_s=0.5, cap_bytes=1000)


async def test_a_runner_that_never_says_hello_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "START_LIMIT_S", 0.5)
    in_other_hands(bench, "time.sleep(987)")
    with pytest.raises(MachineUnavailable, match="did not come up"):
        await bench.run("true")
    assert bench.changes == []


@pytest.mark.parametrize("hello", ['b"1:1"', 'who("/work")', 'b""'])
async def test_a_machine_that_shows_another_folder_is_not_used(bench: Bench, hello: str) -> None:
    """What a second session could bring about by swapping a folder for a link at the right moment."""
    in_other_hands(bench, f'frame(b"", b"hello", {hello}, b"1")\ntime.sleep(60)')
    with pytest.raises(MachineUnavailable, match="changed while"):
        await bench.run("true")


async def test_what_bubblewrap_complains_about_is_told(bench: Bench) -> None:
    in_other_hands(bench, 'sys.exit("no such luck")')
    with pytest.raises(MachineUnavailable, match="no such luck"):
        await bench.run("true")


def test_the_runner_needs_nothing_but_an_old_standard_library() -> None:
    import ast

    folder = Path(machine.__file__).parent / "runner"
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text(), feature_version=(3, 9))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert all(name.name.partition(".")[0] in sys.stdlib_module_names for name in node.names), file
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] in sys.stdlib_module_names, file
            assert not isinstance(node, ast.Match), file
