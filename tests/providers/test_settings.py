"""What the person says of models, and what of it stands in requests, prices and windows."""

from __future__ import annotations

from typing import Any

import pytest

from stead.domain.errors import ModelFault
from stead.domain.events import ModelRef
from stead.domain.ids import SessionId
from stead.domain.messages import AssistantMessage, Text, Thinking, Usage
from stead.domain.providers import ModelSettings
from stead.providers import pricing
from stead.providers.attachments import Showing, nothing_kept
from stead.providers.conversation import Conversation
from stead.providers.presets import PRESETS
from tests.fakes.models import Turn, scripted_model
from tests.promises import promise
from tests.providers.conftest import GOAL, MakeModels, ask, local

REF = ModelRef("mine", "scripted")
WIRES = ("openai", "anthropic", "google")
PRICED = ModelSettings(input_price=2_000_000, output_price=10_000_000, cached_price=500_000)


@promise("LLM-7.settings")
@pytest.mark.parametrize("wire", WIRES)
async def test_effort_parameters_and_headers_stand_in_each_request(wire: str, make_models: MakeModels) -> None:
    settings = ModelSettings(
        headers={"X-Gateway": "env:GATEWAY"},
        params={"top_k": 5, "model": "another", "generationConfig": {"topK": 7, "maxOutputTokens": 9}},
        effort="low",
    )
    async with scripted_model([Turn("hello")], strict=False) as server:
        config = local("mine", getattr(server, wire), wire)
        models = make_models(config, environ={"GATEWAY": "gateway-word"})
        models.configure([config], settings={("mine", "scripted"): settings})
        await models.reply(ask((REF,), max_output_tokens=321), lambda _: None)
        seen = server.requests()[0]
    body: dict[str, Any] = seen.body
    effort = {
        "openai": lambda: body["reasoning_effort"],
        "anthropic": lambda: body["output_config"]["effort"],
        "google": lambda: body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
    }
    assert effort[wire]() == "low"
    assert body["top_k"] == 5
    assert seen.request.headers["x-gateway"] == "gateway-word"
    if wire == "google":
        assert body["generationConfig"]["topK"] == 7 and body["generationConfig"]["maxOutputTokens"] == 321
    else:
        assert body["model"] == "scripted"


async def test_an_effort_of_the_request_goes_before_the_models_own(make_models: MakeModels) -> None:
    import msgspec

    async with scripted_model([Turn("hello")]) as server:
        config = local("mine", server.openai)
        models = make_models(config)
        models.configure([config], settings={("mine", ""): ModelSettings(effort="low")})
        await models.reply(msgspec.structs.replace(ask((REF,)), effort="high"), lambda _: None)
        assert server.requests()[0].body["reasoning_effort"] == "high"


def test_a_price_of_the_persons_counts_cached_tokens_by_themselves() -> None:
    preset, url = PRESETS["compatible"], "http://llm.example.com/v1"
    rates = pricing.rates(preset, url, "m", PRICED)
    assert (rates.input_micros, rates.output_micros, rates.known) == (2_000_000, 10_000_000, True)
    spent = pricing.spend(preset, url, "m", Usage(input=1_000_000, output=100_000, cached=400_000), 0, PRICED)
    assert spent.usd_micros == 600_000 * 2 + 400_000 // 2 + 1_000_000
    free = ModelSettings(input_price=0, output_price=0)
    assert pricing.spend(preset, url, "m", Usage(input=5, output=5), 0, free).price_known


def test_settings_of_a_model_go_before_those_of_its_provider_and_zero_is_a_setting() -> None:
    general = ModelSettings(input_price=7, output_price=8, window_tokens=9000, params={"a": 1, "b": 1}, effort="low")
    own = ModelSettings(input_price=0, output_price=0, params={"a": 2})
    merged = own.over(general)
    assert (merged.input_price, merged.window_tokens, merged.effort) == (0, 9000, "low")
    assert merged.params == {"a": 2, "b": 1}


async def test_a_header_whose_value_is_missing_sends_nothing(make_models: MakeModels) -> None:
    async with scripted_model([Turn("hello")]) as server:
        config = local("mine", server.openai)
        models = make_models(config)
        models.configure([config], settings={("mine", "scripted"): ModelSettings(headers={"X-A": "env:NOT_SET"})})
        with pytest.raises(ModelFault, match="X-A is not set"):
            await models.reply(ask((REF,)), lambda _: None)
        assert server.requests() == []


def test_thinking_of_another_model_of_the_provider_is_left_out() -> None:
    said = AssistantMessage((Thinking("hm", "|signed", "acme", "big"), Text("Yes.")))
    for model, kept in (("big", True), ("small", False)):
        conversation = Conversation("acme", model, SessionId("s_0000000000000001"), Showing(nothing_kept, model))
        reply = conversation.extended([GOAL, said])[1]
        assert isinstance(reply, AssistantMessage)
        assert any(isinstance(part, Thinking) for part in reply.parts) is kept
