"""A daemon that is root: its machines are ordinary users, and yet a root-owned project can be worked on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain.errors import MachineUnavailable
from stead.machines.idmap import STAGE, Show, private_namespace
from tests.machines.bench import SESSION, Bench, live_permit, napping, until

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only a daemon that is root needs this; run the tests as root"
)


@pytest.fixture
def unmappable(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system without id-mapped mounts."""
    folder = tmp_path / "ramfs"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "stead", str(folder)]).returncode:
        pytest.skip("THIS ROOT MAY NOT MOUNT, so file systems without id maps are not tested")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_files_of_root_are_the_machines_own_and_stay_roots_on_disk(bench: Bench) -> None:
    secret = bench.project / "old"
    secret.write_text("old")
    secret.chmod(0o600)
    bench.project.chmod(0o700)
    assert await bench.output("stat -c '%u:%g' old .; cat old; echo new > new; mkdir d; id -u") == (
        "1000:1000\n1000:1000\nold1000\n"
    )
    await bench.machines.write(live_permit(), "sub/by_runner", "x")
    for path in ("new", "d", "sub", "sub/by_runner"):
        found = (bench.project / path).stat()
        assert (found.st_uid, found.st_gid) == (0, 0), path


async def test_files_of_another_owner_stay_theirs(bench: Bench) -> None:
    os.chown(bench.project, 12345, 54321)
    (bench.project / "roots").write_text("root's")
    (bench.project / "roots").chmod(0o644)
    assert await bench.output("echo new > new; touch roots 2>/dev/null || echo refused; cat roots") == "refused\nroot's"
    found = (bench.project / "new").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


async def test_the_process_outside_is_no_root(bench: Bench, nap: str) -> None:
    await bench.run(f"sleep {nap} >/dev/null 2>&1 &")
    await until(lambda: bool(napping(nap)))
    (pid,) = napping(nap)
    status = Path(f"/proc/{pid}/status").read_text()
    assert "Uid:\t65534\t65534\t65534\t65534\n" in status and "Gid:\t65534\t65534\t65534\t65534\n" in status
    assert "Groups:\t \n" in status and "CapEff:\t0000000000000000\n" in status


async def test_the_mount_is_seen_by_nobody_else_and_leaves_nothing(bench: Bench) -> None:
    before, namespace = Path("/proc/self/mountinfo").read_text(), os.readlink("/proc/self/ns/mnt")
    await bench.run("true")
    assert Path("/proc/self/mountinfo").read_text() == before
    assert os.readlink("/proc/self/ns/mnt") == namespace
    await bench.machines.kill(SESSION)
    assert Path("/proc/self/mountinfo").read_text() == before


async def test_a_file_system_without_id_maps_is_refused_with_the_reason(bench: Bench, unmappable: Path) -> None:
    bench.machines.bind(SESSION, str(unmappable), writable=True)
    with pytest.raises(MachineUnavailable, match=r"cannot be lent to the machine's user.*Invalid argument.*owner"):
        await bench.run("true")


def test_a_folder_that_is_not_there_is_an_error_that_names_it() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        private_namespace([Show("/no/such/folder", "work", None, read_only=True)], 65534)
    assert caught.value.filename == "/no/such/folder"


def test_a_read_only_view_is_read_only_even_for_root(tmp_path: Path) -> None:
    fd = private_namespace([Show(str(tmp_path), "seen", None, read_only=True)], 65534)
    try:
        line = ["nsenter", f"--mount=/proc/{os.getpid()}/fd/{fd}", "touch", f"{STAGE}/seen/new"]
        done = subprocess.run(line, capture_output=True, text=True)
    finally:
        os.close(fd)
    assert "Read-only file system" in done.stderr and list(tmp_path.iterdir()) == []
