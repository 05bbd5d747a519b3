"""What a text's vector is: near to what means the same, the published model's, and always the same."""

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
from stead.memory.embedding.embedder import Embedder
from stead.memory.embedding.model import Model, _folder
from stead.memory.embedding.places import Place, Unfit, pack
from stead.memory.embedding.wire import Refused
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


async def test_vectors_are_those_of_the_published_model(embedder: Embedder) -> None:
    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    reference = FloatModel()

    found = await embedder.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)

    for text, vector in zip(SENTENCES, found, strict=True):
        wanted = reference.embed(tokenizer.encode(text).ids)
        assert float(np.dot(wanted, unpack_vector(vector))) >= 0.999, text


async def test_a_text_has_the_same_vector_in_any_batch_and_any_process(embedder: Embedder) -> None:
    either: Embeds = embedder
    together = await either.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    alone = [(await embedder.embed([text], held=PRIVATE, deadline_s=PATIENT_S))[0] for text in SENTENCES[::-1]]
    other = Embedder()
    again = await other.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    await other.close()

    assert together == alone[::-1] == again
    assert {len(vector) for vector in together} == {4 + 384}


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


@pytest.mark.parametrize("value", [math.nan, 0.0])
def test_a_vector_that_is_not_finite_or_zero_is_refused(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    monkeypatch.setitem(model._norms, "encoder.layer.5.output", (np.float32(value), np.float32(value)))

    with pytest.raises(Unfit, match="not finite, or zero"):
        model.embed("a")


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gt_of_a_stranger"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model" / "tokenizer.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("stead.memory.embedding.model.WEIGHTS", package.name)

    with pytest.raises(Refused, match="is not the published file") as caught:
        Model()

    assert caught.value.kind == "failed"


def test_the_daemon_loads_none_of_the_worker_s_libraries() -> None:
    import subprocess

    program = "import sys, stead.memory.embedding.embedder; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)

    assert not {"numpy", "tokenizers"} & set(done.stdout.split())


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
    ours, theirs = pack_vector(values), pack(np.array(values, np.float32))
    read = Place(bytes(8), theirs).vector()

    assert np.allclose(unpack_vector(ours), read, atol=2 / 127 / math.hypot(*unpack_vector(ours)))
    assert np.array_equal(np.array(unpack_vector(ours), np.float32), Place(bytes(8), ours).vector())


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, math.nan], [math.inf, 1.0]], ids=str)
def test_what_is_no_vector_is_not_packed(values: list[float]) -> None:
    with pytest.raises(ValueError):
        pack_vector(values)


@pytest.mark.parametrize(
    ("ids", "held"),
    [
        (bytes(8), b""),
        (bytes(8), b"\0\0\x80\x3f"),
        (bytes(8), b"\0\0\xc0\x7f\x01\x02"),
        (bytes(16), b"\0\0\x80\x3f\x01\x02\x03"),
        (b"", b"\0\0\x80\x3f\x01"),
    ],
    ids=["no vector", "no dimension", "not a number", "two sizes", "no id"],
)
def test_bytes_that_are_no_vectors_are_refused(ids: bytes, held: bytes) -> None:
    with pytest.raises(Unfit):
        Place(ids, held)
