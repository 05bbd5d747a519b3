"""A recording whose tools are an MCP server's: the same calls and attacks, behind the names that those get.

Such a tool declares what every tool of a server does: all its arguments carry authority, what it gives back is
untrusted and vouches for nothing, and it has no names for the ids in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from bench.injection.dojo import Attack, DojoPair, DojoTask, Recording
from stead.domain.mcp import tool_name
from stead.domain.tools import Declaration, ToolEffect
from tests.attacks.injection_suite.served import server_tool
from tests.attacks.injection_suite.suite import Call

SERVER = "corpus"


def behind_server(recording: Recording, *, lowered: bool) -> Recording:
    """The recording as it is where all its tools are a server's.

    Args:
        recording: of any source.
        lowered: the person has said of each tool that only reads, or only fetches, that it does; else all are as they
            were added, and so "send".
    """
    named = {tool: tool_name(SERVER, tool) for tools in recording.schemas.values() for tool in tools}
    declared = {
        named[tool]: _declared(tool, schema, recording.source.tools[tool], lowered=lowered)
        for tools in recording.schemas.values()
        for tool, schema in tools.items()
    }
    spelt = re.compile(rf"\b({'|'.join(sorted(map(re.escape, named), key=len, reverse=True))})\(")

    def call(made: Call) -> Call:
        return Call(named[made.tool], made.arguments, spelt.sub(lambda found: f"{named[found[1]]}(", made.output))

    tasks = {task.name: _task(task, call, named, declared) for task in recording.tasks}
    attacks = {key: _attack(attack, named) for key, attack in recording.attacks.items()}
    pairs = [
        DojoPair(
            tasks[pair.task.name],
            attacks[pair.attack.suite, pair.attack.id],
            [call(made) for made in pair.calls],
            [call(made) for made in pair.hostile],
        )
        for pair in recording.pairs
    ]
    source = msgspec.structs.replace(recording.source, tools=declared, namings={})
    schemas = {
        suite: {named[tool]: schema for tool, schema in tools.items()} for suite, tools in recording.schemas.items()
    }
    return Recording(source, schemas, [*tasks.values()], attacks, pairs)


def _declared(tool: str, schema: Mapping[str, object], own: Declaration, *, lowered: bool) -> Declaration:
    properties = schema["properties"]
    assert isinstance(properties, dict)
    mild = lowered and own.effect in (ToolEffect.READ, ToolEffect.FETCH)
    return server_tool(SERVER, tool, [*properties], own.effect if mild else ToolEffect.SEND)[1]


def _task(
    task: DojoTask, call: Callable[[Call], Call], named: Mapping[str, str], declared: Mapping[str, Declaration]
) -> DojoTask:
    return msgspec.structs.replace(
        task,
        calls=[call(made) for made in task.calls],
        attacked=[call(made) for made in task.attacked],
        tools={named[tool]: declared[named[tool]] for tool in task.tools},
    )


def _attack(attack: Attack, named: Mapping[str, str]) -> Attack:
    calls = [msgspec.structs.replace(made, tool=named[made.tool]) for made in attack.calls]
    return msgspec.structs.replace(attack, calls=calls)
