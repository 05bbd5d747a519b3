"""What a session did to its folder, and ways back: changes, checkpoints, restores, forks.

Layer: cli. Paths and diffs were written by a model or a machine, and are cleaned before they are shown.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable

from stead.cli import figures
from stead.cli.diffs import MARKS, headline, print_changes
from stead.cli.finding import call_key, find_checkpoint, find_session
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import clean_line, cut_line
from stead.cli.session_telling import restored, taken
from stead.client import ApiError, Json

_PATHS = 12


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    session = find_session(client, arguments.id)
    old, new = (
        find_checkpoint(client, session, typed)["id"] if typed else "" for typed in (arguments.old, arguments.new)
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
    session, out = find_session(invocation.client, arguments.id), invocation.out
    rows = list(invocation.client.items(f"/sessions/{session}/changes"))
    if arguments.key:
        key = call_key(arguments.key)
        rows = [row for row in rows if row["key"] == key]
        if not rows:
            raise CommandError(
                f"the call {key!r} changed nothing", f"stead session changes {session}", code="not_found"
            )
        if not out.as_json:
            print_changes(out, [row["change"] for row in rows], stat=False)
            return OK
    cells = [
        [
            *(row["key"], str(row["turn"]), MARKS[row["change"]["kind"]], cut_line(row["change"]["path"], 80)),
            f"+{row['change']['added']} -{row['change']['removed']}",
            "undone" if row["undone"] else "",
        ]
        for row in rows
    ]
    none = f"No call changed a file by name. What else differs: stead session diff {session}"
    out.rows(rows, ["KEY", ">TURN", "", "PATH", "LINES", ""], cells, none)
    if cells and not out.as_json:
        out.line(f"\nline by line: stead session changes {session} KEY   undo: stead session undo {session} KEY")
    return OK


def _undo(invocation: Invocation, arguments: Namespace) -> int:
    session, key = find_session(invocation.client, arguments.id), call_key(arguments.key)
    body = {"path": arguments.path, "again": arguments.again}
    answer = invocation.client.post(f"/sessions/{session}/changes/{key}/undo", body)
    back = "" if arguments.again else f" Have it back: stead session undo {session} {key} --again"
    return invocation.report(answer, f"{key} is {'made again' if arguments.again else 'undone'}.{back}")


def _checkpoint(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    session = find_session(client, arguments.id)
    if arguments.list:
        return _list(invocation, session)
    answer = client.post(f"/sessions/{session}/checkpoints", {"note": arguments.note}, timeout_s=_LONG_S)
    fact = _fact(invocation, answer)
    if out.as_json:
        return invocation.report(fact)
    out.line(taken(fact))
    for left in fact["left_out"][:_PATHS]:
        out.line(f"  left out: {cut_line(left['path'], 160)} ({clean_line(left['why'], 120)})")
    if fact["left_out_count"] > _PATHS:
        out.line(f"  … and {fact['left_out_count'] - _PATHS:,} more")
    out.line(f"go back to it: stead session restore {session} {clean_line(fact['id'])}")
    return OK


def _list(invocation: Invocation, session: str) -> int:
    rows = list(invocation.client.items(f"/sessions/{session}/checkpoints"))
    now_ms = time.time() * 1000
    cells = [
        [
            *(row["id"], str(row["turn"]), row["why"], figures.age(row["ts_ms"], now_ms), f"{row['files']:,}"),
            *(figures.size(row["size_bytes"]), f"{row['changed']:,}", f"{row['left_out_count']:,}"),
            clean_line(row["note"], 48),
        ]
        for row in rows
    ]
    headings = ["ID", ">TURN", "WHY", "TAKEN", ">FILES", ">SIZE", ">CHANGED", ">LEFT OUT", "NOTE"]
    none = (
        f"There is none yet; the first turn that changes something takes one. Now: stead session checkpoint {session}"
    )
    invocation.out.rows(rows, headings, cells, none)
    return OK


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    if arguments.path and arguments.conversation:
        raise CommandError("--path names files, and --conversation leaves them alone", "give one of the two")
    session = find_session(client, arguments.id)
    row = find_checkpoint(client, session, arguments.checkpoint)
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
        for text, style in restored(session, fact):
            out.line(out.style(text, style) if style else text)
    return FAILED if fact["failed"] else OK


def _announce(
    invocation: Invocation, session: str, row: Json, *, files: bool, conversation: bool, paths: list[str]
) -> None:
    """What would be put back."""
    out = invocation.out
    out.line(taken(row))
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
    out.line(f"{figures.counted(len(changes), 'path')} would be put back{'; since then:' if changes else ''}")
    for change in changes[:_PATHS]:
        out.line(f"  {headline(change)}")
    if len(changes) > _PATHS:
        out.line(f"  … and {len(changes) - _PATHS:,} more: stead session diff {session} --old {checkpoint}")


def _is_below(path: str, folders: list[str]) -> bool:
    wanted = [os.path.normpath(folder) for folder in folders]
    return not wanted or any(path == folder or path.startswith(f"{folder}/") or folder == "." for folder in wanted)


def _fork(invocation: Invocation, arguments: Namespace) -> int:
    from stead.cli.work_options import folder_of

    directory = folder_of(arguments.into, "--into DIR") if arguments.into else ""
    session = find_session(invocation.client, arguments.id)
    body = {"at": arguments.at, "directory": directory, "title": arguments.title}
    answer = invocation.client.post(f"/sessions/{session}/fork", body, timeout_s=_LONG_S)
    fork = clean_line(answer["session"])
    text = f" {clean_line(answer['text'])}" if answer["text"] else ""
    return invocation.report(answer, f"{fork} goes on from {session}{text}.\nsit down: stead session attach {fork}")


def _fact(invocation: Invocation, answer: Json) -> Json:
    """The last event that a command made: what came of it."""
    page = invocation.client.get("/events", after=answer["seq"] - 1, streams=answer["session"], limit=1)
    fact: Json = page["items"][0]["body"]
    return fact


_LONG_S = 300.0
"""A folder of a million files takes its time."""
RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "diff": _diff,
    "changes": _changes,
    "undo": _undo,
    "checkpoint": _checkpoint,
    "restore": _restore,
    "fork": _fork,
}
