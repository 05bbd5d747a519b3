"""Looking at directives: the list, one of them, its versions, the composed prompt.

Layer: cli. A text may come from a file that somebody else wrote, so whatever hides in it is shown as an escape.
"""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from stead.cli.figures import age, counted, moment, tokens
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Json
from stead.domain.shown import reveal

_LINE_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def found(invocation: Invocation, typed: str) -> Json:
    """The directive that is meant: by its id, the beginning of that, or its title.

    Raises:
        CommandError: none is, or several.
    """
    rows = list(invocation.client.items("/directives"))
    exact = [row for row in rows if row["directive"]["title"].casefold() == typed.casefold()]
    meant = exact or [row for row in rows if row["directive"]["id"].startswith(typed)]
    if len(meant) != 1:
        raise CommandError(f"{typed!r} names {counted(len(meant), 'directive')}", "stead directives", code="not_found")
    return dict(meant[0])


def folder(typed: str | None) -> str:
    """A folder as it was typed, as the daemon knows it; "" for everywhere."""
    return os.path.realpath(os.path.expanduser(typed)) if typed else ""


def _list(invocation: Invocation, arguments: Namespace) -> int:
    import time

    rows = list(invocation.client.items("/directives"))
    now_ms = time.time() * 1000
    cells = [
        [
            one["id"],
            "on" if one["enabled"] else "off",
            one["kind"],
            clean_line(one["title"], 50),
            clean_line(one["directory"] or "everywhere", 50),
            tokens(row["tokens"]),
            str(one["version"]),
            age(row["changed_ms"], now_ms),
        ]
        for row in rows
        for one in (row["directive"],)
    ]
    headings = ["ID", "STATE", "KIND", "TITLE", "FOLDER", ">TOKENS", ">VERSION", "CHANGED"]
    empty = 'There are no directives. Write one: stead directives add "How to talk to me"'
    invocation.out.rows(rows, headings, cells, empty)
    return OK


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row = found(invocation, arguments.id)
    one, out = row["directive"], invocation.out
    if invocation.as_json:
        return invocation.report({**row, "offers": offers(invocation, one["id"])})
    out.pairs(
        [
            ("id", one["id"]),
            ("kind", one["kind"]),
            ("title", reveal(one["title"])),
            ("state", "on" if one["enabled"] else "off"),
            ("folder", reveal(one["directory"]) or "everywhere"),
            ("version", f"{one['version']}, {moment(row['changed_ms'])} ({clean_line(row['door'])})"),
            ("tokens", f"up to {tokens(row['tokens'])}"),
        ]
    )
    out.line()
    out.line(reveal(one["text"]))
    tell_offers(invocation, one["id"])
    return OK


def offers(invocation: Invocation, id: str) -> list[Json]:
    """The sentences of a directive that could be standing rules."""
    return list(invocation.client.items(f"/directives/{id}/rules"))


def tell_offers(invocation: Invocation, id: str) -> None:
    """Say which sentences the guard could keep; a directive is only asked of the model."""
    import shlex

    could_be = offers(invocation, id)
    if could_be:
        invocation.out.line()
        invocation.out.line("A model is asked to keep to these; the guard would see to it, if you made them rules:")
    for rule in could_be:
        where = f" --dir {shlex.quote(rule['directory'])}" if rule["directory"] else ""
        invocation.out.line(f"  stead rules add {reveal(shlex.quote(rule['text']))}{reveal(where)}")


def _versions(invocation: Invocation, arguments: Namespace) -> int:
    id = _id_of(invocation, arguments.id)
    path = f"/directives/{id}/versions"
    rows: list[Any] = (
        list(invocation.client.items(path)) if arguments.all else invocation.client.get(path, limit=20)["items"]
    )
    cells = [
        [
            str(row["directive"]["version"]),
            moment(row["ts_ms"]),
            clean_line(row["door"]),
            "on" if row["directive"]["enabled"] else "off",
            f"+{row['added']} -{row['removed']}",
            clean_line(row["directive"]["title"], 40),
            clean_line(row["why"], 60),
        ]
        for row in rows
    ]
    invocation.out.rows(rows, [">VERSION", "WHEN", "DOOR", "STATE", "LINES", "TITLE", "NOTE"], cells, "No versions.")
    return OK


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    id = _id_of(invocation, arguments.id)
    newest = invocation.client.get(f"/directives/{id}/versions", limit=1)["items"][0]["directive"]["version"]
    new = arguments.new or newest
    old = arguments.old or new - 1
    if old < 1:
        raise CommandError("it has one version, so there is nothing to compare", f"stead directives show {id}")
    row = invocation.client.get(f"/directives/{id}/diff", old=old, new=new)
    out = invocation.out
    if invocation.as_json:
        return invocation.report(row)
    out.line(f"from version {old} to {new}: +{row['added']} -{row['removed']} lines")
    for line in row["diff"].split("\n") if row["diff"] else ():
        style = _LINE_STYLES.get(line[:1])
        out.line(out.style(reveal(line), style) if style else reveal(line))
    return OK


def _id_of(invocation: Invocation, typed: str) -> str:
    """The id that is meant; a whole one may be of a directive that was removed."""
    return typed if typed.startswith("d_") and len(typed) == 18 else str(found(invocation, typed)["directive"]["id"])


def _preview(invocation: Invocation, arguments: Namespace) -> int:
    attended = "false" if arguments.objective else "true"
    prompt = invocation.client.get("/directives/preview", directory=folder(arguments.dir), attended=attended)
    out = invocation.out
    if invocation.as_json:
        return invocation.report(prompt)
    cells = [
        [part["title"] or "Stead's own words", part["kind"] or "core", tokens(part["tokens"])]
        for part in prompt["parts"]
    ]
    out.table(["PART", "KIND", ">TOKENS"], [*cells, ["all of it, at most", "", tokens(prompt["tokens"])]])
    if not arguments.parts:
        out.line()
        out.line(reveal(prompt["text"]))
    return OK


def _templates(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/directives/templates"))
    cells = [[row["title"], row["kind"], clean_line(row["text"], 70)] for row in rows]
    invocation.out.rows(rows, ["TITLE", "KIND", "TEXT"], cells, "There are no templates.")
    return OK


ACTIONS = {
    "list": _list,
    "show": _show,
    "versions": _versions,
    "diff": _diff,
    "preview": _preview,
    "templates": _templates,
}
