"""The kernel's bound on a machine's memory, where cgroups can be made, and its absence where they cannot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stead.machines import cgroup
from stead.machines.cgroup import confine, find_parent
from stead.machines.sandbox import Limits
from tests.machines.bench import fresh_nap, napping, open_bench, this_host, until

PARENT = find_parent()
WITH_CGROUPS = pytest.mark.skipif(not PARENT, reason="NO CGROUP WITH A MEMORY LIMIT CAN BE MADE HERE; try it as root")


def made() -> list[Path]:
    return list(Path(PARENT).glob(f"stead-{os.getpid()}-*"))


@pytest.mark.parametrize("own", ["0::/no/such/unit", "5:memory:/v1/only\n", "0::/../../etc/passwd\n", "nonsense"])
def test_where_none_can_be_made_there_is_none(own: str) -> None:
    assert find_parent(own) == ""


@WITH_CGROUPS
async def test_each_machine_has_its_own_and_one_that_is_over_leaves_none_for_long(tmp_path: Path) -> None:
    async with open_bench(tmp_path, Limits(memory_bytes=64 << 20)) as bench:
        nap = fresh_nap()
        await bench.run(f"sleep {nap} >/dev/null 2>&1 &")
        await until(lambda: bool(napping(nap)))
        (own,) = made()
        inside = (own / "cgroup.procs").read_text().split()
        assert str(napping(nap)[0]) in inside and str(os.getpid()) not in inside
        assert int((own / "memory.max").read_text()) == (64 << 20) + (1 << 30)
    (tmp_path / "next").mkdir()
    async with open_bench(tmp_path / "next") as bench:
        await bench.run("true")
        assert own not in made() and len(made()) == 1
    assert this_host().cgroups == PARENT


@WITH_CGROUPS
def test_the_kernel_ends_what_takes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "_ROOM", 16 << 20)
    eat = "import sys; sys.stdin.read(1); x = b'x' * (64 << 20); print('survived')"
    with subprocess.Popen(["/usr/bin/python3", "-c", eat], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as eater:
        confine(PARENT, 16 << 20, eater.pid)
        said, _ = eater.communicate(b"!", timeout=60)
    assert (said, eater.returncode) == (b"", -9)


@WITH_CGROUPS
def test_what_another_daemon_has_made_and_not_used_yet_stays_and_what_a_dead_one_left_goes() -> None:
    with subprocess.Popen(["sleep", "60"]) as other, subprocess.Popen(["sleep", "60"]) as mine:
        living, left = Path(PARENT, f"stead-{other.pid}-0"), Path(PARENT, "stead-4194305-0")
        living.mkdir()
        left.mkdir(exist_ok=True)
        confine(PARENT, 64 << 20, mine.pid)
        assert living.exists() and not left.exists()
        living.rmdir()
        other.kill()
        mine.kill()
