"""A clean Debian, started by its own systemd: a root with a process tree, control groups and accounts of its own.

The network is this machine's, so that a model server and a sender of webhooks of the test are reached over loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

BOOT_S, ROOT_S = 120, 900
PACKAGES = "ca-certificates,systemd-sysv,dbus,libpam-systemd"
_NAMESPACES = ("--mount", "--pid", "--ipc", "--uts", "--cgroup")
# Of /proc/sys all is read-only but what user namespaces have of their own, so that nothing in there sets up this
# machine's kernel. For a sandbox the kernel allows a new /proc only where one is there in full: that is /run/proc.
_BOOT = """
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
cd "$ROOT"
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/proc
mount -t proc proc run/proc
for part in proc/sys/*; do
    [ $part = proc/sys/user ] || { mount --bind $part $part; mount -o remount,bind,ro $part; }
done
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm old
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
pivot_root . old
umount -l old
rmdir old
exec setpriv --bounding-set=-sys_time,-sys_module env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --show-status=0
"""


def make_root(root: Path) -> None:
    """Debian's essential packages, systemd and certificates, and no Python."""
    words = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(root)]
    subprocess.run(words, check=True, timeout=ROOT_S)


class Account(NamedTuple):
    """An account there; what it runs has its environment, and the address of its own service manager."""

    debian: CleanDebian
    name: str

    def __call__(self, script: str, timeout_s: int = 180) -> str:
        """What shell commands print; they begin in the account's folder, and the first that fails is the last."""
        id = self.debian.run(f"id -u {self.name}").strip()
        home = f"/home/{self.name}"
        names = f"HOME={home} XDG_RUNTIME_DIR=/run/user/{id} PATH={home}/.local/bin:/usr/bin:/bin LC_ALL=C.UTF-8"
        return self.debian.run(
            f'cd {home}; exec runuser -u {self.name} -- env -i {names} sh -ec "$SCRIPT"', timeout_s, SCRIPT=script
        )

    def rows(self, command: str) -> list[Any]:
        """What a command of Stead says, a row each."""
        return [json.loads(line) for line in self(f"stead --json {command}").splitlines()]

    def json(self, command: str) -> Any:
        """What a command of Stead says that has one answer."""
        (found,) = self.rows(command)
        return found

    def write(self, name: str, content: str) -> None:
        """A file in its folder."""
        path = self.debian.root / "home" / self.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
        self.debian.run(f"chown -R {self.name}: /home/{self.name}")


class CleanDebian:
    """The system in a root, between ``boot`` and ``halt``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        found = Path("/proc/mounts").read_text("utf-8").splitlines()
        self._groups = (
            Path(next(line.split()[1] for line in found if line.split()[2] == "cgroup2")) / f"stead-{root.parent.name}"
        )
        self._leader: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def boot(self) -> None:
        """Start its systemd, and wait until all is up."""
        self._groups.mkdir()
        enter = f'echo 0 > {self._groups}/cgroup.procs; exec unshare {" ".join(_NAMESPACES)} --fork sh -ec "$BOOT"'
        names = {"PATH": os.environ["PATH"], "ROOT": str(self.root), "BOOT": _BOOT}
        with (self.root.parent / "console").open("ab") as console:
            self._leader = subprocess.Popen(
                ["sh", "-ec", enter], env=names, stdin=subprocess.DEVNULL, stdout=console, stderr=console
            )
        children = Path(f"/proc/{self._leader.pid}/task/{self._leader.pid}/children")
        deadline = time.monotonic() + BOOT_S
        while not self._is_up(children):
            assert self._leader.poll() is None and time.monotonic() < deadline, self._console()
            time.sleep(0.1)
        said = self.run("systemctl is-system-running --wait || systemctl --failed", BOOT_S)
        assert said == "running\n", said

    def _is_up(self, children: Path) -> bool:
        """Whether the process that was started is systemd, and answers."""
        with contextlib.suppress(FileNotFoundError, IndexError):
            self._pid = int(children.read_text("utf-8").split()[0])
            if Path(f"/proc/{self._pid}/comm").read_text("utf-8") == "systemd\n":
                return Path(f"/proc/{self._pid}/root/run/systemd/private").exists()
        return False

    def halt(self) -> None:
        """Power off as an administrator does; nothing of it is left running."""
        assert self._leader is not None
        try:
            os.kill(self._pid, signal.SIGRTMIN + 4)  # systemd(1): starts poweroff.target
            self._leader.wait(BOOT_S)
        finally:
            if self._leader.poll() is None:
                os.kill(self._pid, signal.SIGKILL)
                self._leader.wait(BOOT_S)
            for folder in sorted((path for path in self._groups.rglob("*") if path.is_dir()), reverse=True):
                folder.rmdir()
            self._groups.rmdir()

    def _console(self) -> str:
        return (self.root.parent / "console").read_text("utf-8", "replace")

    def run(self, script: str, timeout_s: int = 120, **environment: str) -> str:
        """What shell commands print that the administrator runs there."""
        names = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", **environment}
        words = ["nsenter", f"--target={self._pid}", *_NAMESPACES, "--root", "--wd", "sh", "-ec", script]
        done = subprocess.run(
            words, env=names, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        assert done.returncode == 0, f"{script}\n{environment.get('SCRIPT', '')}\n{done.stdout}{done.stderr}"
        return done.stdout

    def account(self, name: str) -> Account:
        """A new account, whose services run without it being signed in."""
        self.run(f"useradd --create-home {name}; loginctl enable-linger {name}; systemctl start user@$(id -u {name})")
        return Account(self, name)


def can_boot() -> bool:
    """Whether this machine lets a test make such a root and start it."""
    has_groups = " cgroup2 " in Path("/proc/mounts").read_text("utf-8")
    return os.geteuid() == 0 and has_groups and shutil.which("mmdebstrap") is not None
