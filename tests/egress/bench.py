"""A workbench for the way out of machines: a proxy, names that lead to loopback, secrets, and who uses them."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from stead.domain import events as ev
from stead.domain.bindings import allows, fills, matches_host
from stead.domain.errors import StorageFault
from stead.domain.ids import SessionId
from stead.domain.secrets import HostBinding, Known, RequestHead
from stead.egress.proxy import SOCKET, EgressProxy
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.screen.redaction import Redactor
from tests.machines.bench import SESSION, until

DIRECTORY = "/home/ada/project"


@dataclass
class Book:
    """Secrets with their bindings. ``asked`` holds every question that was asked of it."""

    values: dict[str, tuple[Known, tuple[HostBinding, ...]]] = field(default_factory=dict)
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, name: str, value: str, *bindings: HostBinding) -> str:
        """Gives the placeholder."""
        placeholder = f"{{{{secret:{name}#0a1b2c3d}}}}"
        self.values[placeholder] = Known(name, placeholder, value), bindings
        return placeholder

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> str | None:
        assert session == SESSION
        self.asked.append((placeholder, head.host, head.method, head.path))
        known, bindings = self.values.get(placeholder, (Known("", "", ""), ()))
        if self.opens_tls(head.host) != (head.scheme == "https"):
            return None
        fit = any(fills(one, place) and allows(one, head.host, head.method, head.path) for one in bindings)
        return known.value if fit else None

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> str | None:
        return None

    def opens_tls(self, host: str) -> bool:
        bindings = [binding for _, bound in self.values.values() for binding in bound]
        return any(binding.tls and matches_host(binding.host, host) for binding in bindings)

    def known(self) -> Sequence[Known]:
        return [known for known, _ in self.values.values()]

    def redactor(self) -> Redactor:
        return Redactor(self.known(), detect=False)


class Names:
    """A resolver that is told what names lead to; loopback else. The last of several answers stays."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [["127.0.0.1"]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Way:
    """A proxy and everything around it.

    Args:
        folder: for the sockets.
        endpoints: loopback ports that may be reached.
        tls: how the proxy trusts servers.
        session: whose machines they are.
    """

    def __init__(
        self,
        folder: Path,
        endpoints: Sequence[int],
        tls: ssl.SSLContext | None = None,
        session: SessionId = SESSION,
    ) -> None:
        self._session = session
        self.events: list[ev.EgressUsed] = []
        self.book = Book()
        self.names = Names()
        reach = Reach(endpoints=frozenset(("127.0.0.1", port) for port in endpoints))
        self.proxy = EgressProxy(
            folder / "egress",
            Dialer(reach, resolve=self.names, tls=tls),
            release=lambda: self.book,
            redactor=self.book.redactor,
            on_use=self._note,
            on_reach=self._reached,
            owner=65534 if os.geteuid() == 0 else None,
        )
        self.machine = ""
        self.reached: list[tuple[str, str]] = []
        self.unrecorded = False

    async def open(self, *hosts: str, session: SessionId = SESSION, directory: str = DIRECTORY) -> str:
        """Listen for a machine; gives the socket's path."""
        self.machine = await self.proxy.open(session, directory, hosts)
        return f"{self.machine}/{SOCKET}"

    async def ask(self, message: str | bytes, *, end: bool = False) -> bytes:
        """Say something to the proxy; gives all that it says until it closes."""
        reader, writer = await self.connect()
        try:
            writer.write(message.encode("utf-8") if isinstance(message, str) else message)
            if end:
                writer.write_eof()
            async with asyncio.timeout(10):
                return await reader.read()
        finally:
            writer.transport.abort()

    async def get(self, url: str, *fields: str, method: str = "GET", body: bytes = b"") -> bytes:
        """A request as clients make it to a proxy; ``fields`` are lines."""
        authority = url.split("/")[2]
        lines = [f"{method} {url} HTTP/1.1", f"Host: {authority}", *fields]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return await self.ask("\r\n".join([*lines, "", ""]).encode("utf-8") + body)

    async def tunnel(self, authority: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A tunnel that the proxy agreed to."""
        reader, writer = await self.connect()
        writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n", answer
        return reader, writer

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To the proxy's socket."""
        fd = os.open(self.machine, os.O_PATH | os.O_DIRECTORY)  # its path may be too long for a socket's
        try:
            return await asyncio.open_unix_connection(f"/proc/self/fd/{fd}/{SOCKET}")
        finally:
            os.close(fd)

    async def told(self, count: int = 1) -> list[ev.EgressUsed]:
        """The events, once there are so many."""
        await until(lambda: len(self.events) >= count)
        assert len(self.events) == count, self.events
        return self.events

    async def _reached(self, directory: str, host: str) -> None:
        if self.unrecorded:
            raise StorageFault("the disk is full")
        self.reached.append((directory, host))

    def _note(self, session: SessionId, used: ev.EgressUsed) -> None:
        assert session == self._session
        self.events.append(used)


@asynccontextmanager
async def open_way(
    folder: Path, *ports: int, hosts: Sequence[str] = (), tls: ssl.SSLContext | None = None
) -> AsyncIterator[Way]:
    """A way with one machine."""
    way = Way(folder, ports, tls)
    await way.open(*hosts)
    try:
        yield way
    finally:
        way.proxy.close(way.machine)


@dataclass
class Site:
    """A server that keeps what it was sent and gives what it is told to.

    Args:
        answer: bytes to send after the head (and the body, when it has a length) of each request.
    """

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    visits: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        self.visits += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            fields = fields_of(head)
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            while fields.get("transfer-encoding") == "chunked" and not body.endswith(b"0\r\n\r\n"):
                body += await reader.readuntil(b"\r\n")
            self.requests.append(head + body)
            writer.write(self.answer.replace(b"{request}", head + body))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the other side left
        finally:
            writer.close()


def fields_of(message: bytes) -> Mapping[str, str]:
    """The fields of a message's head, names in lower case."""
    lines = message.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


@asynccontextmanager
async def site(answer: bytes = Site.answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """A site on loopback."""
    made = Site(answer)
    async with await asyncio.start_server(made.serve, "127.0.0.1", ssl=tls, limit=8 << 20) as server:
        made.port = server.sockets[0].getsockname()[1]
        yield made


def make_certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, Path]:
    """How to be these hosts, and the certificate to trust for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    whole, public = folder / f"{names[0]}.whole.pem", folder / f"{names[0]}.pem"
    whole.write_bytes(private + certificate.public_bytes(pem))
    public.write_bytes(certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(whole)
    return context, public


@asynccontextmanager
async def short_folder() -> AsyncIterator[Path]:
    """A folder whose path leaves room for a socket's, and that every user may enter."""
    made = Path(tempfile.mkdtemp(prefix="stead-egress-"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made)
