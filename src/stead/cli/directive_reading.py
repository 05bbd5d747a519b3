"""``directives``: what models are told always; the list, one of them, its versions, the composed prompt.

Layer: cli. A text may come from a file that somebody else wrote, so whatever hides in it is shown as an escape.
"""

from __future__ import annotations

import shlex
from argparse import Namespace

from stead.cli.diffs import styled
from stead.cli.figures import counted
from stead.cli.finding import find_folder
from stead.cli.forms import ALL, Listing, Row, arg
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.templates import pairs, table
from stead.client import Client, Json
from stead.domain.shown import reveal

_ID = "its id, the beginning of it, or its title"
_PAIRS = (
    "id: {id} | kind: {kind} | title: {title:revealed} | state: {enabled?on:off} | folder: {directory:path|everywhere}"
    " | version: {version}, {changed_ms:moment} ({door}) | tokens: up to {tokens:number}"
)


def find_directive(client: Client, typed: str) -> Json:
    """The directive that is meant: by its id, the beginning of that, or its title.

    Raises:
        CommandError: none is, or several.
    """
    rows = list(client.items("/directives"))
    exact = [row for row in rows if row["directive"]["title"].casefold() == typed.casefold()]
    meant = exact or [row for row in rows if row["directive"]["id"].startswith(typed)]
    if len(meant) != 1:
        raise CommandError(f"{typed!r} names {counted(len(meant), 'directive')}", "stead directives", code="not_found")
    return meant[0]


def find_directive_id(client: Client, typed: str) -> str:
    """The id of the directive that is meant, which is there."""
    return str(find_directive(client, typed)["directive"]["id"])


def _find_id(client: Client, typed: str) -> str:
    """The id that is meant; a whole one may be of a directive that was removed."""
    return typed if typed.startswith("d_") and len(typed) == 18 else find_directive_id(client, typed)


ONE = arg("one ID", _ID, find_directive)
ANY = arg("id ID", _ID, _find_id)


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row, out = arguments.one, invocation.out
    one = row["directive"]
    if invocation.as_json:
        return invocation.report({**row, "offers": offers(invocation, one["id"])})
    out.pairs(pairs(_PAIRS, {**one, **row}))
    out.line()
    out.line(reveal(one["text"]))
    tell_offers(invocation, one["id"])
    return OK


def offers(invocation: Invocation, id: str) -> list[Json]:
    """The sentences of a directive that could be standing rules."""
    return list(invocation.client.items(f"/directives/{id}/rules"))


def tell_offers(invocation: Invocation, id: str) -> None:
    """Say which sentences the guard could keep; a directive is only asked of the model."""
    could_be = offers(invocation, id)
    if could_be:
        invocation.out.line()
        invocation.out.line("A model is asked to keep to these; the guard would see to it, if you made them rules:")
    for rule in could_be:
        where = f" --dir {shlex.quote(rule['directory'])}" if rule["directory"] else ""
        invocation.out.line(f"  stead rules add {reveal(shlex.quote(rule['text']))}{reveal(where)}")


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    id, client, out = arguments.id, invocation.client, invocation.out
    newest = client.get(f"/directives/{id}/versions", limit=1)["items"][0]["directive"]["version"]
    new = arguments.new or newest
    old = arguments.old or new - 1
    if old < 1:
        raise CommandError("it has one version, so there is nothing to compare", f"stead directives show {id}")
    row = client.get(f"/directives/{id}/diff", old=old, new=new)
    if invocation.as_json:
        return invocation.report(row)
    out.line(f"from version {old} to {new}: +{row['added']} -{row['removed']} lines")
    for line in row["diff"].split("\n") if row["diff"] else ():
        out.line(styled(reveal(line), out))
    return OK


def _preview(invocation: Invocation, arguments: Namespace) -> int:
    attended = "false" if arguments.objective else "true"
    prompt = invocation.client.get("/directives/preview", directory=arguments.dir, attended=attended)
    out = invocation.out
    if invocation.as_json:
        return invocation.report(prompt)
    total = {"title": "all of it, at most", "kind": " ", "tokens": prompt["tokens"]}
    columns = "PART: {title|Stead's own words} | KIND: {kind|core} | >TOKENS: {tokens:number}"
    table(out, columns, [*prompt["parts"], total])
    if not arguments.parts:
        out.line()
        out.line(reveal(prompt["text"]))
    return OK


_LIST = Listing(
    "/directives",
    "ID: {directive.id} | STATE: {directive.enabled?on:off} | KIND: {directive.kind} | TITLE: {directive.title:50}"
    " | FOLDER: {directive.directory:50|everywhere} | >TOKENS: {tokens:number} | >VERSION: {directive.version}"
    " | CHANGED: {changed_ms:age}",
    'There are no directives. Write one: stead directives add "How to talk to me"',
)
_VERSIONS = Listing(
    "/directives/{id}/versions",
    ">VERSION: {directive.version} | WHEN: {ts_ms:moment} | DOOR: {door} | STATE: {directive.enabled?on:off}"
    " | LINES: +{added} -{removed} | TITLE: {directive.title:40} | NOTE: {why:60}",
    "No versions.",
    newest=20,
)
_TEMPLATES = Listing(
    "/directives/templates", "TITLE: {title} | KIND: {kind} | TEXT: {text:70}", "There are no templates."
)
_TWO = (
    ANY,
    arg("[old OLD]", "a version (else the one before)", type=int, default=0),
    arg("[new NEW]", "another (else the newest)", type=int, default=0),
)
_WHERE = (
    arg("--dir DIR", "as a session of this folder is told", find_folder),
    arg("--objective", "as an objective is told, not a session"),
    arg("--parts", "only the figures, without the text"),
)
READING: dict[str, Row] = {
    "list": ("show them in order (the default)", (), _LIST),
    "show": ("show one in full", (ONE,), _show),
    "versions": ("what one was before", (ANY, ALL), _VERSIONS),
    "diff": ("what two versions of one have different", _TWO, _diff),
    "preview": ("the whole of what a model is told first, with its tokens", _WHERE, _preview),
    "templates": ("starting points", (), _TEMPLATES),
}
