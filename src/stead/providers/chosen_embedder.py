"""The embeddings of a provider that the person chose for their memory.

Layer: providers. The provider may be set up, changed or removed while this lives, so it is looked up for each request;
what it may be sent is decided by its clearance, and known secrets are taken out of every text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain.embedding import EmbedderState, VectorBytes
from stead.domain.errors import EmbeddingFault, ModelFault, NotFound
from stead.domain.policies import Confidentiality
from stead.providers.directory import Endpoint
from stead.providers.embeddings import ProviderEmbedder


@dataclass(eq=False, repr=False)
class ChosenEmbedder:
    """Implements ``domain.embedding.Embeds``. Close it.

    Args:
        provider: its name among the home's.
        model: as the provider knows it.
        find: where a provider is, and the most confidential that it may be sent; raises as ``ProviderModels.place``.
        clean: takes known secrets out of a text.
    """

    _provider: str
    _model: str
    _find: Callable[[str], tuple[Endpoint, Confidentiality]]
    _clean: Callable[[str], str]

    def __post_init__(self) -> None:
        self._now: tuple[tuple[Endpoint, Confidentiality], ProviderEmbedder] | None = None
        self._unwell = ""

    @property
    def model_id(self) -> str:
        """As ``Embeds`` says."""
        return f"{self._model}@{self._provider}/int8/1"

    def state(self) -> EmbedderState:
        """As ``Embeds`` says."""
        if self._unwell or self._now is None:
            return EmbedderState(not self._unwell, self._unwell, self.model_id)
        return replace(self._now[1].state(), model=self.model_id)

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        """As ``Embeds`` says; nothing is sent to a provider that is not there, or not cleared for the texts."""
        embedder = await self._current()
        return await embedder.embed([self._clean(text) for text in texts], held=held, deadline_s=deadline_s)

    async def close(self) -> None:
        """Close every connection."""
        if self._now is not None:
            await self._now[1].close()
            self._now = None

    async def _current(self) -> ProviderEmbedder:
        try:
            found = self._find(self._provider)
            if self._now is None or self._now[0] != found:
                await self.close()
                self._now = (found, ProviderEmbedder(found[0], self._model, found[1]))
        except (NotFound, ModelFault, EmbeddingFault) as fault:
            self._unwell = f"the embeddings of {self._provider!r} cannot be had: {fault}"
            raise EmbeddingFault(self._unwell, kind="absent") from fault
        self._unwell = ""
        return self._now[1]
