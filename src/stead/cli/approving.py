"""Answering what an objective asks for: inline while watching, and by ``approvals``, ``approve`` and ``deny``.

Layer: cli. An answer always carries the digest of what was shown, so nobody allows what they have not seen.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from stead.cli.cards import card, doubtful, headline, is_cut, source_name
from stead.cli.finding import find_approval
from stead.cli.forms import Listing, OneOf, arg, command
from stead.cli.invocation import NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.labels import subject_of
from stead.cli.output import clean, clean_line
from stead.cli.rules_history import note_tried
from stead.cli.templates import fill, filled
from stead.cli.text_input import write_new
from stead.client import ApiError, Json
from stead.domain.event_words import review
from stead.domain.shown import must_be_opened

if TYPE_CHECKING:
    from stead.client import Client, Stream

_ANSWERS = {"y": "once", "t": "trust", "s": "session", "p": "project", "n": "deny"}
_WORDS = {word: word[0] for word in ("yes", "trust", "session", "project", "no", "edit", "view", "quit")}
_DIGITS = 16
_DWELL_S = 1.2
HASTY = "That was quick for something risky; read it, and answer again."
_WORDS |= {"once": "y", "deny": "n"}
_ALLOWED = {
    "once": "Allowed, once.",
    "trust": "Allowed. Until the objective ends, its source is trusted to name targets of this tool's planned calls.",
    "session": "Allowed for this session.",
    "project": "Allowed for this project.",
}


def show(invocation: Invocation, row: Json, *, whole: bool = False) -> None:
    """Print an approval's card."""
    invocation.out.lines(card(row, invocation.out, whole=whole))


def ask(
    invocation: Invocation, row: Json, stream: Stream, take: Callable[[list[Json]], bool], *, editable: bool = False
) -> bool:
    """Show the question and carry out the person's answer; false when they leave it pending.

    Args:
        invocation: whose terminal it is.
        row: the ``ApprovalRow``; what it shows is what is answered.
        stream: of the objective, read while the person thinks.
        take: as ``keyboard.read_line`` has it.
        editable: the person may put other arguments in, which is an answer too.
    """
    from stead.cli import keyboard

    invocation.out.line()
    show(invocation, row)
    keyboard.forget_typed()
    try:
        while (answer := _ask_key(invocation, row, stream, take, editable=editable)) == "edit":
            if _edit(invocation, row):
                return True
        reason = ""
        if answer == "deny":
            invocation.out.write("reason for the model (Enter for none): ")
            reason = keyboard.read_line(stream, take) or ""
    except keyboard.Superseded:
        invocation.out.line()
        invocation.out.line("That question is settled; it was answered elsewhere or is void.")
        return True
    if answer == "leave":
        return False
    try:
        _decide(invocation, row, answer, reason)
    except ApiError as error:
        _too_late(invocation, error)
    return True


def _edit(invocation: Invocation, row: Json) -> bool:
    """Let the person change the arguments; whether the call runs with them, or is settled otherwise."""
    from stead.cli.editing import edited

    try:
        arguments = edited(invocation, row["arguments"])
    except CommandError as error:
        invocation.out.line(f"{clean(error.cause)}; {clean(error.next_step)}")
        return False
    if arguments == row["arguments"]:
        invocation.out.line("Nothing was changed.")
        return False
    try:
        invocation.client.post(f"/sessions/{row['session']}/calls/{row['key']}/edit", {"arguments": arguments})
    except ApiError as error:
        if error.status == 409:
            _too_late(invocation, error)
            return True
        if error.status != 400:
            raise
        invocation.out.line(clean(error.message))
        return False
    return True


def _too_late(invocation: Invocation, error: ApiError) -> None:
    if error.status != 409:
        raise error
    invocation.out.line(f"Your answer came too late: {clean(error.message)}")


def _ask_key(
    invocation: Invocation, row: Json, stream: Stream, take: Callable[[list[Json]], bool], *, editable: bool
) -> str:
    """Ask until one of the keys is given; Enter alone is none of them."""
    from stead.cli.keyboard import read_line

    keys = {"y": "y yes, once"}
    if sources := doubtful(row):
        keys |= {"t": f"t yes, and trust {', '.join(map(source_name, sources))} here"}
    if row["shape"]:  # without one it is asked about every time; no grant covers it
        keys |= {"s": "s for this session"} | ({} if row["bound"] else {"p": "p for this project"})
    keys |= (
        {"n": "n no"}
        | ({"e": "e edit it"} if editable else {})
        | ({"v": "v view all"} if is_cut(row) else {})
        | {"q": "q leave it pending"}
    )
    whole, shown = not is_cut(row), time.monotonic()
    question = f"allow? {', '.join(keys.values())}: "
    while True:
        invocation.out.line(headline(row))
        invocation.out.write(question)
        typed = read_line(stream, take)
        if typed is None:
            invocation.out.line()
            return "leave"
        key = _WORDS.get(typed.lower(), typed.lower())
        if key not in keys:
            invocation.out.line(f"Type one of {', '.join(keys)} and Enter.")
        elif key == "v":
            show(invocation, row, whole=True)
            whole, shown = True, time.monotonic()
        elif key not in "nqe" and not whole:
            invocation.out.line("Not all of it was shown; view it first: v and Enter.")
        elif key not in "nqe" and is_hasty(row, shown):
            invocation.out.line(HASTY)
        else:
            return {"q": "leave", "e": "edit"}.get(key) or _ANSWERS[key]


def decide(client: Client, row: Json, answer: str, reason: str = "") -> Json:
    """Send an answer to exactly what the row shows; to be called with a yes only if all of it was displayed."""
    body = {"answer": answer, "digest": row["digest"], "reason": reason, "whole": answer != "deny"}
    return client.post(f"/approvals/{row['id']}/decision", body)


