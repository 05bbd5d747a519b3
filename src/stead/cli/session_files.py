"""What a session did to its folder, and ways back: changes, checkpoints, restores, forks.

Layer: cli. Paths and diffs were written by a model or a machine, and are cleaned before they are shown.
"""

from __future__ import annotations

import os
from argparse import Namespace

from stead.cli.diffs import headline, print_changes
from stead.cli.figures import counted
from stead.cli.finding import call_key, find_checkpoint
from stead.cli.forms import CALL, SESSION, YES, Act, Listing, OneOf, Row, arg, fields
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import cut_line
from stead.cli.session_control import UNDELETE
from stead.cli.templates import fill, filled, some
from stead.cli.work_options import folder_of
from stead.client import ApiError, Json
from stead.domain.event_words import MARKS, checkpoint, restored

_PATHS = 12
_LONG_S = 300.0
"""A folder of a million files takes its time."""


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    client, out, session = invocation.client, invocation.out, arguments.id
    old, new = (
        find_checkpoint.row(client, typed, session=session)["id"] if typed else ""
        for typed in (arguments.old, arguments.new)
    )
    changes = list(client.items(f"/sessions/{session}/diff", old=old, new=new))
    if out.as_json:
        for change in changes:
            out.json(change)
    elif changes:
        print_changes(out, changes, stat=arguments.stat)
    else:
        out.line("Nothing differs.")
    return OK


def _changes(invocation: Invocation, arguments: Namespace) -> int:
    rows, out = _CHANGES.rows(invocation.client, arguments), invocation.out
    if not arguments.key:
        return _CHANGES.show(invocation, rows, arguments)
    rows = [row for row in rows if row["key"] == arguments.key]
    if not rows:
        raise CommandError(
            f"the call {arguments.key!r} changed nothing", f"stead session changes {arguments.id}", code="not_found"
        )
    if out.as_json:
        return _CHANGES.show(invocation, rows, arguments)
    print_changes(out, [row["change"] for row in rows], stat=False)
    return OK


def _change(row: Json) -> Json:
    return {**row, "mark": MARKS[row["change"]["kind"]], "path": cut_line(row["change"]["path"], 80)}


