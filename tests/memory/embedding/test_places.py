"""What is nearest: as a plain comparison of all finds it, up to the rows where signs are compared first, and beyond."""

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
from stead.memory.embedding.places import EXACT_ROWS, Place, Places, Unloaded
from stead.memory.embedding.vectors import Floats, Table, Unfit, parse, unpack
from tests.memory.embedding.bench import PATIENT_S, PRIVATE, SENTENCES, unpack_vector

DIM = 384


def cloud(rows: int, seed: int = 7) -> Floats:
    """Vectors of length 1 in 300 loose heaps, as those of texts about 300 matters are."""
    rng = np.random.default_rng(seed)
    middles = rng.standard_normal((300, DIM), np.float32)
    made = middles[rng.integers(0, 300, rows)] + rng.standard_normal((rows, DIM), np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def table(vectors: Floats, first: int = 0) -> Table:
    """As if they had come through the pipe."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    whole = np.rint(vectors / largest * 127).astype(np.int8)
    scale = (1 / np.linalg.norm(whole.astype(np.float32), axis=1)).astype(np.float32)
    return Table(np.arange(first, first + len(vectors), dtype=np.uint64), scale, whole)


def recall(rows: int) -> tuple[float, float]:
    """The share of the truly ten nearest that are found, and the median time of a search in seconds."""
    vectors = cloud(rows + 50)
    held, queries = vectors[:rows], vectors[rows:]
    place = Place(table(held))
    hits, times = 0, []
    for query in queries:
        exact = set(np.argpartition(-(held @ query), 10)[:10].tolist())
        began = time.perf_counter()
        ids, cosines = place.nearest(query, 10, None)
        times.append(time.perf_counter() - began)
        assert len(ids) == 10 and (np.diff(cosines) <= 0).all()
        hits += len(exact & set(ids.tolist()))
    return hits / (10 * len(queries)), float(np.median(times))


def test_up_to_twenty_thousand_rows_nothing_is_missed_but_ties() -> None:
    share, _ = recall(EXACT_ROWS)

    assert share >= 0.98


def test_beyond_that_hardly_anything_is() -> None:
    share, _ = recall(EXACT_ROWS + 5_000)

    assert share >= 0.96


@pytest.mark.long
@pytest.mark.timeout(600)
def test_nor_among_a_hundred_thousand() -> None:
    share, median_s = recall(100_000)

    assert share >= 0.95
    assert median_s < 0.15


@pytest.mark.parametrize("rows", [1_000, EXACT_ROWS + 1_000])
def test_only_what_is_allowed_is_found(rows: int) -> None:
    vectors = cloud(rows)
    place = Place(table(vectors))
    allowed = np.arange(0, rows, 7, dtype=np.uint64)
    query = vectors[1]  # itself not allowed

    ids, cosines = place.nearest(query, 20, allowed)

    assert (ids % 7 == 0).all()
    exact = np.sort(vectors[::7] @ query)[::-1][:20]
    assert np.allclose(cosines, exact, atol=0.01)
    assert len(place.nearest(query, 5, np.array([rows + 5], np.uint64))[0]) == 0


def test_nearly_all_allowed_of_many_are_compared_by_signs_too() -> None:
    vectors = cloud(EXACT_ROWS + 2_000)
    place = Place(table(vectors))
    allowed = np.arange(1, len(vectors), dtype=np.uint64)

    ids, cosines = place.nearest(vectors[5], 3, allowed)

    assert ids[0] == 5 and cosines[0] > 0.999
    assert 0 not in ids


small = st.lists(st.integers(-9, 9), min_size=5, max_size=5).filter(any)
rows_of = st.dictionaries(st.integers(0, 8), small, max_size=5)
change = st.one_of(
    st.tuples(st.just("load"), rows_of),
    st.tuples(st.just("extend"), rows_of),
    st.tuples(st.just("drop"), st.lists(st.integers(0, 8), max_size=4)),
)


def packed(rows: dict[int, list[int]]) -> Table:
    return parse(
        np.array(list(rows), np.uint64).tobytes(),
        b"".join(pack_vector([float(n) for n in row]) for row in rows.values()),
    )


@settings(max_examples=200)
@given(st.lists(change, max_size=8), small, st.integers(1, 9), st.lists(st.integers(0, 8), unique=True))
def test_any_changes_leave_what_a_dictionary_holds(
    changes: list[tuple[str, object]], asked: list[int], count: int, some: list[int]
) -> None:
    real, model = Places(), dict[int, list[float]]()
    real.load(b"home", packed({}))
    for what, value in changes:
        if what == "drop":
            assert isinstance(value, list)
            real.find(b"home").drop(np.array(value, np.uint64))
            model = {key: row for key, row in model.items() if key not in value}
            continue
        assert isinstance(value, dict)
        (real.load if what == "load" else real.extend)(b"home", packed(value))
        model = {} if what == "load" else model
        model |= {key: unpack_vector(pack_vector([float(n) for n in row])) for key, row in value.items()}

    query = unpack(pack_vector([float(n) for n in asked]))
    wanted = {key: float(np.dot(np.array(row, np.float32), query)) for key, row in model.items()}
    ids, cosines = real.find(b"home").nearest(query, count, None)
    found = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
    best = sorted(wanted.values(), reverse=True)[:count]
    assert np.allclose(list(found.values()), best, atol=1e-5)
    assert all(abs(wanted[key] - cosine) < 1e-5 for key, cosine in found.items())
    for key, cosine in zip(some, real.find(b"home").scores(query, np.array(some, np.uint64)).tolist(), strict=True):
        assert abs(wanted[key] - cosine) < 1e-5 if key in wanted else cosine != cosine


def test_the_place_that_was_not_asked_for_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Places()
    one = table(cloud(100))
    monkeypatch.setattr(places, "LARGEST_BYTES", Place(one).size_bytes * 2)
    held.load(b"first", one)
    held.load(b"second", one)
    held.find(b"first")
    held.load(b"third", one)

    assert held.find(b"first") is not held.find(b"third")
    with pytest.raises(Unloaded):
        held.find(b"second")
    with pytest.raises(Unfit, match="are the most"):
        held.load(b"large", table(cloud(300)))


def test_only_so_many_places_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PLACES", 2)
    held = Places()
    for name in (b"a", b"b", b"c"):
        held.load(name, packed({1: [1, 0, 0, 0, 0]}))

    with pytest.raises(Unloaded):
        held.find(b"a")


def test_vectors_of_another_size_are_refused() -> None:
    place = Place(packed({1: [1, 2, 3, 4, 5]}))

    with pytest.raises(Unfit, match="2 dimensions among others of 5"):
        place.extend(parse(bytes(8), pack_vector([1.0, 2.0])))
    with pytest.raises(Unfit, match="query of 2 dimensions"):
        place.nearest(unpack(pack_vector([1.0, 2.0])), 1, None)


# -- through the pipe --------------------------------------------------------------------------------------------------


async def test_texts_find_each_other_by_what_they_mean(embedder: Embedder) -> None:
    vectors = await embedder.embed(SENTENCES, held=PRIVATE, deadline_s=PATIENT_S)
    ids = [2**63 + at for at in range(len(SENTENCES))]
    await embedder.load("w_1", ids, vectors)

    found = await embedder.nearest("w_1", "Who must not eat nuts?", 3)
    (number, score) = found[0]
    assert SENTENCES[number - 2**63] == "Nils is allergic to peanuts."
    assert score == max(score for _, score in found) > 0.4
    assert await embedder.scores("w_1", "Who must not eat nuts?", [number, 5]) == {number: score}
    assert await embedder.scores("w_1", vectors[0], []) == {}
    assert await embedder.nearest("w_1", "nuts", 3, allowed=[]) == []
    assert await embedder.nearest("w_1", "nuts", 0) == []
    assert [name for name, _ in await embedder.nearest("w_1", "nuts", 9, allowed={ids[3]})] == [ids[3]]


async def test_a_place_is_kept_up_while_it_is_there_and_left_alone_when_not(embedder: Embedder) -> None:
    one, two, three = await embedder.embed(SENTENCES[:3], held=PRIVATE, deadline_s=PATIENT_S)

    assert not await embedder.extend("w_1", [1], [one])
    assert not await embedder.drop("w_1", [1])
    await embedder.load("w_1", [1, 2], [one, two])
    assert await embedder.extend("w_1", [3, 1], [three, three])
    assert await embedder.scores("w_1", three, [1, 3]) == pytest.approx({1: 1.0, 3: 1.0})
    assert await embedder.drop("w_1", [3, 99])
    assert {name for name, _ in await embedder.nearest("w_1", three, 9)} == {1, 2}
    await embedder.load("w_1", [], [])
    assert await embedder.nearest("w_1", "a", 9) == []
    assert await embedder.clear("w_1")
    with pytest.raises(EmbeddingFault, match="not loaded"):
        await embedder.nearest("w_1", "a", 9)


async def test_places_know_nothing_of_each_other(embedder: Embedder) -> None:
    one, two = await embedder.embed(SENTENCES[:2], held=PRIVATE, deadline_s=PATIENT_S)
    await embedder.load("w_1", [1], [one])
    await embedder.load("w_2", [2], [two])

    assert [name for name, _ in await embedder.nearest("w_1", SENTENCES[1], 9)] == [1]
    assert await embedder.clear("w_1")
    assert [name for name, _ in await embedder.nearest("w_2", SENTENCES[0], 9)] == [2]


async def test_more_than_one_frame_holds_is_loaded_in_pieces_whole_or_not_at_all(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.memory.embedding.embedder._PIECE_BYTES", 9 * 1000)
    vectors: list[bytes] = [pack_vector([1.0, 2.0, float(at), 1.0, 5.0]) for at in range(10_500)]
    await embedder.load("w_1", range(10_500), vectors)

    assert await embedder.scores("w_1", vectors[10_400], [10_400]) == pytest.approx({10_400: 1.0})
    assert len(await embedder.nearest("w_1", vectors[0], 20_000)) == 10_500
    with pytest.raises(EmbeddingFault):
        await embedder.load("w_1", [*range(10_499), 1], [*vectors[:10_499], b"\0\0\xc0\x7f\1\1\1\1\1"])
    assert len(await embedder.nearest("w_1", vectors[0], 20_000)) == 10_500


Call = Callable[[Embedder], object]


@pytest.mark.parametrize(
    "call",
    [
        lambda embedder: embedder.load("p" * 201, [], []),
        lambda embedder: embedder.load("p\0", [], []),
        lambda embedder: embedder.load("p", [1], []),
        lambda embedder: embedder.load("p", [-1], [b"\0\0\x80\x3f\x01"]),
        lambda embedder: embedder.load("p", [2**64], [b"\0\0\x80\x3f\x01"]),
        lambda embedder: embedder.load("p", [1, 1], [b"\0\0\x80\x3f\x01"] * 2),
        lambda embedder: embedder.load("p", [1], [b""]),
        lambda embedder: embedder.load("p", [1], [b"\0\0\x80\x3f\0"]),
        lambda embedder: embedder.load("p", [1, 2], [b"\0\0\x80\x3f\x01", b"\0\0\x80\x3f\x01\x01"]),
        lambda embedder: embedder.nearest("home", b"short", 1),
        lambda embedder: embedder.nearest("home", b"\0\0\xc0\x7f\x01", 1),
        lambda embedder: embedder.nearest("home", b"\0\0\x80\x3f\x01", 1, allowed=range(3_000_000)),
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
