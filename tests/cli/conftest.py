"""A home, a simulator that serves it, and the command line as a person starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stead.config import Home
from tests import forks
from tests.cli.simulator import Script, Simulator, Turn

TIMEOUT_S = 30


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The lines of ``--json``."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Cli:
    """Starts ``python -m stead`` in a home, as an ordinary process without a terminal."""

    home: Home
    directory: Path

    def environment(self, **extra: str) -> dict[str, str]:
        """What the process sees of ours, and nothing else."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.directory.with_name("person")),
            "STEAD_HOME": str(self.home.root),
            "PYTHONWARNINGS": "error",
            **extra,
        }

    @contextmanager
    def running(self, *words: str, **extra: str) -> Iterator[subprocess.Popen[str]]:
        """A command under way; what is left of it is killed."""
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "stead", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=self.directory,
            env=self.environment(**extra),
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def __call__(self, *words: str, typed: str = "", **extra: str) -> Result:
        """A command to its end: a fork, so what asks about the start of the program uses ``running``."""
        environment = self.environment(**extra)
        done = forks.run(*("stead", words, TIMEOUT_S), environment=environment, stdin=typed, cwd=str(self.directory))
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def cli(home: Home, tmp_path: Path) -> Cli:
    folder = tmp_path / "project"
    folder.mkdir()
    return Cli(home, folder)


@pytest.fixture
def serve(home: Home) -> Iterator[Callable[..., Simulator]]:
    """Start a simulator with scripts; at the end no request of the test may have broken the contract."""
    running: list[Simulator] = []

    def start(script: Script | None = None, *, turn: Turn | None = None) -> Simulator:
        running.append(Simulator(home, script, turn).__enter__())
        return running[-1]

    yield start
    for simulator in running:
        simulator.__exit__()
        assert simulator.breaches == []


@pytest.fixture
def api(serve: Callable[..., Simulator]) -> Simulator:
    """A simulator whose objectives complete at once."""
    return serve()
