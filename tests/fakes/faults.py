"""A model server that misbehaves: what scripted servers are too well-mannered for.

Each fault is one function that gets a request and does its worst. Used for stalls, cuts, floods and nonsense at exact
places; ``llmock`` covers the same ground from outside, with a verdict.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from tests.fakes.google import google_events
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.wire import Turn, anthropic_events, openai_events

Fault = Callable[[Request, Exchange], Awaitable[None]]

_LONG_S = 3600.0


@dataclass
class FaultyModel:
    """A running server; ``requests`` counts what came."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    left: int = 0
    """How many clients closed their side while the server was at it."""

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's wire."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's wire."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def google(self) -> str:
        """The base URL for Google's wire."""
        return f"http://127.0.0.1:{self.port}/v1beta"


def events(request: Request, turn: Turn) -> list[bytes]:
    """A reply's events on the wire that the request speaks."""
    if "/messages" in request.path:
        return list(anthropic_events(turn, "faulty"))
    return list((google_events if "GenerateContent" in request.path else openai_events)(turn, "faulty"))


def never_answers() -> Fault:
    """Take the request and say nothing."""

    async def fault(_: Request, exchange: Exchange) -> None:
        await exchange.left_within(_LONG_S)

    return fault


def hangs_up() -> Fault:
    """Take the request and cut the connection."""

    async def fault(_: Request, exchange: Exchange) -> None:
        exchange.drop()

    return fault


def answers(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Fault:
    """One whole answer, whatever it is."""

    async def fault(_: Request, exchange: Exchange) -> None:
        await exchange.send(status, body, headers)

    return fault


def streams(*pieces: bytes, then: str = "finish", skip: int = 0, turn: Turn | None = None) -> Fault:
    """Send the first events of a reply, then pieces of one's own, then "finish", "drop" or "stall".

    Args:
        pieces: sent as they are, each in its own chunk.
        then: how it ends.
        skip: how many events of the reply's end are left out.
        turn: the reply; nothing for none.
    """

    async def fault(request: Request, exchange: Exchange) -> None:
        await exchange.start()
        whole = events(request, turn) if turn else []
        for event in whole[: len(whole) - skip]:
            await exchange.chunk(event)
        for piece in pieces:
            await exchange.chunk(piece)
        if then == "finish":
            await exchange.finish()
        elif then == "drop":
            exchange.drop()
        else:
            await exchange.left_within(_LONG_S)

    return fault


def floods(piece: bytes) -> Fault:
    """Send the same piece for ever."""

    async def fault(_: Request, exchange: Exchange) -> None:
        await exchange.start()
        with contextlib.suppress(ConnectionError):
            while True:
                await exchange.chunk(piece)

    return fault


@contextlib.asynccontextmanager
async def faulty_model(*faults: Fault, listing: bool = False) -> AsyncIterator[FaultyModel]:
    """Serve one fault a request, in order; the last one again and again.

    Without ``listing`` a request for the list of models is no such request: it gets a 404.
    """
    faulty = FaultyModel()

    async def handle(request: Request, exchange: Exchange) -> None:
        if request.method == "GET" and not listing:
            await exchange.send(404, b"{}")
            return
        faulty.requests.append(request)
        await faults[min(len(faulty.requests), len(faults)) - 1](request, exchange)
        faulty.left += exchange.reader.at_eof() or exchange.writer.transport.is_closing()

    async with serve(handle) as faulty.port:
        yield faulty
