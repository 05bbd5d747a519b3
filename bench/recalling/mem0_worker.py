"""Runs in mem0's own environment: adds texts, asks questions, writes down what was found. Knows nothing of Stead."""

import json
import sys
import time
from pathlib import Path

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

folder = Path(sys.argv[1])
work = json.loads((folder / "work.json").read_text("utf-8"))
known = dict(zip(work["texts"] + work["asked"], work["vectors"], strict=True))


class Given(EmbeddingBase):  # type: ignore[misc]  # its base is not in this environment
    """Vectors that were made before."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of a text; of one that nobody foresaw, none that is near to any."""
        return known.get(text) or [1e-6] * len(work["vectors"][0])


store = {"path": str(folder / "qdrant"), "embedding_model_dims": len(work["vectors"][0]), "on_disk": True}
memory = Memory.from_config(
    {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
)
memory.embedding_model = Given()
for at, text in enumerate(work["texts"]):
    memory.add(text, user_id="ada", metadata={"at": at}, infer=False)
found = []
for text in work["asked"]:
    start = time.perf_counter()
    hits = memory.search(text, top_k=work["k"], filters={"user_id": "ada"}, threshold=0.0)["results"]
    found.append(([hit["metadata"]["at"] for hit in hits], (time.perf_counter() - start) * 1000))
(folder / "found.json").write_text(json.dumps(found), "utf-8")
