"""Events as they happen, over server-sent events.

Layer: a door. Must not know what an event means.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from stead.client.address import ApiError, Json
from stead.client.exchange import BODY_LIMIT_BYTES, Exchange

SILENCE_S = 45.0
"""The stream pings every 15 s; after three missed ones the connection is taken for dead."""
PATIENCE_S = 60.0
"""How long a stream tries to reach a daemon that went away."""
_BACKOFF_S = (0.05, 2.0)


class Stream:
    """Envelopes as they happen, each once and in order, over as many connections as it takes.

    Args:
        connect: opens the stream after a seq; raises ``ApiError`` when that fails.
        after: the seq after which to start.
    """

    def __init__(self, connect: Callable[[int], Exchange], after: int) -> None:
        self._open = connect
        self._exchange: Exchange | None = None
        self._buffer = b""
        self._heard = self._reached = time.monotonic()
        self._retry_at, self._delay = 0.0, _BACKOFF_S[0]
        self._epoch: object = None
        self.after = after

    @property
    def connected(self) -> bool:
        """Whether a connection stands; while none does, ``next`` tries again by itself."""
        return self._exchange is not None

    def fileno(self) -> int:
        """For ``select``; -1 while there is no connection."""
        return self._exchange.fileno() if self._exchange else -1

    def close(self) -> None:
        """Watch no more."""
        self._drop()

    def next(self, timeout_s: float) -> list[Json]:
        """The envelopes that come next; none if nothing comes in time.

        Raises:
            ApiError: the daemon refuses the stream, was away for longer than ``PATIENCE_S``, talks nonsense, or has
                another journal now.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            exchange = self._exchange or self._connect(deadline)
            if exchange is None:
                if time.monotonic() >= deadline:
                    return []
                continue
            try:
                piece = exchange.read(deadline - time.monotonic())
            except TimeoutError:
                if time.monotonic() - self._heard > SILENCE_S:
                    self._drop()
                return []
            except OSError:
                self._drop()
                continue
            if not piece:
                self._drop()
                continue
            self._heard = time.monotonic()
            self._buffer += piece
            try:
                batch = self._take()
            except (ValueError, TypeError, KeyError) as error:
                raise ApiError("peer", f"the daemon's stream is malformed: {error!r}; see: stead logs", 502) from error
            if batch:
                return batch

    def _connect(self, deadline: float) -> Exchange | None:
        """One try, when the back-off and the deadline let it be made; nothing if it failed."""
        now = time.monotonic()
        if self._retry_at > now:
            time.sleep(max(0.0, min(self._retry_at, deadline) - now))
            if self._retry_at > deadline:
                return None
        self._retry_at = time.monotonic() + self._delay
        self._delay = min(self._delay * 2, _BACKOFF_S[1])
        try:
            exchange = self._open(self.after)
        except ApiError as error:
            # 401 and 503 are what a daemon may answer in the moment of its start.
            if error.status in (0, 401, 503) and time.monotonic() - self._reached < PATIENCE_S:
                return None
            raise
        self._exchange, self._buffer = exchange, b""
        self._heard = time.monotonic()
        return exchange

    def _drop(self) -> None:
        if self._exchange:
            self._exchange.close()
            self._exchange = None
            self._reached = time.monotonic()

    def _take(self) -> list[Json]:
        """The whole messages that the buffer holds."""
        if len(self._buffer) > BODY_LIMIT_BYTES:
            raise ApiError("peer", "the daemon's stream sent a message without end; see: stead logs", 502)
        *messages, self._buffer = self._buffer.replace(b"\r\n", b"\n").split(b"\n\n")
        batch: list[Json] = []
        for message in messages:
            lines = message.split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    batch += [envelope for envelope in json.loads(line[5:]) if self._is_news(envelope)]
            for line in lines:
                if line.startswith(b"id:"):  # may be past the last envelope: what lies between is not for this watcher
                    self.after = max(self.after, int(line[3:]))
        return batch

    def _is_news(self, envelope: Json) -> bool:
        kind = envelope["body"]["type"]
        if kind in ("hello", "reset"):
            self._delay, self._retry_at = _BACKOFF_S[0], 0.0
            epoch = envelope["body"].get("epoch")
            if kind == "reset" or self._epoch not in (None, epoch):
                raise ApiError("conflict", "the journal was replaced while you watched; start watching again", 409)
            self._epoch = epoch
            return False
        seq = envelope.get("seq")
        if seq is None:
            return True
        if seq <= self.after:
            return False
        self.after = seq
        return True
