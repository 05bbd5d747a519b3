"""A provider's vectors over the real wire: what is sent, to whom it is refused, and every answer that is none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import openai
import pytest

from stead.domain.embedding import TEXT_CHARS, Embeds
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.providers.directory import Endpoint
from stead.providers.embeddings import ProviderEmbedder, packed
from stead.providers.presets import PRESETS
from tests.fakes.bystander import bystander
from tests.fakes.http import Exchange, Request, serve
from tests.memory.embedding.bench import unpack_vector
from tests.providers.conftest import HASTY

KEY = "sk-acme-0123456789abcdef"
PUBLIC, PRIVATE, SECRET = Confidentiality.PUBLIC, Confidentiality.PRIVATE, Confidentiality.SECRET
Answer = Callable[[Exchange], Awaitable[None]]


def reply(*vectors: list[float], order: list[int] | None = None) -> bytes:
    """As OpenAI answers."""
    places = order or list(range(len(vectors)))
    data = [{"object": "embedding", "index": at, "embedding": vectors[at]} for at in places]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return json.dumps({"object": "list", "data": data, "model": "scripted", "usage": usage}).encode()


@dataclass
class Server:
    """Answers as it is told to, and keeps what it was asked."""

    answer: Answer
    url: str = ""
    asked: list[Request] = field(default_factory=list)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        self.asked.append(request)
        await self.answer(exchange)


def whole(body: bytes, status: int = 200) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(status, body)

    return answer


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[Server]:
    made = Server(answer)
    async with serve(made.handle) as port:
        made.url = f"http://127.0.0.1:{port}/v1"
        yield made


@asynccontextmanager
async def embedder(
    url: str, *, clearance: Confidentiality = PRIVATE, key: str = KEY
) -> AsyncIterator[ProviderEmbedder]:
    made = ProviderEmbedder(Endpoint(PRESETS["compatible"], "openai", url, key, HASTY, ""), "scripted", clearance)
    try:
        yield made
    finally:
        await made.close()


async def test_vectors_come_in_the_order_of_the_texts_and_of_length_one() -> None:
    async with server(whole(reply([3.0, 4.0], [0.0, -2.0], order=[1, 0]))) as there, embedder(there.url) as made:
        conforms: Embeds = made
        one, two = await conforms.embed(["a", "b"], held=PRIVATE, deadline_s=5)

        assert unpack_vector(one) == pytest.approx([0.6, 0.8], abs=0.005)
        assert unpack_vector(two) == pytest.approx([0.0, -1.0])
        assert made.state().alive
        (request,) = there.asked
        assert (request.method, request.path) == ("POST", "/v1/embeddings")
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert json.loads(request.body) == {"model": "scripted", "input": ["a", "b"], "encoding_format": "float"}
        assert "scripted" in made.model_id and "127.0.0.1" in made.model_id and KEY not in made.model_id


async def test_the_vendor_s_own_client_takes_the_same_answer() -> None:
    async with server(whole(reply([3.0, 4.0]))) as there:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=there.url, max_retries=0) as client:
            answer = await client.embeddings.create(model="scripted", input=["a"], encoding_format="float")

        assert answer.data[0].embedding == [3.0, 4.0]
        assert json.loads(there.asked[0].body) == {"model": "scripted", "input": ["a"], "encoding_format": "float"}


@pytest.mark.parametrize(("held", "clearance"), [(PRIVATE, PUBLIC), (SECRET, PRIVATE), (SECRET, PUBLIC)])
async def test_what_the_provider_is_not_cleared_for_is_not_sent(
    held: Confidentiality, clearance: Confidentiality
) -> None:
    async with server(whole(reply([1.0]))) as there, embedder(there.url, clearance=clearance) as made:
        with pytest.raises(EmbeddingFault, match="cleared for") as caught:
            await made.embed(["the vault's code"], held=held, deadline_s=5)

        assert caught.value.kind == "refused"
        assert "vault" not in str(caught.value)
        assert there.asked == []
        assert made.state().alive


async def test_without_a_key_none_is_sent() -> None:
    async with server(whole(reply([1.0]))) as there, embedder(there.url, key="") as made:
        await made.embed(["a"], held=PUBLIC, deadline_s=5)

        assert "authorization" not in there.asked[0].headers


async def test_hostile_texts_are_cut_and_mended() -> None:
    texts = ["", "\ud800", "x" * 10_000_000, "\0\x1b"]
    async with server(whole(reply([1.0], [1.0], [1.0], [1.0]))) as there, embedder(there.url) as made:
        await made.embed(texts, held=PRIVATE, deadline_s=5)

        assert json.loads(there.asked[0].body)["input"] == [" ", "?", "x" * TEXT_CHARS, "\0\x1b"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "something else than vectors"),
        (b"[]", "something else than vectors"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "something else than vectors"),
        (b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}', "something else than vectors"),
        (b'{"data": [{"index": 0, "embedding": [1e999]}]}', "."),
        (b'{"data": ' + b"[" * 5000, "something else than vectors"),
        (reply([0.0, 0.0]), "it is zero"),
        (reply([]), "0 dimensions"),
        (reply([0.5] * 4097), "4097 dimensions"),
        (reply([1.0], [2.0]), "not one vector for each"),
        (b'{"data": []}', "not one vector for each"),
        (b'{"data": [{"index": 1, "embedding": [1.0]}]}', "not one vector for each"),
    ],
)
async def test_what_is_no_vector_is_refused_and_the_state_says_so(body: bytes, why: str) -> None:
    async with server(whole(body)) as there, embedder(there.url) as made:
        with pytest.raises(EmbeddingFault, match=why) as caught:
            await made.embed(["a"], held=PRIVATE, deadline_s=5)

        assert caught.value.kind == "bad_vector"
        assert not made.state().alive and made.state().reason == str(caught.value)

        there.answer = whole(reply([1.0]))
        await made.embed(["a"], held=PRIVATE, deadline_s=5)
        assert made.state().alive


async def test_a_model_that_changes_its_size_is_refused() -> None:
    async with server(whole(reply([1.0, 2.0]))) as there, embedder(there.url) as made:
        await made.embed(["a"], held=PRIVATE, deadline_s=5)
        there.answer = whole(reply([1.0, 2.0, 3.0]))

        with pytest.raises(EmbeddingFault, match="3 dimensions, after 2"):
            await made.embed(["a"], held=PRIVATE, deadline_s=5)


async def silent(exchange: Exchange) -> None:
    await exchange.left_within(5)


async def dropped(exchange: Exchange) -> None:
    exchange.drop()


async def flood(exchange: Exchange) -> None:
    await exchange.start({"content-type": "application/json"})
    for _ in range(20):
        await exchange.chunk(b" " * (1 << 20))


async def redirected(exchange: Exchange) -> None:
    await exchange.send(302, b"", {"location": "http://127.0.0.1:1/elsewhere"})


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        (silent, "timeout", r"within 0\.1 s"),
        (dropped, "peer", "could not be asked"),
        (flood, "peer", "KiB"),
        (redirected, "peer", "302"),
        (whole(f'{{"error": "no such key {KEY}"}}'.encode(), 401), "peer", "401: the key was refused"),
        (whole(b"{}", 404), "peer", "answered 404"),
        (whole(b"{}", 500), "peer", "answered 500"),
    ],
)
async def test_a_server_that_fails_is_told_of_without_the_key(answer: Answer, kind: str, why: str) -> None:
    async with server(answer) as there, embedder(there.url) as made:
        with pytest.raises(EmbeddingFault, match=why) as caught:
            await made.embed(["a"], held=PRIVATE, deadline_s=0.1 if answer is silent else 5)

        assert caught.value.kind == kind
        assert KEY not in str(caught.value) and "http:" not in str(caught.value)
        assert len(there.asked) == 1


async def test_nobody_there_is_told_of() -> None:
    async with server(silent) as there:
        url = there.url
    async with embedder(url) as made:
        with pytest.raises(EmbeddingFault, match="connection refused"):
            await made.embed(["a"], held=PRIVATE, deadline_s=5)


async def test_a_provider_without_embeddings_is_refused_at_once() -> None:
    endpoint = Endpoint(PRESETS["anthropic"], "anthropic", "http://127.0.0.1:1", KEY, HASTY, "")

    with pytest.raises(EmbeddingFault, match="has no embeddings") as caught:
        ProviderEmbedder(endpoint, "any", PRIVATE)
    assert caught.value.kind == "absent"


async def test_none_is_none_and_too_many_are_too_many() -> None:
    async with server(silent) as there, embedder(there.url) as made:
        assert await made.embed([], held=PRIVATE, deadline_s=5) == []
        with pytest.raises(EmbeddingFault, match="64 are the most"):
            await made.embed(["a"] * 65, held=PRIVATE, deadline_s=5)
        assert there.asked == []


async def test_large_vectors_leave_others_their_turn() -> None:
    async with bystander() as other:
        assert len(await packed([[0.5, -0.25] * 2000] * 64)) == 64
        assert other.rounds >= 63
