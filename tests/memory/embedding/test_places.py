"""What is nearest: as a plain comparison of all finds it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.embedding import pack_vector
from stead.domain.errors import EmbeddingFault
from stead.memory.embedding import places
from stead.memory.embedding.embedder import Embedder
from stead.memory.embedding.places import Floats, Place, Places, Unfit
from stead.memory.embedding.wire import Refused
from tests.memory.embedding.bench import PATIENT_S, PRIVATE, SENTENCES, unpack_vector

DIM = 384


def cloud(rows: int, seed: int = 7) -> Floats:
    """Vectors of length 1 in 300 loose heaps, as those of texts about 300 matters are."""
    rng = np.random.default_rng(seed)
    middles = rng.standard_normal((300, DIM), np.float32)
    made = middles[rng.integers(0, 300, rows)] + rng.standard_normal((rows, DIM), np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def place_of(vectors: Floats) -> Place:
    """As if they had come through the pipe."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    whole = np.rint(vectors / largest * 127).astype(np.int8)
    rows = np.empty(len(vectors), np.dtype([("scale", "<f4"), ("whole", "i1", (DIM,))]))
    rows["scale"], rows["whole"] = 1 / np.linalg.norm(whole.astype(np.float32), axis=1), whole
    return Place(np.arange(len(vectors), dtype="<u8").tobytes(), rows.tobytes())


def test_nothing_is_missed_but_ties() -> None:
    vectors = cloud(20_050)
    held, queries = vectors[:20_000], vectors[20_000:]
    place, hits = place_of(held), 0
    for query in queries:
        ids, cosines = place.nearest(query, 10, None)
        assert len(ids) == 10 and (np.diff(cosines) <= 0).all()
        hits += len(set(np.argpartition(-(held @ query), 10)[:10].tolist()) & set(ids.tolist()))

    assert hits >= 0.98 * 10 * len(queries)


def test_a_hundred_thousand_are_compared_in_no_time() -> None:
    place, times = place_of(cloud(100_000)), []
    for query in cloud(9, seed=8):
        began = time.process_time()
        place.nearest(query, 10, None)
        times.append(time.process_time() - began)

    assert sorted(times)[4] < 0.15


def test_only_what_is_allowed_is_found() -> None:
    rows = 1_000
    vectors = cloud(rows)
    place = place_of(vectors)
    allowed = np.arange(0, rows, 7, dtype=np.uint64)
    query = vectors[1]  # itself not allowed

    ids, cosines = place.nearest(query, 20, allowed)

    assert (ids % 7 == 0).all()
    exact = np.sort(vectors[::7] @ query)[::-1][:20]
    assert np.allclose(cosines, exact, atol=0.01)
    assert len(place.nearest(query, 5, np.array([rows + 5], np.uint64))[0]) == 0


small = st.lists(st.integers(-9, 9), min_size=5, max_size=5).filter(any)
rows_of = st.dictionaries(st.integers(0, 8), small, max_size=5)
change = st.one_of(
    st.tuples(st.just("load"), rows_of),
    st.tuples(st.just("extend"), rows_of),
    st.tuples(st.just("drop"), st.lists(st.integers(0, 8), max_size=4)),
)


def packed(rows: dict[int, list[int]]) -> Place:
    return Place(
        np.array(list(rows), np.uint64).tobytes(),
        b"".join(pack_vector([float(n) for n in row]) for row in rows.values()),
    )


@settings(max_examples=200)
@given(st.lists(change, max_size=8), small, st.integers(1, 9))
def test_any_changes_leave_what_a_dictionary_holds(
    changes: list[tuple[str, object]], asked: list[int], count: int
) -> None:
    real, model = packed({}), dict[int, list[float]]()
    for what, value in changes:
        if what == "drop":
            assert isinstance(value, list)
            real.drop(np.array(value, np.uint64))
            model = {key: row for key, row in model.items() if key not in value}
            continue
        assert isinstance(value, dict)
        if what == "load":
            real, model = packed(value), {}
        else:
            real.extend(packed(value))
        model |= {key: unpack_vector(pack_vector([float(n) for n in row])) for key, row in value.items()}

    query = Place(bytes(8), pack_vector([float(n) for n in asked])).vector()
    wanted = {key: float(np.dot(np.array(row, np.float32), query)) for key, row in model.items()}
    ids, cosines = real.nearest(query, count, None)
    found = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
    best = sorted(wanted.values(), reverse=True)[:count]
    assert np.allclose(list(found.values()), best, atol=1e-5)
    assert all(abs(wanted[key] - cosine) < 1e-5 for key, cosine in found.items())


