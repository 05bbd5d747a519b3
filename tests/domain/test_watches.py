"""Comparing marks: a pure function of both, whatever the order in which things were found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stead.domain.watches import (
    CommandWatch,
    Look,
    Mark,
    PathWatch,
    changed,
    difference,
    mark_of,
    part_of,
    summary,
    with_old_entries,
)

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
items = st.dictionaries(names, st.sampled_from(["a", "b", "c"]), max_size=8)


@given(items, items)
def test_a_difference_is_empty_for_the_same_and_makes_one_mark_of_the_other(
    old: dict[str, str], new: dict[str, str]
) -> None:
    one, other = mark_of(0, Look(items=old)), mark_of(0, Look(items=new))
    before, after = difference(one, other)
    assert (not before and not after) == (old == new)
    assert changed(one, before, after) == other
    assert ("0:" in after) == (old != new), "the digest of the whole tells every change"
    backwards = mark_of(0, Look(items=dict(reversed(list(new.items())))))
    assert difference(one, backwards) == (before, after), "the order in which things were found says nothing"
    assert difference(one, other) == difference(dict(reversed(list(one.items()))), other)


@given(items, st.integers(0, 20))
def test_watches_of_one_schedule_do_not_get_into_each_others_way(found: dict[str, str], number: int) -> None:
    mark = {
        **mark_of(number, Look(items=found)),
        **mark_of(number + 1, Look("open")),
        **mark_of(number * 10 + 30, Look("x")),
    }
    part = part_of(mark, number)
    assert {name: value for name, value in part.items() if name} == {
        name: value for name, value in found.items() if name
    }


@given(items, items)
def test_what_is_said_of_a_change_is_bounded_and_names_what_changed(old: dict[str, str], new: dict[str, str]) -> None:
    one, other = part_of(mark_of(0, Look(items=old)), 0), part_of(mark_of(0, Look(items=new)), 0)
    said = summary(PathWatch("x"), one, other, Look(items=new))
    assert said.startswith("Changed: files of x") and len(said) <= 8_000
    for kind, there in (("new: ", new.keys() - old.keys()), ("gone: ", old.keys() - new.keys())):
        assert (kind in said) == bool(there) or any(kind in name for name in (*old, *new))


def test_a_long_change_is_cut_and_counted() -> None:
    many = {f"file-{number:05}": "a" for number in range(10_000)}
    said = summary(PathWatch(), {"": "x"}, {"": "y", **many}, Look(items=many))
    assert "and 9970 more" in said and len(said) < 1000
    assert len(summary(CommandWatch("x"), {"": "a"}, {"": "b"}, Look("b", words={"": "y" * 100_000}))) == 8_000


def test_a_feed_remembers_a_bounded_number_of_old_entries() -> None:
    mark: Mark = mark_of(0, Look())
    for number in range(3_000):
        look = with_old_entries(Look(items={f"e{number}": ""}), part_of(mark, 0))
        mark = changed(mark, *difference(mark, mark_of(0, look)))
        assert len(look.items) <= 1_000
    assert "0:e2999" in mark and "0:e2500" in mark and "0:e10" not in mark
