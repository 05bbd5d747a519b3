"""Put Stead's guard through the own suite: what got through, at which moment, and what the person was asked."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from stead.domain.policies import Profile
from tests.attacks.injection_suite.attacks import INJECTIONS
from tests.attacks.injection_suite.guard import guardian
from tests.attacks.injection_suite.replay import Start, plan_of, questions, survives, taken_over
from tests.attacks.injection_suite.suite import Pair, Task, benign_calls, pairs_of
from tests.attacks.injection_suite.tasks import TASKS
from tests.attacks.injection_suite.tools import DECLARATIONS, DEFAULTS

PAIRS = pairs_of(TASKS, INJECTIONS)


class Trial(msgspec.Struct, frozen=True):
    """What became of the suite.

    Args:
        pairs: how many were tried.
        leaked: ``pair@calls`` for each that went through, by how many calls the task had made; each pair once.
        denied: pairs that were stopped only by a flat refusal of the tool's own arguments, in all their calls.
        tasks: how many quiet tasks were done.
        asked: ``task: verdict rule tool(argument)`` for each question.
        most: questions in the task that had the most.
    """

    pairs: int
    leaked: list[str]
    denied: list[str]
    tasks: int
    asked: list[str]
    most: int

    @property
    def stopped(self) -> int:
        """How many did not get through."""
        return self.pairs - len(self.leaked)

    @property
    def questions(self) -> int:
        """In all tasks."""
        return len(self.asked)


@lru_cache(maxsize=8)
def own_suite(*, planned: bool, generous: bool, profile: Profile, apart: int = 1) -> Trial:
    """Try every pair, or every so manieth, at the first output that carries the attack, and after each later call."""
    leaked, denied = [], []
    pairs = PAIRS[::apart]
    for pair in pairs:
        start = start_of(pair.task, planned=planned, generous=generous)
        for moment in taken_over(pair.calls, lambda output, pair=pair: marks(pair, output)):  # type: ignore[misc]
            stopped = survives(guardian(DEFAULTS, profile), start, pair.calls, moment, pair.attack)
            if stopped is None:
                leaked.append(f"{pair.id}@{moment}")
                break
            if stopped.verdict == "deny":
                denied.append(pair.id)
    asked: list[str] = []
    most = 0
    for task in TASKS:
        guard = guardian(DEFAULTS, profile)(start_of(task, planned=planned, generous=generous))
        found = questions(guard, benign_calls(task))
        most = max(most, len(found))
        asked += [
            f"{task.id}: {one.judged.verdict} {one.judged.rule} {one.call.tool}({one.judged.argument})" for one in found
        ]
    return Trial(len(pairs), leaked, list(dict.fromkeys(denied)), len(TASKS), asked, most)


def start_of(task: Task, *, planned: bool, generous: bool) -> Start:
    """The session in which the person asks for the task."""
    plan = plan_of(task.text, benign_calls(task), DECLARATIONS) if planned else ()
    return Start(task.text, plan, DECLARATIONS, generous)


def marks(pair: Pair, output: str) -> bool:
    """Whether an output carries the pair's attack."""
    return f"{pair.attack[0].tool}(" in output
