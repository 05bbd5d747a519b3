"""What the tests of providers share: a request to build on, and models that are closed again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from stead.domain.events import ModelRef
from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.messages import AssistantMessage, Message, ResultsMessage, ToolCall, ToolResult, UserMessage
from stead.domain.policies import Integrity, Label
from stead.domain.ports import ModelRequest, Reply
from stead.domain.tools import Declaration, ToolEffect, ToolSpec
from stead.providers.attachments import Load, nothing_kept
from stead.providers.directory import ProviderConfig
from stead.providers.models import ProviderModels
from stead.providers.presets import Deadlines
from tests.fakes.models import Turn, scripted_model

MakeModels = Callable[..., ProviderModels]

READ = ToolSpec(
    "read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    Declaration(ToolEffect.READ),
)
WRITE = ToolSpec(
    "write",
    "Write a file.",
    {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}, "required": ["path"]},
    Declaration(ToolEffect.WRITE),
)
HASTY = Deadlines(connect_s=1.0, first_byte_s=0.3, between_s=0.3, total_s=3.0, ending_s=0.1)
"""So that a test of patience takes no patience."""

GOAL = UserMessage("Read a.md.", Label(integrity=Integrity.PERSON))


def ask(
    chain: tuple[ModelRef, ...],
    messages: tuple[Message, ...] = (GOAL,),
    *,
    number: int = 1,
    max_output_tokens: int = 500,
) -> ModelRequest:
    """A request with two tools."""
    return ModelRequest(
        SessionId("s_0000000000000001"),
        RequestNo(number),
        chain,
        "Be good.",
        (READ, WRITE),
        messages,
        max_output_tokens,
    )


def answered(reply: Reply, texts: Mapping[str, str] | None = None) -> tuple[Message, ...]:
    """What a reply adds to the conversation: itself, and a result for each of its calls."""
    calls = [part for part in reply.parts if isinstance(part, ToolCall)]
    results = tuple(ToolResult(call.key, call.tool, (texts or {}).get(call.key, "text"), Label()) for call in calls)
    return (AssistantMessage(reply.parts), *((ResultsMessage(results),) if results else ()))


def call_key(text: str) -> CallKey:
    return CallKey(text)


def local(name: str, url: str, wire: str = "openai", *, model: str = "scripted", key: str = "none") -> ProviderConfig:
    """A provider at a server on loopback, by its wire."""
    return ProviderConfig(name, "compatible" if wire == "openai" else wire, url, model, key)


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Load the vendors' libraries once, so that no test with short deadlines pays for it."""
    asyncio.run(_load())


async def _load() -> None:
    async with scripted_model([Turn("a"), Turn("b")]) as server:
        models = ProviderModels({})
        models.configure([local("one", server.openai), local("two", server.anthropic, "anthropic")])
        for name in ("one", "two"):
            await models.reply(ask((ModelRef(name, "m"),)), lambda _: None)
        await models.close()


@pytest.fixture
async def make_models() -> AsyncIterator[MakeModels]:
    """Build models over the given configurations, the environment empty unless it is given."""
    made: list[ProviderModels] = []

    def make(
        *configs: ProviderConfig,
        environ: Mapping[str, str] | None = None,
        deadlines: Deadlines | None = None,
        chain: tuple[ModelRef, ...] = (),
        secrets: object = None,
        load: Load = nothing_kept,
    ) -> ProviderModels:
        models = ProviderModels(environ or {}, secrets, deadlines=deadlines, load=load)  # type: ignore[arg-type]  # a port
        models.configure(configs, chain)
        made.append(models)
        return models

    yield make
    for models in made:
        await models.close()
