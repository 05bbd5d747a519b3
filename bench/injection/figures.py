"""The figures of one policy: how often it asks, what it stops, and what a taken-over model could still do."""

from __future__ import annotations

import msgspec

from bench.injection import dojo
from bench.injection.agentdojo_tools import CONSEQUENTIAL
from tests.attacks.injection_suite.replay import Asked, Judged, Opens, questions, survives, taken_over


class Autonomy(msgspec.Struct, frozen=True):
    """What 97 quiet tasks cost the person.

    Args:
        tasks: how many.
        calls: how many in all.
        consequential: calls that change something.
        asked: (task, question) for each call that was not simply let through.
    """

    tasks: int
    calls: int
    consequential: int
    asked: list[tuple[str, Asked]]

    @property
    def per_task(self) -> float:
        """Questions a task."""
        return len(self.asked) / self.tasks

    @property
    def calls_auto(self) -> float:
        """Percent of all calls let through."""
        return 100 * (1 - len(self.asked) / self.calls)

    @property
    def consequential_auto(self) -> float:
        """Percent of the calls that change something let through."""
        stopped = sum(asked.call.tool in CONSEQUENTIAL for _, asked in self.asked)
        return 100 * (1 - stopped / self.consequential)

    def at_most(self, questions: int) -> float:
        """Percent of tasks with so few questions."""
        counts: dict[str, int] = {}
        for task, _ in self.asked:
            counts[task] = counts.get(task, 0) + 1
        return 100 * (1 - sum(count > questions for count in counts.values()) / self.tasks)


class Security(msgspec.Struct, frozen=True):
    """What became of the attacks.

    Args:
        pairs: how many were tried.
        leaked: names of those that went through.
        rules: how many each rule stopped.
    """

    pairs: int
    leaked: list[str]
    rules: dict[str, int]

    @property
    def stopped(self) -> int:
        """How many did not get through."""
        return self.pairs - len(self.leaked)


def autonomy(opens: Opens, *, planned: bool, generous: bool) -> Autonomy:
    """Do every task on a quiet day."""
    tasks = dojo.recording().tasks
    asked = [
        (f"{task.suite}/{task.id}", question)
        for task in tasks
        for question in questions(opens(task.start(planned=planned, generous=generous)), task.quiet())
    ]
    calls = [call for task in tasks for call in task.calls]
    return Autonomy(len(tasks), len(calls), sum(call.tool in CONSEQUENTIAL for call in calls), asked)


def security(opens: Opens, *, planned: bool, generous: bool, always: bool = False) -> Security:
    """Try every attack at the first output that carries it; ``always`` also tries after each later call of the task."""
    pairs = dojo.pairs()
    leaked: list[str] = []
    rules: dict[str, int] = {}
    for pair in pairs:
        start = pair.task.start(planned=planned, generous=generous)
        moments = taken_over(pair.calls, pair.taken)
        for moment in moments if always else moments[:1]:
            stopped: Judged | None = survives(opens, start, pair.calls, moment, pair.hostile)
            if stopped is None:
                leaked.append(f"{pair.id}@{moment}" if always else pair.id)
                break
            rules[stopped.rule] = rules.get(stopped.rule, 0) + 1
    return Security(len(pairs), leaked, rules)
