"""Tries at the kernel: privileges, namespaces, its large interfaces; and at taking too much. Runs inside a machine.

Where a try would change a setting of the host's kernel, it writes back the value that is there.
"""

from __future__ import annotations

import ctypes
import fcntl
import glob
import os
import select
import socket
import subprocess
import time
from pathlib import Path

from tests.attacks.escape_tools import TRIES, attempt, program, syscall, wrote

# -- privileges and the kernel --------------------------------------------------------------------------------------


@attempt
def become_root() -> object:
    os.setuid(0)
    return os.getuid() == 0


@attempt
def keep_a_capability() -> object:
    status = Path("/proc/self/status").read_text().splitlines()
    return [line for line in status if line.startswith("Cap") and int(line.split()[1], 16)]


@attempt
def make_a_user_namespace_by_clone() -> object:
    if (pid := syscall(56, 220, 0x10000000 | 17, 0, 0, 0, 0)) == 0:
        os._exit(0)
    return pid


@attempt
def make_a_user_namespace_by_clone3() -> object:
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    if (pid := syscall(435, 435, arguments, 88)) == 0:
        os._exit(0)
    return pid


@attempt
def change_the_root() -> object:
    os.chroot("/tmp")
    return "changed"


@attempt
def make_a_device() -> object:
    os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0))
    return "made"


@attempt
def open_a_device() -> object:
    names = ("kvm", "mem", "vda", "sda", "nvme0n1", "fuse", "net/tun", "loop-control", "vhost-vsock", "userfaultfd")
    return [name for name in names if os.path.exists("/dev/" + name)]


@attempt
def type_into_a_terminal() -> object:
    pid, terminal = os.forkpty()
    if pid == 0:
        try:
            fcntl.ioctl(0, 0x5412, b"x")
            os.write(1, b"TYPED")
        except OSError:
            os.write(1, b"held")
        os._exit(0)
    return "TYPED" in os.read(terminal, 100).decode() if select.select([terminal], [], [], 5)[0] else ""


@attempt
def load_a_bpf_program() -> object:
    attributes = ctypes.create_string_buffer(b"\x02\0\0\0\x04\0\0\0\x04\0\0\0\x01\0\0\0" + bytes(100))
    return syscall(321, 280, 0, attributes, 72)


@attempt
def name_the_host() -> object:
    socket.sethostname(socket.gethostname())
    return "named"


@attempt
def write_the_core_pattern_back() -> object:
    pattern = Path("/proc/sys/kernel/core_pattern")
    same = pattern.read_text()
    pattern.write_text(same)
    return "written"


@attempt
def write_other_kernel_settings_back() -> object:
    for name in (
        "kernel/hostname",
        "kernel/modprobe",
        "vm/overcommit_memory",
        "user/max_user_namespaces",
        "fs/binfmt_misc/register",
    ):
        setting = Path("/proc/sys") / name
        try:
            same = setting.read_text()
            setting.write_text(same)
            return name
        except OSError:
            continue
    return ""


@attempt
def use_control_groups() -> object:
    paths = [path for path in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True) if os.access(path, os.W_OK)]
    return paths or os.path.exists("/sys/fs/cgroup/release_agent")


TRIES.update(
    {
        "become_root_by_a_setuid_program": lambda: (
            program("sudo", "-n", "id") if os.path.exists("/usr/bin/sudo") else program("su", "-c", "id", "root")
        ),
        "become_root_by_su": lambda: program("su", "-c", "id", "root"),
        "make_a_user_namespace": lambda: 1 + syscall(272, 97, 0x10000000),
        "mount_in_a_user_namespace": lambda: program("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/tmp"),
        "mount_something": lambda: 1 + syscall(165, 40, b"none", b"/tmp", b"tmpfs", 0, b""),
        "remount_for_writing": lambda: 1 + syscall(165, 40, b"", b"/usr", b"", 0x20 | 0x1000, b""),
        "open_a_mount_tree": lambda: syscall(428, 428, -100, b"/usr", 1),
        "open_the_controlling_terminal": lambda: os.open("/dev/tty", os.O_RDWR),
        "use_io_uring": lambda: syscall(425, 425, 8, ctypes.create_string_buffer(120)),
        "catch_page_faults": lambda: syscall(323, 282, 1),
        "watch_performance": lambda: syscall(298, 241, (ctypes.c_uint32 * 32)(1, 128), 0, -1, -1, 0),
        "use_the_keyring": lambda: syscall(250, 219, 0, -3, 1),
        "change_personality": lambda: 1 + syscall(135, 92, 0x0040000),
        "set_the_clock": lambda: 1 + syscall(227, 112, 0, (ctypes.c_long * 2)(int(time.time()), 0)),
        "load_a_module": lambda: 1 + syscall(313, 273, -1, b"", 0),
        "press_the_magic_key": lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY),
        "see_the_devices_of_the_host": lambda: os.listdir("/sys"),
    }
)


# -- taking too much ------------------------------------------------------------------------------------------------


@attempt
def write_a_huge_file() -> object:
    with open("huge", "wb") as file:
        try:
            for _ in range(40):
                file.write(bytes(8 << 20))
                file.flush()
            return "320 MB in one file"
        finally:
            os.unlink("huge")


@attempt
def grow_a_sparse_file() -> object:
    with open("sparse", "wb") as file:
        try:
            file.truncate(1 << 40)
            return "a terabyte"
        finally:
            os.unlink("sparse")


@attempt
def fill_the_temporary_folder() -> object:
    made = []
    try:
        for number in range(3):
            made.append(f"/tmp/fill{number}")
            Path(made[-1]).write_bytes(bytes(200 << 20))
        return "600 MB in memory"
    finally:
        for path in made:
            Path(path).unlink(missing_ok=True)


@attempt
def fill_shared_memory() -> object:
    made = Path("/dev/shm/fill")
    try:
        made.write_bytes(bytes(100 << 20))
        return "100 MB"
    finally:
        made.unlink(missing_ok=True)


@attempt
def raise_a_limit() -> object:
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (100_000, 100_000))
    except ValueError:
        return ""
    return "raised"


@attempt
def start_too_many_processes() -> object:
    started = []
    try:
        for _ in range(600):
            started.append(subprocess.Popen(["sleep", "60"]))
        return f"{len(started)} processes"
    finally:
        for process in started:
            process.kill()
            process.wait()


@attempt
def leave_a_core_behind() -> object:
    pid = os.fork()
    if pid == 0:
        os.abort()
    return bool(os.WCOREDUMP(os.waitpid(pid, 0)[1]))


TRIES.update(
    {
        "fill_the_root": lambda: wrote("/fill"),
    }
)
