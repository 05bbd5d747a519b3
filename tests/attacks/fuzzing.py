"""Schemathesis over the OpenAPI document of a running daemon: does the API do what its document says, and only that?

For the test, which is short, and for the bench, which is not. It runs as the program that it is, so that nothing of it
is in the process of the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.flows.house import Json, LivingHome

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("schemathesis.toml")
NOT_FUZZED = {
    "/events/stream": "it has no end; tests/web/test_live.py reads it",
    "/shutdown": "it ends what is being tested; tests/cli/test_daemon.py calls it",
}
"""Operations that are left out, and why."""


@dataclass(frozen=True)
class Fuzzed:
    """What came of it.

    Args:
        cases: requests that were made and judged.
        operations: that were tested, of ``documented``.
        documented: operations of the document.
        failures: what was wrong, a line each.
        said: the report for people.
    """

    cases: int
    operations: int
    documented: int
    failures: tuple[str, ...]
    said: str


def fuzz(
    house: LivingHome,
    folder: Path,
    *,
    examples: int,
    seed: int,
    phases: Sequence[str],
    timeout_s: float,
    apart: int = 1,
) -> Fuzzed:
    """Make up requests to every operation, and judge every answer.

    Args:
        house: runs.
        folder: an empty one, for the report and for objectives to work in.
        examples: the most requests that are made up for an operation in a phase.
        seed: the same one makes up the same requests.
        phases: of examples, coverage, fuzzing, stateful.
        timeout_s: for all of it.
        apart: of the operations that take a body, whose forms cost most to make up, every so manieth; all others.
    """
    address = json.loads(house.home.address.read_text("utf-8"))
    document, report = folder / "openapi.json", folder / "report.json"
    whole: Json = house.get("/openapi.json")
    bodies = [(path, way) for path, ways in whole["paths"].items() for way in ways if "requestBody" in ways[way]]
    for number, (path, way) in enumerate(bodies):
        if number % apart and path not in NOT_FUZZED:
            del whole["paths"][path][way]
    document.write_text(json.dumps(whole), "utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", str(document)]
    command += ["--url", f"http://127.0.0.1:{address['port']}/api/v1"]
    command += ["--header", f"Authorization: Bearer {address['bearer']}"]
    command += [part for path in NOT_FUZZED for part in ("--exclude-path", path)]
    command += ["--phases", ",".join(phases), "--max-examples", str(examples), "--seed", str(seed)]
    command += ["--no-shrink", "--continue-on-failure", "--generation-database", "none"]
    command += ["--request-timeout", "20", "--report", "json", "--report-json-path", str(report)]
    hooks = {"FUZZ_WHOLE": "1"} if "fuzzing" in phases else {}
    hooks |= {"SCHEMATHESIS_HOOKS": "tests.attacks.fuzz_hooks", "FUZZ_FOLDER": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | hooks, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert report.exists(), done.stdout + done.stderr
    found: Json = json.loads(report.read_text("utf-8"))
    failures = [f"{flaw['code']} {flaw['title']}: {flaw['operations']}" for flaw in found["failures"]]
    failures += [f"error: {error}" for error in found["errors"]]
    assert found["complete"] and done.returncode in (0, 1), done.stdout + done.stderr
    return Fuzzed(
        found["test_cases"]["generated"],
        found["operations"]["tested"],
        found["operations"]["total"],
        tuple(failures),
        done.stdout,
    )
