"""Files in which other programs keep the MCP servers that they use, as requests to use the same ones here.

Layer: domain. Pure; a file is untrusted: nothing of it counts until the person has seen it. Read are ``.mcp.json`` and
what Claude Code, Claude Desktop, Cursor, VS Code and Codex write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stead.domain.mcp_commands import ConfigureMcp
from stead.domain.registries import REGISTRIES

_RUNNERS = frozenset({"npx", "npm", "pnpm", "yarn", "bunx", "uvx", "uv", "pipx", "deno"})
"""Programs that fetch what they run from a package registry."""
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_INPUT = re.compile(r"\$\{input:([^}]+)\}")
_ODD = re.compile(r"[^a-z0-9-]+")


def found_servers(document: object, folder: str, environment: Mapping[str, str]) -> Iterator[tuple[ConfigureMcp, str]]:
    """The servers of a file, each with what the person is to know of it ("" for nothing).

    Every value of an environment or a header is taken for a secret: nobody can tell which are.

    Args:
        document: the file's JSON or TOML.
        folder: whose servers are wanted of a file that has them by folder.
        environment: fills in ``${NAME}``.
    """
    for name, given in _servers(document, folder):
        plain = _ODD.sub("-", name.lower()).strip("-")[:31]
        plain = plain if plain[:1].isalpha() else f"s-{plain}"[:31]
        missing: set[str] = set()

        def fill(text: object, missing: set[str] = missing) -> str:
            def put(found: re.Match[str]) -> str:
                value = environment.get(found[1], found[2])
                missing.update([found[1]] if value is None else [])
                return value or ""

            missing.update(_INPUT.findall(str(text)))
            return _REFERENCE.sub(put, _INPUT.sub("", str(text)))

        url = given.get("url") or given.get("serverUrl") or given.get("httpUrl")
        values = given.get("headers") or given.get("http_headers") if url else given.get("env")
        secrets = {key: fill(value) for key, value in values.items()} if isinstance(values, dict) else {}
        secrets = {key: value for key, value in secrets.items() if value}
        words = given.get("args")
        command = () if url else (fill(given.get("command", "")), *map(fill, words if isinstance(words, list) else ()))
        hosts = (REGISTRIES,) if command and command[0].rpartition("/")[2] in _RUNNERS else ()
        notes = [f"needs {', '.join(sorted(missing))}, which is not set here"] if missing else []
        notes += ["speaks the older SSE transport, which is not supported"] if given.get("type") == "sse" else []
        yield ConfigureMcp(plain, command, str(url or ""), hosts, secrets=secrets), "; ".join(notes)


def _servers(document: object, folder: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """By the names of the shapes that there are."""
    if not isinstance(document, dict):
        return
    projects = document.get("projects")
    project = projects.get(folder) if isinstance(projects, dict) else None
    for part in (document, document.get("mcp"), project):
        for key in ("mcpServers", "mcp_servers", "servers"):
            servers = part.get(key) if isinstance(part, dict) else None
            for name, given in servers.items() if isinstance(servers, dict) else ():
                if isinstance(given, dict) and (given.get("command") or given.get("url") or given.get("serverUrl")):
                    yield str(name), given
