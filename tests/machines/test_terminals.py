"""A person's terminal in a real machine: what it shows, how it ends, and what it can do to the host."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stead.domain.errors import Conflict, InvalidRequest, MachineUnavailable, NotFound
from stead.domain.ids import SessionId
from stead.domain.terminals import MOST_COLUMNS, MOST_ROWS, Ended, Seat
from stead.machines.sandbox import Limits
from stead.machines.scrollback import KEPT_BYTES
from stead.machines.terminals import MOST, MOST_BYTES_PER_S, MOST_OF_SESSION, MachineTerminals
from tests.machines.bench import SESSION, Bench, napping, open_bench, until

OTHER = SessionId("s_fedcba9876543210")


@dataclass
class Desk:
    """Somebody who sits at one terminal."""

    terminals: MachineTerminals
    id: str
    seat: Seat
    session: SessionId = SESSION
    seen: bytes = b""

    async def type(self, text: str) -> None:
        await self.terminals.at(self.session, self.id).type(text.encode())

    async def until(self, text: str, limit_s: float = 20) -> str:
        """Read until something is printed; gives everything up to there."""
        wanted = text.encode()
        async with asyncio.timeout(limit_s):
            while wanted not in self.seen:
                data = await self.seat.read()
                assert data, f"it ended before {text!r} came: {self.seen[-500:]!r}"
                self.seen += data
        told, _, self.seen = self.seen.partition(wanted)
        return told.decode("utf-8", "replace")

    async def says(self, command: str) -> str:
        """What a command prints."""
        await self.type(f"{command}; echo do'ne'\n")
        await self.until("\r\n")
        said = await self.until("done\r\n")
        await self.until("$ ")
        return said.removeprefix("\x1b[?2004l\r").replace("\r\n", "\n")  # the shell takes pastes as they are typed

    async def rest(self, limit_s: float = 20) -> bytes:
        """Everything up to the end."""
        async with asyncio.timeout(limit_s):
            while data := await self.seat.read():
                self.seen += data
        return self.seen


async def sit_down(bench: Bench, id: str = "t_0000000000000001", session: SessionId = SESSION) -> Desk:
    terminals = bench.machines.terminals
    await terminals.open(session, id, 24, 80)
    desk = Desk(terminals, id, terminals.at(session, id).watch(), session)
    await desk.until("$ ")
    return desk


@pytest.fixture
async def desk(bench: Bench) -> AsyncIterator[Desk]:
    yield await sit_down(bench)


# -- a terminal -----------------------------------------------------------------------------------------------------


async def test_it_is_a_terminal_in_the_sessions_folder(bench: Bench, desk: Desk) -> None:
    (bench.project / "notes.md").write_text("Ink.")

    assert await desk.says("pwd; cat notes.md; echo; tty; echo $TERM") == "/work\nInk.\n/dev/pts/0\nxterm-256color\n"
    assert await desk.says("stty size") == "24 80\n"
    await desk.says("echo mine > made")

    made = bench.project / "made"
    await until(lambda: made.exists() and made.read_text() == "mine\n", 30)  # it can land before it is written
    assert made.stat().st_uid == bench.project.stat().st_uid


async def test_control_keys_reach_what_runs(desk: Desk, nap: str) -> None:
    await desk.type(f"sleep {nap}\n")
    await until(lambda: bool(napping(nap)))
    await desk.type("\x03")
    await desk.until("^C")
    await desk.until("$ ")
    assert await desk.says("echo $?") == "130\n"
    await desk.type(f"sleep {nap}\n")
    await until(lambda: bool(napping(nap)))
    await desk.type("\x1a")
    await desk.until("Stopped")
    await desk.until("$ ")
    assert f"sleep {nap}" in await desk.says("jobs")


async def test_its_size_is_told_to_what_runs(desk: Desk) -> None:
    terminal = desk.terminals.at(SESSION, desk.id)
    await terminal.resize(50, 132)

    assert await desk.says("stty size") == "50 132\n"
    assert (terminal.row.rows, terminal.row.columns) == (50, 132)
    await terminal.resize(MOST_ROWS, MOST_COLUMNS)
    await terminal.resize(1, 1)
    await desk.type("\n")


@pytest.mark.parametrize("size", [(0, 80), (24, 0), (-1, -1), (MOST_ROWS + 1, 80), (24, MOST_COLUMNS + 1), (2**40, 2)])
async def test_no_size_beyond_reason_is_taken(bench: Bench, desk: Desk, size: tuple[int, int]) -> None:
    with pytest.raises(InvalidRequest, match="rows and"):
        await desk.terminals.at(SESSION, desk.id).resize(*size)
    with pytest.raises(InvalidRequest, match="rows and"):
        await bench.machines.terminals.open(SESSION, "t_0000000000000002", *size)
    assert await desk.says("stty size") == "24 80\n"


async def test_it_ends_with_its_shell_and_everything_that_the_shell_left(bench: Bench, desk: Desk, nap: str) -> None:
    await desk.type(f"(trap '' HUP; sleep {nap}) & exit 3\n")
    terminal = desk.terminals.at(SESSION, desk.id)

    assert b"exit" in await desk.rest()

    assert terminal.ended == Ended(3, "exited")
    assert bench.ended == [(SESSION, desk.id, Ended(3, "exited"))]
    assert desk.terminals.rows(SESSION) == ()
    with pytest.raises(NotFound):
        desk.terminals.at(SESSION, desk.id)
    assert not napping(nap)


async def test_closed_by_the_person_it_is_over_at_once_and_told_once(bench: Bench, desk: Desk, nap: str) -> None:
    await desk.type(f"sleep {nap}\n")
    await until(lambda: bool(napping(nap)))

    assert await desk.terminals.close(SESSION, desk.id) == Ended(137, "closed")

    assert not napping(nap)
    await desk.rest()
    assert bench.ended == [], "whoever closed it tells"


# -- the session's life ---------------------------------------------------------------------------------------------


async def test_it_stays_while_the_session_rests_and_goes_when_it_is_stopped(bench: Bench, desk: Desk, nap: str) -> None:
    await bench.output("true")
    await bench.machines.kill(SESSION, resting=True)
    assert await desk.says("echo here") == "here\n"
    await desk.type(f"sleep {nap} & sleep {nap}\n")
    await until(lambda: bool(napping(nap)))

    began = time.monotonic()
    assert await bench.machines.kill(SESSION)
    took_s = time.monotonic() - began

    assert not napping(nap)
    assert took_s < 3  # milliseconds on a quiet machine
    await desk.rest()
    assert bench.ended == [(SESSION, desk.id, Ended(137, "stopped"))]


async def test_a_watcher_that_takes_nothing_does_not_hold_a_stop_up(bench: Bench, desk: Desk) -> None:
    await desk.type("cat /dev/urandom | base64\n")
    await desk.seat.read()  # and never again

    began = time.monotonic()
    await bench.machines.kill(SESSION)

    assert time.monotonic() - began < 3


async def test_the_sessions_own_machine_works_beside_it(bench: Bench, desk: Desk) -> None:
    assert await bench.output("echo from the model > shared; echo ok") == "ok\n"
    assert await desk.says("cat shared") == "from the model\n"
    assert await desk.says("echo from the person > shared") == ""
    assert await bench.output("cat shared") == "from the person\n"


async def test_no_more_than_so_many_are_open(bench: Bench) -> None:
    bench.bind(session=OTHER)
    terminals = bench.machines.terminals
    opened = [terminals.open(SESSION, f"t_{number:016x}", 24, 80) for number in range(MOST_OF_SESSION + 1)]

    results = await asyncio.gather(*opened, return_exceptions=True)

    assert [isinstance(result, Conflict) for result in results].count(True) == 1
    assert len(terminals.rows(SESSION)) == MOST_OF_SESSION <= MOST
    await terminals.open(OTHER, "t_00000000000000ff", 24, 80)
    assert len(terminals.rows(OTHER)) == 1
    assert await terminals.stop("*")
    assert terminals.sessions == set()


async def test_what_cannot_be_opened_says_why(bench: Bench) -> None:
    terminals = bench.machines.terminals
    with pytest.raises(MachineUnavailable, match="no folder was chosen"):
        await terminals.open(OTHER, "t_0000000000000001", 24, 80)


async def test_in_a_session_whose_changes_all_wait_those_of_a_terminal_wait_too(bench: Bench) -> None:
    bench.bind(hold="all")
    desk = await sit_down(bench)
    await desk.says("echo mine > made")
    assert await bench.output("cat made") == "mine\n"
    await desk.terminals.close(SESSION, desk.id)
    assert list(await bench.waiting()) == ["made"] and bench.tree() == {}


async def test_stopped_while_it_opens_it_does_not_open(bench: Bench) -> None:
    terminals = bench.machines.terminals
    opening = asyncio.create_task(terminals.open(SESSION, "t_0000000000000001", 24, 80))
    await until(lambda: terminals.sessions == {SESSION})

    await bench.machines.kill(SESSION)

    with pytest.raises(Conflict, match="stopped"):
        await opening
    assert terminals.rows(SESSION) == ()


async def test_one_session_cannot_reach_anothers(bench: Bench, desk: Desk) -> None:
    bench.bind(session=OTHER)
    with pytest.raises(NotFound):
        desk.terminals.at(OTHER, desk.id)
    with pytest.raises(NotFound):
        await desk.terminals.close(OTHER, desk.id)
    await bench.machines.kill(OTHER)
    assert await desk.says("echo here") == "here\n"


# -- output ---------------------------------------------------------------------------------------------------------


async def test_four_megabytes_are_neither_kept_nor_hurried(bench: Bench, desk: Desk) -> None:
    """What nobody takes makes the program wait; what is taken is no more than is asked for, at a bounded rate."""
    began = time.monotonic()
    await desk.type("head -c 4000000 /dev/zero | tr '\\0' x; echo; echo fin'ished'\n")
    largest = size = 0
    async with asyncio.timeout(60):
        while b"finished\r\n" not in desk.seen[-100:]:
            data = await desk.seat.read()
            size += len(data)
            largest = max(largest, len(data))
            desk.seen = (desk.seen + data)[-100:]
    took_s = time.monotonic() - began

    assert size > 4_000_000
    assert largest <= 64 << 10
    assert took_s > 0.8 * size / MOST_BYTES_PER_S
    late = desk.terminals.at(SESSION, desk.id).watch()
    assert 0 < len(await late.read()) <= KEPT_BYTES


async def test_with_no_watcher_it_goes_on_and_the_last_is_kept(bench: Bench, desk: Desk) -> None:
    desk.seat.leave()
    await desk.type("for n in $(seq 60000); do echo line $n; done; touch ready\n")
    await until(lambda: (bench.project / "ready").exists(), 60)

    desk.seat, desk.seen = desk.terminals.at(SESSION, desk.id).watch(), b""
    shown = await desk.until("line 60000\r\n")

    assert shown.startswith("line "), "it begins with a line"
    # What was kept, and after it what the terminal had still to hand over when the watcher came.
    assert KEPT_BYTES - 1000 < len(shown) <= KEPT_BYTES + 65_536


async def test_what_a_slow_watcher_missed_it_is_told(bench: Bench, desk: Desk) -> None:
    slow = desk.terminals.at(SESSION, desk.id).watch()
    await slow.read()
    await desk.says("head -c 1000000 /dev/zero | tr '\\0' x")

    with pytest.raises(Conflict, match="attach"):
        while await slow.read():
            pass


async def test_what_no_program_reads_is_held_back_from_the_typist(desk: Desk) -> None:
    await desk.type("stty raw -echo; sleep 2; stty sane; echo back\n")
    typing = asyncio.create_task(desk.type("x" * 500_000 + "\x03\n"))
    done, _ = await asyncio.wait({typing}, timeout=1)
    assert not done
    await desk.terminals.close(SESSION, desk.id)
    await asyncio.wait_for(typing, 5)


# -- walls ----------------------------------------------------------------------------------------------------------


async def test_nothing_of_the_daemons_is_in_its_environment(bench: Bench, desk: Desk) -> None:
    environment = await desk.says("env; cat /proc/1/environ | tr '\\0' '\\n'")

    names = {line.partition("=")[0] for line in environment.splitlines() if "=" in line}
    assert names <= {
        *("PATH", "HOME", "LANG", "TMPDIR", "TERM", "COLORTERM", "SHELL", "PS1", "PWD", "SHLVL", "_", "OLDPWD", "TZ"),
        *("PIP_BREAK_SYSTEM_PACKAGES", "PIP_DISABLE_PIP_VERSION_CHECK", "npm_config_prefix", "BUN_INSTALL", "GOBIN"),
        *("npm_config_update_notifier", "CARGO_INSTALL_ROOT", "DENO_INSTALL_ROOT", "GIT_OPTIONAL_LOCKS"),
    }


@pytest.mark.parametrize(
    "attempt",
    [
        "cat /etc/shadow",
        "ls /root",
        "cat {home}/key",
        "touch /usr/bin/x",
        "mount -t tmpfs x /tmp",
        "unshare -U true",
        "mknod /tmp/dev b 8 0",
        "chroot /work",
        "exec 3<>/dev/tcp/1.1.1.1/80",
        "exec 3<>/dev/tcp/127.0.0.1/{port}",
        "kill -9 1",
        "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'",
    ],
)
async def test_it_has_the_walls_of_every_machine(bench: Bench, desk: Desk, attempt: str) -> None:
    (bench.home.root / "key").write_text("do not show")
    said = await desk.says(f"({attempt.format(home=bench.home.root, port=9)}); echo code $?")
    assert "do not show" not in said
    assert "code 0\n" not in said or attempt == "kill -9 1", said
    assert await desk.says("echo alive") == "alive\n"


async def test_what_it_plants_waits_for_the_person_at_its_end_and_before(bench: Bench, desk: Desk) -> None:
    """Whoever runs a build in it runs what a model wrote."""
    (bench.project / "CLAUDE.md").write_text("mine\n")
    await desk.says(
        "mkdir -p .vscode .git/hooks; echo evil | tee .vscode/tasks.json AGENTS.md .git/hooks/x > CLAUDE.md"
    )
    assert await bench.output("cat AGENTS.md") == "evil\n"
    assert bench.tree() == {"CLAUDE.md": "mine\n"}
    await desk.terminals.close(SESSION, desk.id)
    assert list(await bench.waiting()) == [".git/hooks/x", ".vscode/tasks.json", "AGENTS.md", "CLAUDE.md"]
    assert bench.tree() == {"CLAUDE.md": "mine\n"}


async def test_too_much_memory_ends_it_and_says_so(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(memory_bytes=200 << 20)) as bench:
        desk = await sit_down(bench)
        await desk.type("python3 -c 'x = bytearray(600 << 20); input()'\n")
        await desk.rest()
        assert bench.ended == [(SESSION, desk.id, Ended(137, "memory"))]
