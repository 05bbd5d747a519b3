"""What Stead itself made of what was said: proposals to answer, runs to look at and to take back.

Layer: cli.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial

from stead.cli import figures
from stead.cli.finding import find_proposal, find_run
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.memory_telling import told
from stead.cli.output import clean, clean_line
from stead.client import ApiError, Json

_WHAT = {"forget": "forget", "skill": "make a skill", "soul": "change soul.md", "scope": "tell it in more places"}
_SIGNS = {"made": "+", "amended": "~", "retired": "-", "restored": "+"}
_TEXT = 140
_PAGE = 500
_ABOUT = 20
_CONSOLIDATING_S = 300.0


def _proposals(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/memories/proposals", status="all" if arguments.all else "waiting"))
    out, now_ms = invocation.out, time.time() * 1000
    if out.as_json or not rows:
        out.rows(rows, [], [], "Nothing waits for your answer.")
        return OK
    for row in rows:
        proposal = row["proposal"]
        what = _WHAT.get(proposal["what"], clean_line(proposal["what"]))
        answered = f", {clean_line(row['answer'])}" if row["answer"] else ""
        untrusted = ", from untrusted words" if proposal["label"]["integrity"] == "untrusted" else ""
        head = f"{clean_line(proposal['id'])}  {what}{untrusted}, {figures.age(row['made_ms'], now_ms)}{answered}"
        out.line(out.style(head, "bold"))
        out.line(f"  {clean_line(proposal['why'], 300)}")
        if proposal["what"] == "scope":
            out.line(
                "  in every folder"
                if proposal["text"] == "global"
                else "  in all of its folder's sessions and objectives"
            )
        else:
            for line in clean(proposal["text"]).strip("\n").splitlines()[:40]:
                out.line(f"    | {line}".rstrip())
        for id in proposal["memories"][:_ABOUT]:
            out.line(f"  {clean_line(id)}  {clean_line(_words_of(invocation, id), _TEXT)}")
        if (more := len(proposal["memories"]) - _ABOUT) > 0:
            out.line(f"  and {more:,} more")
    out.line("\nanswer: stead memory accept ID, stead memory refuse ID")
    return OK


def _words_of(invocation: Invocation, id: str) -> str:
    """What a memory says; where it was forgotten meanwhile, that."""
    try:
        return str(invocation.client.get(f"/memories/{id}")["memory"]["text"])
    except ApiError as error:
        if error.status != 404:
            raise
        return "(forgotten)"


def _settle(accept: bool, invocation: Invocation, arguments: Namespace) -> int:
    ids = list(dict.fromkeys(find_proposal(invocation.client, typed) for typed in arguments.ids))
    for id in ids:
        answer = invocation.client.post(f"/memories/proposals/{id}", {"accept": accept})
        text = f": {clean_line(answer['text'], 200)}" if answer["text"] else "."
        invocation.report(answer, f"{id} is {'accepted' if accept else 'refused'}{text}")
    return OK


def _consolidate(invocation: Invocation, arguments: Namespace) -> int:
    answer = invocation.client.post("/memories/consolidate", timeout_s=_CONSOLIDATING_S)
    return invocation.report(answer, clean_line(answer["text"]) or "Nothing was new.")


def _runs(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise CommandError(f"-n {arguments.limit} is not positive", "stead memory runs -n 20")
    rows = invocation.client.get("/memories/runs", limit=min(arguments.limit, _PAGE))["items"]
    cells = [
        [
            *(row["run"]["run"], figures.moment(row["ended_ms"]), clean_line(row["run"]["by"], 40)),
            *(f"{row['run'][name]:,}" for name in ("read", "made", "retired", "proposed", "tokens")),
            f"takes {clean_line(row['run']['reverted'])} back" if row["run"].get("reverted") else "",
        ]
        for row in rows
    ]
    headings = ["RUN", "ENDED", "BY", ">READ", ">MADE", ">RETIRED", ">PROPOSED", ">TOKENS", ""]
    none = "Nothing was consolidated yet. Now: stead memory consolidate"
    invocation.out.rows(rows, headings, cells, none)
    return OK


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    run, out = find_run(invocation.client, arguments.run)["run"], invocation.out
    diff = invocation.client.get(f"/memories/runs/{run['run']}/diff")
    if out.as_json:
        return invocation.report(diff)
    for changed in diff["changed"]:
        out.line(_changed(changed))
    for proposal in diff["proposed"]:
        for text, _ in told({**proposal, "type": "memory.proposed"}, verbose=True):
            out.line(text)
    if not diff["changed"] and not diff["proposed"]:
        out.line("It changed nothing that is still kept.")
    if diff["reverted_by"]:
        out.line(f"\ntaken back by {clean_line(diff['reverted_by'])}")
    elif run.get("reverted"):
        out.line(f"\nit took {clean_line(run['reverted'])} back")
    else:
        out.line(f"\ntake it back: stead memory revert {clean_line(run['run'])}")
    return OK


def _changed(changed: Json) -> str:
    """One memory before and after a run, in a line."""
    memory = changed["after"] or changed["before"]
    what = f"{_SIGNS[changed['how']]} {clean_line(memory['id'])}  {clean_line(memory['text'], _TEXT)}"
    match changed["how"]:
        case "retired":
            by = f" by {clean_line(changed['by'])}" if changed["by"] else ""
            return f"{what}  ({clean_line(changed['why'])}{by})"
        case "amended" if changed["before"]:
            before = changed["before"]
            names = sorted(name for name in {*memory, *before} if memory.get(name) != before.get(name))
            marks = (f"{name} {before.get(name, '')} -> {memory.get(name, '')}" for name in names)
            return f"{what}  ({clean_line(', '.join(marks), _TEXT)})"
        case _:
            return what


def _revert(invocation: Invocation, arguments: Namespace) -> int:
    row = find_run(invocation.client, arguments.run)
    run = row["run"]
    did = f"{run['made']:,} made, {run['retired']:,} retired, {run['proposed']:,} proposed"
    invocation.confirm("revert", f"{row['id']} is taken back: {did}.", yes=arguments.yes)
    answer = invocation.client.post(f"/memories/runs/{row['id']}/revert")
    return invocation.report(answer, clean_line(answer["text"]) or f"{row['id']} is taken back.")


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "proposals": _proposals,
    "accept": partial(_settle, True),
    "refuse": partial(_settle, False),
    "consolidate": _consolidate,
    "runs": _runs,
    "diff": _diff,
    "revert": _revert,
}
