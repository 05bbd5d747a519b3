"""How near two texts are: what it says, and that no text makes it slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.nearness import nearness
from tests.pace import fastest_s


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("", "", 1.0),
        ("tea", "", 0.0),
        ("tea", "tea", 1.0),
        ("tea", "eat", 2 * 2 / 6),
        ("abcde", "ace", 2 * 3 / 8),
        ("茶が好き", "茶は好き", 2 * 3 / 8),
    ],
)
def test_it_is_the_share_that_stands_in_both_in_the_same_order(one: str, other: str, share: float) -> None:
    assert nearness(one, other) == pytest.approx(share)


@given(st.text("ab c", max_size=40), st.text("ab c", max_size=40))
def test_it_is_what_the_whole_table_has(one: str, other: str) -> None:
    row = [0] * (len(other) + 1)
    for letter in one:
        before = row
        row = [0]
        for place, against in enumerate(other):
            row.append(before[place] + 1 if letter == against else max(before[place + 1], row[place]))
    assert nearness(one, other) == pytest.approx(2 * row[-1] / (len(one) + len(other)) if one or other else 1.0)


@pytest.mark.parametrize(("one", "other"), [("ab " * 1333, "ba " * 1333), ("a" * 4000, "a" * 3999 + "b")])
def test_the_longest_texts_take_milliseconds_whatever_they_repeat(one: str, other: str) -> None:
    assert nearness(one, other) > 0.6
    assert fastest_s(lambda: nearness(one, other)) < 0.2
