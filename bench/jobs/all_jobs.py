"""Every coding job, in the order in which they are done."""

from __future__ import annotations

from bench.jobs import build_jobs, git_jobs, history_jobs, node_jobs, python_jobs

JOBS = (*python_jobs.JOBS, *git_jobs.JOBS, *history_jobs.JOBS, *build_jobs.JOBS, *node_jobs.JOBS)
SHORT = (python_jobs.FIX_TEST, git_jobs.REBASE, git_jobs.CHANGE_CI)
"""Those that tell most in the least time."""
