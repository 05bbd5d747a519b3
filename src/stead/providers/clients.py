"""Connections to vendors: one HTTP client and one vendor client a provider, kept alive, bounded, and never retrying.

Layer: providers. Importing this loads httpx2; making a connection loads the vendor's library and pydantic-ai's model
for it. Both take seconds of CPU, so ``models.py`` does it in a thread. Retries belong to the loop, which counts and
records them; redirects are not followed, because a prompt goes only where the person sent it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import httpx2
import msgspec

from stead.providers import listing
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.transport import Transport

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")


class Connection:
    """An open connection to one endpoint, and the models that are reached through it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._http = httpx2.AsyncClient(
            transport=Transport(endpoint),
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
                from pydantic_ai.profiles.anthropic import AnthropicModelProfile

                # It would copy and walk every tool's schema for each request, and change nothing of ours.
                plain = AnthropicModelProfile(json_schema_transformer=None)
                return AnthropicModel(name, provider=self._vendor, profile=plain)
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
        try:
            return await listing.list_models(self._http, self.endpoint)
        except (httpx2.HTTPError, httpx2.StreamError, msgspec.MsgspecError, ValueError):
            raise Broken(Failure("refused", "the server lists no models", charged=False)) from None

    async def close(self) -> None:
        """Close every socket."""
        await self._http.aclose()


def _vendor(endpoint: Endpoint, http: httpx2.AsyncClient) -> Provider[Any]:
    """The vendor's own client with retries off, wrapped for pydantic-ai's models."""
    if endpoint.kind == "google":
        from pydantic_ai.providers.google import GoogleProvider

        # Its own wire starts where the compatible one is a folder of it.
        root = endpoint.base_url.removesuffix("/v1beta/openai")
        return GoogleProvider(api_key=endpoint.key, http_client=http, base_url=root)
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
