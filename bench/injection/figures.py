"""The figures of one policy: how often it asks, what it stops, and what a taken-over model could still do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from bench.injection.dojo import Recording
from stead.domain.tools import Declaration, ToolEffect
from tests.attacks.injection_suite.replay import Asked, Judged, Opens, Start, questions, survives, taken_over
from tests.attacks.injection_suite.suite import Call


class Autonomy(msgspec.Struct, frozen=True):
    """What quiet tasks cost the person.

    Args:
        tasks: how many.
        calls: how many in all.
        consequential: calls that change something.
        consequential_asked: of those, how many were not simply let through.
        asked: (task, question) for each call that was not simply let through.
    """

    tasks: int
    calls: int
    consequential: int
    consequential_asked: int
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
        return 100 * (1 - self.consequential_asked / self.consequential)

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


def autonomy(recording: Recording, opens: Opens, *, planned: bool, generous: bool) -> Autonomy:
    """Do every task on a quiet day."""
    return put_to_work(
        opens,
        [(task.name, task.start(planned=planned, generous=generous), task.calls) for task in recording.tasks],
    )


def put_to_work(opens: Opens, sessions: Sequence[tuple[str, Start, Sequence[Call]]]) -> Autonomy:
    """Replay sessions: each one's name, how it begins, and its calls."""
    asked: list[tuple[str, Asked]] = []
    calls = consequential = consequential_asked = 0
    for name, start, made in sessions:
        found = questions(opens(start), made)
        asked += [(name, question) for question in found]
        calls += len(made)
        consequential += sum(_changes(start.tools[call.tool]) for call in made)
        consequential_asked += sum(_changes(start.tools[question.call.tool]) for question in found)
    return Autonomy(len(sessions), calls, consequential, consequential_asked, asked)


def security(recording: Recording, opens: Opens, *, planned: bool, generous: bool, always: bool = False) -> Security:
    """Try every attack at the first output that carries it; ``always`` also tries after each later call of the task."""
    leaked: list[str] = []
    rules: dict[str, int] = {}
    for pair in recording.pairs:
        start = pair.task.start(planned=planned, generous=generous)
        moments = taken_over(pair.calls, pair.taken)
        for moment in moments if always else moments[:1]:
            stopped: Judged | None = survives(opens, start, pair.calls, moment, pair.hostile)
            if stopped is None:
                leaked.append(f"{pair.id}@{moment}" if always else pair.id)
                break
            rules[stopped.rule] = rules.get(stopped.rule, 0) + 1
    return Security(len(recording.pairs), leaked, rules)


def _changes(declaration: Declaration) -> bool:
    """What asking for every call that changes something would ask about."""
    return declaration.effect in (ToolEffect.WRITE, ToolEffect.SEND)


def tell_questions(name: str, found: Autonomy) -> None:
    """Print how often it was asked, and which rule asked for which argument of which tool."""
    print(f"-- {name}: {len(found.asked)} questions, {found.per_task:.3f} a task, {found.at_most(0):.1f} % quiet")
    kinds = Counter(
        f"{asked.judged.verdict} {asked.judged.rule} {asked.call.tool}({asked.judged.argument})"
        for _, asked in found.asked
    )
    for kind, count in kinds.most_common():
        print(f"   {count:3} {kind}")


def tell_each_question(found: Autonomy) -> None:
    """Print every question with its call."""
    for task, asked in found.asked:
        where = f"{asked.call.tool}({asked.judged.argument}) = {asked.call.arguments}"
        print(f"   {task}: {asked.judged.rule} {where}"[:200])


def tell_attacks(name: str, found: Security) -> None:
    """Print what became of the attacks."""
    print(f"-- {name}: {found.stopped} of {found.pairs} stopped; by {found.rules}")
    for leaked in found.leaked:
        print(f"   not stopped: {leaked}")
