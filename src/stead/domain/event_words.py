"""What an event says, in words, for every door: one table by the type of the event.

Layer: domain. Pure. Gives templates (``domain.templates``) with the values for their places; ``lines`` fills in figures
and leaves what others wrote in places of its own, so that a terminal, a page and Markdown each keep it harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from stead.domain import figures, templates

Json = dict[str, Any]
Tone = Literal["", "quiet", "good", "warning", "danger", "strong"]
Words = tuple[str, Json, Tone]
"""A template, the values for its places, and the tone of the line."""
MARKS = {"added": "+", "changed": "~", "deleted": "-", "mode": "m"}
"""Of what became of a file."""
PATHS = 12
"""Of a list of paths, so many are shown."""
_LINES: dict[str, tuple[str, Tone]] = {
    "budget.raised": ("may spend {budget.tokens:number} tokens, {budget.usd_micros:money} in all", ""),
    "checkpoint.failed": ("no checkpoint of turn {turn}: {why:300}", "danger"),
    "content.redacted": ("words of {events:#event} here were forgotten", "warning"),
    "context.compacted": ("older messages are sent as a summary from now on; the record keeps them", "quiet"),
    "context.trimmed": ("older results are sent trimmed from now on ({tokens_before:number} tokens before)", "quiet"),
    "conversation.set": (
        "the conversation goes on from event {at} of {source}[, with {carried.messages:#message}]",
        "warning",
    ),
    "edit.undone": ("{again?made again:undone}: {path:200} of {key} (from {door})", "warning"),
    "grant.made": ("granted {tool} for this {scope}", ""),
    "grant.revoked": ("took back what was granted to {tool}", ""),
    "instructions.set": ("your directives had changed; the model is told the new ones from here on", "quiet"),
    "memory.loaded": ("begins with what is remembered: {files:paths|nothing yet}", "quiet"),
    "model.failed": ("! no usable reply ({kind}): {error:300}[; asked to wait {retry_after_ms:duration}]", "warning"),
    "notice.given": ("told the model: {text:400}", "warning"),
    "objective.retried": ("runs again", ""),
    "reading.failed": ("! not read ({kind}): {error:300}", "warning"),
    "session.closed": ("closed; the next message opens it again", "warning"),
    "session.paused": ("paused: {why:200|by you}", "warning"),
    "session.resumed": ("resumed", ""),
    "session.stopped": ("stopped from {surface}[: {why:200}]", "danger"),
    "sources.trusted": ("trusted {sources:200} for {tool}", ""),
    "terminal.closed": ("a terminal ended: {why}[ ({exit_code})]", "quiet"),
    "terminal.opened": ("a terminal was opened (from {door})", "quiet"),
    "trial.applied": ("applied {applied:#change} (from {door})", ""),
    "trial.discarded": ("the changes that waited were thrown away (from {door})", "warning"),
}
_ANSWERS: dict[str, tuple[str, Tone]] = {
    "given": ("allowed (answered from {door})", ""),
    "denied": ("refused (answered from {door})[: {why:200}]", "warning"),
    "lapsed": ("the question is void ({why})", "warning"),
}
_WHY = {"turn": "before turn {turn}", "person": "as you asked", "restore": "before going back", "fork": "for a fork"}
_FIGURES: dict[str, Callable[[Any], str]] = {
    "number": figures.tokens,
    "money": figures.money,
    "size": figures.size,
    "duration": figures.duration,
}


def lines(words: Iterable[Words]) -> Iterator[tuple[Tone, tuple[str, ...]]]:
    """Words with their values in place: the tone of each line and its text, Stead's own words and others' in turn.

    The text begins with Stead's own; what is between them was written by anybody, and every door makes it harmless.
    """
    for template, values, tone in words:
        text = [""]
        for piece in templates.pieces(template, values):
            own, *more = (piece,) if isinstance(piece, str) else _shown(*piece)
            text[-1] += own
            text += more
        yield tone, tuple(text)


def _shown(field: Any, style: str) -> tuple[str, ...]:
    if style.startswith("#"):
        return (figures.counted(field if isinstance(field, int) else len(field), *style[1:].split("/")),)
    if style in _FIGURES and not isinstance(field, str):
        return (_FIGURES[style](field),)
    if isinstance(field, int):
        return (str(field),)
    if isinstance(field, str):
        field = [field]
    texts = [one["path"] if style == "paths" else str(one) for one in field]
    if style.isdecimal():
        texts = [_cut(text, int(style)) for text in texts]
    return ("", *[part for text in texts for part in (text, ", ")][:-1], "") if texts else ("",)


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def worded(body: Json) -> Iterator[Words]:
    """The lines of an event; none for one that needs no words. Those after the first begin with two spaces.

    Args:
        body: as a door gives it.
    """
    if line := _LINES.get(body["type"]):
        yield line[0], body, line[1]
        return
    match body["type"]:
        case "file.changed":
            yield f"  {changed_file(body['change'])}", body["change"], "strong"
        case "turn.ended":
            yield from _ended(body)
        case "objective.ended":
            tone: dict[str, Tone] = {"completed": "good", "failed": "danger"}
            known = body["reason"] in ("done", body["status"])
            yield "{status}" if known else "{status} ({reason})", body, tone.get(body["status"], "warning")
        case "checkpoint.taken":
            yield checkpoint(body) + " in {duration_ms:duration}", body, "quiet"
        case "checkpoint.restored":
            yield from restored(body)
        case "changes.landed":
            yield from landed(body["landing"])
        case "review.wanted":
            for path in body["runnable"]:
                yield "new in your folder, and can be run: {path:path}", {"path": path}, "warning"
            yield from review(body["review"])
        case "rules.read":
            yield from _rules(body["files"])
        case "egress.used":
            allowed = body["verdict"] == "allow"
            text = "connected to {host|a host}" if allowed else "no connection to {host|a host}: {reason.text:300}"
            yield text, body, "quiet" if allowed else "danger"
        case "protected.quarantined":
            yield "moved out of the folder, for programs of yours would act on them:", body, "danger"
            yield from (("  {1:path}", moved, "danger") for moved in body["moved"][:PATHS])
        case "memory.recalled":
            what = "{told:#remembered thing}" if body["told"] else "nothing that is remembered"
            yield f"told {what}[ ({{dead:80}}: out of work)]", body, "quiet"
            yield from (("  {ref}  {text:140}  ({by:60})", one, "quiet") for one in body["told"])
        case _:
            return


def step_words(step: Json) -> Iterator[Words]:
    """What people did to a call: other arguments, their answer, called off, again.

    Args:
        step: an item of the timeline.
    """
    if step["edited"]:
        yield "runs with other arguments (from {edited})", step, "warning"
    question = step["question"]
    if question and (answer := _ANSWERS.get(question["status"])):
        yield answer[0], question, answer[1]
    if step["cancelled"]:
        yield "called off[: {cancel_reason:200}]", step, "warning"
    if step["retries"]:
        yield "runs again", step, "warning"


def landed(landing: Json) -> Iterator[Words]:
    """What became of changes; a quiet line says how many simply landed."""
    if landing.get("count") or landing.get("stayed"):
        rest = "[, {stayed:#change} in the sandbox alone]"
        yield f"    {{count:#change}} in your folder{rest}", landing, "quiet"
    for path in landing.get("merged", ())[:PATHS]:
        yield "    merged with what you changed meanwhile: {path:path}", {"path": path}, "warning"
    for what, held in (("held for your review", landing["held"]), ("never carried over", landing["refused"])):
        yield from ((f"    {what}: {{path:path}} ({{why:path}})", one, "warning") for one in held[:PATHS])
        yield from _more(len(held), len(held))
    if landing["failed"]:
        yield "    not in your folder yet, to be tried again: {failed:path}", landing, "danger"


def review(waiting: Json) -> Iterator[Words]:
    """The changes that wait for a review; none where nothing does."""
    if waiting["waiting"]:
        many = (
            "{waiting:#change waits/changes wait}"
            if waiting["waiting"] > 0
            else "more changes than can be counted wait"
        )
        yield f"{many} for your review", waiting, "warning"
        yield from (("  {path:path}[  ({why:path})]", held, "warning") for held in waiting["held"])


def changed_file(change: Json) -> str:
    """What became of which path, and how many lines of it, as a template; of a ``FileChange``."""
    lines = "  +{added} -{removed}" if change["added"] or change["removed"] else ""
    return f"{MARKS[change['kind']]} {{path:path}}{'/' if change['what'] == 'folder' else ''}{lines}[  ({{note:path}})]"


def checkpoint(row: Json) -> str:
    """What a checkpoint holds, of its event or its row, as a template."""
    holds = "({files:#file}, {size_bytes:size}, {changed:number} changed[, {left_out_count:#path} left out])"
    return f"checkpoint {{id}} {_WHY.get(row['why'], '{why}')}[: {{note:120}}] {holds}"


def restored(body: Json) -> Iterator[Words]:
    """What going back did."""
    parts = ["{changed:#path} put back"] if body["files"] else []
    parts += ["the conversation too" if body["files"] else "the conversation"] if body["conversation"] else []
    yield f"went back to {{id}}: {', '.join(parts)}", body, "warning"
    yield from (("  {path:200}", {"path": path}, "") for path in body["paths"][:PATHS])
    yield from _more(body["changed"], len(body["paths"]))
    yield from (("  not put back: {path:200}: {why:200}", failed, "danger") for failed in body["failed"])


def _rules(files: list[Json]) -> Iterator[Words]:
    read = [file for file in files if not file.get("left_out")]
    yield "read the project's rules: {files:paths|none any more}", {"files": read}, "quiet"
    yield from (("  left out: {path:path}: {left_out:300}", file, "danger") for file in files if file.get("left_out"))


def _ended(body: Json) -> Iterator[Words]:
    done, changed = body["reason"] == "done", body["changed"]
    files = ", what changed is not known" if changed < 0 else "[, {changed:#path} changed]"
    yield f"turn {{turn}} {'done' if done else 'ended: {reason}'}{files}", body, "good" if done else "warning"
    yield from ((f"  {changed_file(change)}", change, "") for change in body["changes"][:PATHS])
    yield from _more(changed, len(body["changes"]))


def _more(total: int, listed: int) -> Iterator[Words]:
    if total > min(PATHS, listed):
        yield "  … and {more:number} more", {"more": total - min(PATHS, listed)}, ""
