"""Put a policy through tasks and attacks, without a model: the calls are known, only the verdicts are not.

The person says yes to every question about their own task. Once an output carried the attacker's text, the model is
taken to be in the attacker's hands, whatever it was going to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from stead.domain.tools import Declaration
from stead.guardian import policy
from stead.guardian.flow import stands_in
from tests.attacks.injection_suite.suite import Call


class Judged(msgspec.Struct, frozen=True):
    """What a policy made of a call.

    Args:
        verdict: as the guardian's verdicts are called.
        rule: the name of the rule that decided.
        argument: the one that it was about; "" for the call as a whole.
        held: the call may run, and what it changes waits for the person's review.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str = ""
    argument: str = ""
    held: bool = False


class Planned(msgspec.Struct, frozen=True):
    """A call that a plan names, with the arguments that are known ahead."""

    tool: str
    arguments: dict[str, object]


class Start(msgspec.Struct, frozen=True):
    """How a session begins.

    Args:
        text: what the person wrote.
        plan: what the still clean model says it will do; empty for no plan.
        tools: what each tool declares.
        generous: a yes goes as far as the question lets it: it trusts the sources that the question names for this
            task, or holds for the session where that is how often such calls are asked. Otherwise it is for one call.
    """

    text: str
    plan: tuple[Planned, ...]
    tools: Mapping[str, Declaration]
    generous: bool = False


class Guard(Protocol):
    """A policy in one session."""

    def judge(self, tool: str, arguments: Mapping[str, object]) -> Judged:
        """What becomes of the call, if it were made now; changes nothing."""
        ...

    def yes(self, tool: str, arguments: Mapping[str, object]) -> None:
        """The person says yes to the question about this call."""
        ...

    def ran(self, call: Call) -> None:
        """The call was made and gave this back."""
        ...


Opens = Callable[[Start], Guard]
"""Begins a session under a policy."""


class Asked(msgspec.Struct, frozen=True):
    """A call of a task that was not simply let through."""

    call: Call
    judged: Judged


def plan_of(text: str, calls: Sequence[Call], tools: Mapping[str, Declaration]) -> tuple[Planned, ...]:
    """The best plan that a clean model could declare: the task's calls, with what stands in the person's words.

    A thing that the person named is pinned by its name, since its id is not known yet.
    """
    called = {(one.kind, one.id): one.name for call in calls for one in call.entities}
    found = []
    for call in calls:
        kinds = tools[call.tool].identity_args if call.tool in tools else {}
        named = {name: called.get((kinds.get(name, ""), str(value)), "") for name, value in call.arguments.items()}
        pins = {name: value for name, value in call.arguments.items() if is_said(value, text)}
        names = {name: name_ for name, name_ in named.items() if name_ and is_said(name_, text)}
        found.append(Planned(call.tool, pins | names))
    return tuple(found)


def is_said(value: object, text: str) -> bool:
    """Whether a value, or every part of it, is said in a text, a day also as people write one; 4 is not in 2024."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return any(_stands_alone(spelt, text) for spelt in {f"{value:g}", str(value), f"{value:.2f}"})
    if isinstance(value, str):
        return stands_in(value, (text,))
    if isinstance(value, list):
        return bool(value) and all(is_said(item, text) for item in value)
    return False


def _stands_alone(words: str, text: str) -> bool:
    # A full stop or a comma between digits is part of the number.
    return re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)", text) is not None


def questions(guard: Guard, calls: Sequence[Call]) -> list[Asked]:
    """Do a task, with a person who says yes to everything; give back what they were asked, or what was denied."""
    asked = []
    for call in calls:
        judged = make(guard, call)
        if judged.verdict != "allow":
            asked.append(Asked(call, judged))
    return asked


def leaks(guard: Guard, attack: Sequence[Call], tools: Mapping[str, Declaration]) -> Judged | None:
    """Make the attacker's calls; nothing when all of them were let through, else what stopped it.

    An attack is stopped, too, when all that it changed is held.
    """
    made = []
    for call in attack:
        judged = guard.judge(call.tool, call.arguments)
        if judged.verdict != "allow":
            return judged
        guard.ran(call)
        made.append((call, judged))
    if any(policy.changes(tools[call.tool]) and not judged.held for call, judged in made):
        return None
    return next((judged for _, judged in made if judged.held), None)


def taken_over(calls: Sequence[Call], is_attacker: Callable[[str], bool]) -> list[int]:
    """After how many calls an attack can begin: from the first output that carries the attacker's text."""
    first = next((place for place, call in enumerate(calls) if is_attacker(call.output)), len(calls) - 1)
    return list(range(first + 1, len(calls) + 1))


def survives(opens: Opens, start: Start, calls: Sequence[Call], moment: int, attack: Sequence[Call]) -> Judged | None:
    """Do the first calls of a task, then attack; nothing when the attack went through, else what stopped it."""
    guard = opens(start)
    for call in calls[:moment]:
        make(guard, call)
    return leaks(guard, attack, start.tools)


def make(guard: Guard, call: Call) -> Judged:
    """The call is made, with a person who says yes if they are asked; gives what it was judged."""
    judged = guard.judge(call.tool, call.arguments)
    if judged.verdict == "ask":
        guard.yes(call.tool, call.arguments)
    if judged.verdict != "deny":
        guard.ran(call)
    return judged
