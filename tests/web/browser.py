"""A real Chromium, driven over its own debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DEADLINE_S = 30.0
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
)


class Page:
    """One tab. ``errors``: what its console complained about; ``requests``: every URL it asked for."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self.session = session
        self.errors: list[str] = []
        self.requests: list[str] = []

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol."""
        return await self._browser.send(method, params, self.session)

    async def goto(self, url: str) -> None:
        """Open an address, and wait until it has loaded."""
        loaded = self._browser.expect(self.session, "Page.loadEventFired")
        await self.send("Page.navigate", url=url)
        async with asyncio.timeout(DEADLINE_S):
            await loaded

    async def run(self, script: str) -> Any:
        """What an expression gives; promises are waited for.

        Raises:
            AssertionError: it threw.
        """
        answer = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait until an expression is true."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not (value := await self.run(script)):
                    await asyncio.sleep(0.05)
                return value
        except TimeoutError:
            text = await self.run("document.body.innerText")
            raise AssertionError(f"never true: {script}\nerrors: {self.errors}\nthe page says:\n{text}") from None

    async def click(self, selector: str, text: str = "") -> None:
        """Press the element with this text, when it is there and can be pressed."""
        find = (
            f"[...document.querySelectorAll({selector!r})].find(e => e.textContent.includes({text!r}) && !e.disabled)"
        )
        await self.until(f"!!{find}")
        await self.run(f"{find}.click()")

    async def type(self, selector: str, text: str) -> None:
        """Put text into a field."""
        await self.run(f"document.querySelector({selector!r}).value = {text!r}")

    async def press(self, key: str, code: int) -> None:
        """One key, as from a keyboard."""
        for kind in ("rawKeyDown", "char", "keyUp"):
            text = "\r" if key == "Enter" else ""
            await self.send("Input.dispatchKeyEvent", type=kind, key=key, text=text, windowsVirtualKeyCode=code)

    async def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """The window's size and colour scheme."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = "dark" if dark else "light"
        await self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    async def picture(self, path: Path, *, whole: bool = True) -> None:
        """Take one, of the whole page or of what the window shows."""
        shot = await self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """An event of the protocol."""
        match method:
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning"):
                self.errors.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(params["url"])
            case _:
                pass


class Browser:
    """The connection to a running Chromium."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._expected: list[tuple[str, str, asyncio.Future[None]]] = []
        self._pages: dict[str, Page] = {}

    async def send(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        """One command; gives its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps(message))
        async with asyncio.timeout(DEADLINE_S):
            answer = await future
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def expect(self, session: str, method: str) -> asyncio.Future[None]:
        """What is done when the event comes."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._expected.append((session, method, future))
        return future

    async def page(self) -> Page:
        """A new tab."""
        target = await self.send("Target.createTarget", {"url": "about:blank"})
        attached = await self.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        page = Page(self, attached["sessionId"])
        self._pages[page.session] = page
        for domain in ("Page", "Runtime", "Network", "Log"):
            await page.send(f"{domain}.enable")
        return page

    async def listen(self) -> None:
        """Hand out what comes."""
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                self._answers.pop(message["id"]).set_result(message)
                continue
            session, method = message.get("sessionId", ""), message["method"]
            if session in self._pages:
                self._pages[session].hear(method, message["params"])
            for expected in [one for one in self._expected if one[:2] == (session, method)]:
                self._expected.remove(expected)
                expected[2].set_result(None)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser with a fresh profile."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            CHROMIUM,
            *_FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port, path = await _address(Path(profile) / "DevToolsActivePort")
            url = f"ws://127.0.0.1:{port}{path}"
            async with connect(url, max_size=None, open_timeout=DEADLINE_S, proxy=None) as socket:
                browser = Browser(socket)
                listening = asyncio.create_task(browser.listen())
                try:
                    yield browser
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)
        finally:
            process.terminate()
            async with asyncio.timeout(DEADLINE_S):
                await process.wait()


async def _address(file: Path) -> tuple[str, str]:
    async with asyncio.timeout(DEADLINE_S):
        while not (file.exists() and file.read_text().count("\n")):
            await asyncio.sleep(0.05)
    port, path = file.read_text().split("\n")[:2]
    return port, path
