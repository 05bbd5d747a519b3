"""``directives``: standing instructions for models; to read, to write, to export and to import as Markdown.

Layer: cli. A text may come from a file of another person, so whatever hides in it is shown as an escape; and
what comes from a file is switched off until the person has read it.
"""

from __future__ import annotations

import re
import shlex
import sys
from argparse import Namespace
from pathlib import Path, PurePath

from stead.cli.diffs import styled
from stead.cli.editing import written
from stead.cli.finding import find_folder, only_one
from stead.cli.forms import ALL, YES, Act, Listing, OneOf, Row, arg, family, fields
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.templates import pairs, table
from stead.cli.text_input import read_file
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
    rows = [{**row["directive"], "row": row} for row in client.items("/directives")]
    exact = [one for one in rows if one["title"].casefold() == typed.casefold()]
    meant = exact or [one for one in rows if one["id"].startswith(typed)]
    found: Json = only_one(meant, typed, "directive", "stead directives")["row"]
    return found


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
    session = {"directory": arguments.dir, "attended": not arguments.objective}
    prompt = invocation.client.get("/directives/preview", **session)
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
    arg("--dir DIR", "for a session of this folder", find_folder),
    arg("--objective", "for an objective, not a session"),
    arg("--parts", "only the figures, without the text"),
)
READING: dict[str, Row] = {
    "list": ("show them in order (the default)", (), _LIST),
    "show": ("show one in full", (ONE,), _show),
    "versions": ("what one was before", (ANY, ALL), _VERSIONS),
    "diff": ("what two versions of one have different", _TWO, _diff),
    "preview": ("show the whole instructions of a prompt, with their tokens", _WHERE, _preview),
    "templates": ("starting points", (), _TEMPLATES),
}


_KINDS = ("custom", "soul", "coding_style", "communication", "project_context", "behavioral_rules")
_LIMIT_BYTES = 3_000_000
_MARK = re.compile(r"^<!-- directive (\w+) (on|off)(?: (/[^\n]*?))? -->\n+", re.M)
_HEADING = re.compile(r"\A\s*#{1,6} +([^\n]+)\n")


def _find_template(client: Client, title: str) -> Json:
    """The template of a title.

    Raises:
        CommandError: there is none.
    """
    for row in client.items("/directives/templates"):
        if row["title"].casefold() == title.casefold():
            return row
    raise CommandError(f"there is no template {title!r}", "stead directives templates", code="not_found")


def _add(invocation: Invocation, arguments: Namespace) -> int:
    body = {
        "kind": arguments.kind,
        "title": arguments.title,
        "text": _text(arguments, arguments.template["text"] if arguments.template else ""),
        "directory": arguments.dir or "",
        "enabled": not arguments.off,
    }
    answer = invocation.client.post("/directives", body)
    return _report(invocation, answer, _id_in(answer), "written")


def _edit(invocation: Invocation, arguments: Namespace) -> int:
    one = arguments.one["directive"]
    other = arguments.title or arguments.kind or arguments.dir is not None
    given = arguments.text or arguments.file
    body = {
        "kind": arguments.kind or one["kind"],
        "title": arguments.title or one["title"],
        "text": one["text"] if other and not given else _text(arguments, one["text"]),
        "directory": one["directory"] if arguments.dir is None else arguments.dir,
        "enabled": one["enabled"],
        "version": one["version"],
        "why": arguments.why,
    }
    if all(body[name] == one[name] for name in ("kind", "title", "directory")) and body["text"].strip() == one["text"]:
        invocation.out.note("nothing was changed")
        return OK
    return _report(invocation, invocation.client.put(f"/directives/{one['id']}", body), one["id"], "changed")


def _switch(invocation: Invocation, arguments: Namespace) -> int:
    id = arguments.one["directive"]["id"]
    answer = invocation.client.post(f"/directives/{id}/switch", {"enabled": arguments.part == "on"})
    return _report(invocation, answer, id, f"switched {arguments.part}")


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    answer = invocation.client.post(f"/directives/{arguments.id}/restore", {"version": arguments.version})
    return _report(invocation, answer, arguments.id, f"as it was in version {arguments.version}")


def _export(invocation: Invocation, arguments: Namespace) -> int:
    rows = [row["directive"] for row in invocation.client.items("/directives")]
    text = "\n\n".join(map(_as_markdown, rows)) + "\n" if rows else ""
    if invocation.as_json:
        invocation.out.json({"directives": rows, "markdown": text})
    elif arguments.file == "-":
        sys.stdout.write(text)
    else:
        Path(arguments.file).write_text(text, "utf-8")
        invocation.out.line(f"{len(rows)} directives are in {arguments.file}")
    return OK