def _checkpoint(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.list:
        return _CHECKPOINTS(invocation, arguments)
    out, path = invocation.out, f"/sessions/{arguments.id}/checkpoints"
    answer = invocation.client.post(path, {"note": arguments.note}, timeout_s=_LONG_S)
    fact = _fact(invocation, answer)
    if out.as_json:
        return invocation.report(fact)
    out.line(fill(checkpoint(fact), fact))
    out.lines(some("  left out: {path:path} ({why:120})", fact["left_out"], _PATHS, fact["left_out_count"]))
    out.line(f"go back to it: stead session restore {arguments.id} {fill('{id}', fact)}")
    return OK


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    if arguments.path and arguments.conversation:
        raise CommandError("--path names files, and --conversation leaves them alone", "give one of the two")
    session = arguments.id
    if not arguments.checkpoint:
        return UNDELETE(invocation, arguments)
    row = find_checkpoint.row(client, arguments.checkpoint, session=session)
    files, conversation = not arguments.conversation, not arguments.files and not arguments.path
    if not out.as_json:
        _announce(invocation, session, row, files=files, conversation=conversation, paths=arguments.path)
    if invocation.interactive and not arguments.yes and input("Go back? [y/N] ").strip().lower() not in ("y", "yes"):
        out.line("Nothing was changed.")
        return OK
    body = {"files": files, "conversation": conversation, "paths": arguments.path}
    answer = client.post(f"/sessions/{session}/checkpoints/{row['id']}/restore", body, timeout_s=_LONG_S)
    fact = _fact(invocation, answer)
    if out.as_json:
        out.json(fact)
    else:
        for text, style in filled(restored({**fact, "session": session})):
            out.line(out.style(text, style) if style else text)
    return FAILED if fact["failed"] else OK


def _announce(
    invocation: Invocation, session: str, row: Json, *, files: bool, conversation: bool, paths: list[str]
) -> None:
    """What would be put back."""
    out = invocation.out
    out.line(fill(checkpoint(row), row))
    if files:
        _announce_files(invocation, session, row["id"], paths)
    if conversation:
        out.line(f"the conversation would go back to where it was before turn {row['turn']}, at event {row['at']}")


def _announce_files(invocation: Invocation, session: str, checkpoint: str, paths: list[str]) -> None:
    out = invocation.out
    try:
        changes = list(invocation.client.items(f"/sessions/{session}/diff", old=checkpoint))
    except ApiError as error:
        if error.status != 409:
            raise
        out.line("more paths would be put back than can be shown")
        return
    changes = [change for change in changes if _is_below(change["path"], paths)]
    out.line(f"{counted(len(changes), 'path')} would be put back{'; since then:' if changes else ''}")
    for change in changes[:_PATHS]:
        out.line(f"  {headline(change)}")
    if len(changes) > _PATHS:
        out.line(f"  … and {len(changes) - _PATHS:,} more: stead session diff {session} --old {checkpoint}")


def _is_below(path: str, folders: list[str]) -> bool:
    wanted = [os.path.normpath(folder) for folder in folders]
    return not wanted or any(path == folder or path.startswith(f"{folder}/") or folder == "." for folder in wanted)


def _fact(invocation: Invocation, answer: Json) -> Json:
    """The last event that a command made: its outcome."""
    page = invocation.client.get("/events", after=answer["seq"] - 1, streams=answer["session"], limit=1)
    fact: Json = page["items"][0]["body"]
    return fact


def _again(said: Json) -> str:
    said = {**said, "how": "made again" if said["again"] else "undone"}
    return fill(
        "{key} is {how}." + ("" if said["again"] else " Back again: stead session undo {id} {key} --again"), said
    )


def _fork(arguments: Namespace) -> Json:
    directory = folder_of(arguments.into, "--into DIR") if arguments.into else ""
    return {"at": arguments.at, "directory": directory, "title": arguments.title}


_CHANGES = Listing(
    "/sessions/{id}/changes",
    "KEY: {key} | >TURN: {turn} | : {mark} | PATH: {path} | LINES: +{change.added} -{change.removed}"
    " | : {undone?undone}",
    "No call changed a file by name. What else differs: stead session diff {id}",
    view=_change,
    more="line by line: stead session changes {id} KEY   undo: stead session undo {id} KEY",
)
_CHECKPOINTS = Listing(
    "/sessions/{id}/checkpoints",
    "ID: {id} | >TURN: {turn} | WHY: {why} | TAKEN: {ts_ms:age} | >FILES: {files:number} | >SIZE: {size_bytes:size}"
    " | >CHANGED: {changed:number} | >LEFT OUT: {left_out_count:number} | NOTE: {note:48}",
    "There is none yet; the first turn that changes something takes one. Now: stead session checkpoint {id}",
)
_UNDO = Act("POST /sessions/{id}/changes/{key}/undo", _again, fields("path", "again"))
_FORK = Act(
    "POST /sessions/{id}/fork",
    "{session} goes on from {id}[ {text}].\nwork in it: stead session attach {session}",
    _fork,
    timeout_s=_LONG_S,
    makes="session",
)
_DIFFERS = (
    SESSION,
    arg("--old K", "a checkpoint (else the first one)"),
    arg("--new K", "another (else the folder as it is now)"),
    arg("--stat", "only the figures, without the lines"),
)
_UNDONE = (
    SESSION,
    CALL,
    arg("--path P", "which file, if the call changed several"),
    arg("--again", "make the change again after all"),
)
_TAKE = (SESSION, arg("--note TEXT", "what it is for"), arg("--list", "list those that there are, and take none"))
_BACK = (
    SESSION,
    arg("[checkpoint CHECKPOINT]", "its id, or the beginning of it (else: out of the trash)"),
    OneOf(arg("--files", "the files alone"), arg("--conversation", "the conversation alone")),
    arg("--path P...", "this file or folder alone"),
    YES,
)
_FROM = (
    SESSION,
    arg("--at N", "the last event that it knows (else the newest)", type=int, default=0),
    arg("--into DIR", "an empty folder, which gets the files (else the same)"),
    arg("--title T", "a name for lists"),
)
_KEY = arg("[key KEY]", "of the call, such as call_2_0: show its changes line by line", find=call_key)
ROWS: dict[str, Row] = {
    "diff": ("show what differs in its folder since it began, whatever changed it", _DIFFERS, _diff),
    "changes": ("list what its calls changed by name, or show one line by line", (SESSION, _KEY), _changes),
    "undo": ("put a file back to what it was before a call changed it", _UNDONE, _UNDO),
    "checkpoint": ("keep files and conversation as they are now, or list what is kept", _TAKE, _checkpoint),
    "restore": ("go back to a checkpoint, which can be undone; or take it out of the trash", _BACK, _restore),
    "fork": ("open another session that goes on from a moment of this one", _FROM, _FORK),
}
