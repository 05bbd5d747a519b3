"""JSON-RPC 2.0 over lines, both ways, with a peer that may send anything.

Layer: a door. Knows no method. One object a line; what is too long, malformed or nonsense is answered as the
specification says and changes nothing. Sizes and counts are bounded.

Source: https://www.jsonrpc.org/specification
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import BinaryIO

from stead.client import Json

LINE_LIMIT_BYTES = 32 * 1024 * 1024
"""Of a message: a file of 20 MB in Base64, with room for the words around it."""
QUEUE_LIMIT = 256
"""Requests that wait or are worked on."""
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_FOUND = -32002
Id = str | int | None
Answered = Callable[[Json | None], None]
"""Takes the result of a request to the peer; nothing where it answered with an error."""


class RpcError(Exception):
    """A request is answered with an error.

    Args:
        code: see the constants here.
        message: cause and next step.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Request:
    """A request of the peer; answered once: the first answer counts.

    Args:
        peer: who is answered.
        id: the peer's; a notification has none and is never answered.
    """

    def __init__(self, peer: Peer, method: str, params: Json, id: Id = None, *, notification: bool = False) -> None:
        self.method = method
        self.params = params
        self.id = id
        self.mark = 0
        """What its handler noted when it came."""
        self._peer = peer
        self._open = not notification

    def answer(self, result: Json) -> None:
        """Answer it."""
        self._send({"result": result})

    def fail(self, code: int, message: str) -> None:
        """Answer it with an error."""
        self._send({"error": {"code": code, "message": message}})

    def _send(self, outcome: Json) -> None:
        if self._peer.settle(self):
            self._peer.send({"id": self.id, **outcome})

    def close(self) -> bool:
        """Whether it was still to be answered; from now on it is not."""
        was_open, self._open = self._open, False
        return was_open


class Peer:
    """The other end of a pair of pipes.

    Args:
        reader: where its lines come from.
        writer: where ours go; nothing else may write there.
        log: takes a line about what it did wrong.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO, log: Callable[[str], None]) -> None:
        self._reader = reader
        self._writer = writer
        self.log = log
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._asked: dict[int, Answered] = {}
        self._open: dict[Id, Request] = {}
        self._last_id = 0

    def send(self, message: Json) -> None:
        """Send one message. A peer that has gone is the reader's to notice."""
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        with self._writing:
            try:
                self._writer.write(line + b"\n")
                self._writer.flush()
            except (OSError, ValueError):
                return

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Json, answered: Answered) -> int:
        """Send a request; ``answered`` is called from the reading thread, unless it is withdrawn before."""
        with self._state:
            self._last_id += 1
            id = self._last_id
            self._asked[id] = answered
        self.send({"id": id, "method": method, "params": params})
        return id

    def withdraw(self, id: int) -> None:
        """Take a request back: its answer does not count any more."""
        with self._state:
            known = self._asked.pop(id, None)
        if known is not None:
            self.notify("$/cancel_request", {"requestId": id})

    def settle(self, request: Request) -> bool:
        """Whether a request was open; it is not any more."""
        with self._state:
            was_open = request.close()
            if was_open and self._open.get(request.id) is request:
                del self._open[request.id]
            return was_open

    def read(self, handle: Callable[[Request], None]) -> None:
        """Take messages until the peer hangs up."""
        while line := self._reader.readline(LINE_LIMIT_BYTES):
            if not line.endswith(b"\n"):
                if len(line) < LINE_LIMIT_BYTES:
                    return  # it hung up in the middle of a message
                self._skip_line()
                self._refuse(INVALID_REQUEST, f"a message has at most {LINE_LIMIT_BYTES} bytes; this one was left out")
            elif line.strip():
                self._take(line, handle)

    def _skip_line(self) -> None:
        while (piece := self._reader.readline(1 << 20)) and not piece.endswith(b"\n"):
            pass

    def _take(self, line: bytes, handle: Callable[[Request], None]) -> None:
        try:
            message = json.loads(line.decode(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            self._refuse(PARSE_ERROR, "this is no JSON; send one object a line")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(INVALID_REQUEST, 'a message is one object with "jsonrpc": "2.0"')
        elif "method" not in message and ("result" in message or "error" in message):
            self._hear(message)
        else:
            self._accept(message, handle)

    def _accept(self, message: Json, handle: Callable[[Request], None]) -> None:
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if isinstance(id, bool) or not isinstance(id, str | int | None):
            self._refuse(INVALID_REQUEST, "an id is a string or a whole number")
            return
        given: object = {} if params is None else params
        fits = given if isinstance(given, dict) else {}
        request = Request(self, str(method), fits, id, notification="id" not in message)
        if not isinstance(method, str):
            request.fail(INVALID_REQUEST, "a request has a method")
        elif fits is not given:
            request.fail(INVALID_PARAMS, "params are an object")
        elif "id" not in message or self._open_request(request):
            handle(request)

    def _open_request(self, request: Request) -> bool:
        with self._state:
            known, full = request.id in self._open, len(self._open) >= QUEUE_LIMIT
            if not known and not full:
                self._open[request.id] = request
        if known:  # an answer under this id would be taken for the first one's
            self._refuse(INVALID_REQUEST, f"the id {str(request.id)[:80]!r} is that of a request that is still open")
        elif full:
            request.fail(INTERNAL, f"{QUEUE_LIMIT} requests are open already; wait for an answer")
        return not known and not full

    def find(self, id: object) -> Request | None:
        """The peer's open request of an id."""
        with self._state:
            return self._open.get(id) if isinstance(id, str | int) else None

    def _hear(self, message: Json) -> None:
        id = message.get("id")
        with self._state:
            answered = self._asked.pop(id, None) if isinstance(id, int) and not isinstance(id, bool) else None
        if answered is None:
            self.log("an answer came to a request that is not open")
            return
        result = message.get("result")
        answered(result if isinstance(result, dict) else None)

    def _refuse(self, code: int, message: str) -> None:
        self.send({"id": None, "error": {"code": code, "message": message}})


class Lanes:
    """Work in the order in which it came, by key: what has the same key never runs at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[Hashable, deque[Callable[[], None]]] = {}

    def put(self, key: Hashable, work: Callable[[], None]) -> None:
        """Have something done after what the key has already; it must not raise."""
        with self._lock:
            queue = self._queues.get(key)
            if queue is not None:
                queue.append(work)
                return
            self._queues[key] = deque([work])
        threading.Thread(target=self._run, args=(key,), daemon=True).start()

    def _run(self, key: Hashable) -> None:
        while True:
            with self._lock:
                queue = self._queues[key]
                if not queue:
                    del self._queues[key]
                    return
                work = queue.popleft()
            work()


def take_over_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: what anything else prints goes to standard error."""
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return reader, writer


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
