"""Scripts of models that start subagents, and a look at what they made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome

ROOT = "ROOT"
"""Begins the goal of a session that a person opened; a subagent's task begins with a word of its own."""
_NAMED = re.compile(r"\b(ROOT|[A-Z]+\d*): ")


def spawn(task: str, **asked: object) -> Call:
    """A call that starts a subagent, by way of ``use_tool``, as it stands in no request."""
    return Call("use_tool", {"name": "spawn_agent", "arguments": {"task": task, **asked}})


def casting(parts: Mapping[str, tuple[Turn, ...]], then: str = "Done.") -> Callable[[Seen], Turn]:
    """A model that answers each session by the name that the end of its first message begins with, as ``NAME: ``."""

    def reply(seen: Seen) -> Turn:
        messages = seen.body["messages"]
        first = next(text for message in messages if _NAMED.search(text := _text(message["content"])))
        turns = parts[_NAMED.findall(first)[-1]]
        at = sum(message["role"] == "assistant" for message in messages)
        return turns[at] if at < len(turns) else Turn(then)

    return reply


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=1).replace("\\n", "\n")


def children(house: LivingHome, id: str) -> list[Json]:
    """The rows of the subagents that a session has started, in their order."""
    return [house.get(f"/objectives/{body['session']}") for body in house.bodies(id, "agent.spawned")]


def descendants(house: LivingHome, id: str) -> list[Json]:
    """The rows of all subagents below a session, each after its parent."""
    return list(house.get(f"/sessions/{id}/agents")["items"])


def report(house: LivingHome, id: str, place: int = 0) -> Json:
    """The outcome of a call that started a subagent."""
    done = [body for body in house.bodies(id, "tool.finished") if body["tool"] == "spawn_agent"]
    return done[place]
