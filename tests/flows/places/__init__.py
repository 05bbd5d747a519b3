"""A person's chat with a bot, on each platform: what she does there and what she sees, against the platform's double.

A platform is one module here, named as its kind, with ``place()``: a context manager that serves the double and gives
a ``Place``. The flows of ``test_places`` go through all of them.
"""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast
from urllib.parse import urlsplit

from tests.egress.bench import make_certificate
from tests.fakes.gate import Fault, Gate, gate

HOST = "localhost"
"""What a double calls itself that is served by TLS."""
Served = TypeVar("Served")
T = TypeVar("T")


@dataclass
class Place:
    """Ada's own chat with one bot.

    Args:
        kind: of the platform.
        secrets: tokens by the field of the platform that takes them.
        settings: the platform's fields that are no secrets.
        ca_file: further certificates that the channel trusts; "" for none.
        answering: how she answers a question there: she presses a button, writes the code that stands in the
            question, or must follow a link to the page.
        keeps: the platform keeps a message until the bot said that it has it. Where it does not, one that was on its
            way when a connection or a process ended is lost, and she writes it again.
        posts: what she writes comes as requests of the platform at Stead's listener.
    """

    kind: str
    secrets: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    ca_file: str = ""
    answering: Literal["button", "code", "link"] = "button"
    posts: bool = False
    keeps: bool = True
    url: str = ""
    """Where the platform sends its requests, if it does: set by the flow once the channel stands."""
    gates: list[Gate] = field(default_factory=list)
    """The ports that the bot reaches the platform at."""

    def writes(self, text: str) -> None:
        """She writes. It comes once, whatever state the bot is in; the platform sends again what was not taken."""
        raise NotImplementedError

    def request(self, text: str, *, age_s: int = 0) -> tuple[bytes, Mapping[str, str]]:
        """Body and headers of the request by which it comes that she writes, as one of so long ago; it is not sent."""
        raise NotImplementedError

    def sends(self, name: str, data: bytes, words: str) -> None:
        """She sends a file, with words."""
        raise NotImplementedError

    def sent(self) -> list[str]:
        """The texts that the bot sent to her, oldest first, as they stand now."""
        raise NotImplementedError

    def files(self) -> list[bytes]:
        """The files that the bot sent to her, oldest first."""
        raise NotImplementedError

    def presses(self, part: str, button: str) -> None:
        """She presses a button below the last text in which this part stands."""
        raise NotImplementedError

    def waits(self) -> bool:
        """Whether the platform still has something to hand over; asked where it does not keep what it handed over."""
        raise NotImplementedError

    def cut(self) -> None:
        """Every connection between the platform and the bot is dropped; the platform takes new ones."""
        raise NotImplementedError

    def breaks(self, fault: Fault) -> None:
        """The platform does not work from now on, for the bot; with "" it does again."""
        for one in self.gates:
            one.breaks(fault)

    def revokes(self) -> None:
        """The platform takes the bot's tokens no more."""
        raise NotImplementedError

    def renews(self) -> Mapping[str, str]:
        """The platform gives the bot others: by field."""
        raise NotImplementedError


class Aside(Generic[Served]):
    """A double on a thread of its own, so that it answers while a test waits for a daemon."""

    def __init__(self, server: Served, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self._loop = loop

    def run(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Do something on the double's own thread."""

        async def done() -> T:
            return work(*arguments, **named)

        return self.wait(done())

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something that takes time on the double's own thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


@contextmanager
def aside(serve: Callable[[], AbstractAsyncContextManager[Served]]) -> Iterator[Aside[Served]]:
    """Serve a double on a thread of its own, until the end."""
    ready: Future[tuple[Aside[Served], asyncio.Event]] = Future()

    async def serving() -> None:
        over = asyncio.Event()
        async with serve() as server:
            ready.set_result((Aside(server, asyncio.get_running_loop()), over))
            await over.wait()

    with ThreadPoolExecutor(1) as pool:
        served: Future[Any] = pool.submit(lambda: asyncio.run(serving()))
        wait([served, cast("Future[Any]", ready)], 60, FIRST_COMPLETED)
        if served.done():
            served.result()
        double, over = ready.result(0)
        try:
            yield double
        finally:
            double.run(over.set)
            served.result(30)


@asynccontextmanager
async def gated(
    double: AbstractAsyncContextManager[Served], address: str, gates: list[Gate], tls: ssl.SSLContext | None = None
) -> AsyncIterator[Served]:
    """A double that is reached at a port of a gate.

    Args:
        double: serves it.
        address: its attribute that holds its port, or an address, which then names the gate's.
        gates: takes the gate.
        tls: by which it is known.
    """
    async with double as server:
        own = getattr(server, address)
        port = own if isinstance(own, int) else urlsplit(own).port or 0
        async with gate(port, tls) as there:
            gates.append(there)
            setattr(server, address, type(own)(str(own).replace(str(port), str(there.port))))
            yield server


@contextmanager
def certificate() -> Iterator[tuple[ssl.SSLContext, str]]:
    """How to be ``HOST``, and the file of what is to be trusted for it."""
    with tempfile.TemporaryDirectory() as folder:
        tls, trusted = make_certificate(Path(folder), HOST)
        yield tls, str(trusted)
