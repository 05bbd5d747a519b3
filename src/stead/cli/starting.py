"""Starting the daemon in the background, and waiting for it with open eyes.

Layer: cli.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from stead.cli.invocation import UNREACHABLE, CommandError, Invocation
from stead.cli.output import clean
from stead.client import NoDaemon

if TYPE_CHECKING:
    from stead.config import Home

START_TIMEOUT_S = 15.0
_POLL_S = 0.03


class Waiting:
    """Tells a person, from one second on, what is awaited and for how long already.

    Args:
        invocation: whose standard error it is.
        what: such as "the daemon to answer".
    """

    def __init__(self, invocation: Invocation, what: str) -> None:
        self._invocation = invocation
        self._what = what
        self._began = time.monotonic()
        self._noted_s = 0

    @property
    def elapsed_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def tick(self) -> None:
        """Wait a moment; say something when another second or so has gone."""
        time.sleep(_POLL_S)
        if int(self.elapsed_s) >= max(self._noted_s * 2, 1):
            self._noted_s = int(self.elapsed_s)
            self._invocation.out.note(f"waiting for {self._what}, {self._noted_s} s (Ctrl-C stops waiting)")


def answering(invocation: Invocation) -> bool:
    """Whether the home's daemon runs and answers."""
    invocation.client.forget_address()
    try:
        invocation.client.get("/status")
    except NoDaemon:
        return False
    return True


def start(invocation: Invocation) -> None:
    """Start the daemon and wait until it answers: by its service where one is installed, else in a session of its own.

    Where its first start after an upgrade fails, the home and the program are put back as they were.

    Raises:
        CommandError: it left, or did not answer within ``START_TIMEOUT_S``.
    """
    try:
        _start(invocation)
    except CommandError as error:
        from stead.cli.way_back import fall_back

        if not is_held(invocation.home) and (said := fall_back(invocation)):
            error.next_step = f"{error.next_step}; {said}"
        raise


def _start(invocation: Invocation) -> None:
    home = invocation.home
    try:
        home.make()
        log_began = home.log.stat().st_size if home.log.exists() else 0
        pid = 0 if _start_service(invocation) else _spawn(invocation)
    except OSError as error:
        raise CommandError(
            f"the home {str(home.root)!r} cannot be used: {error}",
            "choose another with --home DIR, or fix its permissions",
            exit_code=UNREACHABLE,
            code="start",
        ) from error
    waiting = Waiting(invocation, "the daemon to answer")
    while not answering(invocation):
        # Where two start at the same moment, one daemon leaves because the other has the home; that one is waited for.
        if pid and (code := _ended(pid)) and not is_held(invocation.home) and not answering(invocation):
            raise _failed(invocation, f"the daemon failed to start (exit code {code})", log_began)
        if waiting.elapsed_s > START_TIMEOUT_S and not (home.data / "backups/upgrading").exists():
            why = f"the daemon (process {pid}) did not answer within {START_TIMEOUT_S:g} s"
            raise _failed(invocation, why, log_began)
        waiting.tick()


def daemon_command(invocation: Invocation) -> list[str]:
    """The argv of the daemon. ``-P`` keeps a ``stead`` folder of the current directory from being run in its place."""
    return [sys.executable, "-P", "-m", "stead.serve", "--home", str(invocation.home.root)]


def _start_service(invocation: Invocation) -> bool:
    """Have the home's service start the daemon, where one is installed; whether it did."""
    from stead.cli.own_service import installed

    service = installed(invocation.home)
    if service is None:
        return False
    try:
        service.start()
    except CommandError as error:
        invocation.out.note(f"note: the service {service.name} did not start it: {clean(error.cause)}")
        invocation.out.note("It is started by hand now. See: stead service status, journalctl")
        return False
    return True


def _spawn(invocation: Invocation) -> int:
    """Start the daemon in a session of its own, so that no terminal's end reaches it; gives its process id."""
    home = invocation.home
    log = os.open(home.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    command, environment = daemon_command(invocation), {**os.environ, "STEAD_HOME": str(home.root)}
    pid = os.fork()
    if pid:
        os.close(log)
        return pid
    try:
        os.setsid()
        os.chdir(home.root)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.execve(command[0], command, environment)  # noqa: S606 - our own interpreter and module, no shell
    finally:
        os._exit(127)


def _ended(pid: int) -> str:
    """How a child ended, "" while it runs."""
    try:
        waited, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return "unknown"
    return str(os.waitstatus_to_exitcode(status)) if waited else ""


def is_held(home: Home) -> bool:
    """Whether a daemon has the home's lock, answering or not."""
    import fcntl

    try:
        lock = os.open(home.lock, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _failed(invocation: Invocation, why: str, log_began: int) -> CommandError:
    """The error for a daemon that did not come up, with the end of what it logged since."""
    with open(invocation.home.log, "rb") as log:
        log.seek(log_began)
        lines = log.read(1_000_000).decode("utf-8", "replace").strip().splitlines()
    tail = "".join(f"\n  {line}" for line in lines[-8:])
    return CommandError(
        why + (f"; its log ends with:{tail}" if tail else ""), "stead doctor", exit_code=4, code="start"
    )
