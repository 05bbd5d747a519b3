"""What an event says, in words, for the terminal and for Markdown: one table by the type of the event.

Layer: domain. Gives templates (``domain.templates``) with the values for their places, which are cleaned by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Words = tuple[str, Json, str]
"""A template, the values for its places, and the style of the line in a terminal: "" for none."""
MARKS = {"added": "+", "changed": "~", "deleted": "-", "mode": "m"}
"""Of what became of a file."""
PATHS = 12
"""Of a list of paths, so many are shown."""
_LINES: dict[str, tuple[str, str]] = {
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
    "rules.read": ("read the project's rules: {files:paths|none any more}", "dim"),
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


def worded(body: Json) -> Iterator[Words]:
    """The lines of an event; none for one that needs no words. Those after the first begin with two spaces.

    Args:
        body: as a door gives it, with ``call`` (the call that it is about) and ``session``.
    """
    if line := _LINES.get(body["type"]):
        yield line[0], body, line[1]
        return
    match body["type"]:
        case "session.opened":
            yield "{session}: {title:160}", body, "bold"
            yield "  in {directory}", body, ""
        case "file.changed":
            yield f"  {changed_file(body['change'])}", body["change"], "bold"
        case "turn.ended":
            yield from _ended(body)
        case "checkpoint.taken":
            yield checkpoint(body) + " in {duration_ms:duration}", body, "dim"
        case "checkpoint.restored":
            yield from restored(body)
        case "terminal.closed":
            style = "dim" if body["why"] in ("exited", "closed") else "yellow"
            yield f"a terminal ended: {_ENDS.get(body['why'], '{why}')}", body, style
        case "memory.recalled":
            what = "{told:#remembered thing}" if body["told"] else "nothing that is remembered"
            yield f"told {what}[ ({{dead:80}}: out of work)]", body, "dim"
            yield from (("  {ref}  {text:140}  ({by:60})", one, "dim") for one in body["told"])
        case "memory.forgotten":
            receipt = body["receipt"]
            yield "forgotten for good: {memories:#memory/memories}, words of {events:#event}", receipt, "yellow"
            yield from (("  still in {name:200}", {"name": name}, "red") for name in receipt["left"])
            yield from (("  an older backup has it: {name:200}", {"name": name}, "") for name in receipt["backups"])
        case _:
            return


def changed_file(change: Json) -> str:
    """What became of which path, and how many lines of it, as a template; of a ``FileChange``."""
    lines = "  +{added} -{removed}" if change["added"] or change["removed"] else ""
    return f"{MARKS[change['kind']]} {{path:path}}{'/' if change['what'] == 'folder' else ''}{lines}[  ({{note:path}})]"


def checkpoint(row: Json) -> str:
    """What a checkpoint holds, of its event or its row, as a template."""
    holds = "({files:#file}, {size_bytes:size}, {changed:number} changed[, {left_out_count:#path} left out])"
    return f"checkpoint {{id}} {_WHY.get(row['why'], '{why}')}[: {{note:120}}] {holds}"


def restored(body: Json) -> Iterator[Words]:
    """What going back did, and how to undo it."""
    parts = ["{changed:#path} put back"] if body["files"] else []
    parts += ["the conversation too" if body["files"] else "the conversation"] if body["conversation"] else []
    yield f"went back to {{id}}: {', '.join(parts)}", body, "yellow"
    yield from (("  {path:200}", {"path": path}, "") for path in body["paths"][:PATHS])
    yield from _more(body["changed"], len(body["paths"]))
    yield from (("  not put back: {path:200}: {why:200}", failed, "red") for failed in body["failed"])
    yield "  undo it: stead session restore {session} {before}", body, ""


def _ended(body: Json) -> Iterator[Words]:
    done, changed = body["reason"] == "done", body["changed"]
    files = ", nobody could look at what changed" if changed < 0 else "[, {changed:#path} changed]"
    yield f"turn {{turn}} {'done' if done else 'ended: {reason}'}{files}", body, "green" if done else "yellow"
    yield from ((f"  {changed_file(change)}", change, "") for change in body["changes"][:PATHS])
    yield from _more(changed, len(body["changes"]))


def _more(total: int, listed: int) -> Iterator[Words]:
    if total > min(PATHS, listed):
        yield "  … and {more:number} more", {"more": total - min(PATHS, listed)}, ""
