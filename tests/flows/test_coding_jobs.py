"""Coding jobs over small real projects: a scripted model does them, and the host's own programs judge the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.jobs.all_jobs import JOBS, SHORT
from bench.jobs.job import Job
from bench.jobs.workplace import workplace
from tests.machines.bench import require_sandbox


@pytest.mark.parametrize(
    "job", [pytest.param(job, id=job.name, marks=() if job in SHORT else pytest.mark.long) for job in JOBS]
)
def test_a_coding_job_is_done_and_asks_no_more_than_it_must(job: Job, tmp_path: Path) -> None:
    require_sandbox()
    if missing := job.missing():
        pytest.skip(f"THE SYSTEM HAS NO {missing}, so this job cannot be done")
    with workplace(tmp_path / "place") as place:
        outcome = place.do(job)
    assert outcome.faults == [], outcome.report()
    assert outcome.asked <= job.asks, outcome.report()
