"""How decisions and the findings of a check are shown.

Layer: cli. Pure. What a decision was recorded with besides the known fields is shown by its name, whatever it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from stead.cli.templates import fill, lines, pairs
from stead.domain.shown import reveal

if TYPE_CHECKING:
    from stead.client import Json

_ANSWERS = {"given": "yes", "denied": "no", "lapsed": "lapsed", "": ""}
_REPORT = (
    "{events:#event}: commitments, chain and streams checked, {erased:number} erased on purpose\n"
    "{heads:#signed head} checked, {outside:number} of them kept outside the journal\n"
    "[nothing can have been cut off up to event {upto:number}]"
)
_FIRST = (
    "event: {seq} | when: {ts_ms:moment} | call: {key}, {tool} | arguments: {shown_arguments:raw}"
    " | verdict: {verdict}, by the rule {rule} | why: {reason} | risk: {risk}"
)
_LAST = (
    "question: {approval} | answer: {granted}[ (event {answer_seq})] | through: {answered_by}"
    " | reason given: {answer_reason} | outcome: [{outcome} (event {outcome_seq})] | digest: {digest}"
)


def report_lines(report: Json) -> list[str]:
    """What a check found, the verdict last.

    Args:
        report: an ``AuditReport``.
    """
    said = lines(_REPORT, {**report, "upto": report["covered"] if report["outside"] else 0})
    said += [fill("WRONG: {what}", {"what": fault}) for fault in report["faults"]]
    said += [fill("not checked: {what}", {"what": doubt}) for doubt in report["doubts"]]
    if report["faults"]:
        return [*said, fill("The record does NOT verify: {faults:#fault}.", report)]
    return [*said, "What could be checked is whole." if report["doubts"] else "The record is whole."]


def decision(item: Json) -> Json:
    """A decision with its answer as a person says it."""
    return {**item, "answer": _ANSWERS[item["answer"]]}


def decision_pairs(item: Json) -> list[tuple[str, str]]:
    """One decision in full: names and values, empty ones left out."""
    shown = decision(item)
    shown["granted"] = "granted ahead" if item["answered_by"] and not shown["answer"] else shown["answer"]
    shown["shown_arguments"] = reveal(item["arguments"]).replace("\n", " ")
    further = {name: value for name, value in item["further"].items() if value not in ("", None, [], {})}
    named = [(fill("{name}", {"name": name}), _shown(value)) for name, value in further.items()]
    return [*pairs(_FIRST, shown), *named, *pairs(_LAST, shown)]


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return fill("{text}", {"text": text})
