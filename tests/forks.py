# ruff: noqa: F401 - the template imports so that a fork need not
"""Programs as forks of one process that has imported the product already.

Most tests that need a daemon ask nothing about its start, and what a start and a first request cost is nearly all
imports: 0.8 of 1 CPU second. So each process of the tests keeps one template: a fresh interpreter with a bare
environment that has imported what a daemon imports and done nothing else (no thread, no loop, no open file). A program
is then its fork, in a session of its own, with its own environment, arguments and streams, and runs its module as
``python -m`` does. So is a command line, at a third of its cost. What another process sees of it (its command line,
the environment that it started with) is the template's, so a test that looks there, and every test of starting, starts
a daemon as users do.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

REQUEST_BYTES = 65_536
"""One program's module, arguments and environment, as JSON."""


class Fork:
    """A program that the template forked, with what is used of ``subprocess.Popen``.

    Args:
        module: what it runs.
        arguments: of its command line, after the module.
        environment: the whole of it.
        output: takes what it writes, faults too.
        errors: takes its faults instead.
        stdin: a file that it reads; it has nothing to read without one.
        cwd: where it works; this process's folder when empty.
        control: of another template than the daemon's.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes],
        *,
        errors: IO[bytes] | None = None,
        stdin: IO[bytes] | None = None,
        cwd: str = "",
        control: socket.socket | None = None,
    ) -> None:
        self._ended, ended = os.pipe()
        control = control or template()
        request = {"module": module, "arguments": list(arguments), "environment": dict(environment), "cwd": cwd}
        streams = [output.fileno(), (errors or output).fileno(), *([stdin.fileno()] if stdin else [])]
        socket.send_fds(control, [json.dumps(request).encode()], [ended, *streams])
        os.close(ended)
        self.pid = int(control.recv(16))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._status(0)

    def wait(self, timeout: float) -> int:
        """Wait for its end; gives its exit code.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        if (status := self._status(timeout)) is None:
            raise subprocess.TimeoutExpired(["fork", str(self.pid)], timeout)
        return status

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _status(self, timeout_s: float) -> int | None:
        if self.returncode is None:
            ready = select.poll()
            ready.register(self._ended, select.POLLIN)
            if ready.poll(timeout_s * 1000):
                self.returncode = int(os.read(self._ended, 16))
                os.close(self._ended)
        return self.returncode


def run(
    module: str,
    arguments: Sequence[str],
    timeout_s: float,
    *,
    environment: Mapping[str, str] = os.environ,
    stdin: str = "",
    cwd: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as ``subprocess.run`` does.

    Raises:
        subprocess.TimeoutExpired: it still ran, and was ended.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        program = Fork(module, arguments, environment, output, errors=errors, stdin=given, cwd=cwd)
        try:
            code = program.wait(timeout_s)
        finally:
            program.kill()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess([module, *arguments], code, output.read().decode(), errors.read().decode())


@functools.cache
def template(*program: str) -> socket.socket:
    """Where this process's template listens. It starts when it is first needed and ends with this process.

    Args:
        program: module and arguments of another template, which takes the number of its end of the socket last.
    """
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    bare = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", *(program or ("tests.forks",)), str(its.fileno())],
            env={**bare, "PYTHONPATH": os.pathsep.join((os.getcwd(), os.path.join(os.getcwd(), "src")))},
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait(10)

    atexit.register(end)
    return ours


class Request(NamedTuple):
    """What a fork is asked to be."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    cwd: str
    streams: list[int]


def serve(control: socket.socket) -> Request | None:
    """Be the template: fork a program for each request and report its end; gives None when there can be no more.

    In a fork it gives what that was asked to be; nothing of the template is open there.
    """
    programs: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), *programs], [], [])
        for handle in programs.keys() & ready:
            pid, ended = programs.pop(handle)
            os.write(ended, str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
            os.close(ended)
            os.close(handle)
        if control.fileno() not in ready:
            continue
        message, handles, _, _ = socket.recv_fds(control, REQUEST_BYTES, 4)
        if not message:
            return None
        ended, *streams = handles
        if (pid := os.fork()) == 0:
            for handle in (ended, *programs, *(end for _, end in programs.values())):
                os.close(handle)
            control.close()
            return Request(streams=streams, **json.loads(message))
        for handle in streams:
            os.close(handle)
        programs[os.pidfd_open(pid)] = (pid, ended)
        control.send(str(pid).encode())


def become(request: Request) -> None:
    """Be the program, in the fork, to its end.

    It leaves without taking the interpreter apart: that would copy each page that it has in common with the template.
    """
    os.setsid()
    for place, handle in zip((1, 2, 0), request.streams, strict=False):
        os.dup2(handle, place)
        os.close(handle)
    if request.cwd:
        os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv[1:] = request.arguments
    sys.modules.pop(request.module, None)
    code: object = 1
    try:
        runpy.run_module(request.module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as left:
        code = left.code
    except BaseException:  # noqa: BLE001 - here, too, any other is shown and ends the program
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing ends its forks
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)


if __name__ == "__main__":
    # What the daemon imports when it first needs it, too: for a request to a model, for a machine, for a folder.
    import encodings.idna
    import tomllib

    import anyio._backends._asyncio
    import argon2.low_level
    import cryptography.hazmat.backends.openssl.backend
    import cryptography.hazmat.primitives.ciphers.aead
    import fastcdc
    import genai_prices.data_snapshot
    import httpcore2
    import msgspec
    import pathspec
    import tree_sitter_bash
    import uvicorn.lifespan.off

    import stead.cli.main
    import stead.daemon
    import stead.domain.lazy_patterns
    import stead.egress.authority
    import stead.providers.listing
    import stead.providers.streams
    import stead.screen.detection
    import stead.screen.outgoing
    import stead.tools.schema

    genai_prices.data_snapshot.get_snapshot()
    stead.screen.detection.standard().spans(b"password=1")  # its patterns are compiled, its automaton begun
    lazy = type(stead.domain.lazy_patterns.lazy_pattern(""))
    assert all(one.pattern for one in gc.get_objects() if type(one) is lazy), "each is compiled by being looked at"
    for tool in [module for name, module in sys.modules.items() if name.startswith("stead.tools.")]:
        for kind in vars(tool).values():
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__name__.endswith("Arguments"):
                stead.tools.schema.terse_schema(kind)
    gc.collect()
    gc.freeze()
    if asked := serve(socket.socket(fileno=int(sys.argv[1]))):
        become(asked)
