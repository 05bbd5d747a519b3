"""The browser's one page: opened, read, worked and pictured, whatever it does meanwhile.

Layer: machines, runner. Standard library only. All that comes from the browser was shaped by a page: it is bounded, and
what does not have the form that it must have ends this process, and the machine with it.
"""

from __future__ import annotations

import time

from .chromium import SIZE, start
from .devtools import Gone, Pipe
from .frames import Fault, encode
from .page_script import find, read

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from collections.abc import Callable
    from typing import Any

_START_S = 20.0
_QUIET_S = 0.4
_SETTLE_S = 3.0
_MOST_NOTES = 10
_MOST_HOSTS = 30
_MOST_UNDERWAY = 2000
_WORLD = "stead"
_REFUSAL = "Refused by Stead"
"""How the proxy's word begins when it refuses a plain request; a refused tunnel is an error of its own."""
_ABORTED = "net::ERR_ABORTED"
_TUNNEL = "net::ERR_TUNNEL_CONNECTION_FAILED"


class Page:
    """The browser and its one page.

    Args:
        program: the browser's, absolute.
        watch: see ``Pipe``.

    ``load_s`` is how many seconds a page may take to load; to answer the driver it has half of them.
    """

    def __init__(self, program: str, watch: Callable[[], None]) -> None:
        into, out = start(program)
        self._pipe = Pipe(into, out, self._note_event, watch)
        self.load_s = 15.0
        self._session = self._frame = ""
        self._loaded = False
        self._moved = False
        self._last_s = 0.0
        self._underway: set[str] = set()
        self._asked: dict[str, str] = {}
        self._unanswered: set[str] = set()
        self._refusals: dict[str, None] = {}
        self._notes: list[str] = []
        self._document = ""
        deadline = time.monotonic() + _START_S
        ask = self._pipe.ask
        ask("Target.setAutoAttach", "", deadline, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        ask("Browser.setDownloadBehavior", "", deadline, behavior="deny", eventsEnabled=True)
        ask("Target.createTarget", "", deadline, url="about:blank")
        self._pipe.wait(lambda: bool(self._session), deadline)
        for domain in ("Page", "Network", "Inspector"):
            ask(f"{domain}.enable", self._session, deadline)
        width, height = SIZE
        form = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        ask("Emulation.setDeviceMetricsOverride", self._session, deadline, **form)
        self._frame = ask("Page.getFrameTree", self._session, deadline)["frameTree"]["frame"]["id"]

    # -- what can be asked for ----------------------------------------------------------------------------------------

    def open(self, url: str, deadline: float) -> list[bytes]:
        """Go to a page; answers as ``read`` does."""
        self._begin()
        loading = min(deadline, time.monotonic() + self.load_s)
        number = self._pipe.tell("Page.navigate", self._session, url=url)
        started = self._pipe.answer(number, loading)
        if started is None:
            self._pipe.tell("Page.stopLoading", self._session)
            raise Fault(f"{url!r} was not answered within {self.load_s:.0f} s")
        failed = started.get("errorText", "")
        if failed in (_ABORTED, _TUNNEL):  # the events that say why may come later than the answer
            explained = min(deadline, time.monotonic() + _QUIET_S)
            self._pipe.wait(lambda: bool(self._notes or self._refusals), explained)
        if failed and self._document not in self._refusals:
            raise Fault(f"{url!r} could not be opened: {self._why(failed)}")
        self._settle(loading, navigating=True)
        return self._shown(deadline)

    def read(self, url: str, deadline: float) -> list[bytes]:
        """The page that is open as text, its number of hidden parts, and what else there is to say."""
        self._begin()
        self._require(url, deadline)
        self._settle(time.monotonic() + _SETTLE_S, navigating=False)
        return self._shown(deadline)

    def act(self, url: str, ref: int, label: str, text: str | None, submit: bool, deadline: float) -> list[bytes]:
        """Click an element, or fill it and perhaps press Enter in it; answers as ``read`` does."""
        self._begin()
        self._require(url, deadline)
        found = self.run(find(ref, label, text), deadline)
        if "why" in found:
            raise Fault(f"{found['why']}; read the page again")
        if "x" in found:
            self._click(float(found["x"]), float(found["y"]), deadline)
        elif "typed" in found and text:
            self._soon("Input.insertText", deadline, text=text)
        elif "typed" in found:
            self._press("Delete", 46, "", deadline)
        if submit:
            self._press("Enter", 13, "\r", deadline)
        self._settle(min(deadline, time.monotonic() + self.load_s), navigating=False)
        return self._shown(deadline)

    def shot(self, url: str, deadline: float) -> list[bytes]:
        """A picture of what the window shows, as PNG."""
        from binascii import a2b_base64

        self._begin()
        self._require(url, deadline)
        data = self._soon("Page.captureScreenshot", deadline, format="png").get("data", "")
        return [a2b_base64(data)]

    # -- how it is done -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        for of_the_last in (self._refusals, self._notes, self._underway, self._asked, self._unanswered):
            of_the_last.clear()
        self._document = ""
        self._loaded = self._moved = False
        self._last_s = time.monotonic()

    def _require(self, url: str, deadline: float) -> None:
        """Check that what was asked about is what is open, so that a person's yes is for the page that they saw.

        Raises:
            Fault: another page is open.
        """
        history = self._soon("Page.getNavigationHistory", deadline)
        now = str(history["entries"][history["currentIndex"]]["url"])
        if _plain(now) != _plain(url):
            raise Fault(f"the open page is {now[:500]!r}, not {url[:500]!r}; give its own url")

    def _settle(self, deadline: float, *, navigating: bool) -> None:
        """Wait until the page has loaded and is quiet, or long enough."""
        moves = navigating or self._pipe.wait(lambda: self._moved, min(deadline, time.monotonic() + _QUIET_S))
        if moves and not self._pipe.wait(lambda: self._loaded, deadline):
            self._say("it was still loading when this was read")
            self._pipe.tell("Page.stopLoading", self._session)
        quiet = min(deadline, time.monotonic() + _SETTLE_S)
        busy = (self._underway, self._unanswered)
        self._pipe.wait(lambda: not any(busy) and time.monotonic() - self._last_s > _QUIET_S, quiet)

    def _shown(self, deadline: float) -> list[bytes]:
        """The page's address, title and text, hidden parts, and notes; then refused hosts with how often each was."""
        if self._document in self._refusals:
            host = self._asked.get(self._document, "")
            raise Fault(f"it led to {host}, which the proxy refused; to go there, open it by itself")
        found = self.run(read(int(self.load_s * 250)), deadline)
        if found.get("frames"):
            self._say(f"{found['frames']} frames in it were not read; open what they show by its own url")
        if found.get("cut"):
            self._say("it is longer than what can be read of one page")
        title, text, url = (encode(str(found.get(name, ""))) for name in ("title", "text", "url"))
        notes = [encode(note) for note in self._notes]
        hosts = [encode(f"{count} {host}") for host, count in self._refused().items()]
        return [url, title, text, b"%d" % int(found.get("hidden", 0)), b"%d" % len(notes), *notes, *hosts]

    def run(self, script: str, deadline: float) -> dict[str, Any]:
        """A script's result, run where the page's own scripts cannot meddle with it."""
        world = self._soon("Page.createIsolatedWorld", deadline, frameId=self._frame, worldName=_WORLD)
        answer = self._soon(
            "Runtime.evaluate",
            deadline,
            expression=script,
            contextId=world["executionContextId"],
            returnByValue=True,
            awaitPromise=True,
            timeout=self.load_s * 500,
        )
        value = answer.get("result", {}).get("value")
        if not isinstance(value, dict):
            raise Fault("the page could not be read; it may have changed meanwhile: read it again")
        return value

    def _soon(self, method: str, deadline: float, **parameters: object) -> dict[str, Any]:
        within = min(deadline, time.monotonic() + self.load_s / 2)
        return self._pipe.ask(method, self._session, within, **parameters)

    def _click(self, x: float, y: float, deadline: float) -> None:
        for kind, count in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)):
            button = "left" if count else "none"
            self._soon("Input.dispatchMouseEvent", deadline, type=kind, x=x, y=y, button=button, clickCount=count)

    def _press(self, key: str, code: int, text: str, deadline: float) -> None:
        for kind in ("keyDown", "keyUp"):
            written = {"text": text} if text and kind == "keyDown" else {}
            name = "Input.dispatchKeyEvent"
            self._soon(name, deadline, type=kind, key=key, code=key, windowsVirtualKeyCode=code, **written)

    def _why(self, failed: str) -> str:
        if refused := self._refused():
            return f"the proxy refused {', '.join(refused)}"
        if failed == _ABORTED:
            return "; ".join(self._notes) or "it gave nothing to show"
        return failed

    # -- what the browser tells ---------------------------------------------------------------------------------------

    def _note_event(self, method: str, about: dict[str, Any], session: str) -> None:
        if method == "Target.attachedToTarget":
            self._attached(about)
        elif method == "Target.detachedFromTarget" and about.get("sessionId") == self._session:
            raise Gone("the page closed itself")
        elif method in ("Inspector.targetCrashed", "Target.targetCrashed"):
            raise Gone("the page crashed the browser, or used too much memory")
        elif method == "Browser.downloadWillBegin":
            self._say(f"a download was refused: {str(about.get('url', ''))[:200]}")
        elif session != self._session:
            return
        elif method == "Page.javascriptDialogOpening":
            leaves = about.get("type") == "beforeunload"
            self._pipe.tell("Page.handleJavaScriptDialog", session, accept=leaves)
            if not leaves:
                self._say(f"a dialog was dismissed ({about.get('type')}): {str(about.get('message', ''))[:200]}")
        elif method == "Page.windowOpen":
            self._say(f"a new window was refused: {str(about.get('url', ''))[:500]}")
        elif method.startswith("Network."):
            self._note_request(method.partition(".")[2], about)
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif about.get("frameId") == self._frame and method in ("Page.frameStartedLoading", "Page.frameStoppedLoading"):
            self._moved, self._loaded = True, method == "Page.frameStoppedLoading"

    def _attached(self, about: dict[str, Any]) -> None:
        """A page that is not ours is cut off and closed; frames and workers may go on."""
        target, session = about["targetInfo"], about["sessionId"]
        ours = target["type"] != "page" or not self._session
        if not ours:  # who opened it waits for it, so it has to begin before it can be closed
            cut = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
            self._pipe.tell("Network.emulateNetworkConditions", session, **cut)
        elif target["type"] == "page":
            self._session = session
        self._pipe.tell("Runtime.runIfWaitingForDebugger", session)
        if not ours:
            self._pipe.tell("Target.closeTarget", targetId=target["targetId"])

    def _note_request(self, what: str, about: dict[str, Any]) -> None:
        """The page's process and the network's each report their part of a request, in no fixed order.

        The network's part (``ExtraInfo``) has the headers, so a request is over when both have said so.
        """
        ident = str(about.get("requestId", ""))
        ended = what in ("loadingFinished", "loadingFailed")
        if what == "requestWillBeSent":
            if len(self._asked) < _MOST_UNDERWAY:
                self._underway.add(ident)
                self._asked[ident] = _host(str(about["request"]["url"]))
            if about.get("type") == "Document" and about.get("frameId") == self._frame:
                self._document = ident
        elif what == "requestWillBeSentExtraInfo":
            if len(self._unanswered) < _MOST_UNDERWAY and (ident in self._underway or ident not in self._asked):
                self._unanswered.add(ident)
        elif what == "responseReceivedExtraInfo":
            self._unanswered.discard(ident)
            if _REFUSAL in str(about.get("headersText", ""))[:60]:
                self._refuse(ident)
        elif ended:
            self._underway.discard(ident)
            if about.get("canceled"):  # it may have no answer
                self._unanswered.discard(ident)
            if about.get("errorText") == _TUNNEL:
                self._refuse(ident)
        if ended or what in ("requestWillBeSent", "responseReceivedExtraInfo"):
            self._last_s = time.monotonic()

    def _refuse(self, ident: str) -> None:
        if len(self._refusals) < _MOST_UNDERWAY:
            self._refusals[ident] = None

    def _refused(self) -> dict[str, int]:
        """Hosts with how many requests to each were refused."""
        found: dict[str, int] = {}
        for host in filter(None, (self._asked.get(ident) for ident in self._refusals)):
            if host in found or len(found) < _MOST_HOSTS:
                found[host] = found.get(host, 0) + 1
        return found

    def _say(self, note: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(note)


def _host(url: str) -> str:
    """Whom a request is for, with its port if it is no usual one; a scheme for what has no host."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url.partition(":")[0][:20] + ":"
    host = rest.split("/", 1)[0].split("?", 1)[0].rpartition("@")[2]
    usual = {"http": ":80", "https": ":443"}.get(scheme, "")
    return (host.removesuffix(usual) if usual else host)[:300]


def _plain(url: str) -> str:
    """A URL as it is compared: without its fragment, host in lower case, ``/`` for no path."""
    whole = url.partition("#")[0]
    scheme, mark, rest = whole.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{mark}{host.lower()}/{path}" if slash else f"{scheme.lower()}{mark}{host.lower()}/"
