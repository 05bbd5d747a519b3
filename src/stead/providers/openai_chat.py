"""Sending a chat request through OpenAI's client as it is.

Layer: providers. The client's own ``chat.completions.create`` first walks every message against the type of the
request, to rename fields and encode dates. pydantic-ai hands over plain JSON that needs neither, and the walk took two
fifths of the CPU of a request with 30 messages, growing with each. This posts the same body by the client's public
``post``.
"""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI, AsyncStream, NotGiven, Omit
from openai.types.chat import ChatCompletion, ChatCompletionChunk

_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json", "timeout": "timeout"}
"""How ``create`` names what does not go into the body, and how ``post`` does."""


class PlainCompletions:
    """Stands in for a client's ``chat.completions``.

    Args:
        client: whose connection, key and error types are used.
    """

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    async def create(self, *, stream: bool = False, **parameters: Any) -> Any:
        """Post a request; arguments, result and errors are those of the client's own method."""
        given = {name: value for name, value in parameters.items() if not isinstance(value, (Omit, NotGiven))}
        options: Any = {theirs: given.pop(ours) for ours, theirs in _OPTIONS.items() if given.get(ours) is not None}
        body = {name: value for name, value in given.items() if name not in _OPTIONS}
        post: Any = self._client.post  # its overloads know a stream or none, not either
        return await post(
            "/chat/completions",
            body={**body, "stream": stream},
            options={**options, "security": {"bearer_auth": True}},
            cast_to=ChatCompletion,
            stream=stream,
            stream_cls=AsyncStream[ChatCompletionChunk],
        )


def use_plain_completions(client: AsyncOpenAI) -> AsyncOpenAI:
    """The same client, whose chat requests go out as they are given."""
    client.chat.completions = PlainCompletions(client)  # type: ignore[assignment, misc]  # a cached property
    return client
