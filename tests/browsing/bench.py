"""A workbench for the browser: real Chromium in a real machine, sites on loopback, and the real proxy between them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stead.config import CHROMIUM
from stead.domain.ports import PageShown
from stead.machines.browser import MachineBrowser
from tests.egress.bench import Way, open_way, short_folder
from tests.machines.bench import SESSION, Bench, live_permit, open_bench, processes_with

Page = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def require_chromium() -> None:
    """Skip, loudly, where there is none."""
    if not any(os.access(path, os.X_OK) for path in CHROMIUM):
        pytest.skip(f"NO CHROMIUM ON THIS HOST, so the browser is not tested; it was looked for at {CHROMIUM}")


def html(body: str, *fields: str, status: str = "200 OK") -> bytes:
    """A whole answer."""
    content = f"<!doctype html><meta charset=utf-8><title>Quill</title>{body}".encode()
    head = ("HTTP/1.1 " + status, "Content-Type: text/html", *fields)
    return "\r\n".join([*head, "Connection: close", "", ""]).encode() + content


NOWHERE = html("nothing here", status="404 Not Found")


class Web:
    """Sites at one port of loopback, whatever they are called. ``asked`` holds hosts with paths, in order."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.port = 0
        self.asked: list[str] = []
        self.bodies: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            path = lines[0].split(" ")[1]
            self.asked.append(fields.get("host", "").partition(":")[0] + path)
            self.bodies.append(await reader.readexactly(int(fields.get("content-length", "0"))))
            page = self.pages.get(path.partition("?")[0], NOWHERE)
            if isinstance(page, bytes):
                writer.write(page.replace(b"{port}", str(self.port).encode()))
                await writer.drain()
            else:
                answering = {asyncio.ensure_future(page(writer)), asyncio.ensure_future(reader.read())}
                _, left = await asyncio.wait(answering, return_when=asyncio.FIRST_COMPLETED)
                for task in left:
                    task.cancel()
                await asyncio.gather(*answering, return_exceptions=True)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the browser left
        finally:
            writer.close()

    def url(self, path: str = "/", host: str = "shop.example.com") -> str:
        """Of a page."""
        return f"http://{host}:{self.port}{path}"


class Browsing:
    """A session's browser.

    Args:
        bench: the session's own machine.
        way: out of both.
        web: where it may lead.
        browser: under test.
    """

    def __init__(self, bench: Bench, way: Way, web: Web, browser: MachineBrowser) -> None:
        self.bench = bench
        self.way = way
        self.web = web
        self.browser = browser
        self._namespaces: set[str] = set()

    def host(self, name: str = "shop.example.com") -> str:
        """As calls name it."""
        return f"{name}:{self.web.port}"

    async def open(self, path: str, *hosts: str) -> PageShown:
        """Open a page of the shop, under a permit that lives as long as the call."""
        permit = live_permit()
        try:
            return await self.browser.open(permit, self.web.url(path), [self.host(), *map(self.host, hosts)])
        finally:
            permit.close()

    async def read(self, path: str) -> PageShown:
        """Read it once more."""
        permit = live_permit()
        try:
            return await self.browser.read(permit, self.web.url(path))
        finally:
            permit.close()

    async def act(
        self, path: str, element: int, name: str, text: str | None = None, *, submit: bool = False
    ) -> PageShown:
        """Click or fill something."""
        permit = live_permit()
        try:
            return await self.browser.act(
                permit, self.web.url(path), (element, name), [self.host()], text=text, submit=submit
            )
        finally:
            permit.close()

    def processes(self) -> Mapping[int, str]:
        """The browser's processes and the state of each: T for one that is stopped. Others' on this host are left out.

        They are told apart by the namespaces that this process has started, so that one whose parent is gone is seen.
        """
        found = {}
        for pid in processes_with("--user-data-dir=/tmp/browser"):
            try:
                namespace = os.readlink(f"/proc/{pid}/ns/pid")
                if namespace not in self._namespaces and not _is_ours(pid):
                    continue
                found[pid] = _status(pid)[0]
            except OSError:
                continue
            self._namespaces.add(namespace)
        return found


def _status(pid: int) -> list[str]:
    """State, parent and what follows, of a process of this host."""
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].split()


def _is_ours(pid: int) -> bool:
    """Whether this process started it, or what did."""
    while pid > 1 and pid != os.getpid():
        pid = int(_status(pid)[1])
    return pid == os.getpid()


@asynccontextmanager
async def open_browsing(root: Path, load_s: float = 15.0) -> AsyncIterator[Browsing]:
    """A browser that nothing was asked of yet."""
    require_chromium()
    web = Web()
    async with await asyncio.start_server(web.serve, "127.0.0.1", limit=8 << 20) as server, short_folder() as folder:
        web.port = server.sockets[0].getsockname()[1]
        async with open_way(folder, web.port) as way, open_bench(root, egress=way.proxy) as bench:
            browser = bench.machines.browser
            browser.load_s = load_s
            yield Browsing(bench, way, web, browser)


__all__ = ["SESSION", "Browsing", "Web", "html", "open_browsing", "require_chromium"]
