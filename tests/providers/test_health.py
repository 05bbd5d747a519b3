"""Providers that fail or are out of quota: who is asked then, and how they are taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import msgspec

from stead.domain.events import ModelRef
from stead.providers.directory import ProviderConfig
from stead.providers.models import ProviderModels
from tests.fakes.models import Turn, scripted_model
from tests.providers.conftest import HASTY, MakeModels, ask, local

LEAD, SPARE = ModelRef("work", "scripted"), ModelRef("spare", "scripted")
SPENT = Turn(status=429, error="slow down", headers={"retry-after": "60"})


def _accounts(url: str) -> list[ProviderConfig]:
    lead = ProviderConfig("work", "compatible", url, "scripted", "env:ONE")
    return [lead, ProviderConfig("work-2", "compatible", "", "", "env:TWO", account_of="work")]


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.01)


async def test_the_next_account_serves_the_same_model_when_one_is_out_of_quota(make_models: MakeModels) -> None:
    async with scripted_model([SPENT, Turn("hello"), Turn("again")]) as server, scripted_model([Turn("no")]) as other:
        configs = [*_accounts(server.openai), local("spare", other.openai)]
        models = make_models(*configs, environ={"ONE": "sk-one", "TWO": "sk-two"})
        first = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        second = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        keys = [seen.request.headers["authorization"] for seen in server.requests()]
        assert other.requests() == []
    assert keys == ["Bearer sk-one", "Bearer sk-two", "Bearer sk-two"]
    assert first.model == second.model == ModelRef("work-2", "scripted")
    assert "429 rate limited" in first.attempts[0] and "left out" in second.attempts[0]
    health = {row.name: row.health.state for row in models.rows()}
    assert (health["work"], health["work-2"]) == ("resting", "ok")


async def test_a_fault_that_is_no_matter_of_the_account_goes_to_the_next_model(make_models: MakeModels) -> None:
    async with scripted_model([Turn(status=500, error="broken")]) as server, scripted_model([Turn("fine")]) as other:
        configs = [*_accounts(server.openai), local("spare", other.openai)]
        models = make_models(*configs, environ={"ONE": "sk-one", "TWO": "sk-two"})
        reply = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        assert len(server.requests()) == 1
    assert reply.model == SPARE


async def test_a_provider_that_failed_is_left_out_until_a_free_probe_finds_it_again() -> None:
    hasty = msgspec.structs.replace(HASTY, probe_s=0.05)
    busy = [Turn(status=503, error="busy"), Turn("back")]
    async with scripted_model(busy) as first, scripted_model([Turn("fine"), Turn("fine")]) as second:
        models = ProviderModels({}, deadlines=hasty)
        models.configure([local("work", first.openai), local("spare", second.openai)])
        one = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        assert models.rows()[0].health.state == "failed" and models.rows()[0].health.next_ms > 0
        two = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        await _until(lambda: models.rows()[0].health.state == "ok")
        three = await models.reply(ask((LEAD, SPARE)), lambda _: None)
        await models.close()
        paid = len(first.requests())
    assert [one.model, two.model, three.model] == [SPARE, SPARE, LEAD]
    assert "left out" in two.attempts[0]
    assert paid == 2  # the probe asked for the list of models, and for no reply


async def test_what_vendors_say_is_left_is_shown(make_models: MakeModels) -> None:
    limits = {"x-ratelimit-remaining-requests": "41", "x-ratelimit-remaining-tokens": "90000", "retry-after": "1"}
    async with scripted_model([replace(SPENT, headers=limits), Turn("hello")]) as server:
        models = make_models(*_accounts(server.openai), environ={"ONE": "sk-one", "TWO": "sk-two"})
        await models.reply(ask((LEAD,)), lambda _: None)
    quota = {row.name: (row.quota.requests, row.quota.tokens) for row in models.rows()}
    assert quota["work"] == (41, 90000) and quota["work-2"] == (-1, -1)
