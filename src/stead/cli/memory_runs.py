"""What Stead itself made of what was said: proposals to answer, runs to look at and to take back.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from stead.cli.finding import find_proposal, find_run
from stead.cli.forms import YES, Act, Listing, Row, arg, number
from stead.cli.invocation import OK, Invocation
from stead.cli.output import clean
from stead.cli.templates import fill, filled, some
from stead.client import ApiError, Json
from stead.domain.event_words import worded

_WHAT = {"forget": "forget", "skill": "make a skill", "soul": "change soul.md", "scope": "tell it in more places"}
_SIGNS = {"made": "+", "amended": "~", "retired": "-", "restored": "+"}
_ABOUT = 20
_CONSOLIDATING_S = 300.0


def _proposals(invocation: Invocation, arguments: Namespace) -> int:
    out, client = invocation.out, invocation.client
    rows = list(client.items("/memories/proposals", status="all" if arguments.all else "waiting"))
    if out.as_json or not rows:
        return Listing("", "", "Nothing waits for your answer.").show(invocation, rows, arguments)
    for row in rows:
        proposal = row["proposal"]
        what = _WHAT.get(proposal["what"], proposal["what"])
        untrusted = proposal["label"]["integrity"] == "untrusted"
        head = "{proposal.id}  {what}{untrusted?, from untrusted words}, {made_ms:age}[, {answer}]"
        out.line(out.style(fill(head, {**row, "what": what, "untrusted": untrusted}), "bold"))
        out.line(fill("  {why:300}", proposal))
        if proposal["what"] == "scope":
            everywhere = proposal["text"] == "global"
            out.line("  in every folder" if everywhere else "  in all of its folder's sessions and objectives")
        else:
            for line in clean(proposal["text"]).strip("\n").splitlines()[:40]:
                out.line(f"    | {line}".rstrip())
        about = [(id, _words_of(invocation, id)) for id in proposal["memories"][:_ABOUT]]
        out.lines(some("  {0}  {1:140}", about, _ABOUT, len(proposal["memories"])))
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
    for id in arguments.ids:
        answer = invocation.client.post(f"/memories/proposals/{id}", {"accept": accept})
        said = f"{id} is {'accepted' if accept else 'refused'}"
        invocation.report(answer, said + fill("[: {text:200}]", answer) if answer["text"] else f"{said}.")
    return OK


def _diff(invocation: Invocation, arguments: Namespace) -> int:
    run, out = arguments.run["run"], invocation.out
    diff = invocation.client.get(f"/memories/runs/{run['run']}/diff")
    if out.as_json:
        return invocation.report(diff)
    for changed in diff["changed"]:
        out.line(_changed(changed))
    for proposal in diff["proposed"]:
        out.lines(text for text, _ in filled(worded({**proposal, "type": "memory.proposed"})))
    if not diff["changed"] and not diff["proposed"]:
        out.line("It changed nothing that is still kept.")
    said = "\ntaken back by {reverted_by}" if diff["reverted_by"] else "\ntake it back: stead memory revert {run}"
    if not diff["reverted_by"] and run.get("reverted"):
        said = "\nit took {reverted} back"
    out.line(fill(said, {**diff, **run}))
    return OK


def _changed(changed: Json) -> str:
    """One memory before and after a run, in a line."""
    memory, before = changed["after"] or changed["before"], changed["before"]
    note = ""
    if changed["how"] == "retired":
        note = fill("  ({why}[ by {by}])", changed)
    elif changed["how"] == "amended" and before:
        names = sorted(name for name in {*memory, *before} if memory.get(name) != before.get(name))
        marks = [f"{name} {before.get(name, '')} -> {memory.get(name, '')}" for name in names]
        note = fill("  ({marks:140})", {"marks": marks})
    return f"{_SIGNS[changed['how']]} {fill('{id}  {text:140}', memory)}{note}"


def _run(row: Json) -> Json:
    return row | {"reverted": row["run"].get("reverted", "")}


_RUNS = Listing(
    "/memories/runs",
    "RUN: {run.run} | ENDED: {ended_ms:moment} | BY: {run.by:40} | >READ: {run.read:number} | >MADE: {run.made:number}"
    " | >RETIRED: {run.retired:number} | >PROPOSED: {run.proposed:number} | >TOKENS: {run.tokens:number}"
    " | : [takes {reverted} back]",
    "Nothing was consolidated yet. Now: stead memory consolidate",
    newest=20,
    view=_run,
)
_CONSOLIDATE = Act("POST /memories/consolidate", "{text|Nothing was new.}", timeout_s=_CONSOLIDATING_S)
_DID = "{run.run.made:number} made, {run.run.retired:number} retired, {run.run.proposed:number} proposed"
_REVERT = Act(
    "POST /memories/runs/{run.id}/revert", "{text|It is taken back.}", confirm=f"{{run.id}} is taken back: {_DID}."
)
_PROPOSALS = (arg("ids PROPOSAL...", "ids, or their beginnings", find_proposal),)
_RUN = arg("run RUN", "its id, or the beginning", find_run.row)
ROWS: dict[str, Row] = {
    "proposals": (
        "list what would be changed, and only you may",
        (arg("--all", "also those that you answered"),),
        _proposals,
    ),
    "accept": ("accept proposals", _PROPOSALS, partial(_settle, True)),
    "refuse": ("refuse proposals", _PROPOSALS, partial(_settle, False)),
    "consolidate": ("work what was said into memory now", (), _CONSOLIDATE),
    "runs": ("list runs of consolidation", (number("-n --limit N", 20, "how many (20)"),), _RUNS),
    "diff": ("show what one run changed", (_RUN,), _diff),
    "revert": ("take back what one run changed", (_RUN, YES), _REVERT),
}
