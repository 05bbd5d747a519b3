"""``specialist``: the kinds of subagents, those that Stead brings and the person's own in the home.

Layer: cli. Works on files and needs no daemon; a running one looks at the folder whenever a subagent is started.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from stead.cli.editing import written
from stead.cli.forms import Row, arg, family
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.templates import table
from stead.cli.text_input import read_file
from stead.client import Json
from stead.domain.errors import InvalidRequest
from stead.domain.front_matter import MOST_CHARS
from stead.domain.shown import reveal
from stead.domain.specialists import SpecialistFile, parse_specialist
from stead.runtime.specialists import Specialists

_COLUMNS = "KIND: {kind} | FROM: {whose} | TOOLS: {tools:40} | DESCRIPTION: {said:100}"


def _specialists(invocation: Invocation) -> Specialists:
    return Specialists(invocation.home.specialists)


def _row(file: SpecialistFile) -> Json:
    one = file.specialist
    tools = "all" if one is None or one.tools is None else ", ".join(one.tools) or "none"
    return {
        "kind": file.kind,
        "source": file.source,
        "path": file.path,
        "overrides": file.overrides,
        "fault": file.fault,
        "description": one.description if one else "",
        "tools": tools,
    }


def _list(invocation: Invocation, arguments: Namespace) -> int:
    rows = [_row(file) for file in _specialists(invocation).files()]
    if invocation.as_json:
        return invocation.report({"specialists": rows})
    shown = [
        {
            **row,
            "whose": "you, in place of Stead's"
            if row["overrides"]
            else "you"
            if row["source"] == "person"
            else "Stead",
            "said": reveal(row["fault"] or row["description"]),
        }
        for row in rows
    ]
    table(invocation.out, _COLUMNS, shown)
    return OK


def _file(invocation: Invocation, kind: str) -> SpecialistFile:
    files = {file.kind: file for file in _specialists(invocation).files()}
    if kind not in files:
        raise CommandError(f"there is no specialist {kind!r}; there are {', '.join(files)}", "stead specialist list")
    return files[kind]


def _show(invocation: Invocation, arguments: Namespace) -> int:
    file = _file(invocation, arguments.kind)
    text = read_file(file.path, 4 * MOST_CHARS)
    if invocation.as_json:
        return invocation.report({**_row(file), "text": text})
    invocation.out.line(reveal(text.rstrip("\n")))
    if file.fault:
        invocation.out.note(reveal(f"{file.path}, {file.fault}"))
    return OK


def _edit(invocation: Invocation, arguments: Namespace) -> int:
    """Write the person's own file, which begins as what there is; what cannot be read later is not kept."""
    kind, folder = arguments.kind, invocation.home.specialists
    files = {file.kind: file for file in _specialists(invocation).files()}
    begin = Path(files[kind].path).read_text("utf-8") if kind in files else _NEW.format(kind=kind)
    text = read_file(arguments.file, 4 * MOST_CHARS) if arguments.file else written(f"{kind}.md", begin)
    try:
        parse_specialist(kind, text, "person", ())
    except InvalidRequest as wrong:
        raise CommandError(f"{kind}.md was not saved: {wrong}", f"stead specialist edit {kind}") from wrong
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path, new = folder / f"{kind}.md", folder / f".{kind}.md.new"
    new.write_text(text, "utf-8")
    new.replace(path)
    return invocation.report({"kind": kind, "path": str(path)}, f"Saved in {path}. It holds from the next subagent on.")


def _check(invocation: Invocation, arguments: Namespace) -> int:
    files = [file for file in _specialists(invocation).files() if arguments.kind in ("", file.kind)]
    if not files:
        _file(invocation, arguments.kind)
    wrong = [file for file in files if file.fault]
    said = [reveal(f"{file.path}, {file.fault}") for file in wrong] or [f"{len(files)} specialists are in order."]
    invocation.report({"checked": len(files), "faults": [_row(file) for file in wrong]}, *said)
    return FAILED if wrong else OK


_NEW = """---
kind: {kind}
description: What it is good for, in one line.
tools: [plan, read, glob, grep]
max_iterations: 20
---
How it works, in your words.

Your task:
{{{{task}}}}
"""
_KIND = arg("kind KIND", "its name, see `list`")
_ROWS: dict[str, Row] = {
    "list": ("list them: Stead's and your own (the default)", (), _list),
    "show": ("show the file of one", (_KIND,), _show),
    "edit": (
        "write your own, or one in place of Stead's, with your editor",
        (_KIND, arg("--file FILE", "take this text")),
        _edit,
    ),
    "check": ("check the files, by line", (arg("[kind KIND]", "one alone"),), _check),
}
COMMANDS = {"specialist": family("specialist", _ROWS, "list")}
