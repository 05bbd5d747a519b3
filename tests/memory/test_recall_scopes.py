"""Whatever is put into indexes, and whoever asks whatever: nothing is told that ``visible`` denies."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from stead.domain.memory import GLOBAL, KINDS, Episode, MemoryRow, PlaceId, Scope, Viewer, visible
from stead.domain.policies import Confidentiality, Integrity, Label
from tests.memory.finding import CHANNEL, DAY_MS, HERE, NOW_MS, PLACES, THERE, Person, row, turn

WORDS = ("accordion", "Bergen", "cocoa", "dynamo", "elder")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
LABELS = st.builds(Label, st.sampled_from(Integrity), st.sampled_from(Confidentiality))
SCOPES = st.builds(Scope, st.sampled_from(["global", "workspace", "private", "channel"]), st.sampled_from(PLACES))
VIEWERS = st.builds(Viewer, st.sampled_from([HERE, THERE, GLOBAL]), st.sampled_from(["", CHANNEL, HERE]), st.booleans())
MARKS = st.fixed_dictionaries(
    {
        "scope": SCOPES,
        "label": LABELS,
        "kind": st.sampled_from(KINDS),
        "pinned": st.booleans(),
        "standing": st.booleans(),
        "origin": st.sampled_from(["user_said", "inferred"]),
        "aliases": st.lists(st.sampled_from(WORDS), max_size=2, unique=True).map(tuple),
        "key": st.sampled_from(["", "cocoa", "ada.dynamo", "elder_beside_bergen"]),
        "expires_ms": st.sampled_from([0, NOW_MS - 1, NOW_MS + 1]),
    }
)
ITEMS = st.lists(st.tuples(TEXTS, MARKS, st.sampled_from(PLACES)), min_size=1, max_size=12)
TURNS = st.lists(st.tuples(TEXTS, st.booleans(), LABELS, st.sampled_from(PLACES)), max_size=12)
QUERIES = st.fixed_dictionaries(
    {
        "limit": st.integers(1, 20),
        "trusted": st.booleans(),
        "clearance": st.sampled_from(Confidentiality),
        "superseded": st.booleans(),
        "as_of_ms": st.sampled_from([0, 1, NOW_MS]),
        "known_ms": st.sampled_from([0, 1, NOW_MS]),
    }
)


def _may_be_told(row: MemoryRow, place: PlaceId, viewer: Viewer) -> bool:
    scope = row.memory.scope
    return visible(scope, viewer) and place in viewer.places


def _scope_of(turn: Episode, place: PlaceId) -> Scope:
    if place == GLOBAL:
        return Scope()
    if place == CHANNEL:
        return Scope("channel", CHANNEL)
    return Scope("private" if turn.private else "workspace", place)


@settings(max_examples=60, deadline=None)
@given(ITEMS, TURNS, VIEWERS, st.one_of(TEXTS, st.just("")), QUERIES)
def test_nothing_is_told_to_whom_it_may_not_be_shown(
    items: list[tuple[str, dict[str, Any], PlaceId]],
    turns: list[tuple[str, bool, Label, PlaceId]],
    viewer: Viewer,
    text: str,
    marks: dict[str, Any],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        person = Person(Path(folder))
        rows = {}
        for number, (said, memory_marks, place) in enumerate(items, 1):
            one = row(number, f"{said} {number}", **memory_marks)
            rows[one.memory.id] = (one, place)
            person.keep(one, place=place)
        spoken = {}
        for number, (said, private, label, place) in enumerate(turns, 1):
            episode = turn(number, f"{said} t{number}", private=private, label=label)
            spoken[f"e_{number}"] = (episode, place)
            person.keep(episode, place=place)
        recalled = person.recall(text, viewer, **marks)
        assert sum(hit.why[0].by != "pinned" for hit in recalled.hits) <= marks["limit"]
        for hit in recalled.hits:
            assert not hit.label.confidentiality.exceeds(marks["clearance"])
            assert not (marks["trusted"] and hit.label.taints)
            assert hit.why
            if hit.memory:
                one, place = rows[hit.memory.id]
                assert _may_be_told(one, place, viewer)
                assert replace(one, uses=0).memory == hit.memory
            else:
                episode, place = spoken[hit.ref]
                assert place in viewer.places
                assert visible(_scope_of(episode, place), viewer)
        person.close()


BERG = {"key": "person.dentist", "value": "Dr Berg", "origin": "user_said", "valid_from_ms": NOW_MS - 9 * DAY_MS}
LUND = {"key": "person.dentist", "value": "Dr Lund", "origin": "user_said", "scope": Scope("private", HERE)}
OLD, NEW = "My dentist is Dr Berg, near the fountain.", "My dentist is Dr Lund now."


@pytest.mark.parametrize("wide", [Scope("workspace", HERE), Scope()])
@pytest.mark.parametrize("question", ["Who is my dentist?", "Who was it near the fountain?"])
@pytest.mark.parametrize("looked_up", [True, False])
def test_who_sees_two_values_at_a_key_is_told_the_newer_narrower_one(
    wide: Scope, question: str, looked_up: bool, tmp_path: Path
) -> None:
    person = Person(tmp_path)
    person.keep(row(1, OLD, scope=wide, **BERG), place=wide.place)
    person.keep(row(2, NEW, **LUND))
    assert OLD not in person.texts(question, looked_up=looked_up)
    assert (NEW in person.texts(question, looked_up=looked_up)) is ("dentist" in question)
    assert person.texts(question, Viewer(HERE), looked_up=looked_up) == [OLD], "others are told it as before"
    assert OLD in person.texts(question, overtaken=True), "it is there for whoever corrects or forgets it"
    assert person.texts("Who is my dentist?", as_of_ms=NOW_MS - 5 * DAY_MS) == [OLD]
    assert NEW not in person.texts("Who is my dentist?", told=(row(2, NEW).memory.id,)), "told once"
    assert OLD not in person.texts("Who is my dentist?", told=(row(2, NEW).memory.id,))
    person.close()


@pytest.mark.parametrize(
    "old, new",
    [
        ({}, {"valid_from_ms": NOW_MS - 10 * DAY_MS}),
        ({}, {"origin": "inferred"}),
        ({}, {"label": Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)}),
        ({}, {"label": Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE), "origin": "imported"}),
        ({}, {"value": "dr berg"}),
        ({}, {"key": "person.vet"}),
        ({}, {"expires_ms": NOW_MS - 1}),
        ({"pinned": True}, {}),
        ({"standing": True}, {}),
        ({"scope": Scope("private", HERE)}, {"scope": Scope("workspace", HERE)}),
    ],
)
def test_nothing_else_keeps_a_memory_from_being_told(old: dict[str, Any], new: dict[str, Any], tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.keep(row(1, OLD, **BERG | {"scope": Scope("workspace", HERE)} | old), row(2, NEW, **LUND | new))
    assert OLD in person.texts("Who is my dentist?")
    person.close()


def test_what_is_always_told_gives_way_to_what_is_always_told(tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.keep(row(1, "Answer in German.", standing=True, scope=Scope(), **BERG | {"value": "German"}), place=GLOBAL)
    person.keep(row(2, "Answer in English here.", standing=True, **LUND | {"value": "English"}))
    assert person.texts("") == ["Answer in English here."]
    assert person.texts("", Viewer(THERE, interactive=True)) == ["Answer in German."]
    person.close()
