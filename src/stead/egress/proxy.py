"""The egress proxy, the one way out of machines: a unix socket for each, which reaches only what the person allowed.

Layer: egress. Implements ``domain.ports.Egress``. Who may reach what is decided here for each connection: by the
allow-list of the machine's folder and its objective's hosts, else by a permit that is alive at this moment. When a list
shrinks or a permit dies, the connections that it alone covered are cut.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stead.domain import events as ev
from stead.domain.errors import AddressRefused, InvalidRequest, StorageFault
from stead.domain.hosts import (
    COMPUTER,
    OF_CHANNELS,
    OF_PROGRAMS,
    HostPattern,
    is_local,
    may_lead,
    parse_host,
    read_pattern,
    rule_for,
)
from stead.domain.ids import CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.policies import Reason
from stead.domain.registries import REGISTRIES, are_registries, spelled_out
from stead.domain.secrets import Release
from stead.egress.exchange import Admission, Exchange, Parts, Used
from stead.egress.refusal import Refusal
from stead.egress.reports import Reports
from stead.guardian.reach import Target
from stead.net.dialing import Dialer, Streams, is_own
from stead.screen.redaction import Redactor

if TYPE_CHECKING:
    from stead.egress.authority import Authority

SOCKET, BUNDLE = "proxy.sock", "ca.pem"
"""The files in the folder that a machine is shown."""
MOST_CONNECTIONS = 64
MOST_REFUSED = 10
"""Hosts that a call's result names; a command may ask for any number."""

OnUse = Callable[[SessionId, ev.EgressUsed], None]
"""Called with every connection once it is over. Must not block."""
OnReach = Callable[[str, str], Awaitable[None]]
"""Called with a folder and a host as soon as they are connected; nothing comes in before it returns."""


