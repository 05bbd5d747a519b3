"""The corpora of ``tests/data`` are what they say: shape, counts, and calls that the real tools accept."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import stead.daemon  # noqa: F401 - the composition root names every tool there is
from stead.tools.tool import StructTool
from tests.corpora import Call, Sentence, sentences

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
