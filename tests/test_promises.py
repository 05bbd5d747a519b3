"""The table of promises is whole, and what it calls done is shown by a collected test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CLAIMS, is_of_all_tests
from tests.promises import FEATURES, PROMISES, Promise, findings

ROOT = Path(__file__).parents[1]
COLLECT = """
import json, sys, pytest

class Claims:
    def __init__(self):
        self.found = {}

    def pytest_collection_finish(self, session):
        for item in session.items:
            for mark in item.iter_markers("promise"):
                for id in mark.args:
                    self.found.setdefault(id, []).append(item.nodeid)

claims = Claims()
code = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[2:]], plugins=[claims])
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(claims.found, file)
sys.exit(0 if code in (0, 5) else 1)
"""


def collect_claims(out: Path, *folders: str) -> dict[str, list[str]]:
    """Every promise that a test claims, as pytest itself collects them, with the tests' ids."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(out), *folders], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.timeout(330)  # collecting all tests is 15 s of CPU, which a loaded machine makes minutes
def test_every_promise_marked_done_is_claimed_by_a_collected_test(request: pytest.FixtureRequest) -> None:
    """A run of all tests has collected them; a run of some asks for a collection of all."""
    claims = request.config.stash[CLAIMS]
    if not is_of_all_tests(request.config):
        claims = collect_claims(request.getfixturevalue("tmp_path") / "claims.json")
    assert findings(PROMISES, FEATURES, claims) == []


def test_a_claim_is_found_where_pytest_finds_the_test(tmp_path: Path) -> None:
    planted = tmp_path / "test_planted.py"
    planted.write_text("import pytest\n@pytest.mark.promise('OBJ-1.pause')\ndef test_it() -> None: pass\n")

    claims = collect_claims(tmp_path / "claims.json", "--rootdir", str(ROOT), str(planted))

    assert list(claims) == ["OBJ-1.pause"]


KEPT = Promise("OBJ-1.pause", "it pauses", "cli", stage=1, done=True)


@pytest.mark.parametrize(
    ("rows", "features", "claims", "flaw"),
    [
        ([KEPT], ["OBJ-1"], {}, "'OBJ-1.pause' is marked done, but no test in"),
        ([KEPT], ["OBJ-1"], {"OBJ-1.pause": ["tests/brain/test_turn.py::test_x"]}, "'OBJ-1.pause' is marked done"),
        ([KEPT, KEPT], ["OBJ-1"], {"OBJ-1.pause": ["tests/flows/test_x.py::test_x"]}, "stands twice"),
        ([], ["OBJ-1"], {}, "'OBJ-1' of the feature table has no promise"),
        ([Promise("NEW-1.x", "", "cli")], [], {}, "'NEW-1.x' is of no feature"),
        ([], [], {"OBJ-1.fly": ["tests/flows/test_x.py::test_x"]}, "'OBJ-1.fly' is claimed by"),
    ],
)
def test_a_flaw_of_the_table_is_found(
    rows: list[Promise], features: list[str], claims: dict[str, list[str]], flaw: str
) -> None:
    assert [text for text in findings(rows, features, claims) if flaw in text]


def test_a_kept_promise_has_no_flaw() -> None:
    assert findings([KEPT], ["OBJ-1"], {"OBJ-1.pause": ["tests/flows/test_x.py::test_x"]}) == []


def test_a_run_with_a_claim_of_an_unknown_promise_is_refused(tmp_path: Path) -> None:
    planted = tmp_path / "test_planted.py"
    planted.write_text("import pytest\n@pytest.mark.promise('OBJ-1.fly')\ndef test_it() -> None: pass\n")
    settings = ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *settings, "-p", "tests.conftest", str(planted)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 4
    assert "claims ['OBJ-1.fly']" in done.stdout + done.stderr
