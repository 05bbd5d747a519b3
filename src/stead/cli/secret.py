"""``secret``: values that an agent may use and never reads.

Layer: cli. A value comes from standard input, a hidden prompt, a file or a variable of the environment; never from the
command line, where every process of the machine could read it. There is no command that shows one.
"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from stead.cli.forms import YES, Act, Listing, OneOf, Row, arg, family, fields
from stead.cli.invocation import CommandError, Invocation
from stead.cli.templates import fill, lines
from stead.cli.text_input import checked, read_hidden
from stead.client import Client, Json

VALUE_BYTES = 64 * 1024


def _named(_: Client, name: str) -> str:
    """A secret's name, before it becomes part of a path. What does not fit is not repeated: it may be a value."""
    from re import fullmatch

    if not fullmatch(r"[a-z][a-z0-9_-]{0,63}", name):
        cause = "that is no name of a secret: a small letter, then up to 63 of a-z, 0-9, - and _"
        raise CommandError(cause, "stead secret list")
    return name


def _row(row: Json) -> Json:
    return {**row, "goes": "; ".join(map(_where, row["bindings"]))}


def _where(binding: Json) -> str:
    if binding["type"] == "tool":
        return fill("{tool}.{argument}", binding)
    part = {**binding, "part": "" if binding["place"] == "header" else binding["place"]}
    return "/".join(binding["methods"]) + fill("{methods?:any} {tls?https:http}://{host}{path}[ in {part}]", part)


def _add(invocation: Invocation, arguments: Namespace) -> int:
    name, client = arguments.name, invocation.client
    older = next((row for row in client.items("/secrets") if row["name"] == name), None)
    if older and not arguments.replace:
        if not invocation.interactive:
            raise CommandError(f"there is a secret {name!r} already", f"stead secret add {name} --replace")
        invocation.confirm("replace", f"there is a secret {name} already", yes=False)
    value = _read_value(name, arguments)
    answer = client.post("/secrets", {"name": name, "value": value, "replace": older is not None or arguments.replace})
    row = next(row for row in client.items("/secrets") if row["name"] == name)
    shown = {**_row(row), "older": older is not None, "unbound": "" if row["bindings"] else name}
    return invocation.report({**answer, "secret": row}, *lines(_ADDED, shown))


_ADDED = (
    "{name} is in the vault, version {version}. Texts show {placeholder} instead of the value\n"
    "a session uses it by a placeholder of its own, if you give it one: --secret {name}\n"
    "{older?placeholders that sessions were given for the older value are filled in nowhere any more}\n"
    "[it goes to: {goes}]\n"
    "[it goes nowhere yet. Next: stead secret bind {unbound} --host HOST]"
)


def _read_value(name: str, arguments: Namespace) -> str:
    """The value, without the line break at its end; what is wrong with it is said without a word of it."""
    what, command = f"value of {name}", f"stead secret add {name}"
    if arguments.from_env:
        value = os.environ.get(arguments.from_env, "")
        if not value:
            raise CommandError(f"the variable {arguments.from_env!r} is not set here", "export it first")
        return checked(value.encode("utf-8", "surrogateescape"), what, command, VALUE_BYTES)
    if arguments.from_file:
        with Path(arguments.from_file).open("rb") as file:
            return checked(file.read(VALUE_BYTES + 3), what, command, VALUE_BYTES)
    return read_hidden(what, command, VALUE_BYTES)


def _binding(arguments: Namespace) -> Json:
    name = arguments.name
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
    return {"binding": binding}


def _meaning(said: Json) -> str:
    """What the binding allows, in plain words."""
    binding = _binding(Namespace(**said))["binding"]
    if binding["type"] == "tool":
        return fill(_TO_TOOL, said)
    host, (kind, _, part) = binding["host"], binding["place"].partition(":")
    methods = " or ".join(binding["methods"])
    facts = {
        "name": said["name"],
        "methods": f"{methods} requests" if methods else "requests of every method",
        "below": "every path" if binding["path"] == "/" else f"{binding['path']} and what is below it",
        "hosts": f"every name below {host.removeprefix('*.')}" if host.startswith("*.") else host,
        "where": f"{'the field' if kind == 'body' else f'the {kind}'} {part!r}" if part else "one header",
    }
    first = fill("{name} is filled in once, in {where} of {methods} to {hosts}, for {below}.", facts)
    kept = [] if kind == "header" else [_KEPT]
    return "\n".join([first, *kept, _READ, _TLS if binding["tls"] else _PLAIN])


_TO_TOOL = (
    "{name} goes where a call of {tool} has its placeholder in '{argument}', once the call is allowed.\n"
    "the value then lies where the tool puts it: a file of the workspace, for one, is read by every command"
)
_KEPT = "what is sent in a query or a body may be kept or shown by that host: name a header if it takes one"
_READ = "who runs that host reads the value; nobody else does, and what it sends back is redacted"
_TLS = (
    "--tls: Stead opens TLS connections to that host inside this computer, with an authority of the workspace's"
    " own that only its machine trusts, and makes a checked TLS connection to the host itself"
)
_PLAIN = "without --tls the value can go into plain http alone, readable on its way; most hosts need --tls"
_LIST = Listing(
    "/secrets",
    "NAME: {name} | SHOWN AS: {placeholder} | BOUND TO: {goes|nothing}"
    " | LAST USED: [{used_ms:age} at {used_at}]{used_ms?:never}",
    "The vault has no secrets. Add one: stead secret add NAME",
    view=_row,
)
_BIND = Act("POST /secrets/{name}/bindings", _meaning, _binding)
_UNBIND = Act("POST /secrets/{name}/unbind", "{name} no longer goes to {host}{tool}.", fields("host", "tool"))
_REMOVE = Act(
    "DELETE /secrets/{name}",
    "{name} is erased. Where the service allows it, revoke the key there too.",
    confirm="The value of {name} is erased for good, and its bindings end.",
)
_NAME = arg("name NAME", "a small letter, then up to 63 of a-z, 0-9, - and _", _named)
_VALUE = (
    OneOf(arg("--from-env VAR", "the value of this variable"), arg("--from-file FILE", "the text of this file")),
    arg("--replace", "take the place of an older value without asking"),
)
_DESTINATION = OneOf(
    arg("--host HOST", "a name, or *.NAME for every name below it"),
    arg("--tool TOOL", "one of docs/generated/tools.md"),
    required=True,
)
_PLACE = "the one part of a request: header (the default), header:NAME, query:NAME or body:FIELD"
_PART = (
    arg("--method M...", "only such requests"),
    arg("--path /P", "only requests to this path and below it"),
    arg("--tls", "https: Stead opens the connection to this host to fill it in"),
    arg("--in PART", _PLACE, dest="place"),
    arg("--argument A", "with --tool: which argument"),
)
_ROWS: dict[str, Row] = {
    "list": ("show names, placeholders and bindings, never values (the default)", (), _LIST),
    "add": ("put a value into the vault: from standard input, or a hidden prompt", (_NAME, *_VALUE), _add),
    "bind": ("let the value go to a host, or into an argument of a tool", (_NAME, _DESTINATION, *_PART), _BIND),
    "unbind": ("end every binding to a host or a tool", (_NAME, _DESTINATION), _UNBIND),
    "remove": ("erase the value and end its bindings", (_NAME, YES), _REMOVE),
}
COMMANDS = {"secret": family("secret", _ROWS, "list")}
