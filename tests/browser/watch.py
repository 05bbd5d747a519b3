"""What goes wrong in a page without anybody looking: its console, its requests, its sockets, its dialogs.

A ``Watch`` hears every page of every context that it is attached to, frames and workers included, and a test that does
not expect what it heard fails. The page's policy stays in force, so what it forbids is heard on the console too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, Response, WebError, WebSocket

_INNER = ("data:", "blob:", "about:")
"""Addresses that reach nobody."""
_NO_ANSWER = re.compile(
    r"net::ERR_(CONNECTION_\w+|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|NETWORK_IO_SUSPENDED|ABORTED)"
    r"|WebSocket connection to '[^']+' failed"
)
"""How a daemon that is away looks on the console."""


@dataclass
class Watch:
    """Hears pages, and says what nobody expected.

    ``requests``: every address that was asked for, sockets included, in order; what the page's policy stopped before it
    left is in ``stopped`` instead, and is heard on the console.
    """

    requests: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    _heard: list[str] = field(default_factory=list)
    _hosts: set[str] = field(default_factory=set)
    _answers: list[tuple[int, re.Pattern[str]]] = field(default_factory=list)
    _lines: list[re.Pattern[str]] = field(default_factory=list)

    def attach(self, context: BrowserContext, host: str) -> None:
        """Hear a context from now on; ``host`` is the page's own, with its port."""
        self._hosts.add(host)
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)
        context.on("page", self._page)

    def expect(self, status: int, path: str) -> None:
        """Answers of this status, from paths in which this expression is found, are part of the test."""
        self._answers.append((status, re.compile(path)))

    def expect_console(self, expression: str) -> None:
        """Errors and warnings like this are part of the test."""
        self._lines.append(re.compile(expression))

    def expect_outage(self) -> None:
        """The daemon goes away in this test, so connections break and are refused."""
        self._lines.append(_NO_ANSWER)

    def expect_host(self, host: str) -> None:
        """The test itself takes a page to this host (with its port)."""
        self._hosts.add(host)

    def complaints(self) -> list[str]:
        """What nobody expected. Call it when all pages have settled: what is expected may be said after it happened."""
        away = [f"off the host: {url}" for url in self.requests if self._is_away(url)]
        return away + [line for line in self._heard if not any(one.search(line) for one in self._lines)]

    def _page(self, page: Page) -> None:
        page.on("websocket", self._socket)
        page.on("dialog", self._dialog)
        page.on("crash", lambda crashed: self._heard.append(f"crash: {crashed.url}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        where = message.location.get("url", "")
        status = re.search(r"responded with a status of (\d+)", message.text)
        if status and self._is_expected(int(status[1]), where):
            return
        self._heard.append(f"console {message.type}: {message.text} ({where})")

    def _error(self, error: WebError) -> None:
        self._heard.append(f"page error: {error.error}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _failed(self, request: Request) -> None:
        if request.failure == "csp" and request.url in self.requests:
            self.requests.remove(request.url)
            self.stopped.append(request.url)

    def _socket(self, socket: WebSocket) -> None:
        self.requests.append(socket.url)

    def _is_away(self, url: str) -> bool:
        return not url.startswith(_INNER) and urlsplit(url).netloc not in self._hosts

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not self._is_expected(response.status, response.url):
            self._heard.append(f"answer {response.status}: {response.request.method} {response.url}")

    def _dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            self._heard.append(f"dialog: {dialog.message}")
        dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss()

    def _is_expected(self, status: int, url: str) -> bool:
        path = urlsplit(url).path
        return any(status == wanted and one.search(path) for wanted, one in self._answers)
