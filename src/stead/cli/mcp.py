"""``mcp``: servers of the Model Context Protocol, and which of their tools may be called.

Layer: cli. Whatever a server says is shown as its words. Secrets are read from a variable of the environment, a hidden
prompt or standard input, never from the command line.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from argparse import Namespace
from pathlib import Path

from stead.cli.forms import YES, Act, Listing, Row, arg, family, fields
from stead.cli.invocation import FAILED, CommandError, Invocation
from stead.cli.templates import fill, lines
from stead.cli.text_input import named_values, program_words, read_file, read_hidden
from stead.client import Json

_FILE_BYTES = 4 << 20
_TEST_S = 120.0
_SIGN_IN_S = 600.0
_PLACES = (
    *(".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "~/.claude.json", "~/.cursor/mcp.json"),
    *("~/.config/Claude/claude_desktop_config.json", "~/.codex/config.toml"),
)
"""Where other programs keep theirs."""


def _row(row: Json) -> Json:
    server = row["server"]
    return {**row, **server, "how": server["url"] or shlex.join(server["command"])}


def _secret(server: str, name: str) -> str:
    return os.environ.get(name) or read_hidden(f"{name} of {server}", f"stead mcp add {server} --secret {name}", 8000)


def _add(invocation: Invocation, arguments: Namespace) -> int:
    name = arguments.name
    words = program_words(arguments.command)
    if bool(arguments.url) == bool(words):
        cause = "give a URL, or the command of a server"
        raise CommandError(cause, f"stead mcp add {name} --command 'PROGRAM ARGUMENTS'")
    body = {
        **fields("name", "url", "folder", "private", "client_id", "issuer", "scope")(arguments),
        "command": words,
        "hosts": arguments.host,
        "settings": named_values("--set", arguments.set),
        "secrets": {one: _secret(name, one) for one in arguments.secret},
    }
    if arguments.client_credentials:
        body["grant"] = "client_credentials"
    if arguments.client_credentials or arguments.client_secret:
        body["client_secret"] = _secret(name, "CLIENT_SECRET")
    invocation.client.post("/mcp", body)
    if arguments.no_test:
        return invocation.report({"id": name}, fill("{name} is set up. Next: stead mcp test {name}", body))
    return _tested(invocation, name, yes=False)


def _test(invocation: Invocation, arguments: Namespace) -> int:
    return _tested(invocation, arguments.name, yes=False, asks=False)


def _tested(invocation: Invocation, name: str, *, yes: bool, asks: bool = True) -> int:
    """Try a server, and show what waits to be approved."""
    check = invocation.client.post(f"/mcp/{name}/test", {"directory": str(Path.cwd())}, timeout_s=_TEST_S)
    if not check["ok"]:
        next_step = (
            "" if "stead mcp" in check["text"] else f"Next: stead mcp show {name}, for its command, hosts and settings"
        )
        invocation.report(check, fill("{name} could not be asked: {text:2000}", {**check, "name": name}), next_step)
        return FAILED
    if invocation.out.as_json or not asks or not invocation.interactive:
        waiting = [tool for tool in _tools(invocation, name) if tool["state"] in ("new", "changed")]
        said = fill("{name} answered; it has {tools} tools", {**check, "name": name})
        review = f"{len(waiting)} wait to be approved. Next: stead mcp review {name}" if waiting else ""
        return invocation.report(check, said, review)
    return _reviewed(invocation, name, yes=yes)


def _tools(invocation: Invocation, name: str) -> list[Json]:
    return list(invocation.client.items(f"/mcp/{name}/tools"))


def _review(invocation: Invocation, arguments: Namespace) -> int:
    return _reviewed(invocation, arguments.name, yes=arguments.yes, only=arguments.tools)


def _reviewed(invocation: Invocation, name: str, *, yes: bool, only: list[str] | None = None) -> int:
    waiting = [tool for tool in _tools(invocation, name) if tool["state"] in ("new", "changed")]
    waiting = [tool for tool in waiting if not only or tool["tool"] in only]
    if not waiting:
        return invocation.report({"id": name, "approved": []}, f"No tool of {name} waits to be approved.")
    for tool in waiting:
        for line in lines(_CHANGED if tool["diff"] else _NEW, _shown(tool)):
            invocation.out.line(line)
    if len(waiting) > 1 or not yes:
        invocation.out.line("")
    loss = f"{len(waiting)} tools of {name} can be called from then on, each call confirmed by you"
    invocation.confirm("approve", loss, yes=yes)
    marks = {tool["tool"]: tool["fingerprint"] for tool in waiting}
    answer = invocation.client.post(f"/mcp/{name}/approve", {"tools": marks})
    return invocation.report({**answer, "approved": sorted(marks)}, f"{len(waiting)} tools of {name} are approved.")


def _shown(tool: Json) -> Json:
    arguments = ", ".join(tool["schema"].get("properties", {}))
    claims = ", ".join(name if on else f"not {name}" for name, on in sorted(tool["claims"].items()))
    return {**tool, "arguments": arguments, "claimed": claims, "changes": "\n".join(tool["diff"])}


_NEW = (
    "\n{tool:200}: {state}\n  the server's words: {description:1500}\n[  arguments: {arguments:1000}]\n"
    "[  it claims to be (trusted for nothing): {claimed:300}]"
)
_CHANGED = "\n{tool:200}: {state} since you approved it; the server's words:\n{changes:text}"


def _login(invocation: Invocation, arguments: Namespace) -> int:
    name, client = arguments.name, invocation.client
    url = client.post(f"/mcp/{name}/login", timeout_s=_TEST_S)["url"]
    if not url:
        return invocation.report({"id": name}, f"A token for {name} is there; no sign-in is needed.")
    invocation.out.line(f"Open this page, and sign in there: {url}")
    sys.stdout.flush()  # a person reads it while this waits
    deadline = time.monotonic() + _SIGN_IN_S
    while time.monotonic() < deadline:
        row = next(row for row in client.items("/mcp") if row["server"]["name"] == name)
        if row["error"]:
            raise CommandError(fill("{error:1000}", row), f"stead mcp login {name}", exit_code=FAILED)
        if row["signed_in"]:
            return invocation.report({"id": name}, f"You are signed in to {name}. Next: stead mcp review {name}")
        time.sleep(0.5)
    raise CommandError("nobody signed in within ten minutes", f"stead mcp login {name}", exit_code=FAILED)


def _import(invocation: Invocation, arguments: Namespace) -> int:
    import json
    import tomllib

    import msgspec

    from stead.domain.mcp_files import found_servers

    if not arguments.file:
        there = [place for place in _PLACES if Path(place).expanduser().is_file()]
        said = [f"stead mcp import {place}" for place in there] or ["No file of another program was found; name one."]
        return invocation.report({"files": there}, *said)
    name = str(Path(arguments.file).expanduser())
    text = read_file(name, _FILE_BYTES)
    try:
        document = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{name!r} cannot be read: {error}", "give a file of MCP servers") from error
    found = list(found_servers(document, str(Path.cwd()), os.environ))
    if not found:
        raise CommandError(f"{name!r} has no MCP servers", "stead mcp import")
    added = []
    for server, note in found:
        shown = {**msgspec.to_builtins(server), "how": server.url or shlex.join(server.command), "note": note}
        shown |= {"kept": ", ".join(server.secrets), "reach": ", ".join(server.hosts)}
        for line in lines(_IMPORTED, shown):
            invocation.out.line(line)
        if note:
            continue
        if not arguments.yes and not invocation.interactive:
            continue
        if arguments.yes or input(f"add {server.name}? [y/N] ").strip().lower() in ("y", "yes"):
            body = msgspec.to_builtins(server)
            del body["type"]
            invocation.client.post("/mcp", body)
            added.append(server.name)
    next_step = f"Next: stead mcp test {added[0]}" if added else "Nothing was added. To add all: --yes"
    return invocation.report({"added": added}, next_step)


_IMPORTED = (
    "\n{name}: {how:2000}\n[  it may reach: {reach}]\n[  into the vault: {kept:1000}]\n[  left out: it {note:500}]"
)
_LIST = Listing(
    "/mcp",
    "NAME: {name} | SERVER: {how:60} | APPROVED: {approved} | WAITING: {waiting} | LAST FAULT: {error:60|none}",
    "No MCP server is set up. Add one: stead mcp add NAME --command LINE, or: stead mcp add NAME --url URL",
    view=_row,
)
_LISTED = Listing(
    "/mcp/{name}/tools",
    "TOOL: {tool:60} | STATE: {state} | EFFECT: {effect} | IN ITS SERVER'S WORDS: {description:80}",
    "{name} has shown no tools. Next: stead mcp test {name}",
)
_EFFECT = Act(
    "POST /mcp/{name}/tools",
    "{tool:200} of {name}: {effect}.",
    fields("tool", "effect"),
)
_REMOVE = Act(
    "DELETE /mcp/{name}",
    "{name} is removed, with its token and its secrets.",
    confirm="The server {name}, its token and its secrets are forgotten.",
)
_NAME = arg("name NAME", "a small letter, then up to 30 of a-z, 0-9 and -")
_EFFECTS = arg("effect EFFECT", "what a call does", choices=("send", "fetch", "read", "off"))
_ADD_ARGUMENTS = (
    _NAME,
    arg("--url URL", "of a server over HTTP"),
    arg("--host HOST...", "that a program may reach, or: registries"),
    arg("--set NAME=VALUE...", "a variable of its environment, or a header; no secret"),
    arg("--secret NAME...", "such a one whose value goes into the vault: from this environment, or a hidden prompt"),
    arg("--folder", "show it the session's folder (now: this one); what it changes there is thrown away"),
    arg("--private", "the server is on this computer or its networks"),
    arg("--client-id ID", "of a client that you registered by hand"),
    arg("--client-secret", "read its secret: from CLIENT_SECRET, or a hidden prompt"),
    arg("--client-credentials", "sign in as the client, without a person"),
    arg("--issuer URL", "the authorization server that the client was registered with"),
    arg("--scope WORDS", "what to ask for on top of what the server wants"),
    arg("--no-test", "do not try it now"),
    arg("--command LINE", "the program and its arguments; it runs in a machine of its own", default=""),
)
_ROWS: dict[str, Row] = {
    "list": ("show servers (the default)", (), _LIST),
    "show": ("show a server's tools, in its own words", (_NAME,), _LISTED),
    "add": ("add or change a server, try it, and show its tools", _ADD_ARGUMENTS, _add),
    "test": ("ask a server for its tools", (_NAME,), _test),
    "review": (
        "show tools that are new or changed, and approve them",
        (_NAME, arg("[tools TOOL...]", "only these"), YES),
        _review,
    ),
    "effect": (
        "say what a tool does: send (confirmed, the default), fetch (asked each time), read (unasked), or off",
        (_NAME, arg("tool TOOL", "as its server calls it"), _EFFECTS),
        _EFFECT,
    ),
    "login": ("sign in to a server", (_NAME,), _login),
    "import": (
        "add the servers of another program's file",
        (arg("[file FILE]", "JSON, or Codex's TOML"), YES),
        _import,
    ),
    "remove": ("forget a server, its token and its secrets", (_NAME, YES), _REMOVE),
}
COMMANDS = {"mcp": family("mcp", _ROWS, "list")}
