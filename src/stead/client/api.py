"""The API as method calls, JSON in and JSON out.

Layer: a door. Must not know what the commands do.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote, urlencode

from stead.client.address import Address, ApiError, Json, NoDaemon, find_address
from stead.client.exchange import Exchange
from stead.client.stream import Stream
from stead.config import Home, code_id

REQUEST_TIMEOUT_S = 30.0
STREAM_TIMEOUT_S = 5.0
Given = str | int | Sequence[str]
"""A value in a query; a sequence is given once for each."""
_ASK_AGAIN_S = 1.0
_WAIT_LIMIT_S = 30.0
"""How long a request that came too soon is kept back in all."""
_EVENTS = 500
_JSON_HEADERS = {"Content-Type": "application/json"}


class Client:
    """The API of one home's daemon. The address is read again when a connection fails, so a restart goes unnoticed.

    Args:
        home: whose daemon.
        start: starts the daemon, where none runs at the first request; one that leaves later is not started again.
        door: what the record calls the door of its commands, one that the daemon knows; "" for the command line.
    """

    def __init__(self, home: Home, start: Callable[[], None] | None = None, door: str = "") -> None:
        self.home = home
        self._start = start
        self._door = door
        self._address: Address | None = None

    @property
    def address(self) -> Address:
        """Where the daemon listens.

        Raises:
            NoDaemon: none does.
        """
        if self._address is None:
            try:
                self._address = find_address(self.home)
            except NoDaemon:
                if not self._started():
                    raise
                self._address = find_address(self.home)
        return self._address

    @property
    def outdated(self) -> bool:
        """Whether the daemon was started with other code than this program is now."""
        try:  # starts none: an error on the way asks this
            return find_address(self.home).code != code_id()
        except NoDaemon:
            return False

    def forget_address(self) -> None:
        """Look again at the next request."""
        self._address = None

    def get(self, path: str, /, **query: Given) -> Json:
        """Read something.

        Raises:
            ApiError: the daemon refused, or (``NoDaemon``) none answers. So it is for every method here.
        """
        return self._request("GET", target(path, query), {}, b"", REQUEST_TIMEOUT_S)

    def items(self, path: str, **query: Given) -> Iterator[Json]:
        """Every row of a list, page after page."""
        while True:
            page = self.get(path, **query)
            yield from page["items"]
            if not page.get("next"):
                return
            query["after"] = page["next"]

    def events(self, session: str, after: int = 0) -> Iterator[list[Json]]:
        """Every event of a session after one, page after page."""
        while items := self.get("/events", after=after, streams=session, limit=_EVENTS)["items"]:
            yield items
            after = items[-1]["seq"]

    def command(self, method: str, path: str, body: Json | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> Json:
        """Carry out a command, once, even if the connection breaks and the request is sent again.

        One that takes longer than the daemon lets a request wait is asked after until ``timeout_s`` is over.

        Args:
            method: POST, PUT or DELETE; the last has no body.
            path: below ``/api/v1``.
            body: its fields.
            timeout_s: how long it may take in all.
        """
        content = b"" if method == "DELETE" else json.dumps(body or {}).encode()
        # The same bits as secrets.token_hex, without the 10 ms that importing it takes.
        headers = {"Idempotency-Key": os.urandom(16).hex()} | (_JSON_HEADERS if content else {})
        headers |= {"X-Stead-Door": self._door} if self._door else {}
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self._request(method, target(path, {}), headers, content, timeout_s)
            except ApiError as error:
                if error.status != 504 or time.monotonic() + _ASK_AGAIN_S > deadline:
                    raise
            time.sleep(_ASK_AGAIN_S)

    def post(self, path: str, body: Json | None = None, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Json:
        """Carry out a command."""
        return self.command("POST", path, body, timeout_s)

    def put(self, path: str, body: Json) -> Json:
        """Carry out a command that puts something in place of what there is."""
        return self.command("PUT", path, body)

    def text(self, path: str, **query: Given) -> str:
        """Read something that is no JSON but text for people."""
        return self.content(path, **query).decode("utf-8", "replace")

    def content(self, where: str, **query: Given) -> bytes:
        """Read something that is no JSON, byte for byte."""
        status, content = self._fetch("GET", target(where, query), {}, b"", REQUEST_TIMEOUT_S)
        if status >= 400:
            parse_answer(status, content)
        return content

    def stream(self, after: int, streams: Sequence[str] = ()) -> Stream:
        """Watch what happens from an event on, in these sessions, or in all. Close it when done."""

        def connect(after: int) -> Exchange:
            self.forget_address()  # a daemon that was started again has another bearer
            query: dict[str, Given] = {"after": after, "streams": ",".join(streams), "door": self._door}
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
            exchange = self._open("GET", target("/events/stream", query), headers, b"", STREAM_TIMEOUT_S)
            if exchange.status != 200:
                refused = parse_answer(*self._finish(exchange, STREAM_TIMEOUT_S))
                raise ApiError("peer", f"a stream was answered with {refused}; see: stead logs", 502)
            return exchange

        return Stream(connect, after)

    def _started(self) -> bool:
        """Start the daemon, unless one has answered before; whether it was started."""
        start, self._start = self._start, None
        if start:
            start()
        return start is not None

    def _open(self, method: str, where: str, headers: dict[str, str], body: bytes, timeout_s: float) -> Exchange:
        """Send a request; one more try, at the address as it is now, if the connection fails."""
        for last_try in (False, True):
            daemon = f"the daemon (process {self.address.pid})"
            try:
                exchange = Exchange(self.address, method, where, headers, body, timeout_s)
                self._start = None
                return exchange
            except TimeoutError as error:
                raise NoDaemon(f"{daemon} did not answer within {timeout_s:g} s; see: stead logs") from error
            except OSError as error:
                self.forget_address()
                # After a crash or a reboot, another process may have the number that the file names.
                if last_try and isinstance(error, ConnectionRefusedError) and self._started():
                    return Exchange(self.address, method, where, headers, body, timeout_s)
                if last_try:
                    raise NoDaemon(f"{daemon} cannot be reached: {error}; see: stead doctor") from error
        raise AssertionError("unreachable")

    def _request(self, method: str, where: str, headers: dict[str, str], body: bytes, timeout_s: float) -> Json:
        return parse_answer(*self._fetch(method, where, headers, body, timeout_s))

    def _fetch(
        self, method: str, where: str, headers: dict[str, str], body: bytes, timeout_s: float
    ) -> tuple[int, bytes]:
        """Status and content of an answer; one more try when the daemon has another bearer by now.

        A request that comes too soon after others is sent again once the daemon takes it: it did nothing.
        """
        bearer, renewed = self.address.bearer, False
        until = time.monotonic() + _WAIT_LIMIT_S
        while True:
            exchange = self._open(method, where, headers, body, timeout_s)
            status, content = self._finish(exchange, timeout_s)
            if status == 401 and not renewed:
                self.forget_address()
                renewed = True
                if self.address.bearer != bearer:
                    continue
            wait_s = exchange.retry_after_s if status == 429 else None
            if wait_s is None or time.monotonic() + wait_s > until:
                return status, content
            time.sleep(wait_s)

    def _finish(self, exchange: Exchange, timeout_s: float) -> tuple[int, bytes]:
        try:
            return exchange.status, exchange.read_all(timeout_s)
        except OSError as error:
            self.forget_address()
            raise NoDaemon(f"the daemon's answer broke off: {error}; see: stead logs") from error
        finally:
            exchange.close()


def target(path: str, query: Mapping[str, Given]) -> str:
    """Path and query below ``/api/v1``, percent-encoded. Empty values are left out."""
    said = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
    given = {name: value for name, value in said.items() if isinstance(value, int) or value}
    return "/api/v1" + quote(path) + ("?" + urlencode(given, doseq=True, errors="replace") if given else "")


def parse_answer(status: int, content: bytes) -> Json:
    """The JSON object of an answer.

    Raises:
        ApiError: it says that something went wrong, or it is not JSON at all.
    """
    try:
        value = json.loads(content) if content else {}
    except ValueError:
        value = None
    if not isinstance(value, dict) and status >= 500:
        raise ApiError("internal", f"the daemon failed (status {status}) and did not say why; see: stead logs", status)
    if not isinstance(value, dict):
        raise ApiError("peer", f"what answered (status {status}) is not a Stead daemon; see: stead doctor", 502)
    if status < 400:
        return value
    error = value.get("error")
    if not isinstance(error, dict):
        raise ApiError("peer", f"the daemon answered {status} without saying why; see: stead logs", status)
    raise ApiError(str(error.get("code", "error")), str(error.get("message", "")), status)
