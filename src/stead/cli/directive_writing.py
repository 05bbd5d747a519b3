"""Writing directives: new ones, changes, the order, what was removed; and Markdown in and out.

Layer: cli. What comes from a file is switched off until the person has read it.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace

from stead.cli.directive_reading import folder, found, tell_offers
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Json

_LIMIT_BYTES = 3_000_000
_MARK = re.compile(r"^<!-- directive (\w+) (on|off)(?: (/[^\n]*?))? -->\n+", re.M)
_HEADING = re.compile(r"\A\s*#{1,6} +([^\n]+)\n")


def _add(invocation: Invocation, arguments: Namespace) -> int:
    begin = _template(invocation, arguments.template)["text"] if arguments.template else ""
    body = {
        "kind": arguments.kind,
        "title": arguments.title,
        "text": _text(arguments, begin),
        "directory": folder(arguments.dir),
        "enabled": not arguments.off,
    }
    answer = invocation.client.post("/directives", body)
    return _told(invocation, answer, _id_in(answer), "written")


def _edit(invocation: Invocation, arguments: Namespace) -> int:
    one = found(invocation, arguments.id)["directive"]
    other = arguments.title or arguments.kind or arguments.dir is not None
    given = arguments.text or arguments.file
    text = one["text"] if other and not given else _text(arguments, one["text"])
    body = {
        "kind": arguments.kind or one["kind"],
        "title": arguments.title or one["title"],
        "text": text,
        "directory": one["directory"] if arguments.dir is None else folder(arguments.dir),
        "enabled": one["enabled"],
        "version": one["version"],
        "why": arguments.why,
    }
    if all(body[name] == one[name] for name in ("kind", "title", "directory")) and text.strip() == one["text"]:
        invocation.out.note("nothing was changed")
        return OK
    return _told(invocation, invocation.client.put(f"/directives/{one['id']}", body), one["id"], "changed")


def _switch(invocation: Invocation, arguments: Namespace) -> int:
    id = found(invocation, arguments.id)["directive"]["id"]
    answer = invocation.client.post(f"/directives/{id}/switch", {"enabled": arguments.action == "on"})
    return _told(invocation, answer, id, f"switched {arguments.action}")


def _order(invocation: Invocation, arguments: Namespace) -> int:
    ids = [found(invocation, typed)["directive"]["id"] for typed in arguments.ids]
    answer = invocation.client.post("/directives/order", {"ids": ids})
    return invocation.report(answer, "In this order from the next turn on; see: stead directives")


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    whole = arguments.id.startswith("d_") and len(arguments.id) == 18  # it may have been removed
    id = arguments.id if whole else found(invocation, arguments.id)["directive"]["id"]
    answer = invocation.client.post(f"/directives/{id}/restore", {"version": arguments.version})
    return _told(invocation, answer, id, f"as it was in version {arguments.version}")


def _remove(invocation: Invocation, arguments: Namespace) -> int:
    one = found(invocation, arguments.id)["directive"]
    invocation.confirm("remove", f"Models are told {one['id']} no longer; its versions stay.", yes=arguments.yes)
    answer = invocation.client.delete(f"/directives/{one['id']}")
    return invocation.report(answer, f"Removed. Have it back: stead directives restore {one['id']} {one['version']}")


def _export(invocation: Invocation, arguments: Namespace) -> int:
    from pathlib import Path

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
    whole = _read(arguments.file)
    bodies = _marked(whole) or [_unmarked(whole, arguments.file, arguments.kind)]
    made = []
    for body in bodies:
        if arguments.dir is not None:
            body["directory"] = folder(arguments.dir)
        why = f"imported from {arguments.file}"[:500]
        answer = invocation.client.post("/directives", {**body, "enabled": False, "why": why})
        made.append(_id_in(answer))
        if not invocation.as_json:
            invocation.out.line(f"{made[-1]}: {clean_line(body['title'], 80)}")
    return invocation.report(
        {"ids": made}, "They are off. Read each with `stead directives show ID`, then: stead directives on ID"
    )


def _marked(whole: str) -> list[Json]:
    """The directives of an export; none in another file."""
    _, *rest = _MARK.split(whole)
    parts = zip(*(rest[at::4] for at in range(4)), strict=True)
    return [{**_titled(text, kind), "kind": kind, "directory": place or ""} for kind, _, place, text in parts]


def _unmarked(whole: str, file: str, kind: str) -> Json:
    from pathlib import PurePath

    return {**_titled(whole, PurePath(file).name), "kind": kind, "directory": ""}


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
        return _read(arguments.file)
    if arguments.text == "-":
        return sys.stdin.read(_LIMIT_BYTES)
    if arguments.text:
        return str(arguments.text)
    from stead.cli.editing import written

    return written("directive.md", begin + "\n")


def _read(file: str) -> str:
    from pathlib import Path

    with Path(file).open("rb") as opened:
        content = opened.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise CommandError(f"{file!r} has more than 3 MB", "a directive has up to 20,000 characters")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file!r} is no UTF-8 text: {error}", "save it as UTF-8") from error


def _template(invocation: Invocation, title: str) -> Json:
    rows = [
        row for row in invocation.client.items("/directives/templates") if row["title"].casefold() == title.casefold()
    ]
    if len(rows) != 1:
        raise CommandError(f"there is no template {title!r}", "stead directives templates", code="not_found")
    return dict(rows[0])


def _id_in(answer: Json) -> str:
    return str(answer["text"]).rpartition(" ")[2]


def _told(invocation: Invocation, answer: Json, id: str, what: str) -> int:
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


ACTIONS = {
    "add": _add,
    "edit": _edit,
    "on": _switch,
    "off": _switch,
    "order": _order,
    "restore": _restore,
    "remove": _remove,
    "export": _export,
    "import": _import,
}
