"""How decisions and the findings of a check are shown.

Layer: cli. Pure. What a decision was recorded with beside the known fields is shown by its name, whatever it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from stead.cli import figures
from stead.cli.output import clean_line
from stead.domain.shown import reveal

if TYPE_CHECKING:
    from stead.client import Json
    from stead.domain.audit import AuditReport

_ANSWERS = {"given": "yes", "denied": "no", "lapsed": "lapsed", "": ""}


def report_lines(report: AuditReport) -> list[str]:
    """What a check found, the verdict last."""
    lines = [
        f"{figures.counted(report.events, 'event')}: commitments, chain and streams checked, "
        f"{report.erased:,} erased on purpose",
        f"{figures.counted(report.heads, 'signed head')} checked, {report.outside:,} of them kept outside the journal",
    ]
    if report.outside:
        lines.append(f"nothing can have been cut off up to event {report.covered:,}")
    lines += [f"WRONG: {clean_line(fault)}" for fault in report.faults]
    lines += [f"not checked: {clean_line(doubt)}" for doubt in report.doubts]
    if report.faults:
        lines.append(f"The record does NOT verify: {figures.counted(len(report.faults), 'fault')}.")
    elif report.doubts:
        lines.append("What could be checked is whole.")
    else:
        lines.append("The record is whole.")
    return lines


def decision_cells(item: Json) -> list[str]:
    """One line of the log."""
    return [
        str(item["seq"]),
        figures.moment(item["ts_ms"]),
        item["session"],
        item["tool"],
        item["verdict"],
        item["rule"],
        item["risk"],
        _ANSWERS[item["answer"]],
        item["answered_by"],
        item["outcome"],
    ]


def decision_pairs(item: Json) -> list[tuple[str, str]]:
    """One decision in full: names and values, empty ones left out."""
    answer = _ANSWERS[item["answer"]]
    where = f" (event {item['answer_seq']})" if item["answer_seq"] else ""
    granted = "granted ahead" if item["answered_by"] and not answer else answer
    rows = [
        ("event", str(item["seq"])),
        ("when", figures.moment(item["ts_ms"])),
        ("call", f"{clean_line(item['key'])}, {clean_line(item['tool'])}"),
        ("arguments", reveal(item["arguments"]).replace("\n", " ")),
        ("verdict", f"{clean_line(item['verdict'])}, by the rule {clean_line(item['rule'])}"),
        ("why", clean_line(item["reason"])),
        ("risk", clean_line(item["risk"])),
        *((clean_line(name), _shown(value)) for name, value in item["further"].items()),
        ("question", clean_line(item["approval"])),
        ("answer", f"{granted}{where}" if granted else ""),
        ("through", clean_line(item["answered_by"])),
        ("reason given", clean_line(item["answer_reason"])),
        ("outcome", f"{clean_line(item['outcome'])} (event {item['outcome_seq']})" if item["outcome"] else ""),
        ("digest", clean_line(item["digest"])),
    ]
    return [(name, value) for name, value in rows if value]


def _shown(value: object) -> str:
    if value in ("", None, [], {}):
        return ""
    return clean_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
