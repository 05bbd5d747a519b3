"""The local embedder as the daemon uses it: texts to vectors, and which vectors are nearest.

Layer: memory, daemon. Knows what the worker is asked, not how it is kept. Nothing here loads numpy. Nothing leaves this
computer, so any text may be embedded.

A place is loaded once and then kept up with ``extend`` and ``drop``. The worker forgets every place when it ends, which
it does after a while without work: then ``nearest`` and ``scores`` fail with ``unloaded``, and whoever asked loads the
place from storage and asks again.
"""

from __future__ import annotations

import asyncio
import struct
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from stead.domain.embedding import BATCH, QUERY_DEADLINE_S, TEXT_CHARS, EmbedderState, VectorBytes
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.memory.embedding.artefact import MODEL_ID
from stead.memory.embedding.desk import Desk

DIM = 384
IDLE_S = 60.0
PLACE_BYTES = 200
"""Of a place's name."""
PLACE_DEADLINE_S = 10.0
"""For what is done to a place; to load 100,000 vectors takes less than one second."""
_SLICE = 4
"""Texts of one request: a search waits for a slice, not for a batch."""
_PIECE_BYTES = 8 << 20
"""Vectors of one request."""


class Embedder:
    """A worker, which starts when it is needed. Close it.

    Args:
        cache: the folder for the built model, 23 MB; it is made if need be.
        idle_s: seconds without a request after which the worker ends.
    """

    def __init__(self, cache: Path, *, idle_s: float = IDLE_S) -> None:
        self._desk = Desk(cache, idle_s)

    @property
    def model_id(self) -> str:
        """As ``Embeds`` says."""
        return MODEL_ID

    @property
    def dim(self) -> int:
        """As ``Embeds`` says."""
        return DIM

    def state(self) -> EmbedderState:
        """As ``Embeds`` says."""
        return self._desk.state()

    async def embed(
        self, texts: Sequence[str], *, held: Confidentiality = Confidentiality.SECRET, deadline_s: float
    ) -> list[VectorBytes]:
        """As ``Embeds`` says; ``held`` may be anything."""
        if len(texts) > BATCH:
            raise EmbeddingFault(f"{len(texts)} texts; {BATCH} are the most", kind="refused")
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline_s
        vectors: list[VectorBytes] = []
        for at in range(0, len(texts), _SLICE):
            request = [b"embed", *map(_encoded, texts[at : at + _SLICE])]
            found = await self._desk.ask([request], deadline_s=max(0.0, end - loop.time()), model=True)
            vectors += map(VectorBytes, found)
        if len(vectors) != len(texts):
            raise EmbeddingFault(f"the embedder gave {len(vectors)} vectors for {len(texts)} texts", kind="bad_vector")
        return vectors

    async def ready(self, *, deadline_s: float = 120.0) -> None:
        """Build the model if it is not there, start the worker, have it load the model; also after it was given up.

        Raises:
            EmbeddingFault: it is not ready.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline_s
        self._desk.forgive()
        await self._desk.built(deadline_s)
        try:
            await self.embed([""], deadline_s=max(0.0, end - loop.time()))
        except EmbeddingFault as fault:
            if fault.kind != "building":
                raise
            # What was in the cache is damaged.
            await self._desk.built(max(0.0, end - loop.time()))
            await self.embed([""], deadline_s=max(0.0, end - loop.time()))

    async def load(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Have a place hold these vectors and no others.

        Args:
            place: any name, up to ``PLACE_BYTES``.
            ids: each once, from 0 to 2^64 - 1; of no vector is a place too.
            vectors: as ``VectorBytes``, one an id, all of one dimension.

        Raises:
            EmbeddingFault: nothing of it is held.
        """
        name = _name(place)
        aside = name + b"\0"  # no name of a person's ends so; whoever asks meanwhile finds what was there before
        pieces = _pieces(aside, ids, vectors, first=b"load")
        requests = chain(pieces, [[b"rename", aside, name]])
        await self._desk.ask(requests, deadline_s=PLACE_DEADLINE_S * (1 + len(ids) / 100_000), model=False)

    async def extend(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> bool:
        """Add vectors to a place, or change them. False when it is not loaded, then there is nothing to keep up.

        Raises:
            EmbeddingFault: they were not added.
        """
        return await self._keep_up(_pieces(_name(place), ids, vectors, first=b"extend"))

    async def drop(self, place: str, ids: Collection[int]) -> bool:
        """Take vectors out of a place, those that are there. False when it is not loaded, then none is there.

        Raises:
            EmbeddingFault: they may still be there; ``close`` the embedder to be sure.
        """
        return await self._keep_up(iter([[b"drop", _name(place), _packed(ids)]]))

    async def clear(self, place: str) -> bool:
        """Have a place forgotten. False when no worker was there to hold it.

        Raises:
            EmbeddingFault: as ``drop``.
        """
        return await self._keep_up(iter([[b"clear", _name(place)]]))

    async def nearest(
        self,
        place: str,
        query: str | bytes,
        count: int,
        *,
        allowed: Collection[int] | None = None,
        deadline_s: float = QUERY_DEADLINE_S,
    ) -> list[tuple[int, float]]:
        """The ids of the nearest vectors with their cosines, nearest first.

        Args:
            place: a loaded one.
            query: a text, or a vector as ``VectorBytes``.
            count: how many at most, from 1.
            allowed: the only ids that may be found; nothing for all of the place's.
            deadline_s: how long to wait.

        Raises:
            EmbeddingFault: ``unloaded`` when the place is to be loaded first.
        """
        if count < 1 or (allowed is not None and not allowed):
            return []
        request = [b"nearest", _name(place), *_query(query), str(count).encode()]
        if allowed is not None:
            request.append(_packed(allowed))
        found = await self._desk.ask([request], deadline_s=deadline_s, model=isinstance(query, str))
        if len(found) != 2 or len(found[0]) != 2 * len(found[1]):
            raise EmbeddingFault("the embedder gave not as many cosines as ids", kind="bad_vector")
        numbers = struct.unpack(f"<{len(found[0]) // 8}Q", found[0])
        return list(zip(numbers, _floats(found[1]), strict=True))

    async def scores(
        self, place: str, query: str | bytes, ids: Sequence[int], *, deadline_s: float = QUERY_DEADLINE_S
    ) -> dict[int, float]:
        """The cosine of each of these that is in the place.

        Args:
            place: a loaded one.
            query: a text, or a vector as ``VectorBytes``.
            ids: each once.
            deadline_s: how long to wait.

        Raises:
            EmbeddingFault: as ``nearest``.
        """
        if not ids:
            return {}
        request = [b"scores", _name(place), *_query(query), _packed(ids)]
        (found,) = await self._desk.ask([request], deadline_s=deadline_s, model=isinstance(query, str))
        # What is not there has no number, and no number equals itself then.
        return {name: cosine for name, cosine in zip(ids, _floats(found), strict=True) if cosine == cosine}

    async def close(self) -> None:
        """End the worker. What waits fails."""
        await self._desk.close()

    async def _keep_up(self, requests: Iterator[list[bytes]]) -> bool:
        try:
            await self._desk.ask(requests, deadline_s=PLACE_DEADLINE_S, model=False, wakes=False)
        except EmbeddingFault as fault:
            if fault.kind != "unloaded":
                raise
            return False
        return True


def _encoded(text: str) -> bytes:
    """Half a surrogate pair, which no UTF-8 holds, becomes a question mark."""
    return text[:TEXT_CHARS].encode("utf-8", "replace")


def _query(query: str | bytes) -> tuple[bytes, bytes]:
    return (b"text", _encoded(query)) if isinstance(query, str) else (b"vector", query)


def _name(place: str) -> bytes:
    name = place.encode("utf-8", "replace")
    if len(name) > PLACE_BYTES or b"\0" in name:
        raise EmbeddingFault(f"a place's name has up to {PLACE_BYTES} bytes, none of them 0", kind="refused")
    return name


def _packed(ids: Collection[int]) -> bytes:
    try:
        return array("Q", ids).tobytes()
    except (OverflowError, TypeError) as error:
        raise EmbeddingFault("an id is a whole number from 0 to 2^64 - 1", kind="refused") from error


def _floats(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 4}f", data)


def _pieces(name: bytes, ids: Sequence[int], vectors: Sequence[bytes], first: bytes) -> Iterator[list[bytes]]:
    """Requests that together bring all of them."""
    sizes = {len(vector) for vector in vectors}
    if len(ids) != len(vectors) or len(sizes) > 1:
        raise EmbeddingFault("there are not as many vectors as ids, or they differ in size", kind="refused")
    rows = max(1, _PIECE_BYTES // max(1, *sizes, 1))
    for at in range(0, max(1, len(ids)), rows):
        some = slice(at, at + rows)
        yield [b"extend" if at else first, name, _packed(ids[some]), b"".join(vectors[some])]
