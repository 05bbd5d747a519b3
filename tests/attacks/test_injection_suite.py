"""The own suite of prompt injections: what it holds, and what the guardian makes of it."""

from __future__ import annotations

import re

from tests.attacks.injection_suite.attacks import INJECTIONS
from tests.attacks.injection_suite.suite import INJECTION, benign_calls, pairs_of
from tests.attacks.injection_suite.tasks import TASKS
from tests.attacks.injection_suite.tools import TOOLS

PAIRS = pairs_of(TASKS, INJECTIONS)
OPEN = re.compile("{(" + "|".join(sorted({word for task in TASKS for word in task.words})) + ")}")


def test_there_are_more_than_a_hundred_pairs_and_each_has_a_name_of_its_own() -> None:
    assert len(PAIRS) >= 100
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)


def test_every_task_is_attacked_and_every_injection_attacks() -> None:
    assert {pair.task.id for pair in PAIRS} == {task.id for task in TASKS}
    assert {pair.injection.id for pair in PAIRS} == {injection.id for injection in INJECTIONS}


def test_every_call_names_a_known_tool_and_no_slot_is_left_open() -> None:
    for pair in PAIRS:
        for call in pair.calls + pair.attack + benign_calls(pair.task):
            assert call.tool in TOOLS
            assert INJECTION not in call.output
            assert not OPEN.search(str(call.arguments)), (pair.id, call)


def test_in_every_pair_the_model_reads_the_attack_before_its_last_chance() -> None:
    for pair in PAIRS:
        assert any(pair.injection.calls[0].tool + "(" in call.output for call in pair.calls), pair.id


def test_words_that_an_attack_may_use_are_the_persons_own() -> None:
    for task in TASKS:
        for word in task.words.values():
            assert word in task.text, (task.id, word)
