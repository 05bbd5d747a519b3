"""MCP servers in the replay: a suite's tools behind one, or a hostile one and subagents beside a suite's tools.

What the tools of a server declare is asked of the product's own ``ServerTool``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

import msgspec

from scripts.gen_docs import tool_specs
from stead.domain.mcp import McpTool, tool_name
from stead.domain.tools import Declaration, ToolEffect
from stead.tools.mcp import Pages, ServerTool
from tests.attacks.injection_suite.guard import GateGuard
from tests.attacks.injection_suite.replay import Judged, Opens, Start, leaks, make
from tests.attacks.injection_suite.suite import Call


def server_tool(server: str, tool: str, arguments: Sequence[str], effect: ToolEffect) -> tuple[str, Declaration]:
    """The name and the declaration of a tool of a server, the person having said that it does this."""
    schema = {"type": "object", "properties": {name: {} for name in arguments}}
    spec = ServerTool(server, McpTool(tool, "", schema), effect, _nobody, Pages()).spec
    assert spec.name == tool_name(server, tool)
    return spec.name, spec.declaration


def _nobody() -> NoReturn:
    raise AssertionError("nothing runs in the replay")


NOTE, _reads = server_tool("notes", "read_note", ["note"], ToolEffect.READ)
"""A tool of the hostile server, which the person lets run unasked."""
BESIDE: Mapping[str, Declaration] = {
    NOTE: _reads,
    **dict([server_tool("notes", "share_note", ["note", "person"], ToolEffect.SEND)]),
    **dict([server_tool("notes", "look_up", ["url"], ToolEffect.FETCH)]),
    **{
        spec.name: spec.declaration
        for spec in tool_specs()
        if spec.name.startswith(("mcp_", "spawn_")) or spec.name in ("delegate", "agent_action")
    },
}
"""The hostile server's tools, and Stead's own that start subagents and agents and speak to servers."""


def beside(start: Start) -> Start:
    """The same session with these tools besides."""
    return msgspec.structs.replace(start, tools={**start.tools, **BESIDE})


def injected(
    opens: Opens, start: Start, calls: Sequence[Call], hostile: Sequence[Call], text: str
) -> Iterator[tuple[str, Judged | None]]:
    """Have the server's result bring the attack before each of a task's calls and after the last.

    Yields where and by whom the attack was made, the session's model or a subagent that it starts for that, and what
    stopped it; nothing when it went through.
    """
    for moment in range(len(calls) + 1):
        for who in ("model", "subagent"):
            guard = opens(beside(start))
            assert isinstance(guard, GateGuard)
            for call in calls[:moment]:
                make(guard, call)
            guard.ran(Call(NOTE, {"note": "today"}, text))
            by = guard if who == "model" else guard.child(text)
            yield f"{moment} {who}", leaks(by, hostile, start.tools)
