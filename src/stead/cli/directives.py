"""Writing directives: new ones, changes, the order, what was removed; and Markdown in and out.

Layer: cli. What comes from a file is switched off until the person has read it.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path, PurePath

from stead.cli.directive_reading import ANY, ONE, READING, find_directive_id, tell_offers
from stead.cli.editing import written
from stead.cli.finding import find_folder
from stead.cli.forms import YES, Act, OneOf, Row, arg, family, fields
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.text_input import read_file
from stead.client import Client, Json

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
    out.line(f"{id}: {what}. Models are told from their next turn on; see: stead directives preview")
    if what in ("written", "changed"):
        tell_offers(invocation, id)
    return OK


_ORDER = Act("POST /directives/order", "In this order from the next turn on; see: stead directives", fields("ids"))
_REMOVE = Act(
    "DELETE /directives/{one.directive.id}",
    "Removed. Restore it: stead directives restore {one.directive.id} {one.directive.version}",
    confirm="Models are told {one.directive.id} no longer; its versions stay.",
)
_TEXT = (
    OneOf(
        (arg("--text TEXT", 'Markdown; "-" reads it from standard input'), arg("--file FILE", "read it from this file"))
    ),
    arg("--dir DIR", 'for this folder alone ("" for everywhere)', find_folder, default=None),
)
_NEW = (
    arg("title TITLE"),
    arg("--kind KIND", "what it is about", choices=_KINDS, default=_KINDS[0]),
    arg("--template T", "begin with this one's text, see `templates`", _find_template),
    arg("--off", "keep it, and do not tell models yet"),
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
    "on": ("have models told it, from their next turn on", (ONE,), _switch),
    "off": ("keep it, and have models told it no longer", (ONE,), _switch),
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
