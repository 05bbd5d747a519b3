"""Every goal of the rehearsal model's table, end to end: real daemon, real sandbox, real questions.

The table itself, with what each goal must write and say, is ``tests/providers/test_rehearsal.py``'s; there the tools
run over a folder in memory, here over a real one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.flows.house import LivingHome
from tests.promises import promise
from tests.providers.test_rehearsal import CASES, FILES, Case


@promise("LLM-6.rehearsal", "TOOL-1.edit", "TOOL-1.glob", "TOOL-1.grep", "TOOL-1.shell")
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_more_than_forty_goals_end_as_they_report(house: LivingHome, tmp_path: Path, every: int) -> None:
    offline = [case for case in CASES if "http" not in case.goal]
    assert len(offline) >= 40
    wrong = [
        problem
        for number, case in enumerate(offline[::every])
        if (problem := _problem(house, tmp_path / str(number), case))
    ]
    assert not wrong, "\n".join(wrong)


def _problem(house: LivingHome, folder: Path, case: Case) -> str:
    """What differs from the table, "" for nothing."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    row = house.finish(house.give(case.goal, folder), answer="once")
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()
    }
    changed = {name: text for name, text in found.items() if FILES.get(name) != text}
    said = f"{case.goal!r}: {row['status']} ({row['reason']}), changed {sorted(changed)}: {row['summary'][:300]}"
    if set(changed) != set(case.wrote) or any(text not in ("*", changed[name]) for name, text in case.wrote.items()):
        return said
    ends = WELL if case.met else ("answered", "incomplete", "failed")
    return "" if row["status"] in ends else said
