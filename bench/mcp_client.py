"""The client of MCP servers against the protocol's own conformance suite, both revisions.

As ``python -m bench.mcp_client run`` it runs each client scenario of the suite (``tests/fakes/node``) by itself and
reports the score. As ``… client URL`` it is what the
suite starts: the product's own client, with a person who lets it sign in everywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from stead.domain.errors import SteadError
from stead.domain.mcp import Json, McpServer, secret_name
from stead.guardian.reach import Reach
from stead.mcp.connection import Connection, Wanted
from stead.mcp.http import HttpWire, Places
from stead.mcp.messages import HANDSHAKE, STATELESS
from stead.mcp.oauth import OAuth
from stead.net.dialing import Dialer

DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The suite's name for a document that describes a client; nothing is fetched from there."""
LIMIT_MS = 60_000
ROOT = Path(__file__).parents[1]
WITH_NODE = (str(ROOT / "scripts/with_node.sh"), "node")


class Values:
    """A vault."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def put(self, name: str, value: str) -> int:
        """See ``domain.ports.Secrets``."""
        self.values[name] = value
        return 1

    def get(self, name: str) -> str | None:
        """See ``domain.ports.Secrets``."""
        return self.values.get(name)

    async def remove(self, name: str) -> bool:
        """See ``domain.ports.Secrets``."""
        return self.values.pop(name, None) is not None


class Willing:
    """A person who lets it sign in at once. Implements ``oauth.Person``."""

    redirect = "http://localhost:3000/callback"

    def __init__(self, places: Places) -> None:
        self._places = places

    async def come_back(self, url: str, state: str) -> Mapping[str, str]:
        """See ``Person``."""
        async with self._places.ask(self._places.request(url, "GET", {}, b"", streams=False)) as answer:
            return dict(parse_qsl(urlsplit(answer.fields.get("location", "")).query))


def sample(schema: Json) -> Json:
    """Arguments that fit a schema."""
    kinds = {"integer": 5, "number": 5, "boolean": True, "array": [], "object": {}, "null": None}
    fields = schema.get("properties", {})
    return {name: one.get("default", kinds.get(one.get("type"), "test")) for name, one in fields.items()}


async def converse(url: str) -> None:
    """Do with a server of the suite what a model would."""
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    by_credentials = "client-credentials" in scenario
    server = McpServer(
        "conformance",
        url=url,
        private=True,
        client_id=context.get("client_id", ""),
        grant="client_credentials" if by_credentials else "authorization_code",
    )
    vault = Values()
    if secret := context.get("client_secret"):
        await vault.put(secret_name("conformance", "client"), secret)
    places = Places(Dialer(Reach()), url)
    connection = Connection()
    signs = OAuth(server, places, vault, Willing(places), DOCUMENT)
    connection.wire = HttpWire(url, {}, places, signs, connection.receive, connection.fail)
    try:
        await connection.open(legacy=os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") != STATELESS)
        await use(connection, context)
    finally:
        await connection.close()


async def use(connection: Connection, context: dict[str, Any]) -> None:
    """List everything, and call every tool."""
    tools = {tool["name"]: tool for tool in await connection.listed("tools/list", "tools")}
    asked = context.get("toolCalls") or [
        {"name": name, "arguments": sample(tool.get("inputSchema", {}))} for name, tool in tools.items()
    ]
    for call in asked:
        schema = tools.get(call["name"], {}).get("inputSchema", {})
        params = {"name": call["name"], "arguments": call.get("arguments", {})}
        if call["name"] == "json_schema_echo":  # what was listed of another tool
            params["arguments"] = {"schema": tools["json_schema_2020_12_tool"]["inputSchema"]}
        try:
            found = await connection.request("tools/call", params, schema)
            while isinstance(found, Wanted):
                found = await connection.answer(found, {})
        except SteadError as fault:
            print(call["name"], fault, file=sys.stderr)
    for method, key, read, name in (
        ("resources/list", "resources", "resources/read", "uri"),
        ("prompts/list", "prompts", "prompts/get", "name"),
    ):
        if method.partition("/")[0] in connection.capabilities:
            for row in await connection.listed(method, key):
                found = await connection.request(read, {name: row[name]})
                while isinstance(found, Wanted):
                    found = await connection.answer(found, {})


def run(arguments: argparse.Namespace) -> int:
    """Run every scenario of both revisions by itself; gives 0 when all that are scored pass."""
    index = ROOT / "tests/fakes/node/node_modules/@modelcontextprotocol/conformance"
    missed = []
    for version in arguments.version or (HANDSHAKE, STATELESS):
        scored, others = _scenarios((index / f"requirements/{version}.yaml").read_text("utf-8"))
        wanted = [one for one in (*scored, *others) if not arguments.scenario or one in arguments.scenario]
        for scenario in wanted:
            passed, said = _one(index, scenario, version)
            if "skip" in said.lower() and "Test Results" not in said:
                print(f"{version} {scenario}: not of this revision")
                continue
            print(
                f"{version} {scenario}: {'pass' if passed else 'FAIL'}{'' if scenario in scored else ' (not scored)'}"
            )
            if not passed:
                print(said)
                missed += [f"{version} {scenario}"] if scenario in scored else []
        print(f"{version}: {len(scored)} scored scenarios")
    print(f"missed: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def _one(index: Path, scenario: str, version: str) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        command = f"{sys.executable} -m bench.mcp_client client"
        options = ["--spec-version", version, "--timeout", str(LIMIT_MS), "-o", folder]
        words = [
            *WITH_NODE,
            str(index / "dist/index.js"),
            "client",
            "--command",
            command,
            "--scenario",
            scenario,
            *options,
        ]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT_MS / 1000 + 60, check=False, cwd=ROOT
        )
        said = done.stdout + done.stderr
        return done.returncode == 0 and "Test Results" in said, said[-3000:]


def _scenarios(requirements: str) -> tuple[list[str], list[str]]:
    """The client scenarios of a set: those that are scored, and the others."""
    section, scored, others, latest = "", [], [], ""
    for line in requirements.splitlines():
        if line[:1].isalpha():
            section = line.partition(":")[0]
        elif section == "client" and line.startswith("  - "):
            scored.append(line[4:].strip())
        elif section == "not_scored" and "scenario:" in line:
            latest = line.partition(":")[2].strip()
        elif section == "not_scored" and line.strip() == "leg: client":
            others.append(latest)
    return scored, others


def main() -> int:
    """Be the client, or run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parsers = parser.add_subparsers(dest="part", required=True)
    client = parsers.add_parser("client")
    client.add_argument("url")
    suite = parsers.add_parser("run")
    suite.add_argument("--version", action="append")
    suite.add_argument("--scenario", action="append")
    arguments = parser.parse_args()
    if arguments.part == "run":
        return run(arguments)
    asyncio.run(converse(arguments.url))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