def _import(invocation: Invocation, arguments: Namespace) -> int:
    whole = read_file(arguments.file, _LIMIT_BYTES)
    titled = _titled(whole, PurePath(arguments.file).name)
    bodies = _marked(whole) or [{**titled, "kind": arguments.kind, "directory": ""}]
    made = []
    for body in bodies:
        if arguments.dir is not None:
            body["directory"] = arguments.dir
        why = f"imported from {arguments.file}"[:500]
        answer = invocation.client.post("/directives", {**body, "enabled": False, "why": why})
        made.append(_id_in(answer))
        if not invocation.as_json:
            invocation.out.line(f"{made[-1]}: {clean_line(body['title'], 80)}")
    said = "They are off. Read each with `stead directives show ID`, then: stead directives on ID"
    return invocation.report({"ids": made}, said)


def _marked(whole: str) -> list[Json]:
    """The directives of an export; none in another file."""
    _, *rest = _MARK.split(whole)
    parts = zip(*(rest[at::4] for at in range(4)), strict=True)
    return [{**_titled(text, kind), "kind": kind, "directory": place or ""} for kind, _, place, text in parts]


def _titled(text: str, otherwise: str) -> Json:
    """Title and text of a piece of Markdown: its first heading is the title, when it begins with one."""
    heading = _HEADING.match(text)
    if heading is None:
        return {"title": otherwise[:80], "text": text.strip()}
    return {"title": heading[1].strip()[:80], "text": text[heading.end() :].strip() or heading[1].strip()}


def _as_markdown(one: Json) -> str:
    place = f" {one['directory']}" if one["directory"] else ""
    mark = f"<!-- directive {one['kind']} {'on' if one['enabled'] else 'off'}{place} -->"
    return f"{mark}\n\n# {one['title']}\n\n{one['text']}"


def _text(arguments: Namespace, begin: str) -> str:
    """The text that is given; else what the person makes of another in their editor."""
    if arguments.file:
        return read_file(arguments.file, _LIMIT_BYTES)
    if arguments.text == "-":
        return sys.stdin.read(_LIMIT_BYTES)
    if arguments.text:
        return str(arguments.text)
    return written("directive.md", begin + "\n")


def _id_in(answer: Json) -> str:
    return str(answer["text"]).rpartition(" ")[2]


def _report(invocation: Invocation, answer: Json, id: str, what: str) -> int:
    if invocation.as_json:
        return invocation.report({**answer, "id": id})
    out = invocation.out
    note = str(answer["text"]).rpartition("; ")[0]
    if note:
        out.note(clean_line(note))
    out.line(f"{id}: {what}. It holds from each session's next turn on; see: stead directives preview")
    if what in ("written", "changed"):
        tell_offers(invocation, id)
    return OK


_ORDER = Act("POST /directives/order", "In this order from the next turn on; see: stead directives", fields("ids"))
_REMOVE = Act(
    "DELETE /directives/{one.directive.id}",
    "Removed. Restore it: stead directives restore {one.directive.id} {one.directive.version}",
    confirm="{one.directive.id} will no longer be part of the instructions; its versions stay.",
)
_TEXT = (
    OneOf(
        arg("--text TEXT", 'Markdown; "-" reads it from standard input'), arg("--file FILE", "read it from this file")
    ),
    arg("--dir DIR", 'for this folder alone ("" for everywhere)', find_folder, default=None),
)
_NEW = (
    arg("title TITLE"),
    arg("--kind KIND", "what it is about", choices=_KINDS, default=_KINDS[0]),
    arg("--template T", "begin with this one's text, see `templates`", _find_template),
    arg("--off", "save it, switched off"),
    *_TEXT,
)
_OTHER = (
    ONE,
    arg("--title T", "another title"),
    arg("--kind KIND", "another kind", choices=_KINDS),
    arg("--why NOTE", "what changed, for the list of versions"),
    *_TEXT,
)
_IDS = arg("ids ID...", "these first, in this order", find_directive_id)
_VERSION = arg("version N", "see `versions`", type=int)
_FROM = (
    arg("file FILE", "Markdown: an export, or one text such as CLAUDE.md"),
    arg("--kind KIND", "of a text that says none (project_context)", choices=_KINDS, default="project_context"),
    arg("--dir DIR", "for this folder alone", find_folder, default=None),
)
_WRITING: dict[str, Row] = {
    "add": ("write one, with your editor or --text", _NEW, _add),
    "edit": ("change one, with your editor or --text", _OTHER, _edit),
    "on": ("put it into the instructions, from each session's next turn on", (ONE,), _switch),
    "off": ("take it out of the instructions, and keep it", (ONE,), _switch),
    "order": ("put some first", (_IDS,), _ORDER),
    "restore": ("restore an older version, also of one that was removed", (ANY, _VERSION), _restore),
    "remove": ("take one away; its versions stay", (ONE, YES), _REMOVE),
    "export": (
        "write all of them as Markdown",
        (arg("[file FILE]", "where to (else standard output)", default="-"),),
        _export,
    ),
    "import": ("take Markdown in, switched off until you have read it", _FROM, _import),
}
COMMANDS = {"directives": family("directives", READING | _WRITING, "list")}
