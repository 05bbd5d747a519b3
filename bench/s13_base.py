"""S13: the trusted base: its size, file by file, and which share of its branches the tests take.

Branches are counted by coverage's C tracer over the tests of the parts that the base is made of. Flows and attacks are
not among them: they speak to daemons in processes of their own, where no tracer is. Nor is one inside a machine, so the
runner is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.bar import Bar
from tests.architecture import TRUSTED_BASE_BAR
from tests.test_architecture import SOURCES, TRUSTED_BASE

ROOT = Path(__file__).parent.parent
TESTS = (
    "tests/domain",
    "tests/guardian",
    "tests/runtime",
    "tests/machines",
    "tests/storage",
    "tests/web",
    "tests/egress",
    "tests/tools",
)
NOT_TRACED = "machines/runner/"
BRANCHES = 95.0


def measure() -> list[Bar]:
    """Lines of the base, and its branches."""
    base, tables = TRUSTED_BASE.code(SOURCES), TRUSTED_BASE.data(SOURCES)
    for source in (*base, *tables):
        print(f"{source.filled_lines:6} {source.code_lines:6}  {source.name}")
    code, data = sum(source.code_lines for source in base), sum(source.code_lines for source in tables)
    filled = sum(source.filled_lines for source in base)
    said = f"{len(base)} files; {filled} lines with comments and docstrings; {data} lines of tables apart"
    fits = code <= TRUSTED_BASE_BAR
    size = Bar("S13", code, "lines of code", f"≤ {TRUSTED_BASE_BAR:,}", fits, {"not blank": filled}, said)
    return [size, _branches([source.name for source in (*base, *tables) if not source.name.startswith(NOT_TRACED)])]


def _branches(names: list[str]) -> Bar:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        data, report = Path(name) / "data", Path(name) / "report.json"
        tool = [sys.executable, "-m", "coverage"]
        options = [f"--data-file={data}"]
        run = [*tool, "run", *options, "--branch", f"--source={ROOT / 'src' / 'stead'}", "-m", "pytest", "-q"]
        done = subprocess.run([*run, "-m", "not long", *TESTS], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout[-3000:], done.stderr[-1000:], file=sys.stderr)
        subprocess.run([*tool, "json", *options, "-o", str(report), "-q"], cwd=ROOT, check=True)
        files = json.loads(report.read_text("utf-8"))["files"]
    taken = possible = 0
    for source in names:
        summary = files[f"src/stead/{source}"]["summary"]
        taken += summary["covered_branches"]
        possible += summary["num_branches"]
        if missing := files[f"src/stead/{source}"]["missing_branches"]:
            print(f"{source}: {summary['covered_branches']} of {summary['num_branches']} branches; not {missing}")
    share = 100 * taken / possible
    said = f"{taken} of {possible} branches of {len(names)} files, over {', '.join(TESTS)}"
    if done.returncode:
        said += "; some of these tests failed"
    return Bar("S13.branches", share, "% of the base's branches tested", f"≥ {BRANCHES:g}", share >= BRANCHES, {}, said)
