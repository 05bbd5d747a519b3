"""The model at work: text in, vector out.

Layer: memory, embedding worker. Knows onnxruntime and tokenizers; no pipe and no place.
"""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException
from tokenizers import Tokenizer

from stead.memory.embedding import artefact
from stead.memory.embedding.graph import IDS, POSITIONS, TOKENS
from stead.memory.embedding.vectors import Unfit

Floats = NDArray[np.float32]


class Model:
    """The built model, loaded.

    Args:
        cache: the folder that holds it.

    Raises:
        FileNotFoundError, OSError, artefact.Damaged: as ``artefact.read``; damaged too is what cannot be loaded.
    """

    def __init__(self, cache: Path) -> None:
        tokenizer, model = artefact.read(cache)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if not _multiplies_exactly():
            options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        except (RuntimeException, ValueError, RuntimeError) as error:
            raise artefact.Damaged(f"the model cannot be loaded: {str(error)[:300]}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)

    def embed(self, text: str) -> Floats:
        """The text's vector, 384 numbers, not yet of length 1.

        Raises:
            Unfit: it is not finite, or zero.
        """
        ids = np.array(self._tokenizer.encode(text).ids, np.int64)
        found = self._session.run(None, {IDS: ids, POSITIONS: np.arange(len(ids))})[0][0]
        vector = np.asarray(found, np.float32)
        if not np.isfinite(vector).all() or not np.abs(vector).max() > 1e-6:
            raise Unfit("the model gave a vector that is not finite, or zero")
        return vector


def _multiplies_exactly() -> bool:
    """Whether products of bytes cannot overflow: x86 before VNNI adds two of them in 16 bits.

    Asked to, onnxruntime takes a slower way there. Without it the same text had another vector on another computer.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    try:
        return "vnni" in Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return False  # the slower way is right everywhere
