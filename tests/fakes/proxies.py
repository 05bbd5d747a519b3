"""Caddy and nginx as the guide sets them up, on loopback, with certificates of an authority of the tests' own.

The configuration is the guide's, word for word; what is replaced in it are names of files, addresses and ports.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.dovecot import own_certificate

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "remote.md"
PAGE, HOOKS = "stead.example.com", "hooks.example.com"
KINDS = ("caddy", "nginx")


def free_port() -> int:
    """A port of loopback that nobody has now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def block(name: str) -> str:
    """A block of the guide."""
    found = re.search(rf"^( *)```{name}\n(.*?)^ *```$", GUIDE.read_text("utf-8"), re.M | re.S)
    assert found, f"the guide has no block {name!r}"
    return "\n".join(line.removeprefix(found[1]) for line in found[2].splitlines()) + "\n"


@dataclass
class Proxy:
    """A proxy that runs. ``authority``: the file of what to trust."""

    kind: str
    port: int
    authority: Path

    def url(self, name: str = PAGE) -> str:
        """Where it serves a name."""
        return f"https://{name}:{self.port}"

    def context(self) -> ssl.SSLContext:
        """Trusts it, and nobody else."""
        return ssl.create_default_context(cafile=str(self.authority))


@contextmanager
def proxied(
    kind: str, folder: Path, to: int, hooks_to: int = 0, port: int = 0, *, block_name: str = ""
) -> Iterator[Proxy]:
    """Run one of ``KINDS`` before these ports until the block ends."""
    folder.mkdir()
    certificate, key = own_certificate(PAGE, HOOKS)
    (folder / "cert.pem").write_bytes(certificate)
    (folder / "key.pem").write_bytes(key)
    port = port or free_port()
    text = block(block_name or kind).replace("127.0.0.1:27080", f"127.0.0.1:{to}")
    if hooks_to:
        text += block(f"{kind}-webhooks").replace("127.0.0.1:27001", f"127.0.0.1:{hooks_to}")
    program = shutil.which(kind) or shutil.which(kind, path="/usr/sbin:/usr/local/sbin")
    assert program, f"{kind} is not here; run scripts/setup.sh test"
    words = _caddy(folder, text, port) if kind == "caddy" else _nginx(folder, text, port)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *words],
            env={"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait(process, port, folder / "log")
        internal = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        yield Proxy(kind, port, internal if "tls internal" in text else folder / "cert.pem")
    finally:
        process.terminate()
        process.wait(10)


def _caddy(folder: Path, text: str, port: int) -> list[str]:
    own = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    named = "" if "tls internal" in text else f"\n\ttls {folder}/cert.pem {folder}/key.pem"
    text = re.sub(r"^(\S+\.example\.com) \{$", rf"https://\1:{port} {{{named}", text, flags=re.M)
    text = text.replace("bind 10.8.0.1\n", "bind 127.0.0.1\n")
    (folder / "Caddyfile").write_text(own + text)
    return ["run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def _nginx(folder: Path, text: str, port: int) -> list[str]:
    text = text.replace("listen 443 ", f"listen 127.0.0.1:{port} ")
    text = re.sub(r"/etc/letsencrypt/live/\S+/fullchain.pem", f"{folder}/cert.pem", text)
    text = re.sub(r"/etc/letsencrypt/live/\S+/privkey.pem", f"{folder}/key.pem", text)
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    own = f"daemon off; {user} pid {folder}/pid; error_log {folder}/log warn; events {{}}"
    whole = f"{own}\nhttp {{\naccess_log off; {paths}\n{text}}}\n"
    (folder / "nginx.conf").write_text(whole)
    return ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "log")]


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8", "replace")
            time.sleep(0.05)
        else:
            return
