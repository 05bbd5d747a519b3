"""A phone that uses the page from outside, without a browser: its requests, with every header open to be forged."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
from websockets.sync.client import ClientConnection, connect

from tests.fakes.authenticator import Authenticator

Json = dict[str, Any]
COOKIE = "__Host-stead"


@dataclass
class Phone:
    """One browser elsewhere.

    Args:
        url: the page's public address, as it is typed in.
        port: of loopback, at which it really is: the proxy's, or without one the daemon's own.
        context: whom it trusts; None speaks without TLS, as the proxy does with the daemon.
    """

    url: str
    port: int
    context: ssl.SSLContext | None = None
    cookie: str = ""
    authenticator: Authenticator = field(init=False)

    def __post_init__(self) -> None:
        self.authenticator = Authenticator(self.url)

    @property
    def host(self) -> str:
        """What it sends as its Host."""
        return urlsplit(self.url).netloc

    def headers(self, **changed: str | None) -> dict[str, str]:
        """What the page's script sends; "_" stands for "-", and nothing leaves a header out."""
        sent: dict[str, str | None] = {"Host": self.host, "Origin": self.url, "X-Stead": "1"}
        sent |= {
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
            "Idempotency-Key": "from-the-phone",
        }
        sent |= {"Cookie": f"{COOKIE}={self.cookie}"} if self.cookie else {}
        sent |= {name.replace("_", "-"): value for name, value in changed.items()}
        return {name: value for name, value in sent.items() if value is not None}

    def ask(self, method: str, path: str, body: Any = None, /, **changed: str | None) -> httpx2.Response:
        """One request; ``path`` below the API, or of the page where it begins with ``/``. No cookie is remembered."""
        scheme = "https" if self.context else "http"
        url = f"{scheme}://127.0.0.1:{self.port}{path if path.startswith('/') else f'/api/v1/{path}'}"
        with httpx2.Client(verify=self.context or False, timeout=30, trust_env=False) as client:
            return client.request(
                method,
                url,
                headers=self.headers(**changed),
                content=None if body is None else json.dumps(body),
                extensions={"sni_hostname": urlsplit(self.url).hostname},
            )

    @contextmanager
    def stream(self) -> Iterator[Iterator[str]]:
        """The lines of the page's event stream, as they come."""
        url = f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}/api/v1/events/stream"
        named = {"sni_hostname": urlsplit(self.url).hostname}
        with (
            httpx2.Client(verify=self.context or False, timeout=30, trust_env=False) as client,
            client.stream("GET", url, headers=self.headers(), extensions=named) as answer,
        ):
            assert answer.status_code == 200
            yield answer.iter_lines()

    def options(self, step: str, body: Json) -> str:
        """What the authenticator is to sign."""
        answer = self.ask("POST", f"remote/{step}", body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["options"])

    def pair(self, link: str) -> httpx2.Response:
        """Open a pairing link, and make a passkey."""
        code = link.partition("#")[2]
        made = self.authenticator.create(self.options("pair", {"code": code}))
        return self.ask("POST", "remote/pair/finish", {"code": code, "credential": made})

    def sign_in(self) -> httpx2.Response:
        """Sign in by the passkey, and keep the cookie."""
        signed = self.authenticator.get(self.options("challenge", {}))
        answer = self.ask("POST", "remote/sign-in", {"credential": signed})
        if answer.status_code == 200:
            name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
            assert name == COOKIE
            self.cookie = value
        return answer

    @contextmanager
    def socket(self, **changed: str | None) -> Iterator[ClientConnection]:
        """The page's live WebSocket."""
        headers = self.headers(**changed)
        origin, host = headers.pop("Origin", None), headers.pop("Host")
        kept = {name: value for name, value in headers.items() if name == "Cookie"}
        scheme = "wss" if self.context else "ws"
        with connect(
            f"{scheme}://{host}/api/v1/live",
            sock=socket.create_connection(("127.0.0.1", self.port), timeout=20),
            ssl=self.context,
            server_hostname=urlsplit(self.url).hostname if self.context else None,
            origin=origin,  # type: ignore[arg-type]  # a NewType of str
            additional_headers=kept,
            open_timeout=20,
            proxy=None,
        ) as opened:
            yield opened
