"""The embeddings that a person chose, while the provider comes, changes and goes; over the real wire."""

from __future__ import annotations

import json

import pytest

from stead.domain.errors import EmbeddingFault, NotFound
from stead.domain.policies import Confidentiality
from stead.providers.chosen_embedder import ChosenEmbedder
from stead.providers.directory import Endpoint
from stead.providers.presets import PRESETS
from tests.providers.conftest import HASTY
from tests.providers.test_embeddings import KEY, PRIVATE, PUBLIC, reply, server, whole


def at(url: str) -> Endpoint:
    return Endpoint(PRESETS["compatible"], "openai", url, KEY, HASTY, "")


async def test_a_provider_is_found_when_it_is_set_up_and_again_when_it_moves() -> None:
    known: dict[str, tuple[Endpoint, Confidentiality]] = {}

    def find(name: str) -> tuple[Endpoint, Confidentiality]:
        if name not in known:
            raise NotFound(f"there is no provider {name!r}")
        return known[name]

    chosen = ChosenEmbedder("acme", "scripted", find, lambda text: text.replace("hunter2", "[secret]"))
    with pytest.raises(EmbeddingFault, match="cannot be had: there is no provider 'acme'"):
        await chosen.embed(["gate"], held=PRIVATE, deadline_s=5)
    assert not chosen.state().alive
    answer = whole(reply([1.0, 0.0]))
    async with server(answer) as first, server(answer) as second:
        known["acme"] = (at(first.url), PRIVATE)
        await chosen.embed(["the gate's word is hunter2"], held=PRIVATE, deadline_s=5)
        known["acme"] = (at(second.url), PUBLIC)
        with pytest.raises(EmbeddingFault, match="cleared for public"):
            await chosen.embed(["gate"], held=PRIVATE, deadline_s=5)
        await chosen.embed(["gate"], held=PUBLIC, deadline_s=5)
        await chosen.close()
    assert [json.loads(one.body)["input"] for one in (*first.asked, *second.asked)] == [
        ["the gate's word is [secret]"],
        ["gate"],
    ]
    assert chosen.model_id == "scripted@acme/int8/1"
