"""``held``: look at the changes that wait for the person, and decide on them.

Layer: cli. Every path and every line of a diff was written by a machine; what hides in them is revealed.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace

from stead.cli.diffs import diff_lines, path_of
from stead.cli.figures import counted
from stead.cli.finding import find_objective
from stead.cli.invocation import NEEDS_PERSON, OK, Command, CommandError, Invocation, add_yes_option
from stead.cli.output import clean_line, reveal_line
from stead.cli.templates import filled
from stead.client import Json
from stead.domain.event_words import MARKS, review

_ALSO = "Also what programs of yours act on: --include-protected. Also where your own file changed: --force"
_WAYS = ("list", "diff", "apply", "discard", "bring")


def _configure(parser: ArgumentParser) -> None:
    parser.usage = "stead held [list] | diff|apply|discard|bring ID [options]"
    parser.add_argument(
        "action",
        nargs="?",
        choices=_WAYS,
        default="list",
        help="look, let them into the folder, or drop them; or bring over what stays in the sandbox",
    )
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="an objective or a session")
    parser.add_argument(
        "--path", action="append", default=[], metavar="P", help="this alone: diff shows it in full; repeatable"
    )
    parser.add_argument("--force", action="store_true", help="apply also where your own file changed meanwhile")
    parser.add_argument("--include-protected", action="store_true", help="apply also what programs of yours act on")
    parser.add_argument(
        "--seen", action="append", default=[], metavar="DIGEST", help="a change that diff --path showed in full"
    )
    add_yes_option(parser)


def _held(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.action == "list":
        return _list(invocation)
    if not arguments.id:
        raise CommandError(f"{arguments.action} needs an ID", "stead held list")
    session = find_objective(invocation.client, arguments.id)
    match arguments.action:
        case "diff":
            return _diff(invocation, session, arguments.path)
        case "apply":
            return _apply(invocation, session, arguments)
        case "bring":
            return _bring(invocation, session, arguments)
        case _:
            return _discard(invocation, session, arguments)


def _list(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/reviews"))
    if invocation.as_json:
        return invocation.report({"items": rows})
    for row in rows:
        invocation.out.line(f"{clean_line(row['title'], 100)}, in {reveal_line(row['directory'])}")
        invocation.out.lines("  " + line for line, _ in filled(review(row["id"], row["review"])))
    if not rows:
        invocation.out.line("No changes wait for you.")
    return OK


def _diff(invocation: Invocation, session: str, paths: list[str]) -> int:
    out, trial = invocation.out, _changes(invocation, session, paths)
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


def _apply(invocation: Invocation, session: str, arguments: Namespace) -> int:
    seen = arguments.seen or (_read_now(invocation, session, arguments.path) if invocation.interactive else [])
    body: Json = {
        "paths": arguments.path,
        "force": arguments.force,
        "include_protected": arguments.include_protected,
        "seen": seen,
    }
    return _report(invocation, session, body)


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


def _bring(invocation: Invocation, session: str, arguments: Namespace) -> int:
    rows = {row["path"]: row for row in invocation.client.items(f"/objectives/{session}/stays")}
    if not arguments.path:
        last = f"Have one in your folder, too: stead held bring {session} --path P" if rows else "Nothing stays."
        return invocation.report({"items": list(rows.values())}, *map(_stay, rows.values()), last)
    if absent := set(arguments.path) - rows.keys():
        raise CommandError(f"{reveal_line(min(absent))} does not stay there", f"stead held bring {session}")
    which = "; ".join(_stay(rows[path]) for path in arguments.path)
    invocation.confirm("bring", f"Programs of yours may run what is in there: {which}.", yes=arguments.yes)
    return _report(invocation, session, {"bring": arguments.path})


def _discard(invocation: Invocation, session: str, arguments: Namespace) -> int:
    invocation.confirm("discard", f"All changes of {session} that wait are thrown away for good.", yes=arguments.yes)
    answer = invocation.client.post(f"/objectives/{session}/trial/discard", {})
    return invocation.report(answer, f"The changes of {session} that waited are gone; what was applied before stays.")


COMMANDS = dict.fromkeys(("held", "trial"), Command(_configure, _held))
