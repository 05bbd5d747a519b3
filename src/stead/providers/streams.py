"""One request to one model: send it, pass its text on as it comes, and give the whole reply or nothing.

Layer: providers. A reply counts only with a stop reason of the provider's own: a stream that breaks off may end as
cleanly as a whole one. Cancelling closes the connection at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

import msgspec

from stead.domain.ids import RequestNo
from stead.domain.messages import ReplyPart, Usage
from stead.providers import faults
from stead.providers.connection import Connection
from stead.providers.failures import Broken, Failure
from stead.providers.quotas import quota_in
from stead.providers.sse import EventStream
from stead.providers.transport import BROKEN, Answer
from stead.providers.wire import Reader, Stop, headers

LEAST_BYTES = 1024 * 1024
TOKEN_BYTES = 1024
"""What a stream may take: a token of its own event is some 300 bytes on the wordiest wire."""


class Ask(msgspec.Struct, frozen=True):
    """What is sent.

    Args:
        model: as the vendor knows it.
        body: the whole request, in pieces.
        number: of the request in its session; calls are keyed by it.
        provider: whose words the reply is.
        max_output_tokens: the cap on the reply.
        headers: the person's own, of this model.
    """

    model: str
    body: Sequence[bytes]
    number: RequestNo
    provider: str
    max_output_tokens: int
    headers: Mapping[str, str]


class Received(msgspec.Struct, frozen=True):
    """A whole reply. ``written_for_1h``: see ``pricing.spend``."""

    parts: tuple[ReplyPart, ...]
    stop: Stop
    usage: Usage
    written_for_1h: int
    duration_ms: int
    first_token_ms: int


async def receive(connection: Connection, ask: Ask, on_text: Callable[[str], None]) -> Received:
    """Send a request and read the reply to its end.

    Args:
        connection: where it goes.
        ask: what is sent.
        on_text: gets text as it comes.

    Raises:
        Broken: nothing usable came; anything else is a bug, or the cancellation of this task.
    """
    endpoint = connection.endpoint
    begun = time.monotonic()
    reader = connection.wire.reader(on_text)
    try:
        async with asyncio.timeout(endpoint.deadlines.total_s):
            first = await _read(connection, ask, reader)
        parts = reader.reply.parts(ask.number, ask.provider, ask.model)
    except TimeoutError:
        text = f"no whole reply within {endpoint.deadlines.total_s:g} s"
        raise Broken(Failure("timeout", text, charged=True)) from None
    except faults.Reported as error:
        raise Broken(faults.reported(error, started=reader.reply.started, secret=endpoint.key)) from None
    except BROKEN as error:
        raise Broken(faults.broken(error, secret=endpoint.key)) from None
    ended = time.monotonic()
    stop = reader.stop
    if stop is None:
        raise Broken(Failure("truncated", "the reply ended without a stop reason", charged=True))
    if stop in ("stop", "tool_call"):
        stop = "tool_call" if reader.reply.calls else "stop"
    counted = reader.reply.counted
    return Received(
        parts,
        stop,
        counted.usage(),
        max(0, counted.written_for_1h),
        round((ended - begun) * 1000),
        round(((first or ended) - begun) * 1000),
    )


async def _read(connection: Connection, ask: Ask, reader: Reader) -> float:
    """Read the answer until the reply is whole; when its first part began, by the monotonic clock, 0 for never.

    Raises:
        Broken: it is no reply.
        BROKEN: the connection broke, or what came has not the wire's form.
        Reported: the provider reports an error within the stream.
    """
    wire, key, first = connection.wire, connection.endpoint.key, 0.0
    limit_bytes = LEAST_BYTES + TOKEN_BYTES * ask.max_output_tokens
    target = wire.reply_target.format(model=quote(ask.model, safe=""))
    asked = connection.channel.ask(target, headers(wire, key, ask.headers), ask.body, limit_bytes=limit_bytes)
    async with asked as answer:
        connection.quota = quota_in(answer.headers) or connection.quota
        if answer.status != 200:
            raise Broken(faults.refused(answer.status, answer.headers, await _words(answer), secret=key))
        stream = EventStream()
        async with contextlib.aclosing(answer.pieces()) as pieces:
            async for piece in pieces:
                for event in stream.events(piece):
                    reader.take(event)
                if not first and reader.reply.started:
                    first = time.monotonic()
                if reader.done:
                    answer.is_whole = True
                    break
    return first


async def _words(answer: Answer) -> bytes:
    """The body of a refusal, nothing when it breaks off: the status says enough."""
    try:
        return await answer.whole()
    except BROKEN:
        return b""
