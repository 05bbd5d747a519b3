"""Sending a chat request through OpenAI's client as it is, and reading its stream in one step a piece.

Layer: providers. The client's own ``chat.completions.create`` first walks every message against the type of the
request, to rename fields and encode dates. pydantic-ai hands over plain JSON that needs neither, and the walk took two
fifths of the CPU of a request with 30 messages, growing with each. This posts the same body by the client's public
``post``.

The client puts each piece of a stream together field by field, because servers send what its types do not allow; that
takes 100 µs a piece, of which a long answer has thousands. What its types allow is read by their validator instead, in
10; the rest goes the client's way.
"""

from __future__ import annotations

from typing import Any

import msgspec
from openai import AsyncOpenAI, AsyncStream, NotGiven, Omit
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ValidationError

_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "timeout": "timeout"}
"""How ``create`` names what does not go into the body, and how ``post`` does."""


class Chunk(ChatCompletionChunk):
    """Tells the client how to make a piece of a stream: it asks a type that has ``build``."""

    @classmethod
    def build(cls, *, response: object, data: dict[str, Any]) -> ChatCompletionChunk:
        """A piece of the answer from its JSON, which ``transport`` has seen to be an object."""
        try:
            return ChatCompletionChunk.model_validate(data)
        except ValidationError:
            return ChatCompletionChunk.model_construct(**data)


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
        extra = given.pop("extra_body", None) or {}
        body = {name: value for name, value in given.items() if name not in _OPTIONS}
        post: Any = self._client.post  # its overloads know a stream or none, not either
        return await post(
            "/chat/completions",
            content=msgspec.json.encode({**body, "stream": stream, **extra}),
            options={**options, "security": {"bearer_auth": True}},
            cast_to=ChatCompletion,
            stream=stream,
            stream_cls=AsyncStream[Chunk],
        )


def use_plain_completions(client: AsyncOpenAI) -> AsyncOpenAI:
    """The same client, whose chat requests go out as they are given."""
    client.chat.completions = PlainCompletions(client)  # type: ignore[assignment, misc]  # a cached property
    return client
