"""Connections to vendors: one HTTP client and one vendor client a provider, kept alive, bounded, and never retrying.

Layer: providers. Importing this loads httpx2; making a connection loads the vendor's library and pydantic-ai's model
for it. Both take seconds of CPU, so ``models.py`` does it in a thread. Retries belong to the loop, which counts and
records them; redirects are not followed, because a prompt goes only where the person sent it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import httpx2
import msgspec

from stead import __version__
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.faults import Overflow

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")

LINE_LIMIT_BYTES = 4 * 1024 * 1024
"""A stream is lines of events; one that never ends its line would cost quadratic time to take in."""
SLICE_BYTES = 4096
"""Larger pieces are taken in by slices, so that others get their turn while a flood is parsed."""
response_limit_bytes: ContextVar[int] = ContextVar("response_limit_bytes", default=16 * 1024 * 1024)
"""How large an answer may be, for requests made in this context."""

_KEEPALIVE = httpx2.Limits(max_connections=200, max_keepalive_connections=20, keepalive_expiry=20.0)


_USER_AGENT = f"stead/{__version__}"
_KEY_HEADERS = ("authorization", "x-api-key")
"""Not sent where there is no key; the vendors' clients insist on one."""
_ACCOUNT_HEADERS = ("openai-organization", "openai-project")
"""What the environment says of an OpenAI account, which the client adds by itself, is nobody else's business."""


class _Listed(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    data: list[_Listed]


class Connection:
    """An open connection to one endpoint, and the models that are reached through it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._http = httpx2.AsyncClient(
            transport=_Bounded(endpoint),
            timeout=httpx2.Timeout(None, connect=endpoint.deadlines.connect_s),
            follow_redirects=False,
            trust_env=False,
        )
        self._vendor = _vendor(endpoint, self._http)
        self._models: dict[tuple[str, str | None], Model] = {}
        self.users = 0
        """Requests under way; the owner keeps count and closes a connection that was replaced when it falls to 0."""

    def model(self, name: str, thinking_field: str | None) -> Model:
        """A model by name.

        Args:
            name: as the vendor knows it.
            thinking_field: where an OpenAI-compatible model takes its own thinking back; nothing sends none back.
        """
        made = self._models.get((name, thinking_field))
        if made is None:
            made = self._models[name, thinking_field] = self._make(name, thinking_field)
        return made

    def _make(self, name: str, thinking_field: str | None) -> Model:
        match self.endpoint.kind:
            case "anthropic":
                from pydantic_ai.models.anthropic import AnthropicModel

                return AnthropicModel(name, provider=self._vendor)
            case "google":
                from pydantic_ai.models.google import GoogleModel

                return GoogleModel(name, provider=self._vendor)
            case _:
                from pydantic_ai.models.openai import OpenAIChatModel
                from pydantic_ai.profiles.openai import OpenAIModelProfile

                send_back: Literal["field", False] = "field" if thinking_field else False
                profile = OpenAIModelProfile(
                    openai_chat_supports_max_completion_tokens=self.endpoint.preset.caps_completion,
                    openai_chat_send_back_thinking_parts=send_back,
                    openai_chat_thinking_field=thinking_field,
                    json_schema_transformer=None,
                )
                return OpenAIChatModel(name, provider=self._vendor, profile=profile)

    async def list_models(self) -> tuple[str, ...]:
        """What the server lists, sorted; at most 1,000 names.

        Raises:
            Broken: it lists none. Its words are not repeated: nobody has cleaned them of secrets.
        """
        endpoint = self.endpoint
        url, headers = f"{endpoint.base_url.rstrip('/')}/models", {"authorization": f"Bearer {endpoint.key}"}
        if endpoint.kind == "anthropic":
            url = f"{endpoint.base_url.rstrip('/')}/v1/models?limit=1000"
            headers = {"x-api-key": endpoint.key, "anthropic-version": "2023-06-01"}
        try:
            answer = await self._http.get(url, headers=headers)
            listed = msgspec.json.decode(answer.raise_for_status().content, type=_List).data
        except (httpx2.HTTPError, httpx2.StreamError, msgspec.MsgspecError, ValueError):
            raise Broken(Failure("refused", "the server lists no models", charged=False)) from None
        return tuple(sorted(model.id.removeprefix("models/") for model in listed)[:1000])

    async def close(self) -> None:
        """Close every socket."""
        await self._http.aclose()


def _vendor(endpoint: Endpoint, http: httpx2.AsyncClient) -> Provider[Any]:
    """The vendor's own client with retries off, wrapped for pydantic-ai's models."""
    if endpoint.kind == "google":
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleProvider(api_key=endpoint.key, http_client=http)
    if endpoint.kind == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicProvider(
            anthropic_client=AsyncAnthropic(
                api_key=endpoint.key or "none", base_url=endpoint.base_url, max_retries=0, http_client=http
            )
        )
    from openai import AsyncOpenAI
    from pydantic_ai.providers.openai import OpenAIProvider

    from stead.providers.openai_chat import use_plain_completions

    client = AsyncOpenAI(api_key=endpoint.key or "none", base_url=endpoint.base_url, max_retries=0, http_client=http)
    return OpenAIProvider(openai_client=use_plain_completions(client))


class _Bounded(httpx2.AsyncBaseTransport):
    """Puts deadlines and limits on what a server sends, where every byte passes: pings count as life, floods end."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._inner = httpx2.AsyncHTTPTransport(limits=_KEEPALIVE, retries=0, proxy=endpoint.proxy or None)
        keyless = () if endpoint.key else _KEY_HEADERS
        self._withheld = keyless if endpoint.preset.name == "openai" else (*keyless, *_ACCOUNT_HEADERS)
        self._deadlines = endpoint.deadlines
        self._first_byte_s = endpoint.deadlines.first_byte_s * endpoint.preset.patience

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for header in (*self._withheld, *(name for name in request.headers if name.startswith("x-stainless-"))):
            request.headers.pop(header, None)
        request.headers["user-agent"] = _USER_AGENT
        try:
            async with asyncio.timeout(self._first_byte_s):
                response = await self._inner.handle_async_request(request)
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no answer within {self._first_byte_s:g} s", request=request) from None
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(stream, self._deadlines.between_s, request)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, between_s: float, request: httpx2.Request) -> None:
        self._inner = inner
        self._between_s = between_s
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit, total, line = response_limit_bytes.get(), 0, 0
        pieces = aiter(self._inner)
        while True:
            try:
                async with asyncio.timeout(self._between_s):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise httpx2.ReadTimeout(f"no data for {self._between_s:g} s", request=self._request) from None
            total += len(piece)
            last_break = piece.rfind(b"\n")
            line = line + len(piece) if last_break < 0 else len(piece) - last_break
            if total > limit or line > LINE_LIMIT_BYTES:
                raise Overflow(f"it passed {total // 1024} KiB", request=self._request)
            yield piece[:SLICE_BYTES]
            for at in range(SLICE_BYTES, len(piece), SLICE_BYTES):
                await asyncio.sleep(0)
                yield piece[at : at + SLICE_BYTES]

    async def aclose(self) -> None:
        await self._inner.aclose()
