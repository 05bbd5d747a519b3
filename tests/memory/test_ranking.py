"""What speaks for a hit, weighed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.ids import SessionId
from stead.domain.memory import PlaceId
from stead.memory.ranking import Key, Lead, rank

PLACE = PlaceId("w_00000000000000aa")
SURE: dict[str, Any] = {"words": 5.0, "told": 1.0}


def key(item: int) -> Key:
    return (PLACE, item)


def talk(item: int, *, session: str = "s_1", **marks: Any) -> Lead:
    beside = (key(item - 1), key(item + 1))
    return Lead(key=key(item), source="talk", session=SessionId(session), beside=beside, **marks)


def order(*leads: Lead) -> list[int]:
    return [one.key[1] for one in rank(leads)]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    assert order(talk(1, **SURE), talk(2), talk(9, words=1.0, told=0.2, session="s_2"))[:2] == [1, 2]


def test_what_a_session_is_told_unasked_of_a_chat_is_good_by_itself() -> None:
    answer = Lead(key=key(2), source="chat", session=SessionId("s_1"), beside=(key(1),), person=True)
    found = Lead(key=key(1), source="chat", session=SessionId("s_1"), **SURE)

    assert order(found, answer) == [1]
    assert [one.key[1] for one in rank([found, answer], looked_up=True)] == [1, 2]


def test_the_one_who_is_named_comes_first_among_equals() -> None:
    assert order(talk(1, **SURE), talk(5, speaks=True, **SURE)) == [5, 1]


def test_the_persons_own_words_come_before_the_assistants() -> None:
    leads = [Lead(key=key(item), source="chat", person=item == 2, **SURE) for item in (1, 2)]
    assert order(*leads) == [2, 1]


def test_a_turn_of_a_chat_has_to_earn_its_place_beside_a_good_one() -> None:
    def chat(item: int, **marks: Any) -> Lead:
        return Lead(key=key(item), source="chat", person=True, **marks)

    leads = [
        chat(1, words=5.0, told=1.0, meaning=0.2),
        chat(2, words=0.5, told=0.1, meaning=0.1),
        chat(3, words=0.4, told=0.1, meaning=0.36),
        chat(4, words=2.0, told=0.4, meaning=0.1),
        chat(5, meaning=0.3),
    ]
    assert sorted(order(*leads)) == [1, 3, 4]


def test_where_nothing_speaks_for_a_memory_those_that_stand_out_are_taken() -> None:
    def memory(item: int, meaning: float) -> Lead:
        return Lead(key=key(item), source="memory", meaning=meaning)

    others = [memory(item, 0.05) for item in range(10, 20)]
    assert order(*others, memory(1, 0.31), memory(2, 0.33), memory(3, 0.32)) == [2, 3]
    assert order(*others, memory(1, 0.29)) == []
    assert order(*others, memory(1, 0.31), Lead(key=key(2), source="memory", named=True)) == [2]


def test_the_nearest_memories_are_shown_only_where_none_matches_and_somebody_wants_them() -> None:
    far = [Lead(key=key(item), source="memory", meaning=0.01 * item) for item in range(8)]
    assert rank(far) == []
    assert [one.key[1] for one in rank(far, nearest=True)] == [7, 6, 5, 4, 3], "five, and none that has no nearness"
    assert order(*far, Lead(key=key(9), source="memory", named=True)) == [9]
    assert len(rank([*far, Lead(key=key(9), source="memory", named=True)], nearest=True)) == 1


def test_what_is_enough_for_a_turn_is_enough_for_a_memory() -> None:
    fact = Lead(key=key(1), source="memory", words=2.0, told=0.45)
    assert order(fact) == []
    assert sorted(order(fact, Lead(key=key(2), source="chat", words=3.0, told=0.4))) == [1, 2]
    assert order(fact, Lead(key=key(2), source="chat", words=3.0, told=0.6)) == [2]


def test_nothing_speaks_for_turns_of_which_the_best_has_one_small_word_of_many() -> None:
    assert rank([talk(1, words=0.3, told=0.1, meaning=0.1), talk(2, words=0.2, told=0.05)]) == []


def test_without_vectors_fewer_words_are_enough_for_turns() -> None:
    assert rank([talk(1, words=0.3, told=0.2, meaning=0.0)]) == []
    assert len(rank([talk(1, words=0.3, told=0.2)])) == 1


@pytest.mark.parametrize("marks", [{"named": True}, {"words": 1.0, "told": 0.7}, {"words": 0.1, "meaning": 0.5}])
def test_a_memory_is_found_by_its_name_its_words_or_its_meaning(marks: dict[str, Any]) -> None:
    weak = Lead(key=key(2), source="memory", words=0.9, told=0.2, meaning=0.2)
    assert order(Lead(key=key(1), source="memory", **marks), weak) == [1]


def test_a_name_outweighs_words_and_meaning_together() -> None:
    named = Lead(key=key(2), source="memory", named=True)
    told = Lead(key=key(1), source="memory", words=3.0, told=1.0, meaning=0.9)
    assert order(told, named) == [2, 1]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["memory", "chat", "talk"]),
            st.floats(0, 50),
            st.floats(0, 1),
            st.none() | st.floats(-1, 1),
            st.booleans(),
            st.sampled_from(["s_1", "s_2"]),
        ),
        max_size=30,
    )
)
def test_every_score_is_the_sum_of_its_reasons_and_below_three(found: list[tuple[Any, ...]]) -> None:
    leads = [
        Lead(
            key=key(item),
            source=source,
            words=words,
            told=told,
            meaning=meaning,
            named=named and source == "memory",
            session=SessionId(session),
            beside=(key(item - 1), key(item + 1)),
        )
        for item, (source, words, told, meaning, named, session) in enumerate(found)
    ]
    ranked = rank(leads)
    for one in ranked:
        assert one.why
        assert one.score == pytest.approx(sum(part.score for part in one.why), abs=1e-3)
        assert 0 <= one.score < 3
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert {one.key for one in ranked} == {one.key for one in rank(reversed(leads))}
