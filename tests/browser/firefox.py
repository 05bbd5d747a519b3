"""Debian's Firefox, spoken to over WebDriver BiDi, which it serves by itself: no driver and no patched browser.

Only what a walk through the page needs: a tab that goes somewhere, finds things by role and name as Playwright does,
presses, types, and hears what the page complains of.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE_S = 30.0
"""How long the page may take to show something on a loaded machine; never a pause."""
_LOOK_AGAIN_S = 0.05
_READY = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Control": "\ue009", "Shift": "\ue008"}
_HEARD = ["log.entryAdded", "network.beforeRequestSent", "network.responseCompleted"]
_PREFS = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "ui.prefersReducedMotion": 1,
}


@dataclass
class Firefox:
    """A running Firefox with one tab.

    ``heard``: errors and warnings of the console, answers of 400 and more. ``hosts``: whom the tab asked for anything.
    """

    socket: ClientConnection
    context: str = ""
    heard: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come meanwhile are heard.

        Raises:
            AssertionError: the browser refuses it; its own words.
            TimeoutError: it says nothing.
        """
        id = next(self._ids)
        self.socket.send(json.dumps({"id": id, "method": method, "params": params}))
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE_S))
            if message["type"] == "event":
                self._event(message["method"], message["params"])
            elif message["id"] == id:
                assert message["type"] == "success", f"{method}: {message}"
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str) -> None:
        """Go there, until the document is loaded."""
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    @property
    def url(self) -> str:
        """Where the tab is."""
        tree = self.ask("browsingContext.getTree", root=self.context)
        return str(tree["contexts"][0]["url"])

    def all(self, role: str, name: str = "") -> list[dict[str, Any]]:
        """What has this role and, unless it is empty, exactly this accessible name; in the page's order."""
        value = {"role": role, "name": name} if name else {"role": role}
        where = {"type": "accessibility", "value": value}
        nodes: list[dict[str, Any]] = self.ask("browsingContext.locateNodes", context=self.context, locator=where)[
            "nodes"
        ]
        return nodes

    def find(self, role: str, name: str = "") -> dict[str, Any]:
        """The first of them that can be pressed, waited for."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [one for one in self.all(role, name) if self.run(_USABLE, one)]
            return bool(found)

        self.until(there, f"{role} {name!r}")
        return found[0]

    def press(self, role: str, name: str) -> None:
        """A click by the mouse in the middle of it."""
        node = self.find(role, name)
        self.run("(node) => node.scrollIntoView({ block: 'nearest' })", node)
        origin = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._perform({"type": "pointer", "id": "mouse", "actions": actions})

    def type(self, text: str) -> None:
        """Letter by letter, wherever the focus is."""
        self._keys([(kind, letter) for letter in text for kind in ("keyDown", "keyUp")])

    def key(self, chord: str) -> None:
        """A key, or some together, such as ``Control+Enter``."""
        keys = [_KEYS.get(one, one) for one in chord.split("+")]
        self._keys([("keyDown", one) for one in keys] + [("keyUp", one) for one in reversed(keys)])

    def says(self, text: str) -> None:
        """Wait until the page shows this."""
        self.until(lambda: text in self.text(), f"the page to say {text!r}")

    def text(self) -> str:
        """What the page shows."""
        return str(self.run("() => document.body.innerText"))

    def run(self, function: str, *nodes: dict[str, Any]) -> object:
        """Call a function of the page's world on nodes; gives a string, number or truth value, else nothing."""
        arguments = [{"sharedId": node["sharedId"]} for node in nodes]
        target = {"context": self.context}
        answer = self.ask(
            "script.callFunction", functionDeclaration=function, awaitPromise=True, target=target, arguments=arguments
        )
        assert answer["type"] == "success", answer
        value: object = answer["result"].get("value")
        return value

    def until(self, holds: Any, what: str) -> None:
        """Wait for it.

        Raises:
            AssertionError: it did not come in time; with what the page shows.
        """
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, f"waited for {what} at {self.url}; heard {self.heard}\n{self.text()}"
            time.sleep(_LOOK_AGAIN_S)

    def _keys(self, actions: list[tuple[str, str]]) -> None:
        self._perform({"type": "key", "id": "keys", "actions": [{"type": one, "value": key} for one, key in actions]})

    def _perform(self, source: dict[str, object]) -> None:
        self.ask("input.performActions", context=self.context, actions=[source])

    def _event(self, method: str, params: dict[str, Any]) -> None:
        if method == "log.entryAdded" and params["level"] in ("error", "warn"):
            self.heard.append(f"{params['level']}: {params['text']} ({params.get('source', {}).get('realm', '')})")
        elif method == "network.beforeRequestSent":
            self.hosts.add(urlsplit(params["request"]["url"]).netloc)
        elif method == "network.responseCompleted" and params["response"]["status"] >= 400:
            self.heard.append(f"answer {params['response']['status']}: {params['request']['url']}")


_USABLE = """(node) => {
    const box = node.getBoundingClientRect();
    return !node.disabled && box.width > 0 && box.height > 0 && !node.closest('[inert], [aria-hidden=true]');
}"""


@contextmanager
def firefox(width: int = 1440, height: int = 900) -> Iterator[Firefox]:
    """A Firefox without a window, with a profile of its own that goes when it ends."""
    assert FIREFOX is not None
    with tempfile.TemporaryDirectory(prefix="stead-firefox-") as profile:
        lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in _PREFS.items()]
        (Path(profile) / "user.js").write_text("\n".join(lines), "utf-8")
        command = [FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            with connect(f"{_address(process)}/session", max_size=None) as socket:
                browser = Firefox(socket)
                browser.ask("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
                browser.context = str(browser.ask("browsingContext.getTree")["contexts"][0]["context"])
                browser.ask("session.subscribe", events=_HEARD)
                size = {"width": width, "height": height}
                browser.ask("browsingContext.setViewport", context=browser.context, viewport=size)
                yield browser
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_S)


def _address(process: subprocess.Popen[str]) -> str:
    """Where it listens, which it says once it is there."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := _READY.search(line):
            return found[1]
    raise AssertionError(f"Firefox ended with {process.wait()} before it listened")
