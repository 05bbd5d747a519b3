"""Events in words: most of them by a template, the others by a function each.

Layer: cli. Every text here was written by a model, a tool or a file, and is cleaned before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead.cli import figures
from stead.cli.diffs import diff_lines, headline
from stead.cli.output import Output
from stead.cli.templates import Line, fill, some
from stead.client import Json

DIFF_LINES = 40
"""Lines of one change that are shown as it happens; ``stead session changes`` has them all."""
_PATHS = 12
_SAID: dict[str, Line] = {
    "approval.denied": ("refused {call} (answered from {door})[: {reason:200}]", "yellow"),
    "approval.given": ("allowed {call} (answered from {door})", ""),
    "approval.lapsed": ("the question about {call} is void ({why})", "yellow"),
    "budget.raised": ("may spend {budget.tokens:number} tokens, {budget.usd_micros:money} in all", ""),
    "call.cancelled": ("{tool} was called off (from {door})[: {reason:200}]", "yellow"),
    "call.edited": ("{tool} runs with other arguments (from {door}): {arguments:300}", "yellow"),
    "call.retried": ("{tool} runs again (from {door})", ""),
    "checkpoint.failed": ("no checkpoint of turn {turn}: {why:300}", "red"),
    "content.redacted": ("words of {events:#event} here were forgotten", "yellow"),
    "context.compacted": ("older messages are sent as a summary from now on; the record keeps them", "dim"),
    "context.trimmed": ("older results are sent trimmed from now on ({tokens_before:number} tokens before)", "dim"),
    "conversation.set": ("the conversation is as it was after event {at} of {source}", "yellow"),
    "edit.undone": ("{again?made again:undone}: {path:200} of {key} (from {door})", "yellow"),
    "erased": ("(erased)", "dim"),
    "grant.made": ("granted {tool} for this {scope}", ""),
    "grant.revoked": ("took back what was granted to {tool}", ""),
    "instructions.set": ("your directives had changed; the model is told the new ones from here on", "dim"),
    "memory.amended": ("~ {memory.id}  {memory.text:140}", ""),
    "memory.consolidated": (
        "{run} by {by}: {read:number} read, {made:number} made, {retired:number} retired, {proposed:number} proposed",
        "dim",
    ),
    "memory.forgetting": (
        "is being forgotten: {memories:#memory/memories}, words of {events:#event} (from {door})",
        "yellow",
    ),
    "memory.loaded": ("begins with what is remembered: {files:paths|nothing yet}", "dim"),
    "memory.made": ("+ {memory.id}  {memory.text:140}", ""),
    "memory.proposed": ("? {id}  {why:140}", ""),
    "memory.restored": ("+ {id}  told again", ""),
    "memory.retired": ("- {id}  {why}[, in its place {by}]", ""),
    "memory.settled": ("{id} was {accepted?accepted:refused} (from {door})", ""),
    "message.received": ("you (from {door}): {text:400}", "cyan"),
    "notice.given": ("told the model: {text:400}", "yellow"),
    "objective.retried": ("runs again", ""),
    "rules.read": ("read what the project says of itself: {files:paths|nothing any more}", "dim"),
    "session.closed": ("closed; the next message opens it again", "yellow"),
    "session.deleted": ("deleted", "yellow"),
    "session.paused": ("paused: {why:200|by you}", "yellow"),
    "session.resumed": ("resumed", ""),
    "session.stopped": ("stopped from {surface}[: {why:200}]", "red"),
    "sources.trusted": ("trusted {sources:200} for {tool}", ""),
    "terminal.opened": ("a terminal was opened (from {door})", "dim"),
}
_WHY = {"turn": "before turn {turn}", "person": "as you asked", "restore": "before going back", "fork": "for a fork"}
_ENDS = {
    "exited": "its shell ended with {exit_code}",
    "closed": "you closed it",
    "stopped": "it was stopped with the session",
    "disk": "the disk was nearly full",
    "memory": "it took too much memory",
    "lost": "its machine was lost",
}


def describe(stream: str, body: Json, out: Output, *, call: str = "a call", verbose: bool = False) -> Iterator[Line]:
    """The lines that tell an event; none for one that needs no telling.

    Args:
        stream: the session's id.
        body: the event.
        out: for the colours of diffs.
        call: the call that it is about, in words.
        verbose: with what the model was given of memory, not only how much.
    """
    if said := _SAID.get(body["type"]):
        yield fill(said[0], {**body, "call": call}), said[1]
        return
    match body["type"]:
        case "file.changed":
            yield from _changed(stream, body, out)
        case "turn.ended":
            yield from _ended(body)
        case "checkpoint.taken":
            yield taken(body) + fill(" in {duration_ms:duration}", body), "dim"
        case "checkpoint.restored":
            yield from restored(stream, body)
        case "terminal.closed":
            how = fill(_ENDS.get(body["why"], "{why}"), body)
            yield f"a terminal ended: {how}", "dim" if body["why"] in ("exited", "closed") else "yellow"
        case "memory.recalled":
            yield from _recalled(body, verbose=verbose)
        case "memory.forgotten":
            yield from _forgotten(body["receipt"])
        case _:
            return


def taken(row: Json) -> str:
    """What a checkpoint holds, from its event or its row."""
    why = fill(_WHY.get(row["why"], "{why}"), row)
    holds = "({files:#file}, {size_bytes:size}, {changed:number} changed[, {left_out_count:#path} left out])"
    return fill(f"checkpoint {{id}} {{reason}}[: {{note:120}}] {holds}", {**row, "reason": why})


def restored(stream: str, body: Json) -> Iterator[Line]:
    """What going back did, and how to undo it."""
    parts = [fill("{changed:#path} put back", body)] if body["files"] else []
    parts += ["the conversation too" if body["files"] else "the conversation"] if body["conversation"] else []
    yield fill("went back to {id}: {parts}", {**body, "parts": parts}), "yellow"
    for line in some("  {:200}", body["paths"], _PATHS, body["changed"]):
        yield line, ""
    for failed in body["failed"]:
        yield fill("  not put back: {path:200}: {why:200}", failed), "red"
    yield fill("  undo it: stead session restore {stream} {before}", {**body, "stream": stream}), ""


def _changed(stream: str, body: Json, out: Output) -> Iterator[Line]:
    change = body["change"]
    yield f"  {headline(change)}  [{fill('{key}', body)}]", "bold"
    lines = diff_lines(change, out, limit=DIFF_LINES)
    for line in lines:
        yield f"    {line}", ""
    if len(lines) > DIFF_LINES:
        yield fill("    all of it: stead session changes {stream} {key}", {**body, "stream": stream}), "dim"


def _ended(body: Json) -> Iterator[Line]:
    done = body["reason"] == "done"
    changed = body["changed"]
    files = "nobody could look at what changed" if changed < 0 else f"{figures.counted(changed, 'path')} changed"
    ending = "done" if done else fill("ended: {reason}", body)
    yield f"turn {body['turn']} {ending}" + (f", {files}" if changed else ""), "green" if done else "yellow"
    for change in body["changes"][:_PATHS]:
        yield f"  {headline(change)}", ""
    if changed > _PATHS:
        yield f"  … and {changed - min(_PATHS, len(body['changes'])):,} more", ""


def _recalled(body: Json, *, verbose: bool) -> Iterator[Line]:
    what = "{told:#remembered thing}" if body["told"] else "nothing that is remembered"
    yield fill(f"told {what}[ ({{dead:80}}: out of work)]", body), "dim"
    for one in body["told"] if verbose else ():
        yield fill("  {ref}  {text:140}  ({by:60})", one), "dim"


def _forgotten(receipt: Json) -> Iterator[Line]:
    yield fill("forgotten for good: {memories:#memory/memories}, words of {events:#event}", receipt), "yellow"
    for name in receipt["left"]:
        yield fill("  still in {name:200}", {"name": name}), "red"
    for name in receipt["backups"]:
        yield fill("  an older backup has it: {name:200}", {"name": name}), ""
