"""Specialists: the instructions of a kind of subagent, and what it may have, as a Markdown file with front matter.

Layer: domain. Pure: who reads the files hands their texts in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from stead.domain.agents import SPAWN, SpecialistSource
from stead.domain.errors import InvalidRequest
from stead.domain.front_matter import Field, fault, parse_head

FIELDS = ("kind", "description", "model", "tools", "max_iterations", "tool_budget", "timeout_secs")
"""What the front matter may have; the first two it must."""
VARIABLES = (
    "mission",
    "task",
    "depth",
    "max_depth",
    "max_iterations",
    "goal_id",
    "working_dir",
    "is_scheduled",
    "parent_session_id",
    "execution_mode",
)
"""What may stand in the text as ``{{name}}``."""
BUNDLED = ("planner", "coder", "reviewer", "researcher", "reader", "operator", "task_lead", "executor")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PLACE = re.compile(r"\{\{\s*([^{}]{0,60}?)\s*\}\}")
_DESCRIPTION_CHARS = 200
_NUMBERS = {"max_iterations": (1, 1_000), "tool_budget": (0, 100_000), "timeout_secs": (1, 30 * 24 * 3600)}


class Specialist(msgspec.Struct, frozen=True):
    """A kind of subagent.

    Args:
        kind: its name, ``[a-z][a-z0-9_]{0,39}``; the file's without ``.md``.
        description: one line, by which models choose.
        model: PROVIDER/MODEL; "" for its parent's.
        tools: names; None for all of its parent's, an empty list for none.
        max_iterations: model requests at most; 0 for no word on it.
        tool_budget: calls of tools at most, 0 for none; -1 for no word on it.
        timeout_secs: seconds of work at most; 0 for no word on it.
        text: its instructions, with places for the ``VARIABLES``.
        source: where the file is from.
    """

    kind: str
    description: str
    text: str
    model: str = ""
    tools: tuple[str, ...] | None = None
    max_iterations: int = 0
    tool_budget: int = -1
    timeout_secs: int = 0
    source: SpecialistSource = "bundled"


class SpecialistFile(msgspec.Struct, frozen=True):
    """A specialist's file as it is listed. ``fault`` says in which line what is wrong; "" when nothing is."""

    kind: str
    source: Annotated[str, msgspec.Meta(description="bundled or person")]
    path: str
    specialist: Specialist | None
    fault: str = ""
    overrides: bool = False


def parse_specialist(name: str, source: str, origin: Literal["bundled", "person"], tools: Sequence[str]) -> Specialist:
    """Read a specialist's file.

    Args:
        name: of the file, without ``.md``.
        source: its text.
        origin: whose it is.
        tools: names of all tools; empty where they are not known.

    Raises:
        InvalidRequest: it cannot be; the text begins with the line.
    """
    fields, text = parse_head(source)
    for field, (_, line) in fields.items():
        if field not in FIELDS:
            raise fault(line, f"there is no field {field!r}; the fields are {', '.join(FIELDS)}")
    kind, description = (_text(fields, field) for field in ("kind", "description"))
    if kind != name or not _KIND.fullmatch(kind):
        raise fault(fields["kind"].line, f"the kind {kind!r} and the file's name {name!r} are the same small letters")
    if len(description) > _DESCRIPTION_CHARS:
        raise fault(fields["description"].line, f"a description has at most {_DESCRIPTION_CHARS} characters")
    model = _text(fields, "model") if "model" in fields else ""
    if model and not all(model.partition("/")):
        raise fault(fields["model"].line, f"{model!r} is no PROVIDER/MODEL")
    _check_places(source)
    if not text:
        raise fault(source.count("\n") + 1, "below the front matter stand the instructions of the specialist")
    return Specialist(
        kind=kind,
        description=description,
        text=text,
        model=model,
        tools=_tools(fields["tools"], tools) if "tools" in fields else None,
        max_iterations=_number(fields, "max_iterations", 0),
        tool_budget=_number(fields, "tool_budget", -1),
        timeout_secs=_number(fields, "timeout_secs", 0),
        source=origin,
    )


def filled(specialist: Specialist, values: Mapping[str, str]) -> str:
    """The text with the values in their places; nothing in a value is read as a place. The task always stands in it.

    Args:
        specialist: whose text.
        values: one for each of the ``VARIABLES``.
    """
    text = _PLACE.sub(lambda place: values[place[1]], specialist.text)
    named = any(place[1] == "task" for place in _PLACE.finditer(specialist.text))
    return text if named else f"{text}\n\nYour task:\n{values['task']}"


def choose(role: str, asked: str, tools: Sequence[str] | None) -> str:
    """The kind of a subagent: by its role, else as asked, else by the tools that it is to have.

    A task lead is chosen by role, or because it is to start subagents itself.
    """
    if role:
        return role
    if asked:
        return asked
    if tools is None:
        return "executor"
    if not tools:
        return "reader"
    wanted = set(tools)
    for kind, marks in _MARKS:
        if wanted & marks:
            return kind
    return "reviewer"


_MARKS: tuple[tuple[str, set[str]], ...] = (
    ("task_lead", {SPAWN}),
    ("coder", {"write", "edit"}),
    ("operator", {"shell"}),
    ("researcher", {"fetch", "web_search", "browser_open"}),
)
"""The first kind of which a subagent is to have a tool; one that only looks into files reviews."""


def _text(fields: Mapping[str, Field], name: str) -> str:
    if name not in fields:
        raise fault(1, f"the field {name!r} is missing")
    value, line = fields[name]
    if not isinstance(value, str):
        raise fault(line, f"{name!r} is one text")
    return value


def _number(fields: Mapping[str, Field], name: str, otherwise: int) -> int:
    if name not in fields:
        return otherwise
    value, line = fields[name]
    low, high = _NUMBERS[name]
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and low <= int(value[:12]) <= high):
        raise fault(line, f"{name!r} is a number from {low} to {high:,}")
    return int(value)


def _tools(field: Field, known: Sequence[str]) -> tuple[str, ...]:
    value, line = field
    names = (value,) if isinstance(value, str) else value
    for name in names:
        if known and name not in known:
            raise fault(line, f"there is no tool {name!r}; `stead tools` lists them")
    return names


def _check_places(source: str) -> None:
    for number, line in enumerate(source.split("\n"), 1):
        for place in _PLACE.finditer(line):
            if place[1] not in VARIABLES:
                raise InvalidRequest(
                    f"line {number}: there is no variable {place[1]!r}; they are {', '.join(VARIABLES)}"
                )
