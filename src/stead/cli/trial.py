"""``trial`` and ``quarantine``: look at what an objective did aside, and decide on it.

Layer: cli. Every path and every line of a diff was written by a machine, and is cleaned before it is shown.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.figures import counted
from stead.cli.finding import find_objective
from stead.cli.invocation import NEEDS_PERSON, OK, Command, CommandError, Invocation
from stead.cli.output import clean, clean_line
from stead.client import Json

_MARKS = {"added": "+", "changed": "~", "deleted": "-", "mode": "m"}
_WAYS = ("diff", "apply", "discard")


def _configure_trial(parser: ArgumentParser) -> None:
    parser.usage = "stead trial diff|apply|discard ID [options]"
    parser.add_argument("action", choices=_WAYS, help="look at the changes, let them into the folder, or drop them")
    parser.add_argument("id", metavar="ID", help="an objective that was run with --trial")
    parser.add_argument("--path", action="append", default=[], metavar="P", help="apply this alone; repeatable")
    parser.add_argument("--force", action="store_true", help="apply also where your own file changed meanwhile")
    parser.add_argument("--include-protected", action="store_true", help="apply also what programs of yours act on")
    parser.add_argument("--yes", action="store_true", help="discard without being asked")


def _trial(invocation: Invocation, arguments: Namespace) -> int:
    session = find_objective(invocation.client, arguments.id)
    match arguments.action:
        case "diff":
            return _diff(invocation, session)
        case "apply":
            return _apply(invocation, session, arguments)
        case _:
            return _discard(invocation, session, arguments)


def _diff(invocation: Invocation, session: str) -> int:
    trial, out = invocation.client.get(f"/objectives/{session}/trial"), invocation.out
    if out.as_json:
        out.json(trial)
        return OK
    for change in trial["changes"]:
        out.line(_summary(change))
        for line in clean(change["diff"]).splitlines():
            out.line(f"    {line}")
    if not trial["changes"]:
        out.line("Nothing is on trial: the folder has it all, or nothing was changed.")
        return OK
    held = sum(bool(change["held"]) for change in trial["changes"])
    note = f", {counted(held, 'of them held back', 'of them held back')}" if held else ""
    out.line(f"{counted(len(trial['changes']), 'change')}{note}. Apply: stead trial apply {session}")
    out.line(f"Throw away, for good: stead trial discard {session}")
    return OK


def _summary(change: Json) -> str:
    path = clean_line(change["path"], 200) + ("/" if change["what"] == "folder" else "")
    words = [change["note"]] if change["note"] else []
    if change["held"]:
        words.append(f"held back: {change['why']}")
    return f"{_MARKS[change['kind']]} {path}" + (f"  ({clean_line('; '.join(words), 240)})" if words else "")


def _apply(invocation: Invocation, session: str, arguments: Namespace) -> int:
    body: Json = {"paths": arguments.path, "force": arguments.force, "include_protected": arguments.include_protected}
    answer = invocation.client.post(f"/objectives/{session}/trial/apply", body)
    page = invocation.client.get("/events", after=answer["seq"] - 1, streams=session, limit=1)
    fact, out = page["items"][0]["body"], invocation.out
    if out.as_json:
        out.json(fact)
    else:
        out.line(f"{counted(fact['applied'], 'change')} applied to the folder.")
        for held in fact["held"]:
            out.line(f"  held back: {clean_line(held['path'], 160)}: {clean_line(held['why'], 200)}")
        if fact["left"]:
            out.line(f"The rest stays on trial. Look: stead trial diff {session}")
    return NEEDS_PERSON if fact["held_back"] else OK


def _discard(invocation: Invocation, session: str, arguments: Namespace) -> int:
    out = invocation.out
    if not arguments.yes:
        if not invocation.interactive:
            raise CommandError(
                "discarding cannot be undone, and there is no terminal to ask at",
                f"stead trial discard {session} --yes",
                exit_code=NEEDS_PERSON,
            )
        if input("Throw all changes on trial away? This cannot be undone. [y/N] ").strip().lower() not in ("y", "yes"):
            out.line("Nothing was thrown away.")
            return OK
    answer = invocation.client.post(f"/objectives/{session}/trial/discard", {})
    if out.as_json:
        out.json(answer)
    else:
        out.line(f"The changes of {session} are gone; the folder is as it was.")
    return OK


def _configure_quarantine(parser: ArgumentParser) -> None:
    parser.usage = "stead quarantine [list|restore|remove] [ITEM]"
    parser.add_argument("action", nargs="?", choices=("list", "restore", "remove"), default="list", help="else: list")
    parser.add_argument("item", nargs="?", default="", metavar="ITEM", help="what to put back, or to remove for good")


def _quarantine(invocation: Invocation, arguments: Namespace) -> int:
    out, client = invocation.out, invocation.client
    if arguments.action != "list" and not arguments.item:
        raise CommandError(f"{arguments.action} needs an ITEM", "stead quarantine list")
    if arguments.action == "list":
        items = client.get("/quarantine")["items"]
        if out.as_json:
            out.json({"items": items})
            return OK
        for row in items:
            out.line(f"{row['id']}  {clean_line(row['path'], 100)}  of {clean_line(row['directory'], 100)}")
        out.line("Put one back: stead quarantine restore ITEM" if items else "Nothing is under quarantine.")
        return OK
    path = f"/quarantine/{arguments.item}"
    answer = client.post(f"{path}/restore", {}) if arguments.action == "restore" else client.delete(path)
    if out.as_json:
        out.json(answer)
    else:
        out.line("It is back where it was." if arguments.action == "restore" else "It is removed for good.")
    return OK


COMMANDS = {
    "trial": Command(_configure_trial, _trial),
    "quarantine": Command(_configure_quarantine, _quarantine),
}