def _decide(invocation: Invocation, row: Json, answer: str, reason: str = "") -> Json:
    if answer == "project":
        grant = {"tool": row["tool"], "shape": row["shape"], "directory": row["directory"]}
        note_tried(invocation, {"grants": [grant]})
    return decide(invocation.client, row, answer, reason)


def print_pending(invocation: Invocation, rows: list[Json]) -> None:
    """What waits for a person, and how to answer it from any terminal."""
    out = invocation.out
    for row in rows:
        out.line()
        show(invocation, row)
        approval = clean_line(row["id"])
        out.line(f"allow it:   stead approve {approval}   (or with --session, --project)")
        out.line(f"refuse it:  stead deny {approval} --reason TEXT")


def _approvals(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    if arguments.export:
        return _export(invocation, arguments.export, arguments.format)
    if row := arguments.id:
        return invocation.report(row, *card(row, out, whole=True))
    rows = list(client.items("/approvals", status="all" if arguments.all else "pending", limit=200))
    reviews = [] if out.as_json else list(client.items("/reviews"))
    if rows or out.as_json:
        _LIST.show(invocation, rows, arguments)
    else:
        out.line("No question waits for your answer." if reviews else "Nothing waits for your answer.")
    for row in reviews:
        out.line(fill("\n{title:100}", row))
        out.lines("  " + line for line, _ in filled(review(row["id"], row["review"])))
    return OK


def _export(invocation: Invocation, name: str, format: str) -> int:
    """Write every question with its answer to a new file, or with "-" to standard output."""
    text = invocation.client.text("/approvals/export", format=format)
    if name == "-":
        invocation.out.write(clean(text))
        return OK
    write_new(name, text)
    return invocation.report({"file": name, "format": format}, f"Written to {clean_line(name)}.")


def _approve(invocation: Invocation, arguments: Namespace) -> int:
    answer = next((name for name in ("trust", "session", "project") if getattr(arguments, name)), "once")
    return _answer(invocation, arguments.id, answer, "", arguments.digest)


def _deny(invocation: Invocation, arguments: Namespace) -> int:
    return _answer(invocation, arguments.id, "deny", arguments.reason)


def _answer(invocation: Invocation, typed: str, answer: str, reason: str, digest: str = "") -> int:
    row = find_approval(invocation.client, typed)
    out = invocation.out
    if not out.as_json:
        show(invocation, row, whole=True)
    if row["status"] != "pending":
        cause = f"{row['id']} is no longer pending: {row['status']}"
        raise CommandError(cause, f"stead watch {row['session']}", code="conflict")
    if answer != "deny":
        _require_seen(invocation, row, typed, digest)
    given = _decide(invocation, row, answer, reason)
    return invocation.report(
        {**given, "approval": row["id"], "answer": answer, "digest": row["digest"]},
        _ALLOWED.get(answer, "Refused."),
        f"watch it go on: stead watch {clean_line(row['session'])}",
    )


def _require_seen(invocation: Invocation, row: Json, typed: str, digest: str) -> None:
    """Require that a yes is for what the person has seen: named by its digest, or by its id if that shows all of it.

    Raises:
        CommandError: it is for something else, or nobody can be asked.
    """
    if digest:
        if len(digest) < _DIGITS or not row["digest"].startswith(digest.lower()):
            raise CommandError("the digest is of something else", f"stead approvals {row['id']}", code="conflict")
        return
    if typed.startswith("a_") and not must_be_opened(row["arguments"]):
        return
    if not invocation.interactive:
        way = f"stead approve {row['id']} --digest {row['digest'][:_DIGITS]}"
        raise CommandError("what waits was shown just now, and nobody has read it yet", way, exit_code=NEEDS_PERSON)
    from stead.cli.keyboard import forget_typed

    forget_typed()
    shown = time.monotonic()
    invocation.out.line(headline(row))
    while (typed := input("allow it? [y/N] ").strip().lower()) in ("y", "yes"):
        if not is_hasty(row, shown):
            return
        invocation.out.line(HASTY)
    raise CommandError("nothing was answered", "")


def is_hasty(row: Json, shown_s: float) -> bool:
    """Whether a yes to something risky came before it can have been read."""
    return row["risk"] in ("high", "critical") and time.monotonic() - shown_s < _DWELL_S


_LIST = Listing(
    "",
    "ID: {id} | STATUS: {status} | RISK: {risk} | TOOL: {tool} | ABOUT: {about} | OBJECTIVE: {title:30}"
    " | ASKED: {requested_ms:age}",
    "",
    view=lambda row: {**row, "about": subject_of(row["arguments"], 48)},
    more="show one in full: stead approvals ID   answer: stead approve ID, stead deny ID",
)
_ID = arg("id ID", "an approval, or an objective that waits for exactly one")
_ONE = arg("[id ID]", "show this one in full", find=find_approval)
_SCOPE = OneOf(
    arg("--trust", "also trust the sources it names, until the objective ends"),
    arg("--session", "also calls of this shape later in this session"),
    arg("--project", "also in later objectives in the same folder"),
)
_DIGEST = arg("--digest HEX", "of what you have seen: its first 16 digits, or all")
_EXPORT = (
    arg("--export FILE", 'write every question with its answer to a new file; "-": standard output'),
    arg("--format FORMAT", "of --export", choices=("csv", "json"), default="csv"),
)
COMMANDS = {
    "approvals": command(_approvals, _ONE, arg("--all", "also those that are answered or void"), *_EXPORT),
    "approve": command(_approve, _ID, _DIGEST, _SCOPE),
    "deny": command(_deny, _ID, arg("--reason REASON", "the model reads it")),
}
