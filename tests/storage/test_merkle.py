"""The tree against its definition, written down naively; proofs as the verifiers of RFC 6962 and RFC 9162 take them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.verify_export import consistent, included
from stead.storage.merkle import Edge, Tree, leaf_hash, node_hash

SIZES = range(1, 70)
contents = st.lists(st.binary(max_size=4), min_size=1, max_size=200)


def defined(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, word by word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + defined(leaves[:k]) + defined(leaves[k:])).digest()


def numbered(size: int) -> list[bytes]:
    return [number.to_bytes(2, "big") for number in range(size)]


def grown(leaves: Sequence[bytes]) -> Edge:
    edge = Edge()
    for leaf in leaves:
        edge.append(leaf_hash(leaf))
    return edge


def test_the_roots_are_those_that_certificate_transparency_publishes() -> None:
    # The test vectors of the reference implementation, github.com/google/certificate-transparency.
    leaves = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
    leaves.append(bytes.fromhex("606162636465666768696a6b6c6d6e6f"))
    roots = {
        0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    assert {size: grown(leaves[:size]).root().hex() for size in roots} == roots


@given(leaves=contents)
def test_a_growing_edge_has_the_root_of_the_definition_at_every_size(leaves: list[bytes]) -> None:
    edge = Edge()
    assert edge.root() == defined([])
    for size, leaf in enumerate(leaves, 1):
        edge.append(leaf_hash(leaf))
        assert edge.root() == defined(leaves[:size])
        assert len(edge.hashes) == size.bit_count()


@given(leaves=contents, data=st.data())
def test_an_edge_that_was_put_away_goes_on_where_it_stood(leaves: list[bytes], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(leaves)))
    first = grown(leaves[:cut])
    again = Edge(first.size, first.hashes)
    for leaf in leaves[cut:]:
        again.append(leaf_hash(leaf))
    assert again.root() == defined(leaves)


def test_an_edge_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 full parts"):
        Edge(5, [bytes(32)])


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_is_proven_to_be_in_the_tree_and_nothing_else_is(size: int) -> None:
    leaves = [leaf_hash(leaf) for leaf in numbered(size)]
    tree, root = Tree(leaves), defined(numbered(size))
    for index, leaf in enumerate(leaves):
        path = tree.inclusion(index)
        assert included(leaf, index, size, path, root)
        assert len(path) <= (size - 1).bit_length()
        assert not included(leaf_hash(b"other"), index, size, path, root)
        assert size == 1 or not included(leaf, (index + 1) % size, size, path, root)
        assert not included(leaf, index, size, [*path, bytes(32)], root)
        assert not path or not included(leaf, index, size, path[:-1], root)
        assert not included(leaf, index + size, size, path, root)


@pytest.mark.parametrize("size", SIZES)
def test_every_older_tree_is_proven_to_be_the_beginning_and_no_other_is(size: int) -> None:
    tree, root = Tree([leaf_hash(leaf) for leaf in numbered(size)]), defined(numbered(size))
    for older in range(1, size + 1):
        path, before = tree.consistency(older), defined(numbered(older))
        assert consistent(older, before, size, root, path)
        other = node_hash(before, before)
        assert not consistent(older, other, size, root, path)
        assert not consistent(older, before, size, other, path)
        assert not consistent(older, before, size, root, [*path, bytes(32)])
        assert not path or not consistent(older, before, size, root, path[:-1])
    assert not consistent(size + 1, root, size, root, [])
    assert not consistent(0, root, size, root, [])


@given(size=st.integers(2, 300), data=st.data())
def test_no_flipped_bit_of_a_proof_goes_through(size: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(leaf) for leaf in numbered(size)]
    tree, root = Tree(leaves), grown(numbered(size)).root()
    index, older = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size - 1))
    before = grown(numbered(older)).root()
    path = _flipped(tree.inclusion(index), data)
    assert not included(leaves[index], index, size, path, root)
    assert not consistent(older, before, size, root, _flipped(tree.consistency(older), data))


def _flipped(path: list[bytes], data: st.DataObject) -> list[bytes]:
    place, bit = data.draw(st.integers(0, len(path) - 1)), data.draw(st.integers(0, 255))
    changed = bytearray(path[place])
    changed[bit // 8] ^= 1 << bit % 8
    return [*path[:place], bytes(changed), *path[place + 1 :]]
