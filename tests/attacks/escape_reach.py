"""Tries to reach what is outside: files, processes, the network. Runs inside a machine."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

from tests.attacks.escape_tools import OUTSIDE, SECRET, TARGETS, TRIES, attempt, found_secret, program, syscall, wrote

TOOLCHAINS = {
    *(".bun", ".cargo", ".deno", ".local", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".volta", "go", "bin"),
}
"""What a home may show of itself; of ``.cargo`` only its programs."""

# -- reading --------------------------------------------------------------------------------------------------------


@attempt
def make_a_hard_link_to_the_outside() -> object:
    for source in (OUTSIDE + "/secret", "link_to_secret", "../outside/secret"):
        try:
            os.link(source, "hard", follow_symlinks=True)
            if not os.path.islink("hard"):
                return source
            os.unlink("hard")
        except OSError:
            continue
    return ""


@attempt
def make_a_hard_link_across_mounts() -> object:
    os.link("/usr/bin/env", "env_linked")
    return "linked"


@attempt
def read_by_file_handle() -> object:
    handle = ctypes.create_string_buffer(b"\x80\0\0\0" + bytes(132))
    mount = ctypes.c_int()
    syscall(303, 264, -100, b"/work", handle, ctypes.byref(mount), 0)
    return "a handle was made"


@attempt
def open_by_file_handle() -> object:
    handle = b"\x08\0\0\0\x01\0\0\0" + b"\x02\0\0\0" + bytes(4)
    return syscall(304, 265, os.open("/work", os.O_RDONLY), handle, 0)


TRIES.update(
    {
        "read_a_private_key": lambda: found_secret(OUTSIDE + "/home/.ssh/id"),
        "read_shadow": lambda: Path("/etc/shadow").read_text()[:40],
        "read_through_the_first_process_root": lambda: found_secret(
            *(f"/proc/{pid}/root{OUTSIDE}/secret" for pid in ("1", "self", "2"))
        ),
        "read_environments": lambda: found_secret(
            *glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/task/*/environ")
        ),
        "read_own_environment": lambda: [name for name, value in os.environ.items() if SECRET in value],
        "read_through_a_link_in_the_workspace": lambda: found_secret("link_to_secret", "link_to_outside/secret"),
        "read_through_dots": lambda: found_secret(
            "../outside/secret", "../" * 20 + OUTSIDE[1:] + "/secret", OUTSIDE + "/secret"
        ),
        "see_home_folders": lambda: [
            entry
            for folder in ("/root", "/var", "/mnt", "/srv", "/tools/home", *glob.glob("/home/*"))
            for entry in (*glob.glob(f"{folder}/*"), *glob.glob(f"{folder}/.*"), *glob.glob(f"{folder}/.cargo/*"))
            if os.path.basename(entry) not in TOOLCHAINS and not (folder == "/tools/home" and os.path.isdir(entry))
        ],
        "see_steads_home": lambda: os.path.exists(TARGETS["stead_home"]),
        "read_kernel_memory": lambda: os.pread(os.open("/proc/kcore", os.O_RDONLY), 8, 0),
        "read_the_kernel_log": lambda: syscall(103, 116, 3, ctypes.create_string_buffer(4096), 4096),
        "open_the_kernel_log_device": lambda: os.open("/dev/kmsg", os.O_RDONLY),
    }
)


# -- writing --------------------------------------------------------------------------------------------------------


@attempt
def rename_the_git_folder_away() -> object:
    os.rename(".git", ".git2")
    return "renamed"


@attempt
def rename_over_the_git_folder() -> object:
    os.makedirs("evil_git/hooks", exist_ok=True)
    os.rename("evil_git", ".git")
    return "replaced"


@attempt
def exchange_the_git_folder() -> object:
    os.makedirs("evil_git", exist_ok=True)
    return 1 + syscall(316, 276, -100, b"evil_git", -100, b".git", 2)


@attempt
def change_a_toolchain() -> object:
    folders = [path for path in os.environ["PATH"].split(":") if path != "/home/.local/bin" and os.path.isdir(path)]
    if TARGETS["toolchain"] and TARGETS["toolchain"] not in folders:
        return "it is not there to be tried"
    for path in [f"{folder}/planted" for folder in folders] + glob.glob(f"{TARGETS['toolchain']}/*"):
        with contextlib.suppress(OSError):
            return wrote(path, "#!/bin/sh\n")
    return ""


TRIES.update(
    {
        "write_a_file_outside": lambda: wrote(OUTSIDE + "/secret"),
        "write_through_a_link": lambda: (
            wrote("link_to_secret") if os.path.exists("link_to_secret") else wrote("link_to_outside/new")
        ),
        "write_shell_start_files": lambda: wrote(OUTSIDE + "/home/.bashrc"),
        "plant_a_git_hook": lambda: wrote(".git/hooks/post-checkout", "#!/bin/sh\n"),
        "plant_git_configuration": lambda: wrote(".git/config", "[core]\n\tfsmonitor = true\n"),
        "plant_another_git_layout": lambda: wrote(".git/commondir", "../evil\n"),
        "unmount_the_git_folder": lambda: program("umount", "/work/.git"),
        "write_system_programs": lambda: wrote("/usr/bin/env"),
        "write_account_files": lambda: wrote("/etc/passwd", "evil::0:0::/:/bin/bash\n"),
        "overwrite_the_program_of_the_first_process": lambda: os.open("/proc/1/exe", os.O_WRONLY),
    }
)


# -- other processes ------------------------------------------------------------------------------------------------


@attempt
def see_host_processes() -> object:
    lines = [Path(path).read_bytes() for path in glob.glob("/proc/[0-9]*/cmdline")]
    return [line for line in lines if TARGETS["marker"].encode() in line]


@attempt
def signal_a_host_process() -> object:
    os.kill(TARGETS["pid"], signal.SIGUSR1)
    return "sent"


@attempt
def trace_a_child() -> object:
    pid = os.fork()
    if pid == 0:
        time.sleep(5)
        os._exit(0)
    try:
        return 1 + syscall(101, 117, 0x4206, pid, 0, 0)
    finally:
        os.kill(pid, signal.SIGKILL)


@attempt
def read_the_memory_of_a_process() -> object:
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    own = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    return syscall(310, 270, os.getppid(), vector, 1, own, 1, 0)


@attempt
def use_an_inherited_descriptor() -> object:
    found = []
    for fd in range(3, 256):
        try:
            if SECRET.encode() in os.pread(fd, 1000, 0):
                found.append(fd)
        except OSError:
            continue
    return found


@attempt
def open_descriptors_of_other_processes() -> object:
    others = [path for path in glob.glob("/proc/[0-9]*/fd/*") if f"/{os.getpid()}/" not in path]
    return found_secret(*(path for path in others if os.path.isfile(path)))


TRIES.update(
    {
        "trace_the_first_process": lambda: 1 + syscall(101, 117, 16, 1, 0, 0),
        "take_a_descriptor_of_the_first_process": lambda: syscall(438, 438, os.pidfd_open(1), 1, 0),
        "share_memory_with_the_host": lambda: 1 + syscall(29, 194, TARGETS["shm_key"], 0, 0),
    }
)


# -- the network ----------------------------------------------------------------------------------------------------


def connects(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> str:
    with socket.socket(family, kind) as peer:
        peer.settimeout(1)
        peer.connect(address)
        peer.send(b"out")
        return f"reached {address}"


@attempt
def reach_a_server_of_the_host_by_datagram() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.sendto(b"ask", ("127.0.0.1", TARGETS["udp_port"]))
    return ""  # whether it arrived is seen outside


@attempt
def reach_a_system_service() -> object:
    paths = ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
             "/run/containerd/containerd.sock", "/tmp/.X11-unix/X0")  # fmt: skip
    return [path for path in paths if os.path.exists(path)]


@attempt
def reach_a_server_through_the_way_out() -> object:
    """Asks for the host's server in every way that a proxy knows, by the bridge and at the socket itself."""
    ways: list[tuple[int, Any]] = [(socket.AF_INET, ("127.0.0.1", 3128)), (socket.AF_UNIX, "/run/egress/proxy.sock")]
    port = TARGETS["tcp_port"]
    got = []
    for family, address in ways:
        for host in ("127.0.0.1", "localhost", "0x7f000001", "[::1]", "127.0.0.1.example.com", "example.com"):
            for message in (
                f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n",
                f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n",
            ):
                with contextlib.suppress(OSError), socket.socket(family) as peer:
                    peer.settimeout(5)
                    peer.connect(address)
                    peer.sendall(message.encode())
                    answer = peer.recv(100)
                    got += [] if answer[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 403 ") else [answer]
    return got


@attempt
def put_another_way_out_in_its_place() -> object:
    for work in (
        lambda: os.unlink("/run/egress/proxy.sock"),
        lambda: os.rename("/run/egress/ca.pem", "/run/egress/old.pem"),
        lambda: wrote("/run/egress/ca.pem"),
        lambda: os.rename("/run/egress", "/run/other"),
        lambda: os.symlink("/work", "/run/egress/more"),
    ):
        with contextlib.suppress(OSError):
            work()
            return "changed"
    return ""


def makes_socket(family: int, kind: int, protocol: int = 0) -> object:
    with socket.socket(family, kind, protocol) as made:
        return f"socket {made.fileno()}"


TRIES.update(
    {
        "reach_a_server_of_the_host": lambda: connects(socket.AF_INET, ("127.0.0.1", TARGETS["tcp_port"])),
        "reach_the_metadata_service": lambda: connects(socket.AF_INET, ("169.254.169.254", 80)),
        "reach_a_name_server": lambda: connects(socket.AF_INET, ("192.0.2.53", 53), socket.SOCK_DGRAM),
        "reach_out_by_ipv6": lambda: connects(socket.AF_INET6, ("2001:db8::1", 80)),
        "resolve_a_name": lambda: socket.getaddrinfo("example.com", 80),
        "bring_up_a_network": lambda: (
            [name for _, name in socket.if_nameindex() if name != "lo"]
            or program("ip", "link", "add", "d0", "type", "dummy")
        ),
        "reach_a_named_socket": lambda: connects(socket.AF_UNIX, OUTSIDE + "/socket"),
        "reach_an_abstract_socket": lambda: connects(socket.AF_UNIX, "\0" + TARGETS["abstract"]),
        "make_a_virtual_machine_socket": lambda: makes_socket(40, socket.SOCK_STREAM),
        "make_a_packet_socket": lambda: makes_socket(17, socket.SOCK_RAW, 3),
        "make_a_kernel_crypto_socket": lambda: makes_socket(38, socket.SOCK_SEQPACKET),
        "make_a_raw_socket": lambda: makes_socket(socket.AF_INET, socket.SOCK_RAW, 1),
    }
)