class EgressProxy:
    """Every machine's way out.

    Args:
        folder: for the sockets; made new, its parents exist and are closed to others.
        dialer: how hosts are reached.
        release: says which values may go where; asked for when it is needed.
        redactor: takes what is known now out of answers.
        on_use: journals connections.
        on_reach: records that a folder's machine is connected to a host, before anything comes from there.
        owner: the user id that the machines have outside, when it is not the daemon's own.
    """

    def __init__(
        self,
        folder: Path,
        dialer: Dialer,
        *,
        release: Callable[[], Release],
        redactor: Callable[[], Redactor],
        on_use: OnUse,
        on_reach: OnReach,
        owner: int | None = None,
    ) -> None:
        self._folder = folder
        self._parts = Parts(
            dialer,
            release,
            redactor,
            lambda host: self._authority.context(host),
            lambda host: release().opens_tls(host),
        )
        self._on_use = on_use
        self._on_reach = on_reach
        self._owner = owner
        self._lists: dict[str, tuple[HostPattern, ...]] = {}
        self._grants: dict[SessionId, list[tuple[Permit, tuple[HostPattern, ...]]]] = {}
        self._outlets: dict[str, _Outlet] = {}
        self._watching: list[tuple[SessionId, dict[str, str]]] = []
        self.own_ports: set[int] = set()
        """Where the daemon listens; no machine gets there, whatever was allowed."""
        self._preparing = asyncio.Lock()
        shutil.rmtree(folder, ignore_errors=True)

    def configure(self, allowed: Iterable[tuple[str, str]]) -> None:
        """Replace the allow-lists, at once also for connections that are open.

        Args:
            allowed: pairs of folder and host pattern, or the word for all registries.
        """
        lists: dict[str, tuple[HostPattern, ...]] = {}
        for directory, host in allowed:
            lists[directory] = (*lists.get(directory, ()), *map(read_pattern, spelled_out([host])))
        self._lists = lists
        self._recheck()

    async def open(self, session: SessionId, directory: str, hosts: Sequence[str]) -> str:
        """As ``Egress.open``."""
        folder = self._folder / secrets.token_hex(4)
        async with self._preparing:
            if not (self._folder / BUNDLE).exists():
                await asyncio.to_thread(self._write_bundle)
        folder.mkdir()
        folder.chmod(0o755)
        (folder / BUNDLE).hardlink_to(self._folder / BUNDLE)
        reports = Reports(partial(self._on_use, session), self._parts.redactor)
        outlet = _Outlet(session, directory, tuple(map(read_pattern, hosts)), reports)

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(outlet, (reader, writer))

        outlet.server = await asyncio.start_unix_server(connected, sock=self._bound(folder / SOCKET))
        self._outlets[str(folder)] = outlet
        return str(folder)

    @contextmanager
    def grant(self, permit: Permit, hosts: Sequence[str]) -> Iterator[None]:
        """As ``Egress.grant``."""
        granted = (permit, tuple(parse_host(host, wildcard=False) for host in hosts))
        grants = self._grants.setdefault(permit.session, [])
        grants.append(granted)
        try:
            yield
        finally:
            grants.remove(granted)
            if not grants:
                self._grants.pop(permit.session, None)
            self._recheck()

    @contextmanager
    def refusals(self, session: SessionId) -> Iterator[Mapping[str, str]]:
        """While entered, collects the hosts that the session's machine was refused, with the commands to allow them."""
        refused: dict[str, str] = {}
        self._watching.append((session, refused))
        try:
            yield refused
        finally:
            self._watching = [pair for pair in self._watching if pair[1] is not refused]

    def close(self, folder: str) -> None:
        """As ``Egress.close``."""
        outlet = self._outlets.pop(folder, None)
        if outlet is None:
            return
        if outlet.server is not None:
            outlet.server.close()
        for task, used in outlet.open.items():
            task.cancel()
            used.refusal = used.refusal or Reason("egress-cut", "cut off: its machine has ended")
            outlet.reports.add(used)  # now, so that it is on record before what follows the machine's end
        outlet.open.clear()
        outlet.reports.close()
        shutil.rmtree(folder, ignore_errors=True)

    @cached_property
    def _authority(self) -> Authority:
        from stead.egress.authority import Authority  # importing it takes 40 ms, which the daemon's start need not wait

        return Authority()

    def _write_bundle(self) -> None:
        """Write down what machines trust: with the first of them, in a thread."""
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{BUNDLE}.new"
        fresh.write_text(self._authority.bundle(), "utf-8")
        fresh.chmod(0o644)
        fresh.rename(self._folder / BUNDLE)

    def _bound(self, path: Path) -> socket.socket:
        """A socket that only the machine's user can connect to."""
        bound = socket.socket(socket.AF_UNIX)
        fd = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # A home's own path may be longer than the hundred characters that a socket's may have.
            bound.bind(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)
        path.chmod(0o600)
        if self._owner is not None:
            os.chown(path, self._owner, self._owner)
        return bound

    async def _serve(self, outlet: _Outlet, client: Streams) -> None:
        task = asyncio.current_task()
        assert task is not None
        judge, connect = partial(self._admit, outlet), partial(self._connect, outlet)
        parts = replace(self._parts, opens_tls=lambda _: False) if outlet.is_channel else self._parts
        exchange = Exchange(client, parts, outlet.session, judge, connect)
        full = len(outlet.open) >= MOST_CONNECTIONS
        outlet.open[task] = exchange.used
        try:
            if full:
                await exchange.refuse(Refusal(503, "egress-limit", f"{MOST_CONNECTIONS} connections are open; wait"))
            else:
                await exchange.serve()
        except asyncio.CancelledError:
            exchange.used.refusal = exchange.used.refusal or Reason("egress-cut", "cut off: what allowed it has ended")
        finally:
            client[1].transport.abort()
            if outlet.open.pop(task, None):
                outlet.reports.add(exchange.used)

    def _admit(self, outlet: _Outlet, target: Target) -> Admission:
        """Let a machine reach a host now.

        Raises:
            Refusal: it may not; says what would allow it.
        """
        if admission := self._judge(outlet, target):
            return admission
        try:
            asked = rule_for(target.host, target.port)
        except InvalidRequest as error:
            raise Refusal(403, "egress-address", str(error)) from error
        if outlet.directory.startswith((OF_PROGRAMS, OF_CHANNELS)):
            name = outlet.directory.rpartition("/")[2]
            raise Refusal(403, "egress-host", f"{asked} is none of the hosts that the person named for {name!r}")
        word = REGISTRIES if are_registries([asked]) else asked
        command = f"stead egress allow {shlex.quote(word)} --dir {shlex.quote(outlet.directory)}"
        for session, refused in self._watching:
            # Where clouds keep their metadata is offered to nobody.
            if session == outlet.session and len(refused) < MOST_REFUSED and not asked.startswith("169.254."):
                refused[asked] = command
        local, way = is_local(target.host), f"the person can allow it: {command}"
        rule, text = ("egress-address", way) if local else ("egress-host", f"name it in the call's `hosts`, or {way}")
        raise Refusal(403, rule, f"nobody allowed {asked} here; {text}")

    def _judge(self, outlet: _Outlet, target: Target) -> Admission | None:
        """Who lets a machine reach a host now; a local one, the person alone, for the folder or the channel."""
        host, port, local = target.host, target.port, is_local(target.host)
        listed = (*(() if local and not outlet.is_channel else outlet.hosts), *self._lists.get(outlet.directory, ()))
        if covering := next((pattern for pattern in listed if pattern.covers(host, port)), None):
            name = f"*.{covering.name}" if covering.below else host  # the machine chooses what stands for the star
            reason = Reason("egress-listed", f"{host} is allowed in this folder or objective")
            return Admission(CallKey(""), reason, name)
        for permit, patterns in () if local else self._grants.get(outlet.session, ()):
            if permit.live and any(pattern.covers(host, port) for pattern in patterns):
                return Admission(permit.call, Reason("egress-granted", f"{host} was allowed for this call"), host)
        return None

    def _check_local(self, target: Target, address: str) -> None:
        """Judge where a local host that the person allowed leads.

        Raises:
            AddressRefused: to Stead itself, or to where such a name has no business.
        """
        if target.port in self.own_ports and (may_lead("localhost", address) or is_own(address)):
            raise AddressRefused("{!r}: {} is Stead itself, which no machine reaches", target.host, address)
        if not target.address and not may_lead(target.host, address):
            raise AddressRefused("{!r}: it leads to {}; allow that address by itself", target.host, address)

    async def _connect(
        self, outlet: _Outlet, target: Target, admission: Admission, secure: bool
    ) -> tuple[Streams, str]:
        """Connect to a host, and have that on record before anything of it is read."""
        judge = self._check_local if is_local(target.host) else None
        if target.host == COMPUTER:
            target = msgspec.structs.replace(target, host="localhost")
        streams, address = await self._parts.dialer.dial(target, secure=secure, judge=judge)
        try:
            await self._on_reach(outlet.directory, admission.name)
        except BaseException as error:
            streams[1].transport.abort()
            if isinstance(error, StorageFault):
                text = f"it could not be recorded that {target.host!r} was reached: {error}"
                raise Refusal(503, "egress-unreachable", text) from error
            raise
        return streams, address

    def _recheck(self) -> None:
        """Cut what is no longer covered."""
        for outlet in self._outlets.values():
            for task, used in outlet.open.items():
                if used.target is not None and used.admission is not None:
                    if admission := self._judge(outlet, used.target):
                        used.admission = admission
                    else:
                        task.cancel()


@dataclass
class _Outlet:
    """One machine's way out."""

    session: SessionId
    directory: str
    hosts: tuple[HostPattern, ...]
    reports: Reports
    server: asyncio.Server | None = None
    open: dict[asyncio.Task[None], Used] = field(default_factory=dict)

    @property
    def is_channel(self) -> bool:
        """Whether it is a channel's: its hosts are the person's own, and it holds the one secret that it sends."""
        return self.directory.startswith(OF_CHANNELS)
