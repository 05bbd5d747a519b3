"""What is told when there is much of everything: rules that always hold, memories, old turns, and many languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, Evidence, MemoryId, MemoryRow, Scope
from tests.memory.finding import DAY_MS, NOW_MS, Person, row, turn

STAGING = "The staging server is otter."


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    person = Person(tmp_path)
    yield person
    person.close()


# -- what is always told stands on top, and takes no place ------------------------------------------------------------


@pytest.mark.parametrize("rules", [10, 45])
def test_any_number_of_standing_rules_leaves_room_for_what_is_brought_to_mind(person: Person, rules: int) -> None:
    person.keep(*(row(number, f"Rule {number}: be brief.", standing=True) for number in range(1, rules + 1)))
    person.keep(row(99, STAGING, aliases=("staging",)))
    hits = person.recall("where is staging?").hits
    assert len(hits) == rules + 1
    assert hits[-1].text == STAGING
    told = tuple(hit.ref for hit in person.recall("hello").hits)
    assert person.texts("where is staging?", told=told) == [STAGING]


def test_whoever_looks_something_up_is_not_told_of_rules_that_do_not_match(person: Person) -> None:
    person.keep(*(row(number, f"Rule {number}: be brief.", standing=True) for number in range(1, 46)))
    person.keep(row(99, STAGING, pinned=True))
    assert person.texts("staging server", looked_up=True) == [STAGING]
    assert person.texts("rule 7", looked_up=True, limit=1) == ["Rule 7: be brief."]


def test_what_was_told_already_leaves_its_place_to_others(person: Person) -> None:
    person.keep(*(row(number, f"Accordion number {number}.") for number in range(1, 9)))
    first = person.recall("accordion", limit=4).hits
    then = person.recall("accordion", limit=4, told=tuple(hit.ref for hit in first)).hits
    assert len({hit.ref for hit in (*first, *then)}) == 8


def test_a_turn_that_says_what_was_told_already_is_not_told(person: Person) -> None:
    person.keep(row(1, "The accordion is in Bergen."), turn(1, "the accordion is in Bergen"))
    assert person.texts("accordion", told=("m_0000000000000001",)) == []


def test_the_room_of_what_is_always_told_is_shared_by_the_places_and_is_one_a_session(tmp_path: Path) -> None:
    person = Person(tmp_path, always_chars=400)
    person.keep(*(row(number, f"{number} {'x' * 90}", pinned=True) for number in range(1, 5)))
    everywhere = [row(number, f"{number} {'y' * 90}", pinned=True, scope=Scope()) for number in range(5, 9)]
    person.keep(*everywhere, place=GLOBAL)
    hits = person.recall("").hits
    assert [hit.place == GLOBAL for hit in hits] == [False, True, False, True]
    assert person.recall("", told=tuple(hit.ref for hit in hits)).hits == ()
    person.close()


# -- memories and turns -----------------------------------------------------------------------------------------------


def test_old_turns_do_not_push_out_what_is_remembered(person: Person) -> None:
    person.keep(row(1, "The person's dentist is Dr Berg now.", key="person.doctor"))
    person.keep(*(turn(number, f"my dentist Dr Fox moved it, {number}", session=f"s_{number}") for number in range(30)))
    assert person.texts("when can I call my dentist")[0] == "The person's dentist is Dr Berg now."


def test_many_memories_leave_room_for_turns(person: Person) -> None:
    person.keep(*(row(number, f"Accordion number {number}.") for number in range(1, 21)))
    person.keep(*(turn(number, f"An accordion was lent, {number}.") for number in range(1, 21)))
    sources = [hit.source for hit in person.recall("accordion").hits]
    assert sources == ["memory"] * 7 + ["chat"] * 3


def _superseded(ground: Evidence) -> tuple[MemoryRow, MemoryRow]:
    old = row(1, "The person lives in Linz.", key="person.home", evidence=(ground,), valid_to_ms=NOW_MS - 1000)
    new = row(2, "The person lives in Graz since May.", key="person.home")
    return replace(old, status="superseded", retired_ms=NOW_MS - 1000, superseded_by=new.memory.id), new


def test_a_turn_that_says_what_no_longer_holds_is_not_told(person: Person) -> None:
    said = "I live in Linz, the flat is small."
    person.keep(turn(1, said), *_superseded(Evidence(SessionId("s_1"), 1, 0, len(said))))
    assert person.texts("where does the person live?") == ["The person lives in Graz since May."]
    assert person.texts("which flat is small?") == []
    assert said in person.texts("which flat is small?", superseded=True)
    assert said in person.texts("which flat is small?", as_of_ms=NOW_MS - 2000)


def test_what_else_such_a_turn_says_is_told_and_what_another_memory_rests_on(person: Person) -> None:
    stale, rest = "I live in Linz.", " Send the invoices to the shop with the red door in the long street."
    ground = Evidence(SessionId("s_1"), 1, 0, len(stale))
    person.keep(turn(1, stale + rest), *_superseded(ground))
    assert person.texts("where do invoices go?") == [f"[left out here: what no longer holds]{rest}"]
    person.keep(row(3, "Linz is where the mother lives.", evidence=(ground,)))
    assert stale + rest in person.texts("where do invoices go?")


def test_the_ground_is_found_in_whichever_place_the_memory_is(person: Person) -> None:
    said = "I live in Linz, the flat is small."
    old, new = _superseded(Evidence(SessionId("s_1"), 1, 0, len(said)))
    person.keep(turn(1, said))
    for one in (old, new):
        person.keep(replace(one, memory=replace(one.memory, scope=Scope())), place=GLOBAL)
    assert person.texts("which flat is small?") == []


def test_one_good_turn_does_not_bring_others_with_it(person: Person) -> None:
    person.keep(*(turn(number, f"we will talk about thing{number} and item{number}") for number in range(1, 30)))
    person.keep(turn(99, "the staging server is otter"), turn(100, "the talk is about the staging host"))
    assert sorted(person.texts("what about the staging server, can we talk?")) == [
        "the staging server is otter",
        "the talk is about the staging host",
    ]


@pytest.mark.parametrize("text", ["ok", "yes", "thanks", "go on", "continue", "please do it", "hi", "no, stop"])
def test_small_talk_brings_nothing_to_mind(person: Person, text: str) -> None:
    person.keep(
        *(
            turn(number, said)
            for number, said in enumerate(
                (
                    "ok, drop the table",
                    "yes thanks, now the tax",
                    "can you do it?",
                    "go on, please",
                    "continue",
                    "hi no",
                ),
                1,
            )
        )
    )
    assert person.texts(text) == []


# -- names ------------------------------------------------------------------------------------------------------------


def test_the_one_word_that_a_key_ends_with_is_no_name(person: Person) -> None:
    person.keep(
        row(1, "She is called Ada Lovelace.", key="person.name"),
        row(2, "We run pytest -x.", key="project.test"),
        row(3, "It listens on 8080.", key="project.port"),
    )
    for question in ("rename the file name variable", "write a test for the parser", "port the game to Linux today"):
        assert person.texts(question) == []
    assert person.texts("what is my name?") == ["She is called Ada Lovelace."]
    assert person.texts("which port is that of the project?") == ["It listens on 8080."]


def test_an_alias_of_one_word_is_always_a_name(person: Person) -> None:
    person.keep(row(1, "It listens on 8080.", key="project.port", aliases=("port",)))
    assert person.texts("port the game to Linux today") == ["It listens on 8080."]


def test_a_participant_is_not_named_by_a_small_word(person: Person) -> None:
    person.keep(
        turn(1, "the harbour opens late", who="Will", session="s_a"),
        turn(2, "the harbour opens late", who="Ada", session="s_b"),
    )
    for question, named in (("when will the harbour open", False), ("what says Ada of the harbour", True)):
        hits = person.recall(question).hits
        assert any(why.by == "speaker" for hit in hits for why in hit.why) is named


# -- long texts, other scripts ----------------------------------------------------------------------------------------


def test_a_long_turn_is_said_by_what_was_looked_for(person: Person) -> None:
    person.keep(turn(1, "Here is the log. " + "It rains. " * 500 + "The otter's hint is kingfisher."))
    (hit,) = person.recall("kingfisher otter", chars=600).hits
    assert "kingfisher" in hit.text
    assert len(hit.text) <= 602


LANGUAGES = {
    "Chinese": ("我的牙医是王医生。", ("牙医", "我的牙医是谁?")),
    "Japanese": ("私の歯医者は田中先生です。", ("歯医者", "歯医者は誰ですか")),
    "Thai": ("หมอฟันของฉันคือหมอสมชาย", ("หมอฟัน",)),
    "Korean": ("내 치과의사는 김 선생님입니다", ("치과의사", "치과의사가 누구")),
    "Arabic": ("طَبِيبُ أَسْنَانِي هُوَ الدكتور سمير", ("طبيب أسناني", "طَبِيبُ أَسْنَانِي")),
    "Hindi": ("मेरे दंत चिकित्सक डॉ शर्मा हैं", ("दंत चिकित्सक",)),
    "Russian": ("Мой стоматолог — доктор Иванов", ("кто мой стоматолог",)),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_found_by_its_words(person: Person, language: str) -> None:
    said, questions = LANGUAGES[language]
    for number, (text, _) in enumerate(LANGUAGES.values(), 1):
        person.keep(row(number, text), turn(number, f"{text} ({number})"))
    for question in questions:
        hits = person.recall(question).hits
        assert [hit.text for hit in hits if hit.memory] == [said]
        assert len(hits) == 2, "the turn too"


def test_an_alias_of_a_script_without_spaces_is_a_name(person: Person) -> None:
    person.keep(row(1, "Dr Wang, in the old town.", aliases=("牙医",)), row(2, "Blue.", aliases=("茶",)))
    (hit,) = person.recall("请问我的牙医是谁").hits
    assert (hit.ref, hit.why[0].by) == (MemoryId("m_0000000000000001"), "alias")


def test_a_fact_that_is_old_is_told_like_a_new_one(person: Person) -> None:
    person.keep(
        row(1, STAGING, valid_from_ms=NOW_MS - 900 * DAY_MS), *(turn(n, f"staging is slow {n}") for n in range(20))
    )
    assert person.texts("which staging server?")[0] == STAGING
