"""What becomes of a session that people work in, in words: its files, its checkpoints, its calls, its context.

Layer: cli. Every text here was written by a model, a tool or a file, and is cleaned before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead.cli import figures
from stead.cli.diffs import diff_lines, headline
from stead.cli.memory_telling import told as told_of_memory
from stead.cli.output import Output, clean_line
from stead.client import Json

Line = tuple[str, str]
"""A line, ready to be shown, and its style; "" for none."""
DIFF_LINES = 40
"""Lines of one change that are shown as it happens; ``stead session changes`` has them all."""
_PATHS = 12
_WHY = {"turn": "before turn {turn}", "person": "as you asked", "restore": "before going back", "fork": "for a fork"}
_ENDS = {
    "exited": "its shell ended with {code}",
    "closed": "you closed it",
    "stopped": "it was stopped with the session",
    "disk": "the disk was nearly full",
    "memory": "it took too much memory",
    "lost": "its machine was lost",
}


def told(stream: str, body: Json, out: Output, *, verbose: bool = False) -> Iterator[Line]:
    """The lines that tell an event; none for one that needs no telling.

    Args:
        stream: the session's id.
        body: the event.
        out: for the colours of diffs.
        verbose: with what the model was told of memory.
    """
    match body["type"]:
        case "session.opened":
            yield f"{clean_line(stream)}: {clean_line(body['title'], 160)}", "bold"
            yield f"  in {clean_line(body['directory'])}", ""
        case "rules.read":
            names = ", ".join(clean_line(file["path"], 80) for file in body["files"])
            yield f"read what the project says of itself: {names or 'nothing any more'}", "dim"
        case "file.changed":
            yield from _changed(stream, body, out)
        case "edit.undone":
            what, door = "made again" if body["again"] else "undone", clean_line(body["door"])
            yield f"{what}: {clean_line(body['path'], 200)} of {clean_line(body['key'])} (from {door})", "yellow"
        case "turn.ended":
            yield from _ended(body)
        case "session.closed":
            yield "put away; the next message opens it again", "yellow"
        case "budget.raised":
            yield f"may spend {_budget(body['budget'])} in all", ""
        case kind if kind.startswith("checkpoint."):
            yield from _checkpoint(stream, body)
        case kind if kind.startswith("call."):
            yield from _call(body)
        case kind if kind.startswith("memory.") or kind == "content.redacted":
            yield from told_of_memory(body, verbose=verbose)
        case "terminal.opened":
            yield f"a terminal was opened (from {clean_line(body['door'])})", "dim"
        case "terminal.closed":
            how = _ENDS.get(body["why"], "{why}").format(code=body["exit_code"], why=clean_line(body["why"]))
            yield f"a terminal ended: {how}", "dim" if body["why"] in ("exited", "closed") else "yellow"
        case _:
            yield from _context(body)


def taken(row: Json) -> str:
    """What a checkpoint holds, from its event or its row."""
    why = _WHY.get(row["why"], clean_line(row["why"])).format(turn=row["turn"])
    left_out = f", {figures.counted(row['left_out_count'], 'path')} left out" if row["left_out_count"] else ""
    size = f"{figures.counted(row['files'], 'file')}, {figures.size(row['size_bytes'])}"
    note = f": {clean_line(row['note'], 120)}" if row["note"] else ""
    return f"checkpoint {clean_line(row['id'])} {why}{note} ({size}, {row['changed']:,} changed{left_out})"


def restored(stream: str, body: Json) -> Iterator[Line]:
    """What going back did, and how to undo it."""
    parts = [f"{figures.counted(body['changed'], 'path')} put back"] if body["files"] else []
    parts += ["the conversation too" if body["files"] else "the conversation"] if body["conversation"] else []
    yield f"went back to {clean_line(body['id'])}: {', '.join(parts)}", "yellow"
    for path in body["paths"][:_PATHS]:
        yield f"  {clean_line(path, 200)}", ""
    if body["changed"] > _PATHS:
        yield f"  … and {body['changed'] - min(_PATHS, len(body['paths'])):,} more", ""
    for failed in body["failed"]:
        yield f"  not put back: {clean_line(failed['path'], 200)}: {clean_line(failed['why'], 200)}", "red"
    yield f"  undo it: stead session restore {clean_line(stream)} {clean_line(body['before'])}", ""


def _changed(stream: str, body: Json, out: Output) -> Iterator[Line]:
    change = body["change"]
    yield f"  {headline(change)}  [{clean_line(body['key'])}]", "bold"
    lines = diff_lines(change, out, limit=DIFF_LINES)
    for line in lines:
        yield f"    {line}", ""
    if len(lines) > DIFF_LINES:
        yield f"    all of it: stead session changes {clean_line(stream)} {clean_line(body['key'])}", "dim"


def _ended(body: Json) -> Iterator[Line]:
    done = body["reason"] == "done"
    changed = body["changed"]
    files = "nobody could look at what changed" if changed < 0 else f"{figures.counted(changed, 'path')} changed"
    ending = "done" if done else f"ended: {clean_line(body['reason'])}"
    yield f"turn {body['turn']} {ending}" + (f", {files}" if changed else ""), "green" if done else "yellow"
    for change in body["changes"][:_PATHS]:
        yield f"  {headline(change)}", ""
    if changed > _PATHS:
        yield f"  … and {changed - min(_PATHS, len(body['changes'])):,} more", ""


def _checkpoint(stream: str, body: Json) -> Iterator[Line]:
    match body["type"]:
        case "checkpoint.taken":
            yield f"{taken(body)} in {figures.duration(body['duration_ms'])}", "dim"
        case "checkpoint.failed":
            yield f"no checkpoint of turn {body['turn']}: {clean_line(body['why'], 300)}", "red"
        case "checkpoint.restored":
            yield from restored(stream, body)
        case _:
            return


def _call(body: Json) -> Iterator[Line]:
    tool, door = clean_line(body.get("tool", "")), clean_line(body.get("door", ""))
    match body["type"]:
        case "call.edited":
            yield f"{tool} runs with other arguments (from {door}): {clean_line(body['arguments'], 300)}", "yellow"
        case "call.cancelled":
            why = f": {clean_line(body['reason'], 200)}" if body["reason"] else ""
            yield f"{tool} was called off (from {door}){why}", "yellow"
        case "call.retried":
            yield f"{tool} runs again (from {door})", ""
        case _:
            return


def _context(body: Json) -> Iterator[Line]:
    match body["type"]:
        case "context.trimmed":
            yield (
                f"older results are sent trimmed from now on ({figures.tokens(body['tokens_before'])} tokens before)",
                "dim",
            )
        case "context.compacted":
            yield "older messages are sent as a summary from now on; the record keeps them", "dim"
        case "instructions.set":
            yield "your directives had changed; the model is told the new ones from here on", "dim"
        case "conversation.set":
            yield f"the conversation is as it was after event {body['at']} of {clean_line(body['source'])}", "yellow"
        case _:
            return


def _budget(budget: Json) -> str:
    return clean_line(f"{figures.tokens(budget['tokens'])} tokens, {figures.money(budget['usd_micros'])}")
