"""What is called harmless is run by real bash, in a throw-away sandbox full of traps: it must do no harm."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stead.domain.policies import Risk
from stead.guardian.shell import assess
from tests.guardian.shell_mutants import load, mutants
from tests.guardian.shell_oracle import Oracle
from tests.machines.bench import require_sandbox, this_host

SEED = 20_260_101


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    require_sandbox()
    return Oracle(tmp_path_factory.mktemp("oracle"), this_host().require().bwrap)


def low(commands: Sequence[str]) -> list[str]:
    return sorted({command for command in commands if assess(command).risk is Risk.LOW})


def test_every_command_called_harmless_is(oracle: Oracle) -> None:
    commands = low([sample.command for name in ("read_only", "dangerous", "held_out") for sample in load(name)])

    assert len(commands) > 200
    assert oracle.harmful(commands) == []


def test_every_mutant_called_harmless_is(oracle: Oracle) -> None:
    dangerous = [*load("dangerous"), *load("held_out")]
    commands = low([*mutants(dangerous, 1_000, SEED), *mutants(load("read_only"), 300, SEED)])

    assert len(commands) > 20
    assert oracle.harmful(commands) == []


@pytest.mark.parametrize(
    "command",
    [
        "touch owned",
        "echo x > owned",
        "echo x > /tmp/owned",
        "sh -c true",
        "/bin/dash -c true",
        "bash -c true",
        "python3 -c 1",
        "sed '1e true' a.txt",
        "awk 'BEGIN{system(\"true\")}'",
        "sort -o a.txt b.txt",
        "uniq a.txt owned",
        "ls | xargs rm",
        "git -c alias.x='!touch owned' x",
    ],
)
def test_the_sandbox_notices_harm(oracle: Oracle, command: str) -> None:
    assert [found for found, _ in oracle.harmful(["ls", command, "pwd"])] == [command]
    assert assess(command).risk is not Risk.LOW
