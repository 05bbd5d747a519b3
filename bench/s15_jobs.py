"""S15: coding jobs of a usual day: how many succeed, and how often a person is asked while they are done.

The work is done by a scripted model in small real projects; the result is judged on the host, by the host's programs.
A review of held changes counts as a question. ``python -m bench.s15_jobs [PROFILE] [WORDS]`` does the jobs with these
words in their names, and says what went wrong and what was asked.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.bar import Bar
from bench.jobs.all_jobs import JOBS
from bench.jobs.job import Job
from bench.jobs.workplace import COMPARED, PROFILE, Outcome, workplace

MEAN_BAR, MEDIAN_BAR = 0.4, 0


def measure() -> list[Bar]:
    """All jobs, in the profile that the bar is about, and in the one that it is compared with."""
    outcomes = done(JOBS, PROFILE)
    compared = done(JOBS, COMPARED) if COMPARED else []
    print(table(outcomes, compared))
    for outcome in outcomes:
        if outcome.faults or outcome.asked:
            print(outcome.report())
    succeeded, asked = sum(not one.faults for one in outcomes), [one.asked for one in outcomes]
    mean, median = statistics.mean(asked), statistics.median(asked)
    said = (
        f"{len(outcomes)} jobs in profile {PROFILE}; {sum(len(one.questions) for one in outcomes)} questions and "
        f"{sum(len(one.reviews) for one in outcomes)} reviews of held changes; median {median:g} a job"
    )
    anchors = {COMPARED: statistics.mean(one.asked for one in compared)} if compared else {}
    holds = mean <= MEAN_BAR and median <= MEDIAN_BAR
    return [
        Bar("S15", mean, "questions a job", f"≤ {MEAN_BAR}, median {MEDIAN_BAR}", holds, anchors, said),
        Bar("S15.DONE", succeeded, "jobs done", f"{len(outcomes)}", succeeded == len(outcomes), {}, said),
    ]


def done(jobs: Sequence[Job], profile: str) -> list[Outcome]:
    """Do them, one after the other, with one daemon."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name, workplace(Path(name), profile) as place:
        return [place.do(job) for job in jobs]


def table(outcomes: Sequence[Outcome], compared: Sequence[Outcome] = ()) -> str:
    """One line a job; where it was done twice, with what came of it the other time."""
    head = f"{'job':<26} {'done':<5} {'questions':>9} {'reviews':>7} {'s':>7} {'CPU s':>7}"
    lines = [head + (f"   {COMPARED}: done, questions, reviews" if compared else "  slowest call")]
    for place, one in enumerate(outcomes):
        counts = f"{len(one.questions):>9} {len(one.reviews):>7}"
        line = f"{one.job:<26} {_done(one):<5} {counts} {one.seconds:>7.1f} {one.cpu_s:>7.1f}"
        if not compared:
            line += f"  {one.slowest[:100]}"
        else:
            other = compared[place]
            line += f"   {_done(other):<5} {len(other.questions):>3} {len(other.reviews):>3}"
        lines.append(line)
    return "\n".join(lines)


def _done(outcome: Outcome) -> str:
    return "no" if outcome.faults else "yes"


def main(arguments: Sequence[str]) -> int:
    """Do some jobs and tell all of them."""
    profile, *words = arguments or [PROFILE]
    chosen = [job for job in JOBS if not words or any(word in job.name for word in words)]
    outcomes = done(chosen, profile)
    print(table(outcomes))
    print("\n".join(one.report() for one in outcomes if one.faults or one.asked))
    return int(any(one.faults for one in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
