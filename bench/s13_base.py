"""S13: the trusted base: its size, file by file, and which share of its branches the tests take.

Branches are counted by coverage's C tracer over the tests of the parts that the base is made of. The runner is left out
of that: it runs inside a machine, where no tracer is; ``tests/machines`` and ``tests/attacks`` speak over its wire.
"""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

from bench.bar import Bar
from tests.architecture import TRUSTED_BASE_LINES, Source
from tests.test_architecture import SOURCES, TRUSTED_BASE

ROOT = Path(__file__).parent.parent
TESTS = (
    "tests/domain",
    "tests/guardian",
    "tests/runtime",
    "tests/machines",
    "tests/storage",
    "tests/web",
    "tests/flows",
)
NOT_TRACED = "machines/runner/"
BRANCHES = 95.0


def measure() -> list[Bar]:
    """Lines of the base, and its branches."""
    base = [source for source in SOURCES if source.name.startswith(TRUSTED_BASE)]
    for source in base:
        print(f"{source.filled_lines:6} {code_lines(source):6}  {source.name}")
    lines, code = sum(source.filled_lines for source in base), sum(map(code_lines, base))
    said = f"{len(base)} files; {code} lines of code without comments and docstrings"
    fits = lines <= TRUSTED_BASE_LINES
    size = Bar("S13", lines, "lines that are not blank", f"≤ {TRUSTED_BASE_LINES:,}", fits, {"of code": code}, said)
    return [size, _branches([source.name for source in base if not source.name.startswith(NOT_TRACED)])]


def code_lines(source: Source) -> int:
    """Lines that hold code: no blank ones, no comments, no docstrings."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type not in silent:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(source.tree):
        # A string that stands by itself documents what is before or around it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def _branches(names: list[str]) -> Bar:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        data, report = Path(name) / "data", Path(name) / "report.json"
        tool = [sys.executable, "-m", "coverage"]
        options = [f"--data-file={data}"]
        run = [*tool, "run", *options, "--branch", f"--include={ROOT / 'src'}/stead/*", "-m", "pytest", "-q"]
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
