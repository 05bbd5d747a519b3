"""``held``: look at the changes that wait for the person, and decide on them.

Layer: cli. Every path and every line of a diff was written by a machine; what hides in them is revealed.
"""

from __future__ import annotations

import shlex
from argparse import Namespace

from stead.cli.diffs import diff_lines, path_of
from stead.cli.figures import counted
from stead.cli.forms import OBJECTIVE, YES, Act, Row, arg, family, fields
from stead.cli.invocation import NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.output import clean_line, reveal_line
from stead.cli.templates import filled
from stead.client import Json
from stead.domain.event_words import MARKS, review

_ALSO = "Also what programs of yours act on: --include-protected. Also where your own file changed: --force"


def _list(invocation: Invocation, _: Namespace) -> int:
    rows = list(invocation.client.items("/reviews"))
    if invocation.as_json:
        return invocation.report({"items": rows})
    for row in rows:
        invocation.out.line(f"{clean_line(row['title'], 100)}, in {reveal_line(row['directory'])}")
        invocation.out.lines("  " + line for line, _ in filled(review(row["id"], row["review"])))
    if not rows:
        invocation.out.line("No changes wait for you.")
    return OK


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    out, session = invocation.out, arguments.id
    trial = _changes(invocation, session, arguments.path)
    if out.as_json:
        return invocation.report(trial)
    for change in trial["changes"]:
        _print(invocation, session, change)
    if not trial["changes"]:
        out.line("Nothing waits: the folder has it all, or nothing was changed.")
        return OK
    held = sum(bool(change["held"]) for change in trial["changes"])
    note = f", {counted(held, 'of them held back', 'of them held back')}" if held else ""
    out.line(f"{counted(len(trial['changes']), 'change')}{note}. Apply: stead held apply {session}")
    if held:
        out.line(_ALSO)
    out.line(f"Throw away, for good: stead held discard {session}")
    return OK


def _changes(invocation: Invocation, session: str, paths: list[str]) -> Json:
    """What waits; with paths, their changes alone and in full."""
    trials = [invocation.client.get(f"/objectives/{session}/trial", path=path) for path in paths or [""]]
    return {**trials[0], "changes": [change for trial in trials for change in trial["changes"]]}


def _print(invocation: Invocation, session: str, change: Json) -> None:
    """One change, with what is not shown of it and how to see that."""
    out, words = invocation.out, [change["note"]] if change["note"] else []
    if change["held"]:
        words.append(f"held back: {change['why']}")
    out.line(f"{MARKS[change['kind']]} {path_of(change)}" + (f"  ({reveal_line('; '.join(words))})" if words else ""))
    for line in diff_lines(change, out):
        out.line(f"    {line}")
    if change["digest"]:
        out.line(f"  {change['unseen'] or 'this is all of it'}. If you have read it, apply it:")
        out.line(f"  stead held apply {session} --seen {change['digest']}")
    elif change["unseen"] and change["held"] != "impossible":
        path = shlex.quote(change["path"])
        out.line(f"  {change['unseen']}. See it in full: stead held diff {session} --path {path}")


def _read_now(invocation: Invocation, session: str, paths: list[str]) -> list[str]:
    """Digests of the changes that cannot be shown as they are, each read in full at this terminal and said yes to."""
    digests = []
    for change in _changes(invocation, session, paths)["changes"]:
        if change["unseen"] and change["held"] != "impossible":
            (whole,) = (
                c for c in _changes(invocation, session, [change["path"]])["changes"] if c["path"] == change["path"]
            )
            _print(invocation, session, whole)
            if input("Apply this one? [y/N] ").strip().lower() in ("y", "yes"):
                digests.append(whole["digest"])
    return digests


def _apply(invocation: Invocation, arguments: Namespace) -> int:
    session, paths = arguments.id, arguments.path
    seen = arguments.seen or (_read_now(invocation, session, paths) if invocation.interactive else [])
    return _report(invocation, session, {"paths": paths, "seen": seen, **_ALLOWED(arguments)})


def _report(invocation: Invocation, session: str, body: Json) -> int:
    """Apply changes, and print the result."""
    answer = invocation.client.post(f"/objectives/{session}/trial/apply", body)
    page = invocation.client.get("/events", after=answer["seq"] - 1, streams=session, limit=1)
    fact, out = page["items"][0]["body"], invocation.out
    if out.as_json:
        out.json(fact)
    else:
        out.line(f"{counted(fact['applied'], 'change')} applied to the folder.")
        for held in fact["held"]:
            out.line(f"  held back: {reveal_line(held['path'])}: {reveal_line(held['why'])}")
        if fact["held"]:
            out.line(_ALSO)
        if fact["left"]:
            out.line(f"The rest still waits. Look: stead held diff {session}")
    return NEEDS_PERSON if fact["held_back"] else OK


def _stay(row: Json) -> str:
    return f"{reveal_line(row['path'])}  ({counted(row['files'], 'file')}, {row['size_bytes'] / 1e6:,.1f} MB)"


def _bring(invocation: Invocation, arguments: Namespace) -> int:
    session = arguments.id
    rows = {row["path"]: row for row in invocation.client.items(f"/objectives/{session}/stays")}
    if not arguments.path:
        last = f"Have one in your folder, too: stead held bring {session} --path P" if rows else "Nothing stays."
        return invocation.report({"items": list(rows.values())}, *map(_stay, rows.values()), last)
    if absent := set(arguments.path) - rows.keys():
        raise CommandError(f"{reveal_line(min(absent))} does not stay there", f"stead held bring {session}")
    which = "; ".join(_stay(rows[path]) for path in arguments.path)
    invocation.confirm("bring", f"Programs of yours may run what is in there: {which}.", yes=arguments.yes)
    return _report(invocation, session, {"bring": arguments.path})


_ALLOWED = fields("force", "include_protected")
_DISCARD = Act(
    "POST /objectives/{id}/trial/discard",
    "The changes of {id} that waited are gone; what was applied before stays.",
    confirm="All changes of {id} that wait are thrown away for good.",
)
_PATH = arg("--path P...", "this alone")
_APPLIED = (
    OBJECTIVE,
    _PATH,
    arg("--force", "also where your own file changed meanwhile"),
    arg("--include-protected", "also what programs of yours act on"),
    arg("--seen DIGEST...", "a change that diff --path showed in full"),
)
_ROWS: dict[str, Row] = {
    "list": ("list the changes that wait for you (the default)", (), _list),
    "diff": ("show what waits, with --path in full", (OBJECTIVE, _PATH), _diff),
    "apply": ("let changes into the folder", _APPLIED, _apply),
    "discard": ("throw all that wait away for good", (OBJECTIVE, YES), _DISCARD),
    "bring": ("bring over what stays in the sandbox, or list it", (OBJECTIVE, _PATH, YES), _bring),
}
COMMANDS = dict.fromkeys(("held", "trial"), family("held", _ROWS, "list"))
