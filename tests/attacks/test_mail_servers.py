"""Mail servers that would have a reader wait or take in without end; over TLS, as any other."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stead.domain.errors import FetchFault
from stead.net.imap import ImapMailbox
from tests.fakes.dovecot import own_certificate
from tests.promises import promise

LIMIT_S = 1.0


@contextlib.contextmanager
def serving(folder: Path, talk: Callable[[socket.socket], None], tls: bool = True) -> Iterator[int]:
    """A server that talks so to each who connects; gives its port."""
    certificate, key = own_certificate()
    (folder / "cert.pem").write_bytes(certificate)
    (folder / "key.pem").write_bytes(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                connected, _ = listening.accept()
                with connected if not tls else context.wrap_socket(connected, server_side=True) as sock:
                    talk(sock)

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(listening.getsockname()[1])
        listening.close()
        thread.join(10)
        assert not thread.is_alive()


def drip(sock: socket.socket) -> None:
    """A byte now and then, which no limit on a silence ends."""
    if not isinstance(sock, ssl.SSLSocket):
        sock.sendall(b"\x16\x03\x03\x40\x00")  # the head of a part of the handshake that has 16 KB
    for _ in range(100):
        sock.sendall(b"x")
        time.sleep(0.1)  # it is the slowness that is tried


def answering(sock: socket.socket, fetch: Callable[[socket.socket, bytes], None]) -> None:
    """As a server does, up to the first mail that is fetched."""
    sock.sendall(b"* OK ready\r\n")
    lines = sock.makefile("rb")
    for line in lines:
        tag, command = line.split()[:2]
        if command == b"CAPABILITY":
            sock.sendall(b"* CAPABILITY IMAP4rev1\r\n")
        if command in (b"SELECT", b"EXAMINE"):
            sock.sendall(b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7]\r\n* OK [UIDNEXT 2]\r\n")
        if command == b"UID":
            fetch(sock, tag)
            return
        sock.sendall(tag + b" OK done\r\n")


def opened(port: int) -> ImapMailbox:
    return ImapMailbox("localhost", port, "pia", "pears", "INBOX", LIMIT_S)


@promise("SCH-4.bounded")
@pytest.mark.parametrize("tls", [True, False], ids=["its greeting", "its handshake"])
def test_a_server_that_drips_before_anything_is_asked_is_left_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tls: bool
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with serving(tmp_path, drip, tls) as port:
        began = time.monotonic()
        with pytest.raises(FetchFault):
            opened(port)
        assert time.monotonic() - began < 6 * LIMIT_S


@promise("SCH-4.bounded")
@pytest.mark.parametrize("size", [b"10", b"9999999999"], ids=["drips", "is huge"])
def test_a_mail_that_drips_or_is_larger_than_was_asked_for_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: bytes
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))

    def fetch(sock: socket.socket, _tag: bytes) -> None:
        sock.sendall(b"* 1 FETCH (BODY[]<0> {" + size.replace(b"10", b"1000") + b"}\r\n")
        drip(sock)

    with serving(tmp_path, lambda sock: answering(sock, fetch)) as port:
        box = opened(port)
        began = time.monotonic()
        with pytest.raises(FetchFault, match="bytes at once" if len(size) > 5 else "cannot be read"):
            box.mail(1, 1000)
        assert time.monotonic() - began < 6 * LIMIT_S
        box.close()
