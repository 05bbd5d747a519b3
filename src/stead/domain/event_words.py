"""What an event says, in words, for the terminal and for Markdown: one table by the type of the event.

Layer: domain. Gives templates (``domain.templates``) with the values for their places, which are cleaned by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stead.domain.ends import WELL

Json = dict[str, Any]
Words = tuple[str, Json, str]
"""A template, the values for its places, and the style of the line in a terminal: "" for none."""
MARKS = {"added": "+", "changed": "~", "deleted": "-", "mode": "m"}
"""Of what became of a file."""
PATHS = 12
"""Of a list of paths, so many are shown."""
_LINES: dict[str, tuple[str, str]] = {
    "agent.ended": (
        "subagent {session} ended: {status} ({reason}), {spend.tokens:number} tokens, {facts.calls:#call}, "
        "{facts.changed:#path} changed",
        "",
    ),
    "agent.spawned": (
        "started subagent {session}  {title:100}, with up to {allotment.tokens:number} tokens and "
        "{allotment.iterations:#request}[; not given: {dropped:200}]",
        "",
    ),
    "budget.raised": ("may spend {budget.tokens:number} tokens, {budget.usd_micros:money} in all", ""),
    "cap.warned": ("{share} % of what may be spent in {period} is spent", "yellow"),
    "checkpoint.failed": ("no checkpoint of turn {turn}: {why:300}", "red"),
    "content.redacted": ("words of {events:#event} here were forgotten", "yellow"),
    "context.compacted": ("older messages are sent as a summary from now on; the record keeps them", "dim"),
    "context.trimmed": ("older results are sent trimmed from now on ({tokens_before:number} tokens before)", "dim"),
    "edit.undone": ("{again?made again:undone}: {path:200} of {key} (from {door})", "yellow"),
    "goal.changed": ("the goal is now: {goal:400} (from {door})", "yellow"),
    "grant.made": ("granted {tool} for this {scope}", ""),
    "grant.revoked": ("took back what was granted to {tool}", ""),
    "instructions.set": ("your directives had changed; the model has the new ones from here on", "dim"),
    "profile.set": ("from the next call on: profile {profile} (from {door})", ""),
    "tier.set": ("{model.provider}/{model.model} is led by the tier {tier} from here on ({by})", ""),
    "memory.amended": ("~ {memory.id}  {memory.text:140}", ""),
    "memory.consolidated": (
        "{run} by {by}: {read:number} read, {made:number} made, {retired:number} retired, {proposed:number} proposed",
        "dim",
    ),
    "memory.forgetting": (
        "is being forgotten: {memories:#memory/memories}, words of {events:#event} (from {door})",
        "yellow",
    ),
    "memory.loaded": ("loaded memory: {files:paths|nothing yet}", "dim"),
    "memory.made": ("+ {memory.id}  {memory.text:140}", ""),
    "memory.proposed": ("? {id}  {why:140}", ""),
    "memory.restored": ("+ {id}  told again", ""),
    "memory.retired": ("- {id}  {why}[, in its place {by}]", ""),
    "memory.settled": ("{id} was {accepted?accepted:refused} (from {door})", ""),
    "notice.given": ("returned to the model: {text:400}", "yellow"),
    "objective.retried": ("runs again", ""),
    "reading.failed": ("! not read ({kind}): {error:300}", "yellow"),
    "rules.read": ("read the project's rules: {files:paths|none any more}", "dim"),
    "session.closed": ("closed; the next message opens it again", "yellow"),
    "session.paused": ("paused: {why:200|by you}", "yellow"),
    "session.resumed": ("resumed", ""),
    "session.stopped": ("stopped from {surface}[: {why:200}]", "red"),
    "sources.trusted": ("trusted {sources:200} for {tool}", ""),
    "trial.applied": ("applied {applied:#change} (from {door})", ""),
    "trial.discarded": ("the changes that waited were thrown away (from {door})", "yellow"),
}
_ANSWERS = {
    "given": ("allowed {call} (answered from {door})", ""),
    "denied": ("refused {call} (answered from {door})[: {why:200}]", "yellow"),
    "lapsed": ("the question about {call} no longer stands ({why})", "yellow"),
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


def unpriced(body: Json, budget: Json) -> Iterator[Words]:
    """What limits models of no known price; nothing where every price is known, or nothing is limited in money.

    Args:
        body: an event that names such models.
        budget: of the session.
    """
    if body.get("unpriced") and budget["usd_micros"] != "unlimited":
        yield (
            "  no price is known for {unpriced:200}: only the limit of {tokens:number} tokens holds; "
            "neither its limit in dollars nor the home's daily cap counts it",
            {"unpriced": body["unpriced"], **budget},
            "yellow",
        )


def worded(body: Json) -> Iterator[Words]:
    """The lines of an event; none for one that needs no words. Those after the first begin with two spaces.

    Args:
        body: as a door gives it, with ``session``.
    """
    if line := _LINES.get(body["type"]):
        yield line[0], body, line[1]
        return
    match body["type"]:
        case "model.switched":
            names = [f"{ref['provider']}/{ref['model']}" for ref in body["chain"]]
            yield (
                "from the next request on: {names:then}[, effort {effort}] (from {door})",
                {**body, "names": names},
                "",
            )
        case "message.changed":
            what = (
                "a message that waited now says: {text:400}" if body["text"] else "a message that waited was withdrawn"
            )
            yield f"{what} (from {{door}})", body, "yellow"
        case "intent.answered":
            yield "{words:200} (from {door}), answered by Stead without a model:", body, "cyan"
            for line in body["answer"].split("\n"):
                yield "  {line:300}", {"line": line}, ""
        case "session.labelled":
            yield _labels(body)
        case "file.changed":
            yield f"  {changed_file(body['change'])}", body["change"], "bold"
        case "turn.ended":
            yield from _ended(body)
        case "checkpoint.taken":
            yield checkpoint(body) + " in {duration_ms:duration}", body, "dim"
        case "checkpoint.restored":
            yield from restored(body)
        case "changes.landed":
            yield from landed(body["landing"])
        case "review.wanted":
            for path in body["runnable"]:
                yield "new in your folder, and can be run: {path:path}", {"path": path}, "yellow"
            yield from review(body["session"], body["review"])
        case "objective.ended":
            return
        case "checks.set":
            if proposed := [item for item in body["items"] if not item.get("accepted", True)]:
                yield "{proposed:#check} proposed: stead checks show {session}", {**body, "proposed": proposed}, ""
        case "check.answered":
            yield f"{{id}} is {'' if body['holds'] else 'not '}confirmed (from {{door}})", body, ""
        case "checks.run":
            yield from _judged(body)
        case "terminal.opened" | "line.ran" | "terminal.closed":
            yield from _terminal(body)
        case "memory.recalled":
            what = "{told:#memory/memories}" if body["told"] else "no memory"
            yield f"{what} added to the prompt[ (search by {{dead:80}} unavailable)]", body, "dim"
            yield from (("  {ref}  {text:140}  ({by:60})", one, "dim") for one in body["told"])
        case "memory.forgotten":
            receipt = body["receipt"]
            yield "forgotten for good: {memories:#memory/memories}, words of {events:#event}", receipt, "yellow"
            yield from (("  still in {name:200}", {"name": name}, "red") for name in receipt["left"])
            yield from (("  an older backup has it: {name:200}", {"name": name}, "") for name in receipt["backups"])
        case _:
            return


def _labels(body: Json) -> Words:
    archived = body.get("archived")
    archive = "" if archived is None else f"{'put into' if archived else 'taken out of'} the archive"
    trashed = body.get("trashed")
    trash = "" if trashed is None else f"{'put into' if trashed else 'taken out of'} the trash"
    tags = body.get("tags")
    values = {
        "title": "",
        **body,
        "archive": archive,
        "trash": trash,
        "listed": "" if tags is None else ", ".join(tags) or "none",
    }
    return "labelled[: {title}][, tags {listed}][, {archive}][, {trash}] (from {door})", values, "dim"


def step_words(step: Json, call: str) -> Iterator[tuple[str, Words]]:
    """What people did to a call, each with a name that it keeps: their answer, other arguments, again, called off.

    Args:
        step: an item of the timeline.
        call: in words.
    """
    values = {**step, "call": call}
    if step["edited"]:
        edited = "{tool} runs with other arguments (from {edited}): {arguments:300}"
        yield f"edited: {step['arguments']}", (edited, values, "yellow")
    question = step["question"]
    if question and (answer := _ANSWERS.get(question["status"])):
        yield f"{question['asked']['id']} {question['status']}", (answer[0], {**values, **question}, answer[1])
    if step["cancelled"]:
        yield "cancelled", ("{tool} was called off[: {cancel_reason:200}]", values, "yellow")
    if step["retries"]:
        yield f"again: {step['retries']}", ("{tool} runs again", values, "yellow")


def landed(landing: Json) -> Iterator[Words]:
    """What became of changes, where they did not simply land."""
    for path in landing.get("merged", ())[:PATHS]:
        yield "    merged with what you changed meanwhile: {path:path}", {"path": path}, "yellow"
    for what, held in (("held for your review", landing["held"]), ("never carried over", landing["refused"])):
        yield from ((f"    {what}: {{path:path}} ({{why:path}})", one, "yellow") for one in held[:PATHS])
        yield from _more(len(held), len(held))
    if landing["failed"]:
        yield "    not in your folder yet, to be tried again: {failed:path}", landing, "red"


def review(session: str, waiting: Json) -> Iterator[Words]:
    """The changes that wait for a review, and the commands for it; none where nothing does."""
    if not waiting["waiting"]:
        return
    many = "{waiting:#change waits/changes wait}" if waiting["waiting"] > 0 else "more changes than can be counted wait"
    values = {**waiting, "session": session}
    yield f"{many} for your review: stead held diff {{session}}", values, "yellow"
    yield from (("  {path:path}[  ({why:path})]", held, "yellow") for held in waiting["held"])
    yield "then: stead held apply {session}  or  stead held discard {session}", values, "yellow"


def _terminal(body: Json) -> Iterator[Words]:
    match body["type"]:
        case "terminal.opened":
            yield (
                ("! {line:160}  (from {door})" if body.get("line") else "a terminal was opened (from {door})"),
                body,
                "dim",
            )
        case "line.ran":
            how = "exit code {exit_code}" if body["why"] == "exited" else "cut off ({why})"
            yield f"! {{line:160}} ended: {how}, {{duration_ms:duration}}", body, "yellow" if body["exit_code"] else ""
            lines = body["text"].split("\n") if body["text"] else []
            yield from (("    | {line:160}", {"line": line}, "dim") for line in lines[-PATHS:])
        case _:
            style = "dim" if body["why"] in ("exited", "closed") else "yellow"
            yield f"a terminal ended: {_ENDS.get(body['why'], '{why}')}", body, style


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


TOUCHED = "the work changed what this check runs: {touched:300}"


def _judged(body: Json) -> Iterator[Words]:
    """What checks came to. Before the work only those that hold say something: they prove nothing."""
    before = body["when"] == "before"
    shown = [result for result in body["results"] if not before or result["holds"]]
    if not shown:
        return
    when = "before the work, so that it proves nothing" if before else "by Stead itself, in {duration_ms:duration}"
    yield f"checked {when}:", body, "dim"
    for result in shown:
        holds = result["holds"]
        state = "could not be judged" if holds is None else "holds" if holds else "does not hold"
        style = "red" if holds is False else "yellow" if holds is None or before else "green"
        more = "" if holds else "[: {detail:300}]"
        yield f"  {state}: {{words:200}}{more}", result, style
        if touched := ", ".join(result.get("touched", ())):
            yield f"    {TOUCHED}", {"touched": touched}, "yellow"


def fact_words(facts: Json) -> Iterator[Words]:
    """What the record holds of a run or a turn, in a line or a few."""
    if not any(facts.get(what) for what in ("changed", "commands", "sent", "agents")):
        yield "  on record: nothing was changed, run, sent or delegated", {}, "dim"
        return
    if facts.get("changed"):
        listed = ", ".join(facts["paths"][:PATHS])
        yield "  changed {changed:#path}: {listed:300}", {**facts, "listed": listed}, "dim"
    for ran in facts.get("ran", ())[-PATHS:]:
        known = ran["exit_code"] is not None
        yield "  ran {line:120}" + (": exit code {exit_code}" if known else ": its exit code is not known"), ran, "dim"
    for one in facts.get("sent", ())[:PATHS]:
        yield "  reached out: {one:200}", {"one": one}, "dim"
    yield from _agents(facts)
    if facts.get("failed"):
        yield "  {failed:#call} failed", facts, "yellow"


def _agents(facts: Json) -> Iterator[Words]:
    for agent in facts.get("agents", ())[-PATHS:]:
        yield "  subagent[ {specialist}]: {status}", agent, "dim" if agent["status"] in WELL else "yellow"


def opinion_words(opinion: Json | None) -> Iterator[Words]:
    """A second model's opinion, marked as one, and the events that it rests on."""
    if not opinion:
        return
    if opinion["why"]:
        yield "  a second model's opinion: none. {why:200}", opinion, "dim"
        return
    said = {
        "supported": "the record supports it",
        "contradicted": "the record speaks against it",
        "unclear": "the record does not show it",
        "void": "void, as it cites nothing of this run",
    }[opinion["verdict"]]
    yield f"  a second model's opinion, no check: {said}", opinion, "dim"
    yield from (("    it cites #{seq} {words:120}", cited, "dim") for cited in opinion["cited"][:PATHS])
    if opinion["unfounded"]:
        yield "    {unfounded:#citation} of no event of this run left out", opinion, "dim"
    yield from (("    concern: {concern:200}", {"concern": concern}, "yellow") for concern in opinion["concerns"])


def _ended(body: Json) -> Iterator[Words]:
    done, changed = body["reason"] == "done", body["changed"]
    files = ", nobody could look at what changed" if changed < 0 else "[, {changed:#path} changed]"
    yield f"turn {{turn}} {'done' if done else 'ended: {reason}'}{files}", body, "green" if done else "yellow"
    if body.get("status") and not changed:
        yield from fact_words(body.get("facts", {}))
    else:
        yield from _agents(body.get("facts", {}))
    yield from ((f"  {changed_file(change)}", change, "") for change in body["changes"][:PATHS])
    yield from _more(changed, len(body["changes"]))


def _more(total: int, listed: int) -> Iterator[Words]:
    if total > min(PATHS, listed):
        yield "  … and {more:number} more", {"more": total - min(PATHS, listed)}, ""