def test_the_place_that_was_not_asked_for_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    held, vectors = Places(), cloud(100)
    monkeypatch.setattr(places, "LARGEST_BYTES", place_of(vectors).size_bytes * 2)
    held.load("first", place_of(vectors))
    held.load("second", place_of(vectors))
    held.find("first")
    held.load("third", place_of(vectors))

    assert held.find("first") is not held.find("third")
    with pytest.raises(Refused, match="not loaded"):
        held.find("second")


def test_vectors_of_another_size_are_refused() -> None:
    place = packed({1: [1, 2, 3, 4, 5]})

    with pytest.raises(Unfit, match="2 dimensions among others of 5"):
        place.extend(Place(bytes(8), pack_vector([1.0, 2.0])))
    with pytest.raises(Unfit, match="2 dimensions among others of 5"):
        place.nearest(Place(bytes(8), pack_vector([1.0, 2.0])).vector(), 1, None)


# -- through the pipe --------------------------------------------------------------------------------------------------


async def test_texts_find_each_other_by_what_they_mean(embedder: Embedder) -> None:
    vectors = await embedder.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    ids = [2**63 + at for at in range(len(SENTENCES))]
    await embedder.load("w_1", ids, vectors)

    found = await embedder.nearest("w_1", "Who must not eat nuts?", 3)
    (number, score) = found[0]
    assert SENTENCES[number - 2**63] == "Nils is allergic to peanuts."
    assert score == max(score for _, score in found) > 0.4
    assert await embedder.nearest("w_1", "nuts", 3, allowed=[]) == []
    assert await embedder.nearest("w_1", "nuts", 0) == []
    assert [name for name, _ in await embedder.nearest("w_1", "nuts", 9, allowed={ids[3]})] == [ids[3]]


async def test_a_place_is_kept_up_while_it_is_there_and_left_alone_when_not(embedder: Embedder) -> None:
    one, two, three = await embedder.embed(SENTENCES[:3], held=PRIVATE, deadline_s=PATIENT_S)

    assert not await embedder.extend("w_1", [1], [one])
    assert not await embedder.drop("w_1", [1])
    await embedder.load("w_1", [1, 2], [one, two])
    assert await embedder.extend("w_1", [3, 1], [three, three])
    assert dict(await embedder.nearest("w_1", three, 2)) == pytest.approx({1: 1.0, 3: 1.0})
    assert await embedder.drop("w_1", [3, 99])
    assert {name for name, _ in await embedder.nearest("w_1", three, 9)} == {1, 2}
    await embedder.load("w_1", [], [])
    assert await embedder.nearest("w_1", "a", 9) == []


async def test_places_know_nothing_of_each_other(embedder: Embedder) -> None:
    one, two = await embedder.embed(SENTENCES[:2], held=PRIVATE, deadline_s=PATIENT_S)
    await embedder.load("w_1", [1], [one])
    await embedder.load("w_2", [2], [two])

    assert [name for name, _ in await embedder.nearest("w_1", SENTENCES[1], 9)] == [1]
    await embedder.load("w_1", [], [])
    assert [name for name, _ in await embedder.nearest("w_2", SENTENCES[0], 9)] == [2]


Call = Callable[[Embedder], object]


@pytest.mark.parametrize(
    "call",
    [
        lambda embedder: embedder.load("p", [1], []),
        lambda embedder: embedder.load("p", [-1], [b"\0\0\x80\x3f\x01"]),
        lambda embedder: embedder.load("p", [2**64], [b"\0\0\x80\x3f\x01"]),
        lambda embedder: embedder.load("p", [1], [b""]),
        lambda embedder: embedder.load("p", [1, 2], [b"\0\0\x80\x3f\x01", b"\0\0\x80\x3f\x01\x01"]),
        lambda embedder: embedder.nearest("home", b"shorter", 1),
        lambda embedder: embedder.nearest("home", b"\0\0\xc0\x7f\x01", 1),
    ],
)
async def test_what_makes_no_sense_is_refused_and_the_worker_lives(embedder: Embedder, call: Call) -> None:
    process = embedder.state().process
    await embedder.load("home", [4], [b"\0\0\x80\x3f\x01\x00"])

    with pytest.raises(EmbeddingFault) as caught:
        await call(embedder)  # type: ignore[misc]  # each gives an awaitable of its own

    assert caught.value.kind in ("refused", "bad_vector")
    assert await embedder.nearest("home", b"\0\0\x80\x3f\x01\x00", 1) == [(4, 1.0)]
    assert embedder.state().process == process
