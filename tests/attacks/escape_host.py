"""The outside of the escape suite: plants canaries, has every try made in a machine, and looks at what came through.

Run by the tests in their own process, and as a program of its own under an ordinary user: standard library, Stead and
what its machines need only. Prints a ``Report`` as JSON. The machines have a way out, as the daemon's have, on which
nothing is allowed.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.events import EgressUsed
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.mcp import McpServer
from stead.domain.obeyed import kept
from stead.domain.permits import Permit
from stead.domain.secrets import Known, RequestHead
from stead.domain.trials import Choice
from stead.egress.proxy import EgressProxy
from stead.guardian.reach import Reach
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.held_changes import HeldChanges
from stead.machines.sandbox import OUTSIDE_USER, Limits
from stead.mcp.connection import Connection, Wanted
from stead.mcp.stdio import StdioWire
from stead.net.dialing import Dialer
from stead.screen.redaction import Redactor

SESSION = SessionId("s_0123456789abcdef")
PROBES = (
    *("__init__.py", "escape_tools.py", "escape_reach.py", "escape_kernel.py", "escape_aside.py", "escape_set_id.py"),
    "escape_probe.py",
)
SERVER = Path(__file__).with_name("escape_server.py")
SERVERS = ("server", "server with the folder")
"""Modes in which an MCP server makes the tries, and nothing that it changes lands anywhere."""
NEIGHBOURS = 150
"""Processes of the same user outside: more than a machine may have, which must not count against it."""
TRIES_S = 100.0


ON_A_COPY = frozenset(
    {
        *("rename_the_git_folder_away", "rename_over_the_git_folder", "exchange_the_git_folder", "plant_a_git_hook"),
        *("plant_git_configuration", "plant_another_git_layout", "change_agent_instructions", "change_editor_tasks"),
        *("change_a_nested_hook", "rename_a_folder_above_a_protected_file", "rename_over_a_protected_file"),
        *("exchange_a_protected_file", "truncate_a_protected_file", "change_the_mode_of_a_protected_file"),
        *("link_a_protected_file_elsewhere", "reopen_a_protected_file_for_writing", "delete_a_protected_file"),
    }
)
"""Tries that may change what a machine sees of the folder; that nothing of it reaches the folder is seen outside."""


class Report(msgspec.Struct):
    """What came of it.

    Args:
        held: what each try got; "" when it was held.
        outside: what was seen outside, one line each.
        user: who the machine's processes were outside.
        owner: who owns what was written in the workspace.
        broken: what went wrong with the suite itself.
    """

    held: dict[str, str]
    outside: list[str]
    user: int
    owner: int
    broken: str = ""


class Canaries:
    """Everything that a machine must not reach, planted below one folder.

    Args:
        base: an empty folder that everybody may enter, so that nothing but the sandbox stands in the way.
        closing: undoes it all.
        drop: words before a command that make it an ordinary user's.
    """

    def __init__(self, base: Path, closing: ExitStack, drop: list[str]) -> None:
        self.secret = secrets.token_hex(16)
        self.inside = f"98764.{secrets.randbelow(10**9)}"
        self.marker = f"98765.{secrets.randbelow(10**9)}"
        self.project, self.outside = base / "project", base / "outside"
        self._plant_files()
        self._listen(closing)
        self.sleeper = subprocess.Popen([*drop, "sleep", self.marker])
        closing.callback(self.sleeper.wait)
        closing.callback(self.sleeper.kill)
        self.shm_key = secrets.randbelow(1 << 30)
        libc = ctypes.CDLL(None)
        segment = libc.shmget(self.shm_key, 4096, 0o1666)
        closing.callback(lambda: libc.shmctl(segment, 0, None))
        inherited = os.open(self.outside / "secret", os.O_RDONLY)
        os.set_inheritable(inherited, True)
        closing.callback(os.close, inherited)
        os.environ["STEAD_CANARY"] = self.secret
        closing.callback(os.environ.pop, "STEAD_CANARY")
        self._before = self._tree()

    def _plant_files(self) -> None:
        home = self.outside / "home"
        (home / ".ssh").mkdir(parents=True)
        for path in (self.outside / "secret", home / ".ssh/id", home / ".bashrc"):
            path.write_text(f"canary {self.secret}\n")
            path.chmod(0o666)
        hooks = self.project / ".git/hooks"
        for folder in (hooks, self.project / "lib/.git/hooks", self.project / ".vscode"):
            folder.mkdir(parents=True)
        (self.project / ".git/config").write_text("[core]\n")
        for name in ("AGENTS.md", ".vscode/tasks.json", "lib/.git/config", "lib/CLAUDE.md"):
            (self.project / name).write_text("the person's own\n")
        (self.project / "link_to_secret").symlink_to(self.outside / "secret")
        (self.project / "link_to_outside").symlink_to(self.outside)
        for folder in (self.outside, home, hooks, hooks.parent):
            folder.chmod(0o777)

    def _listen(self, closing: ExitStack) -> None:
        def bound(family: int, kind: int, address: tuple[str, int] | str) -> socket.socket:
            made = closing.enter_context(socket.socket(family, kind))
            made.bind(address)
            made.setblocking(False)
            if kind == socket.SOCK_STREAM:
                made.listen()
            return made

        self.abstract = f"stead-{secrets.token_hex(8)}"
        named = self.outside / "socket"
        self._servers = {
            "a TCP server": bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "a UDP server": bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "a named socket": bound(socket.AF_UNIX, socket.SOCK_STREAM, str(named)),
            "an abstract socket": bound(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract),
        }
        named.chmod(0o777)

    def targets(self, stead_home: Path) -> str:
        """What the tries are told."""
        return json.dumps(
            {
                "secret": self.secret,
                "outside": str(self.outside),
                "stead_home": str(stead_home),
                "toolchain": _toolchain(stead_home),
                "marker": self.marker,
                "pid": self.sleeper.pid,
                "shm_key": self.shm_key,
                "tcp_port": self._servers["a TCP server"].getsockname()[1],
                "udp_port": self._servers["a UDP server"].getsockname()[1],
                "abstract": self.abstract,
            }
        )

    def seen(self) -> list[str]:
        """What came through, seen from outside."""
        seen = []
        for name, server in self._servers.items():
            try:
                if server.type == socket.SOCK_STREAM:
                    server.accept()[0].close()
                else:
                    server.recv(100)
                seen.append(f"{name} was reached")
            except BlockingIOError:
                pass
        if self.sleeper.poll() is not None:
            seen.append("a process was killed")
        seen += [f"{path} changed" for path, text in self._tree().items() if self._before.get(path) != text]
        seen += [f"{path} was planted" for path in self._tree().keys() - self._before.keys()]
        seen += [f"{path} went away" for path in self._before.keys() - self._tree().keys()]
        return seen

    def _tree(self) -> dict[str, bytes]:
        """Everything outside, and what is protected inside."""
        own = [path for path in self.project.rglob("*") if kept(str(path.relative_to(self.project)))]
        files = [path for path in (*self.outside.rglob("*"), *own) if path.is_symlink() or path.is_file()]
        return {str(path): b"link" if path.is_symlink() else path.read_bytes() for path in files}


def install_probes(project: Path, targets: str) -> None:
    """Put the tries into a folder that ``python -m tests.attacks.escape_probe`` is run in."""
    package = project / "tests" / "attacks"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    for name in PROBES:
        shutil.copy(Path(__file__).parent / name, package / name)
    (project / "targets.json").write_text(targets)


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Other processes of this user."""
    others = [subprocess.Popen(["sleep", "600"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def _toolchain(stead_home: Path) -> str:
    """A folder of programs of the person's, where this home is one that the test made; "" in a real one."""
    programs = Path.home() / ".cargo/bin"
    if Path.home() != stead_home.parent:
        return ""
    programs.mkdir(parents=True)
    (programs / "tool").write_text("#!/bin/sh\n")
    (programs / "tool").chmod(0o755)
    return str(programs)


async def make_tries(base: Path, mode: str) -> Report:
    """Plant, try, look; with all changes held, or those of obeyed files, by a command or in a person's terminal.

    In the mode "copy" no overlay keeps the changes apart, but a copy of the folder. In those of ``SERVERS`` an MCP
    server makes the tries in its own machine, which shows nothing or a view of the folder.
    """
    root, trial, served = os.geteuid() == 0, mode == "trial", mode in SERVERS
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if root else []
    home = Home(base / "stead-home", changes="copy" if mode == "copy" else "auto")
    home.make()
    with ExitStack() as closing:
        canaries = Canaries(base, closing, drop)
        install_probes(canaries.project, canaries.targets(home.root))
        closing.enter_context(neighbours(0 if root else NEIGHBOURS))
        used: list[EgressUsed] = []
        machines = BubblewrapMachines(home, egress=_way_out(home, used), limits=Limits(file_bytes=256 << 20))
        machines.bind(SESSION, str(canaries.project), writable=True, hold="all" if trial else "obeyed")
        pattern = Path("/proc/sys/kernel/core_pattern").read_text()
        try:
            command = f"touch written; sleep {canaries.inside} >/dev/null 2>&1 & python3 -m tests.attacks.escape_probe"
            way = {"terminal": _typed, **dict.fromkeys(SERVERS, _served)}.get(mode, _run)
            async with way(machines, command, {} if mode != "server" else _probes(canaries.project)) as said:
                user = _owner_of(f"sleep\0{canaries.inside}")
        finally:
            await machines.close()
        if mode == "terminal":
            said = (canaries.project / "said").read_text()
        outside = canaries.seen()
        outside += [f"the way out led to {one.host}:{one.port}" for one in used if one.verdict == "allow"]
        outside += [] if used else ["the way out was never tried"]
        if Path("/proc/sys/kernel/core_pattern").read_text() != pattern:
            outside.append("the core pattern changed")
        if trial or served:
            outside += [
                f"{name} reached the folder" for name in ("written", "marked") if (canaries.project / name).exists()
            ]
        if trial:
            applied = await HeldChanges(home, machines.kill).apply_trial(SESSION, Choice(force=True))
            outside += [f"applied: {line}" for line in canaries.seen()]
            outside += [] if "written" in applied.done else ["what was held was lost"]
        owner = (canaries.project / ("" if served else "written")).stat().st_uid
        try:
            held = json.loads(said.splitlines()[-1])
        except (ValueError, IndexError):
            return Report({}, outside, user, owner, broken=said or "nothing was said")
        return Report(held, outside, user, owner)


@asynccontextmanager
async def _run(machines: BubblewrapMachines, command: str, _files: Mapping[str, str]) -> AsyncIterator[str]:
    ran = await machines.run(_permit(), command, timeout_s=TRIES_S, cap_bytes=200_000, on_output=lambda _: None)
    yield ran.output


@asynccontextmanager
async def _typed(machines: BubblewrapMachines, command: str, _files: Mapping[str, str]) -> AsyncIterator[str]:
    """Type it as a person does. What it prints goes into a file, as a screen folds long lines."""
    await machines.terminals.open(SESSION, "t_0123456789abcdef", 24, 80)
    terminal = machines.terminals.at(SESSION, "t_0123456789abcdef")
    seat, seen = terminal.watch(), b""
    await terminal.type(f"({command}) > said 2>&1; echo ov'er'\n".encode())
    async with asyncio.timeout(TRIES_S):
        while b"over\r\n" not in seen and (data := await seat.read()):
            seen += data
    yield ""


@asynccontextmanager
async def _served(machines: BubblewrapMachines, command: str, files: Mapping[str, str]) -> AsyncIterator[str]:
    """Call the tool of an MCP server that is given these files, or shown the folder where there are none."""
    server = McpServer("hostile", command=("python3", "-B", "-c", SERVER.read_text()), folder=not files)
    connection = Connection(call_s=TRIES_S)
    program = await machines.programs.start(SESSION, server, {})
    connection.wire = StdioWire(program, connection.receive, connection.end)
    try:
        await connection.open()
        call = {"name": "run", "arguments": {"command": command, "files": files}}
        found = await connection.request("tools/call", call)
        yield str(found) if isinstance(found, Wanted) else str(found["content"][0]["text"])
    finally:
        await connection.close()


def _probes(project: Path) -> dict[str, str]:
    """The tries, by their paths, as a call brings them."""
    files = [project / "targets.json", *(project / "tests").rglob("*.py")]
    return {str(file.relative_to(project)): file.read_text() for file in files}


class _NoSecrets:
    """A vault without any."""

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> None:
        """Nothing."""

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> None:
        """Nothing."""

    def opens_tls(self, host: str) -> bool:
        """No."""
        return False

    def known(self) -> Sequence[Known]:
        """None."""
        return ()


async def _reached(_directory: str, _host: str) -> None:
    """Nobody is connected to here."""


def _way_out(home: Home, used: list[EgressUsed]) -> EgressProxy:
    """As the daemon makes it."""
    return EgressProxy(
        home.run / "egress",
        Dialer(Reach()),
        release=_NoSecrets,
        redactor=lambda: Redactor(detect=False),
        on_use=lambda _session, one: used.append(one),
        on_reach=_reached,
        owner=OUTSIDE_USER if os.geteuid() == 0 else None,
    )


def _permit() -> Permit:
    permit = Permit(
        session=SESSION, call=CallKey("call_1_0"), tool="shell", arguments={}, digest=CallDigest("d"), nonce=b"n" * 16
    )
    permit.spend("shell", {})
    return permit


def _owner_of(marker: str) -> int:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes().startswith(marker.encode()):
                    return entry.stat().st_uid
            except OSError:
                continue
    return -1


if __name__ == "__main__":
    signal.alarm(150)
    print(msgspec.json.encode(asyncio.run(make_tries(Path(sys.argv[1]), sys.argv[2]))).decode())
