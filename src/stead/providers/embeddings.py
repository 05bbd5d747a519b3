"""Vectors from a provider: ``POST {base_url}/embeddings`` as OpenAI has it, for a person who chose that.

Layer: providers. Knows the wire and nothing of what is remembered. The texts leave this computer: they go to one
address, the provider's, and only when it is cleared for them. Nothing is retried or redirected, and no secret is in a
fault. The caller takes known secrets out of a text, as for a model's request.

Source: OpenAI, API reference, "Create embeddings".
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import msgspec

from stead.domain.embedding import BATCH, TEXT_CHARS, EmbedderState, VectorBytes, pack_vector
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.providers.connection import Refused, wire_of
from stead.providers.directory import Endpoint
from stead.providers.failures import broken_connection, clean
from stead.providers.transport import BROKEN, Channel
from stead.providers.wire import headers

LARGEST_DIM = 4096


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Item]


class ProviderEmbedder:
    """Embeds by one model of one provider. Close it.

    Args:
        endpoint: where, and with what key.
        model: as the provider knows it.
        clearance: the most confidential that the provider may be sent.

    Raises:
        EmbeddingFault: this kind of provider has no embeddings.
    """

    def __init__(self, endpoint: Endpoint, model: str, clearance: Confidentiality) -> None:
        self._target = "" if endpoint.kind == "rehearsal" else wire_of(endpoint).embeddings_target
        if not self._target:
            text = f"{endpoint.preset.title} has no embeddings; choose an OpenAI-compatible provider, or the local one"
            raise EmbeddingFault(text, kind="absent")
        self._endpoint = endpoint
        self._headers = headers(wire_of(endpoint), endpoint.key, dict(endpoint.headers))
        self._model = model
        self._clearance = clearance
        self._dim = 0
        self._unwell = ""
        self._channel = Channel(endpoint)

    @property
    def model_id(self) -> str:
        """As ``Embeds`` says: the model at its host, in the form in which vectors are kept."""
        parts = urlsplit(self._endpoint.base_url)
        return f"{self._model}@{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}/int8/1"

    def state(self) -> EmbedderState:
        """As ``Embeds`` says."""
        return EmbedderState(not self._unwell, self._unwell, self.model_id)

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        """As ``Embeds`` says.

        Raises:
            EmbeddingFault: also when the texts are more confidential than the provider is cleared for; then nothing
                was sent.
        """
        if held.exceeds(self._clearance):
            text = f"a {held} text does not go to {self._host()}, which is cleared for {self._clearance} ones"
            raise EmbeddingFault(text, kind="refused")
        if len(texts) > BATCH:
            raise EmbeddingFault(f"{len(texts)} texts; {BATCH} are the most", kind="refused")
        if not texts:
            return []
        try:
            async with asyncio.timeout(deadline_s):
                vectors = await self._vectors(await self._ask([_cut(text) for text in texts]), len(texts))
        except TimeoutError:
            raise self._failed(f"did not answer within {deadline_s:g} s", "timeout") from None
        self._unwell = ""
        return vectors

    async def close(self) -> None:
        """Close every connection."""
        await self._channel.close()

    async def _ask(self, texts: list[str]) -> _Answer:
        body = msgspec.json.encode({"model": self._model, "input": texts, "encoding_format": "float"})
        try:
            asked = self._channel.ask(self._target, self._headers, (body,))
            async with asked as answer:
                if answer.status != 200:
                    raise Refused(answer.status)
                return msgspec.json.decode(await answer.whole(), type=_Answer)
        except Refused as error:
            key = ": the key was refused" if error.status in (401, 403) else ""
            raise self._failed(f"answered {error.status}{key}", "peer") from None
        except BROKEN as error:
            said = clean(broken_connection(error) or str(error), self._endpoint.key)
            raise self._failed(f"could not be asked: {said}", "peer") from None
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            raise self._failed("gave something else than vectors", "bad_vector") from None

    async def _vectors(self, answer: _Answer, count: int) -> list[VectorBytes]:
        items = {item.index: item.embedding for item in answer.data}
        dims = {len(numbers) for numbers in items.values()}
        if len(answer.data) != count or set(items) != set(range(count)) or len(dims) != 1:
            raise self._failed(f"gave not one vector for each of {count} texts", "bad_vector")
        (dim,) = dims
        if not 0 < dim <= LARGEST_DIM or (self._dim and dim != self._dim):
            raise self._failed(f"gave vectors of {dim} dimensions, after {self._dim}", "bad_vector")
        try:
            vectors = await packed([items[at] for at in range(count)])
        except ValueError as error:
            raise self._failed(f"gave a vector that is none: {error}", "bad_vector") from None
        self._dim = dim
        return vectors

    def _failed(self, what: str, kind: str) -> EmbeddingFault:
        self._unwell = f"the embeddings at {self._host()} cannot be used: it {what}; check the provider, then try again"
        return EmbeddingFault(self._unwell, kind=kind)

    def _host(self) -> str:
        return urlsplit(self._endpoint.base_url).hostname or "an address without a host"


def _cut(text: str) -> str:
    """What is sent of a text. Servers refuse an empty one, and JSON holds no half of a surrogate pair."""
    return text[:TEXT_CHARS].encode("utf-8", "replace").decode() or " "


async def packed(vectors: Iterable[Sequence[float]]) -> list[VectorBytes]:
    """Vectors as they are kept; others get their turn between them, since a large one takes half a millisecond.

    Raises:
        ValueError: one of them is none, as ``pack_vector`` says.
    """
    done = []
    for vector in vectors:
        done.append(pack_vector(vector))
        await asyncio.sleep(0)
    return done
