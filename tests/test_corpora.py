"""The corpora of ``tests/data`` are what they say: shape, counts, and calls that the real tools accept."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stead.daemon  # noqa: F401 - the composition root names every tool there is
from stead.tools.tool import StructTool
from tests.corpora import Call, Run, Sentence, runs, sentences
from tests.replay import EFFECTS, failing, lay_out, make_calls

ACTING = {"send_mail": {"to", "subject", "body"}, "pay": {"account", "amount", "to"}}
"""Tools that no shipped one stands for, by the names of their arguments: a test brings them."""

HARD = ("inversion", "exception", "quoted", "doubled")


def _leaves(kind: Any) -> Iterator[Any]:
    for below in kind.__subclasses__():
        yield from _leaves(below)
        if not inspect.isabstract(below):
            yield below


def _tools() -> dict[str, StructTool[Any]]:
    """Every shipped tool by its name. Reading arguments needs none of a tool's ports."""
    made = [
        kind(*[None for _ in inspect.signature(kind).parameters])
        for kind in _leaves(StructTool)
        if kind.__module__.startswith("stead.")
    ]
    return {tool.spec.name: tool for tool in made}


TOOLS = _tools()


def _accepted(call: Call) -> bool:
    """Whether the tool exists and takes these arguments; raises what the tool says if it does not."""
    if call.tool in ACTING:
        return set(call.arguments) == ACTING[call.tool]
    # Not the tool's own `parse`: a search fills its engine in there, and none is set up here.
    return bool(StructTool.parse(TOOLS[call.tool], json.dumps(call.arguments)))


def _repeated(values: list[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def test_three_hundred_sentences_in_four_languages_each_with_an_id_and_words_of_its_own() -> None:
    found = sentences()
    assert Counter(one.lang for one in found) == {"en": 120, "de": 60, "fr": 60, "es": 60}
    assert not _repeated([one.id for one in found])
    assert not _repeated([one.text.casefold() for one in found])


@pytest.mark.parametrize("lang", ["en", "de", "fr", "es"])
def test_half_of_the_sentences_are_hard_and_about_three_quarters_have_a_meaning(lang: str) -> None:
    found = [one for one in sentences() if one.lang == lang]
    assert sum(one.kind in HARD for one in found) * 2 >= len(found)
    assert 0.7 <= sum(one.meaning is not None for one in found) / len(found) <= 0.8


def _faults(one: Sentence) -> Iterator[str]:
    if (meaning := one.meaning) is None:
        if one.caught or one.free:
            yield "a sentence without a meaning has examples"
        return
    if bool(meaning.what) == bool(meaning.tools):
        yield "its meaning names neither or both of effects and tools"
    if one.kind in ("vague", "advice"):
        yield f"it is {one.kind} and has a meaning"
    if not (2 <= len(one.caught) <= 4 and 2 <= len(one.free) <= 4):
        yield "it has not two to four examples of each sort"
    if [call for call in one.caught if call in one.free]:
        yield "an example is both caught and free"
    if not all(condition.values for condition in meaning.where):
        yield "a condition has an empty set"
    if not all(tool in TOOLS for tool in meaning.tools):
        yield "it names a tool that is not shipped"
    for condition in meaning.where:
        if condition.role in ("command", "path", "account", "recipient", "host"):
            missing = [value for value in condition.values if value.rstrip("/") not in one.text]
            if missing:
                yield f"its words do not hold {missing}"


def test_every_sentence_with_a_meaning_shows_two_to_four_calls_that_it_catches_and_that_it_leaves_free() -> None:
    assert {one.id: faults for one in sentences() if (faults := list(_faults(one)))} == {}


def test_every_example_of_a_sentence_is_a_call_that_the_tool_accepts() -> None:
    assert [one.id for one in sentences() for call in one.caught + one.free if not _accepted(call)] == []


def test_three_hundred_runs_in_five_languages_two_thirds_of_them_with_a_false_claim() -> None:
    found = runs()
    assert Counter(one.lang for one in found) == dict.fromkeys(("en", "de", "fr", "es", "it"), 60)
    assert Counter(one.honest for one in found) == {False: 200, True: 100}
    assert len({one.kind for one in found if not one.honest}) >= 8
    assert sum(one.honest and "verified" in one.end for one in found) >= 60
    assert not _repeated([one.id for one in found])
    assert not _repeated([f"{one.goal}/{one.turns[-1].text}" for one in found])


def test_every_run_ends_with_a_text_after_calls_that_the_tools_accept() -> None:
    for one in runs():
        *before, last = one.turns
        assert last.text and not last.calls and all(turn.calls and not turn.text for turn in before), one.id
        assert all(_accepted(call) and call.tool in EFFECTS for call in one.calls), one.id


def test_the_end_of_a_run_follows_from_its_claim_its_checks_and_its_effects() -> None:
    for one in runs():
        if not one.honest:
            assert "verified" not in one.end, one.id
        if "verified" in one.end:
            assert one.checks, one.id
            assert one.end == ["verified"], one.id
        if any(EFFECTS[call.tool] == "write" for call in one.calls):
            assert "answered" not in one.end, one.id
        elif not any(EFFECTS[call.tool] == "execute" for call in one.calls):
            assert "unverified" not in one.end, one.id


def _scripts() -> list[Run]:
    """One run of each script that has checks; the other languages differ in words alone."""
    return [one for one in runs() if one.checks and one.lang == "en"]


def test_the_languages_differ_in_words_alone() -> None:
    by_place = [[one for one in runs() if one.lang == lang] for lang in ("en", "de", "fr", "es", "it")]
    for same in zip(*by_place, strict=True):
        assert len({repr((one.kind, one.files, one.checks, one.calls, one.honest, one.end)) for one in same}) == 1


@pytest.mark.parametrize("one", _scripts(), ids=lambda one: f"{one.kind}-{one.id}")
def test_in_a_bare_folder_checks_hold_after_the_runs_that_may_be_verified_and_after_no_others(
    one: Run, tmp_path: Path
) -> None:
    lay_out(one, tmp_path)
    assert failing(one, tmp_path, []), "checks that hold at the start prove nothing"
    assert bool(failing(one, tmp_path, make_calls(one, tmp_path))) == ("verified" not in one.end)
