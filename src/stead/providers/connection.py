"""An open connection to one provider: its channel, its wire, and the requests it has begun.

Layer: providers. Importing this loads the HTTP library and making one the certificates, so ``models.py`` does both in a
thread.
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from stead.domain.providers import Quota
from stead.providers.anthropic_wire import AnthropicWire
from stead.providers.attachments import Load
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.google_wire import GoogleWire
from stead.providers.openai_wire import OpenAIWire
from stead.providers.prefix import Prefixes
from stead.providers.transport import BROKEN, Channel
from stead.providers.wire import Wire, headers

MOST_LISTED = 1000
LEAST_WINDOW = 256
MOST_WINDOW = 100_000_000
"""Of the windows that are believed, in tokens."""


class _Meta(msgspec.Struct):
    n_ctx: int | None = None


class _Listed(msgspec.Struct):
    """A model. How many tokens its window has is said in one of several fields, by the server's kind."""

    id: str = ""
    name: str = ""
    max_model_len: int | None = None
    context_length: int | None = None
    context_window: int | None = None
    max_context_length: int | None = None
    max_input_tokens: int | None = None
    input_token_limit: int | None = msgspec.field(name="inputTokenLimit", default=None)
    meta: _Meta | None = None

    @property
    def window_tokens(self) -> int:
        """0 where it is not said, or is no number that can be meant."""
        said = (
            *(self.max_model_len, self.context_length, self.context_window, self.max_context_length),
            *(self.max_input_tokens, self.input_token_limit, self.meta.n_ctx if self.meta else None),
        )
        return next((tokens for tokens in said if tokens and LEAST_WINDOW <= tokens <= MOST_WINDOW), 0)


class _List(msgspec.Struct):
    data: list[_Listed] = []
    models: list[_Listed] = []
    """As Google calls them, each by its path."""


KEY_REFUSED = (401, 403)
"""Statuses by which servers say so."""


class Refused(Exception):
    """A server answers with another status than 200, which is ``status``."""

    def __init__(self, status: int) -> None:
        super().__init__(f"it answers {status}")
        self.status = status


class Connection:
    """An open connection. Close it.

    Args:
        endpoint: where.
        provider: its name, by which its own thinking is known.
        load: gives the bytes of attachments.

    Raises:
        Broken: it cannot be reached in the way that the environment says.
    """

    def __init__(self, endpoint: Endpoint, provider: str, load: Load) -> None:
        self.endpoint = endpoint
        self.wire = wire_of(endpoint)
        self.channel = Channel(endpoint)
        self.quota: Quota | None = None
        """What the last answer said is left; None where none did."""
        self.prefixes = Prefixes(self.wire, provider, load)
        self.refused: dict[str, frozenset[str]] = {}
        """By model, the contents of attachments that it would not take."""
        self.users = 0
        """Requests under way; the owner keeps count and closes a connection that was replaced when it falls to 0."""

    async def list_models(self) -> dict[str, int]:
        """What the server lists, sorted, each with its window in tokens (0 for unsaid); at most 1,000 models.

        Raises:
            Broken: it lists none. Its words are not repeated, since they may hold secrets.
        """
        try:
            return await listed(self.channel, self.wire, self.endpoint)
        except (*BROKEN, Refused, msgspec.MsgspecError) as fault:
            if isinstance(fault, Refused) and fault.status in KEY_REFUSED:
                raise Broken(Failure("auth", f"{fault.status} the key was refused", charged=False)) from None
            raise Broken(Failure("refused", "the server lists no models", charged=False)) from None

    async def close(self) -> None:
        """Close every socket."""
        await self.channel.close()


def wire_of(endpoint: Endpoint) -> Wire:
    """The wire that an endpoint speaks."""
    match endpoint.kind:
        case "anthropic":
            return AnthropicWire()
        case "google":
            return GoogleWire()
        case "openai":
            return OpenAIWire(endpoint.preset)
        case "rehearsal":
            raise AssertionError("the rehearsal model is asked without a wire")
        case _:
            assert_never(endpoint.kind)


async def listed(channel: Channel, wire: Wire, endpoint: Endpoint, connect_s: float | None = None) -> dict[str, int]:
    """What a server lists, sorted, each with its window in tokens; 0 where it is not said.

    Raises:
        BROKEN, Refused, msgspec.MsgspecError: it lists none.
    """
    async with channel.ask(
        wire.list_target, headers(wire, endpoint.key, dict(endpoint.headers)), connect_s=connect_s
    ) as answer:
        if answer.status != 200:
            raise Refused(answer.status)
        there = msgspec.json.decode(await answer.whole(), type=_List)
    named = [(model.id.removeprefix("models/"), model.window_tokens) for model in there.data]
    named += [(model.name.removeprefix("models/"), model.window_tokens) for model in there.models]
    return dict(sorted((name, tokens) for name, tokens in named if name)[:MOST_LISTED])
