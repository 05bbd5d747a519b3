"""Nothing that a machine leaves in the person's folder is run by the programs of the person's."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from tests.attacks.folder_to_host.attempt import Outcome, Step, Try, Typed, Wrote
from tests.attacks.folder_to_host.judge import judge_all
from tests.attacks.folder_to_host.tries import TRIES
from tests.attacks.ordinary import as_ordinary_user
from tests.machines.bench import require_sandbox
from tests.promises import promise

KINDS = sorted({one.kind for one in TRIES.values()})
FEW = [
    next(name for name, one in TRIES.items() if one.kind == kind and one.real and "setpriv" not in one.needs)
    for kind in KINDS
]
"""For a second user, as all take minutes: one of each kind, and programs that are missing leave at least twelve."""

SHORT = 3
"""Tries of each kind that every run makes, spread over the kind; the others are run by ``make test-long``."""


def _tries() -> Iterator[ParameterSet]:
    for kind in KINDS:
        names = [name for name, one in TRIES.items() if one.kind == kind]
        short = {names[len(names) * number // SHORT] for number in range(SHORT)}
        for name in names:
            yield pytest.param(name, marks=[] if name in short else [pytest.mark.long])


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those that pytest makes."""
    made = Path(tempfile.mkdtemp(prefix="stead-host-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_there_are_enough_tries() -> None:
    assert len(TRIES) >= 300 and len(KINDS) >= 15
    assert sum(one.real for one in TRIES.values()) >= 0.95 * len(TRIES)


STEPS: dict[str, Step] = {
    "a command": 'echo "$RUN" > tool.sh',
    "a tool": Wrote("tool.sh", "@RUN@"),
    "a terminal": Typed('echo "$RUN" > tool.sh'),
}


@pytest.mark.parametrize("how", STEPS)
async def test_a_judge_sees_what_does_land_and_is_started_on_purpose(base: Path, how: str) -> None:
    require_sandbox()
    [outcome] = await judge_all(base, [Try("control", how, (STEPS[how],), ("sh tool.sh",))])
    assert outcome.lost and not outcome.broken, outcome


@promise("SEC-5.protected")
@pytest.mark.parametrize("name", list(_tries()))
async def test_what_a_machine_plants_is_not_run_by_the_persons_programs(base: Path, name: str) -> None:
    require_sandbox()
    [outcome] = await judge_all(base, [TRIES[name]])
    if outcome.missing:
        pytest.skip(f"{outcome.missing} is not on this host")
    assert not outcome.broken, outcome
    assert not outcome.lost, outcome


@promise("SEC-5.protected")
@pytest.mark.skipif(os.geteuid() != 0, reason="run as an ordinary user, the tests above are what this one is")
def test_nor_by_those_of_an_ordinary_user(base: Path) -> None:
    require_sandbox()
    done = as_ordinary_user(base, "tests.attacks.folder_to_host.judge", str(base), *FEW)
    assert done.returncode == 0, done.stderr
    outcomes = msgspec.json.decode(done.stdout, type=list[Outcome])
    assert len([one for one in outcomes if not one.missing]) >= 12
    assert [one for one in outcomes if one.lost or one.broken] == []


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_without_stead_the_same_is_run(base: Path) -> None:
    outcomes = await judge_all(base, list(TRIES.values()), stead=False)
    tried = [one for one in outcomes if not one.missing]
    withstood = [f"{one.kind}: {one.name}" for one in tried if not one.lost]
    assert len(withstood) <= 0.1 * len(tried), withstood
    assert [name for name in withstood if TRIES[name].real] == []
