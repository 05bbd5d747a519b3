"""Commands in a machine: output, time, floods, background processes, the tree's death."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from stead.domain.errors import InvalidRequest, MachineDied, MachineUnavailable, PermitRefused, ToolFault
from stead.domain.ids import SessionId
from tests.machines.bench import SESSION, Bench, fresh_permit, live_permit, napping, open_bench, until

OTHER = SessionId("s_fedcba9876543210")


async def test_a_command_runs_in_the_workspace_as_an_ordinary_user(bench: Bench) -> None:
    assert await bench.output("pwd; id -u; whoami; echo err >&2") == "/work\n1000\nstead\nerr\n"


async def test_output_streams_while_the_command_runs(bench: Bench) -> None:
    first = asyncio.Event()
    pieces: list[str] = []

    def take(text: str) -> None:
        pieces.append(text)
        first.set()

    running = asyncio.create_task(bench.run("echo one; until [ -e go ]; do sleep 0.01; done; echo two", on_output=take))
    await asyncio.wait_for(first.wait(), 10)
    assert pieces == ["one\n"]
    (bench.project / "go").touch()
    ran = await running
    assert ran.output == "one\ntwo\n" and "".join(pieces) == ran.output


async def test_a_character_that_is_cut_in_two_streams_whole(bench: Bench) -> None:
    pieces: list[str] = []
    await bench.run(r"printf '\xe2\x82'; sleep 0.1; printf '\xac\n'", on_output=pieces.append)
    assert "".join(pieces) == "€\n"


async def test_the_exit_code_is_told_and_a_signal_as_the_shell_tells_it(bench: Bench) -> None:
    assert (await bench.run("exit 7")).exit_code == 7
    assert (await bench.run("kill -TERM $$")).exit_code == 143


async def test_commands_overlap(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.run("until [ -e go ]; do sleep 0.01; done; echo done"))
    assert (await bench.output("touch go; echo now")) == "now\n"
    assert (await waiting).output == "done\n"


async def test_a_command_that_never_ends_is_killed_at_its_time_with_its_children(bench: Bench, nap: str) -> None:
    started = time.monotonic()
    ran = await bench.run(f"trap '' TERM INT HUP; sleep {nap} & echo here; wait", timeout_s=0.5)
    assert ran.timed_out and ran.exit_code == 137 and ran.output == "here\n"
    assert time.monotonic() - started < 5
    await until(lambda: not napping(nap))
    assert await bench.output("echo fine") == "fine\n"


async def test_a_flood_of_output_is_bounded_and_killed(bench: Bench) -> None:
    seen = 0

    def count(text: str) -> None:
        nonlocal seen
        seen += len(text)

    ran = await bench.run("yes stead | head -c 1000000000; echo never", cap_bytes=50_000, on_output=count)
    assert ran.exit_code == 137 and "ten times" in ran.output and "never" not in ran.output
    assert len(ran.output) < 51_000 and seen <= 500_000 < ran.size_bytes < 1_000_000
    assert ran.output.startswith("stead\nstead") and "bytes left out" in ran.output


async def test_head_and_tail_of_long_output_are_kept(bench: Bench) -> None:
    ran = await bench.run("seq 1 20000", cap_bytes=20_000)
    assert ran.exit_code == 0 and ran.size_bytes == 108_894
    assert ran.output.startswith("1\n2\n3\n") and ran.output.endswith("19999\n20000\n")
    assert "\n[88894 bytes left out]\n" in ran.output


async def test_a_background_process_outlives_its_command_and_dies_with_the_machine(bench: Bench, nap: str) -> None:
    await bench.run(f"sleep {nap} >/dev/null 2>&1 &")
    await until(lambda: bool(napping(nap)))
    assert await bench.machines.kill(SESSION)
    assert not napping(nap)


async def test_a_command_ends_though_its_child_holds_the_output_open(bench: Bench, nap: str) -> None:
    ran = await bench.run(f"sleep {nap} & echo mine", timeout_s=20)
    assert ran.output == "mine\n" and not ran.timed_out


async def test_a_cancelled_call_stops_its_command_and_leaves_the_machine_alone(bench: Bench, nap: str) -> None:
    heard = asyncio.Event()
    running = asyncio.create_task(bench.run(f"echo up; sleep {nap}; echo no", on_output=lambda _: heard.set()))
    await asyncio.wait_for(heard.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: not napping(nap))
    assert await bench.output("echo still here") == "still here\n"
    assert [change[1] for change in bench.changes] == ["started"]


async def test_kill_ends_everything_at_once_even_under_a_flood(bench: Bench, nap: str) -> None:
    heard = asyncio.Event()
    command = f"(setsid sleep {nap} &) ; (nohup sh -c 'sleep {nap}' & disown); yes flood"
    running = asyncio.create_task(bench.run(command, cap_bytes=1 << 30, timeout_s=60, on_output=lambda _: heard.set()))
    await asyncio.wait_for(heard.wait(), 10)
    started = time.monotonic()
    assert await bench.machines.kill(SESSION)
    took = time.monotonic() - started
    assert not napping(nap)
    with pytest.raises(MachineDied, match="killed"):
        await running
    assert took < 5  # a bound on a busy host; it is milliseconds on an idle one
    assert bench.changes == [(SESSION, "started", ""), (SESSION, "ended", "killed")]


async def test_there_is_nothing_to_kill_twice(bench: Bench) -> None:
    assert not await bench.machines.kill(SESSION)
    await bench.run("true")
    assert await bench.machines.kill(SESSION)
    assert not await bench.machines.kill(SESSION)


async def test_after_a_kill_the_next_call_starts_a_fresh_machine(bench: Bench) -> None:
    await bench.run("touch /tmp/here kept")
    await bench.machines.kill(SESSION)
    assert await bench.output("ls /tmp; ls") == "kept\n"
    assert [change[1] for change in bench.changes] == ["started", "ended", "started"]


async def test_a_machine_that_is_killed_while_it_starts_fails_its_callers(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.run("true"))
    while SESSION not in bench.machines._slots:
        await asyncio.sleep(0)
    assert await bench.machines.kill(SESSION)
    with pytest.raises(MachineDied, match="while it started"):
        await waiting
    assert await bench.output("echo again") == "again\n"


async def test_many_callers_share_one_start(bench: Bench) -> None:
    outputs = await asyncio.gather(*(bench.output(f"echo {index}") for index in range(12)))
    assert outputs == [f"{index}\n" for index in range(12)]
    assert [change[1] for change in bench.changes] == ["started"]


async def test_sessions_have_machines_of_their_own(bench: Bench, nap: str) -> None:
    bench.bind(session=OTHER)
    await bench.run(f"touch /tmp/mine; sleep {nap} >/dev/null 2>&1 &")
    await until(lambda: bool(napping(nap)))
    other = await bench.run("ls /tmp; cat /proc/[0-9]*/comm | grep -c sleep", session=OTHER)
    assert other.output == "0\n"
    assert await bench.machines.kill(OTHER)
    assert napping(nap)


async def test_a_machine_is_made_only_by_work_under_a_live_permit(bench: Bench) -> None:
    unspent, closed = fresh_permit(), live_permit()
    closed.close()
    for permit in (unspent, closed):
        with pytest.raises(PermitRefused):
            await bench.machines.run(permit, "touch no", timeout_s=5, cap_bytes=1000, on_output=lambda _: None)
        for work in (
            bench.machines.read(permit, "a", first_line=1, lines=1),
            bench.machines.write(permit, "no", ""),
            bench.machines.edit(permit, "a", "b", "c", every=False),
            bench.machines.glob(permit, "*"),
            bench.machines.grep(permit, "a", "", ""),
            bench.machines.html_text(permit, b""),
        ):
            with pytest.raises(PermitRefused):
                await work
    assert bench.changes == [] and list(bench.project.iterdir()) == []


async def test_a_session_without_a_folder_has_no_machine(bench: Bench) -> None:
    with pytest.raises(MachineUnavailable, match="no folder"):
        await bench.run("true", session=OTHER)


async def test_a_read_only_workspace_cannot_be_written(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("kept")
    bench.bind(writable=False)
    assert await bench.output("cat a.txt; touch b 2>/dev/null || echo refused; ls -A") == "keptrefused\na.txt\n"
    with pytest.raises(ToolFault, match="Read-only"):
        await bench.machines.write(live_permit(), "a.txt", "changed")


async def test_another_binding_replaces_the_machine(bench: Bench, tmp_path: Path) -> None:
    await bench.run("touch first")
    second = tmp_path / "second"
    second.mkdir()
    bench.machines.bind(SESSION, str(second), writable=True)
    assert await bench.output("ls -A; touch here") == ""
    assert (second / "here").exists()
    assert [change[1] for change in bench.changes] == ["started", "ended", "started"]


async def test_what_lives_on_as_another_folder_is_bound_lands_in_its_own(bench: Bench, tmp_path: Path) -> None:
    assert (await bench.run("(until [ -e go ]; do sleep 0.02; done; touch first; sleep 60) >&- 2>&- &")).landing.open
    await bench.output("touch go")
    await bench.until_output("ls first 2>&1 || true", "first\n")
    (tmp_path / "second").mkdir()
    bench.machines.bind(SESSION, str(tmp_path / "second"), writable=True)
    assert await bench.output("ls") == ""
    assert sorted(os.listdir(bench.project)) == ["first", "go"] and os.listdir(tmp_path / "second") == []


async def test_a_folder_that_became_another_is_not_shown(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    bench.project.rmdir()
    bench.project.symlink_to(secret)
    with pytest.raises(MachineUnavailable, match="no longer the folder"):
        await bench.run("touch planted")
    assert not list(secret.iterdir())


async def test_only_fitting_folders_can_be_bound(bench: Bench) -> None:
    with pytest.raises(InvalidRequest, match="Stead's own home"):
        bench.machines.bind(SESSION, str(bench.home.data), writable=False)


async def test_too_much_at_once_is_refused_before_it_is_sent(bench: Bench) -> None:
    with pytest.raises(ToolFault, match="24 MB"):
        await bench.machines.html_text(live_permit(), bytes(25 << 20))


async def test_closing_kills_every_machine(tmp_path: Path, nap: str) -> None:
    async with open_bench(tmp_path) as bench:
        bench.bind(session=OTHER)
        await asyncio.gather(
            bench.run(f"sleep {nap} >/dev/null 2>&1 &"), bench.run(f"sleep {nap} >/dev/null 2>&1 &", session=OTHER)
        )
        await bench.machines.close()
        assert not napping(nap)
        assert len(bench.changes) == 4
