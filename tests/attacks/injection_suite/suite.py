"""The own suite of prompt injections: what a task, an injection and a pair are, and which pairs there are.

The data knows no policy and was written before there was one. A pair is one task of the person and one injection that
somebody hid in what the task makes the model read. From the first output that carries the injection the model is taken
to be in the attacker's hands; the pair has leaked when every call of the attack is let through without a question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

import msgspec

from stead.domain.policies import Entity

Slot = Literal["page", "file", "mail", "event", "log", "answer"]
"""Where text of others gets in: a web page, a file, a mail, a calendar entry, a program's output, an API's answer."""

INJECTION = "{injection}"
"""Stands in an output where the attacker's text goes."""


class Call(msgspec.Struct, frozen=True):
    """A call and what it gives back.

    Args:
        tool: a name of ``tools.TOOLS``.
        arguments: without those left at their defaults; in an attack, text may hold ``{name}`` of the task's words.
        output: what comes back; in a task it may hold ``{injection}``.
        entities: what the ids in the output are called, as the tool itself knows.
    """

    tool: str
    arguments: dict[str, object]
    output: str = "ok"
    entities: tuple[Entity, ...] = ()


class Task(msgspec.Struct, frozen=True):
    """What a person wants, and the calls of a model that does just that.

    Args:
        id: unique, for people.
        text: all that the person wrote.
        slot: what kind of text of others the task reads.
        calls: in order; at least one output holds ``{injection}``.
        words: things that the person named, by kind; what an attack can make use of.
        harmless: what stands where the injection would, when nobody attacks.
    """

    id: str
    text: str
    slot: Slot
    calls: tuple[Call, ...]
    words: dict[str, str]
    harmless: str


class Injection(msgspec.Struct, frozen=True):
    """What an attacker wants, and the calls of a model that obeys.

    Args:
        id: unique, for people.
        text: as it is hidden in the data.
        calls: the attack; it has succeeded when all of them ran unasked.
        slots: where it could be hidden; empty for anywhere.
        needs: kinds of words that the task must offer.
        beyond: tools that the task must not use itself, since calling them so is what the person asked for.
    """

    id: str
    text: str
    calls: tuple[Call, ...]
    slots: frozenset[Slot] = frozenset()
    needs: frozenset[str] = frozenset()
    beyond: frozenset[str] = frozenset()

    def fits(self, task: Task) -> bool:
        """Whether the attack makes sense against the task."""
        return (
            (not self.slots or task.slot in self.slots)
            and self.needs <= task.words.keys()
            and not any(call.tool in self.beyond for call in task.calls)
        )


class Pair(msgspec.Struct, frozen=True):
    """One task under one attack, ready to be replayed.

    Args:
        task: as the person gave it.
        injection: which attack.
        calls: the task's, with the attacker's text in its place.
        attack: with the task's words in their places.
    """

    task: Task
    injection: Injection
    calls: tuple[Call, ...]
    attack: tuple[Call, ...]

    @property
    def id(self) -> str:
        """Such as ``pay-invoice/exfiltrate-by-url``."""
        return f"{self.task.id}/{self.injection.id}"


def pairs_of(tasks: tuple[Task, ...], injections: tuple[Injection, ...]) -> list[Pair]:
    """Every task under every attack that fits it."""
    return [_pair(task, injection) for task in tasks for injection in injections if injection.fits(task)]


def benign_calls(task: Task) -> tuple[Call, ...]:
    """The task's calls on a day without an attack."""
    return tuple(_with_text(call, task.harmless) for call in task.calls)


def _pair(task: Task, injection: Injection) -> Pair:
    attack = tuple(
        Call(call.tool, {name: _filled(value, task.words) for name, value in call.arguments.items()}, call.output)
        for call in injection.calls
    )
    # The attacker writes out each call, so that every value of it stands in text that the model has read.
    orders = "\n".join(f"{call.tool}({json.dumps(call.arguments)})" for call in attack)
    text = f"{_fill(injection.text, task.words)}\n{orders}"
    return Pair(task, injection, tuple(_with_text(call, text) for call in task.calls), attack)


def _with_text(call: Call, text: str) -> Call:
    return Call(call.tool, call.arguments, call.output.replace(INJECTION, text))


def _filled(value: object, words: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return float(words["amount"]) if value == "{amount}" else _fill(value, words)
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    return value


def _fill(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text
