"""What a text's vector is: near to what means the same, near to the published model's, and always the same."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from stead.domain.embedding import BATCH, TEXT_CHARS, Embeds, pack_vector
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.memory.embedding import artefact, vectors
from stead.memory.embedding.embedder import Embedder
from stead.memory.embedding.graph import assemble
from stead.memory.embedding.weights import Weights
from tests.memory.embedding.bench import PATIENT_S, PRIVATE, SENTENCES, FloatModel, cosine, unpack_vector


async def test_what_means_the_same_is_nearer_than_what_does_not(embedder: Embedder) -> None:
    pairs = (
        ("The cat sat on the mat.", "A cat was sitting on a rug.", "Revenue rose by four percent."),
        ("How do I reset my password?", "I forgot my login credentials.", "The soup needs more salt."),
        ("The build is broken on main.", "CI fails on the default branch.", "She bought a red bicycle."),
        ("Nils must not eat peanuts.", "Nils has a nut allergy.", "The ferry leaves at nine."),
    )
    for text, same, other in pairs:
        one, two, three = await embedder.embed([text, same, other], held=PRIVATE, deadline_s=PATIENT_S)

        assert cosine(one, two) > cosine(one, three) + 0.2, text


async def test_eight_bits_are_as_good_as_the_published_floats(embedder: Embedder, cache: Path) -> None:
    tokenizer = Tokenizer.from_buffer(artefact.read(cache)[0])
    tokenizer.no_padding()
    floats = FloatModel()

    found = await embedder.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)

    for text, vector in zip(SENTENCES, found, strict=True):
        wanted = floats.embed(tokenizer.encode(text).ids)
        assert float(np.dot(wanted, unpack_vector(vector))) >= 0.98, text


async def test_a_text_has_the_same_vector_whatever_is_beside_it_and_after_a_rebuild(
    embedder: Embedder, tmp_path: Path
) -> None:
    either: Embeds = embedder
    together = await either.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    alone = [(await embedder.embed([text], held=PRIVATE, deadline_s=PATIENT_S))[0] for text in SENTENCES[::-1]]
    other = Embedder(tmp_path / "another")
    await other.ready()
    again = await other.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    await other.close()

    assert together == alone[::-1] == again
    assert {len(vector) for vector in together} == {4 + embedder.dim}


HOSTILE = {
    "empty": "",
    "blank": " \n\t\u3000",
    "ten megabytes": "all work and no play " * 500_000,
    "one endless word": "x" * 10_000_000,
    "control characters": "".join(map(chr, range(32))) + "\x7f\x9b[2J",
    "half a surrogate pair": "left \ud800 right \udfff",
    "private and unassigned": "\ue000\U000f0000\U0010ffff\ufffe",
    "combining": "a" + "\u0301" * 20_000,
    "right to left override": "\u202egnp.exe",
    "another script": "これは日本語の文章です。" * 100,
    "the model's own marks": "[CLS] [SEP] [MASK] [PAD] [UNK]",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_every_text_has_a_vector_in_time(embedder: Embedder, name: str) -> None:
    (vector,) = await embedder.embed([HOSTILE[name]], held=PRIVATE, deadline_s=5)

    assert math.isclose(sum(number**2 for number in unpack_vector(vector)), 1, rel_tol=1e-5)


async def test_what_is_behind_the_last_token_counts_for_nothing(embedder: Embedder) -> None:
    text = "harbour " * 254  # the model's first and last tokens are its own
    long = text + "The opposite of everything before."

    cut, whole, shorter = await embedder.embed([long, text, "harbour " * 100], held=PRIVATE, deadline_s=PATIENT_S)

    assert len(long) < TEXT_CHARS
    assert cut == whole != shorter


async def test_a_batch_has_its_limit_and_none_is_none(embedder: Embedder) -> None:
    assert await embedder.embed([], held=PRIVATE, deadline_s=1) == []
    assert len(await embedder.embed(["a"] * BATCH, held=Confidentiality.SECRET, deadline_s=PATIENT_S)) == BATCH
    with pytest.raises(EmbeddingFault, match="65 texts; 64 are the most") as caught:
        await embedder.embed(["a"] * 65, held=PRIVATE, deadline_s=1)
    assert caught.value.kind == "refused"


class Spoilt(Weights):
    """The real weights, but for the last layer's."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def tensor(self, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        right = super().tensor(name)
        return np.full_like(right, self.value) if name.startswith("encoder.layer.5.output.LayerNorm") else right


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0])
async def test_a_vector_that_is_none_is_refused_and_the_state_says_so(tmp_path: Path, value: float) -> None:
    spoilt = Spoilt(value)
    artefact.write(tmp_path, spoilt.tokenizer, assemble(spoilt))
    embedder = Embedder(tmp_path)

    with pytest.raises(EmbeddingFault, match="not finite, or zero") as caught:
        await embedder.ready()

    assert caught.value.kind == "bad_vector"
    state = embedder.state()
    assert not state.alive and "not finite, or zero" in state.reason
    await embedder.close()


def test_the_daemon_loads_none_of_the_worker_s_libraries() -> None:
    import subprocess

    program = "import sys, stead.memory.embedding.embedder; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)

    assert not {"numpy", "onnxruntime", "tokenizers", "onnx"} & set(done.stdout.split())


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(numbers, min_size=1, max_size=50).filter(lambda values: any(values)))
def test_a_packed_vector_has_length_one_and_points_where_it_did(values: list[float]) -> None:
    found = unpack_vector(pack_vector(values))
    largest = max(map(abs, values))
    wanted = [value / largest for value in values]

    assert math.isclose(math.hypot(*found), 1, rel_tol=1e-6)
    product = sum(a * b for a, b in zip(found, wanted, strict=True)) / math.hypot(*wanted)
    assert product > 0.997


@given(st.lists(st.integers(-1000, 1000).map(lambda value: (value or 1) / 1024), min_size=64, max_size=64))
def test_both_sides_of_the_pipe_pack_alike(values: list[float]) -> None:
    ours, theirs = pack_vector(values), vectors.pack(np.array(values, np.float32))

    assert np.allclose(unpack_vector(ours), vectors.unpack(theirs), atol=2 / 127 / math.hypot(*unpack_vector(ours)))
    assert np.array_equal(np.array(unpack_vector(ours), np.float32), vectors.unpack(ours))


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, math.nan], [math.inf, 1.0]], ids=str)
def test_what_is_no_vector_is_not_packed(values: list[float]) -> None:
    with pytest.raises(ValueError):
        pack_vector(values)


@pytest.mark.parametrize(
    ("ids", "held"),
    [
        (b"1234567", b""),
        (bytes(8), b""),
        (bytes(8), b"\0\0\x80\x3f"),
        (bytes(8), b"\0\0\xc0\x7f\x01\x02"),
        (bytes(8), b"\0\0\x80\x3f\0\0"),
        (bytes(8), b"\0\0\x80\xbf\x01\x02"),
        (bytes(16), b"\0\0\x80\x3f\x01\x02" * 2),
        (bytes(8), bytes(4 + 4097)),
    ],
    ids=["half an id", "no vector", "no dimension", "not a number", "zero", "negative", "one id twice", "too many"],
)
def test_bytes_that_are_no_vectors_are_refused(ids: bytes, held: bytes) -> None:
    with pytest.raises(vectors.Unfit):
        vectors.parse(ids, held)
