"""``secret``: values that an agent may use and never reads.

Layer: cli. A value comes from standard input, a hidden prompt, a file or a variable of the environment; never from the
command line, where every process of the machine could read it. There is no command that shows one.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stead.cli import figures
from stead.cli.invocation import OK, Command, CommandError, Invocation, add_yes_option
from stead.cli.output import clean_line, stream_is_terminal
from stead.client import Json

VALUE_BYTES = 64 * 1024


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("list", help="show names, placeholders and bindings, never values (the default)")
    add = actions.add_parser("add", help="put a value into the vault: from standard input, or a hidden prompt")
    add.add_argument("name", metavar="NAME", help="a small letter, then up to 63 of a-z, 0-9, - and _")
    source = add.add_mutually_exclusive_group()
    source.add_argument("--from-env", default="", metavar="VAR", help="the value of this variable")
    source.add_argument("--from-file", default="", metavar="FILE", help="the text of this file")
    add.add_argument("--replace", action="store_true", help="take the place of an older value without asking")
    bind = actions.add_parser("bind", help="let the value go to a host, or into an argument of a tool")
    bind.add_argument("name", metavar="NAME")
    _configure_destination(bind)
    bind.add_argument("--method", action="append", default=[], metavar="M", help="only such requests; repeatable")
    bind.add_argument("--path", default="", metavar="/P", help="only requests to this path and below it")
    bind.add_argument("--tls", action="store_true", help="https: Stead opens the connection to this host to fill it in")
    part = "the one part of a request: header (the default), header:NAME, query:NAME or body:FIELD"
    bind.add_argument("--in", dest="place", default="", metavar="PART", help=part)
    bind.add_argument("--argument", default="", metavar="A", help="with --tool: which argument")
    unbind = actions.add_parser("unbind", help="end every binding to a host or a tool")
    unbind.add_argument("name", metavar="NAME")
    _configure_destination(unbind)
    remove = actions.add_parser("remove", help="erase the value and end its bindings")
    remove.add_argument("name", metavar="NAME")
    add_yes_option(remove)


def _configure_destination(parser: ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--host", default="", metavar="HOST", help="a name, or *.NAME for every name below it")
    where.add_argument("--tool", default="", metavar="TOOL", help="one of docs/generated/tools.md")


def _secret(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action or "list":
        case "list":
            return _list(invocation)
        case "add":
            return _add(invocation, arguments)
        case "bind":
            return _bind(invocation, arguments)
        case "unbind":
            body = {"host": arguments.host, "tool": arguments.tool}
            answer = invocation.client.post(f"/secrets/{_named(arguments.name)}/unbind", body)
            where = clean_line(arguments.host or arguments.tool)
            return invocation.report(answer, f"{arguments.name} no longer goes to {where}.")
        case _:
            return _remove(invocation, arguments)


# -- list -----------------------------------------------------------------------------------------------------------


def _list(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/secrets"))
    now_ms = time.time() * 1000
    cells = [
        [
            row["name"],
            row["placeholder"],
            "; ".join(map(_where, row["bindings"])) or "nothing",
            f"{figures.age(row['used_ms'], now_ms)} at {row['used_at']}" if row["used_ms"] else "never",
        ]
        for row in rows
    ]
    none = "The vault has no secrets. Add one: stead secret add NAME"
    invocation.out.rows(rows, ["NAME", "SHOWN AS", "BOUND TO", "LAST USED"], cells, none)
    return OK


def _where(binding: Json) -> str:
    if binding["type"] == "tool":
        return f"{binding['tool']}.{binding['argument']}"
    methods = "/".join(binding["methods"]) or "any"
    part = "" if binding["place"] == "header" else f" in {clean_line(binding['place'])}"
    return f"{methods} {'https' if binding['tls'] else 'http'}://{binding['host']}{binding['path']}{part}"


# -- add and remove -------------------------------------------------------------------------------------------------


def _add(invocation: Invocation, arguments: Namespace) -> int:
    name, client = _named(arguments.name), invocation.client
    older = next((row for row in client.items("/secrets") if row["name"] == name), None)
    replace = arguments.replace
    if older and not replace:
        if not invocation.interactive:
            raise CommandError(f"there is a secret {name!r} already", f"stead secret add {name} --replace")
        if input(f"there is a secret {name} already; type replace to go on: ").strip() != "replace":
            raise CommandError("nothing was changed", "")
        replace = True
    value = _read_value(name, arguments)
    answer = client.post("/secrets", {"name": name, "value": value, "replace": replace})
    row = next(row for row in client.items("/secrets") if row["name"] == name)
    if invocation.as_json:
        return invocation.report({**answer, "secret": row})
    out = invocation.out
    out.line(f"{name} is in the vault, version {row['version']}. Texts show {row['placeholder']} instead of the value")
    out.line(f"a session uses it by a placeholder of its own, if you give it one: --secret {name}")
    if older:
        out.line("placeholders that sessions were given for the older value are filled in nowhere any more")
    if row["bindings"]:
        out.line(f"it goes to: {'; '.join(map(_where, row['bindings']))}")
    else:
        out.line(f"it goes nowhere yet. Next: stead secret bind {name} --host HOST")
    return OK


def _read_value(name: str, arguments: Namespace) -> str:
    """The value, without the line break at its end; what is wrong with it is said without a word of it."""
    if arguments.from_env:
        value = os.environ.get(arguments.from_env, "")
        if not value:
            raise CommandError(f"the variable {arguments.from_env!r} is not set here", "export it first")
    elif arguments.from_file:
        with Path(arguments.from_file).open("rb") as file:
            value = _decoded(file.read(VALUE_BYTES + 3))
    elif stream_is_terminal(sys.stdin):
        from getpass import getpass

        value = getpass(f"value of {name} (it is not shown): ")
    else:
        value = _decoded(sys.stdin.buffer.read(VALUE_BYTES + 3))
    value = value.removesuffix("\n").removesuffix("\r")
    if not value.strip():
        raise CommandError("no value was given", f"type it at the prompt, or: stead secret add {name} < FILE")
    if len(value.encode("utf-8", "surrogateescape")) > VALUE_BYTES:
        raise CommandError(
            f"the value has more than {VALUE_BYTES} bytes", "a secret is a key or a password, not a file"
        )
    return value


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError("the value is not UTF-8 text", "encode it first, for example with base64") from None


def _remove(invocation: Invocation, arguments: Namespace) -> int:
    name = _named(arguments.name)
    invocation.confirm("remove", f"The value of {name} is erased for good, and its bindings end.", yes=arguments.yes)
    answer = invocation.client.delete(f"/secrets/{name}")
    return invocation.report(answer, f"{name} is erased. Where the service allows it, revoke the key there too.")


# -- bind -----------------------------------------------------------------------------------------------------------


def _bind(invocation: Invocation, arguments: Namespace) -> int:
    name = _named(arguments.name)
    if arguments.tool:
        if not arguments.argument or arguments.method or arguments.path or arguments.tls or arguments.place:
            raise CommandError("a tool is bound by one argument", f"stead secret bind {name} --tool TOOL --argument A")
        binding: Json = {"type": "tool", "tool": arguments.tool, "argument": arguments.argument}
    else:
        if arguments.argument:
            raise CommandError("--argument belongs to --tool", f"stead secret bind {name} --host HOST --path /P")
        methods = [method.upper() for method in arguments.method]
        binding = {"type": "host", "host": arguments.host.lower(), "methods": methods}
        kind, colon, part = arguments.place.partition(":")
        place = kind + colon + (part.lower() if kind == "header" else part)
        binding |= {"path": arguments.path or "/", "tls": arguments.tls, "place": place or "header"}
    answer = invocation.client.post(f"/secrets/{name}/bindings", {"binding": binding})
    return invocation.report(answer, "\n".join(_meaning(name, binding)))


def _meaning(name: str, binding: Json) -> list[str]:
    """What the binding lets happen, said so that nobody has to look it up."""
    if binding["type"] == "tool":
        argument, tool = clean_line(binding["argument"]), clean_line(binding["tool"])
        return [
            f"{name} goes where a call of {tool} has its placeholder in {argument!r}, once the call is allowed.",
            "the value then lies where the tool puts it: a file of the workspace, for one, is read by every command",
        ]
    host = clean_line(binding["host"])
    methods = f"{' or '.join(binding['methods'])} requests" if binding["methods"] else "requests of every method"
    below = "every path" if binding["path"] == "/" else f"{clean_line(binding['path'])} and what is below it"
    hosts = f"every name below {host.removeprefix('*.')}" if host.startswith("*.") else host
    kind, _, part = binding["place"].partition(":")
    where = f"{'the field' if kind == 'body' else f'the {kind}'} {clean_line(part)!r}" if part else "one header"
    lines = [f"{name} is filled in once, in {where} of {methods} to {hosts}, for {below}."]
    if kind != "header":
        lines.append(
            "what is sent in a query or a body may be kept or shown by that host: name a header if it takes one"
        )
    lines.append("whoever runs that host reads the value; nobody else does, and what it sends back is redacted")
    if binding["tls"]:
        lines.append(
            "--tls: Stead opens TLS connections to that host inside this computer, with an authority of the workspace's"
            " own that only its machine trusts, and makes a checked TLS connection to the host itself"
        )
    else:
        lines.append("without --tls the value can go into plain http alone, readable on its way; most hosts need --tls")
    return lines


def _named(name: str) -> str:
    """A secret's name, before it becomes part of a path. What does not fit is not repeated: it may be a value."""
    from re import fullmatch

    if not fullmatch(r"[a-z][a-z0-9_-]{0,63}", name):
        raise CommandError(
            "that is no name of a secret: a small letter, then up to 63 of a-z, 0-9, - and _", "stead secret list"
        )
    return name


COMMANDS = {"secret": Command(_configure, _secret)}
