"""What every test folder shares: promises are checked and files put in order while tests are collected; Hypothesis."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.promises import unknown

# Days in tests are those of UTC, wherever the tests run; what is about zones sets one itself.
os.environ["TZ"] = "UTC"
time.tzset()

# How fast an example runs says more about the machine than about the code. What is found is printed to be replayed.
settings.register_profile(
    "stead", deadline=None, print_blob=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("many", settings.get_profile("stead"), max_examples=400)  # `make test-long`
settings.load_profile("stead")

SLOW_FIRST = ("browser", "flows", "browsing", "attacks", "", "runtime", "machines", "cli", "channels")
"""Folders whose files take long, "" for this one. They come first, so that all workers end on short files, together."""


CLAIMS = pytest.StashKey[dict[str, list[str]]]()
"""Of each promise the ids of the tests that claim it, of all tests that were collected."""


def is_of_all_tests(config: pytest.Config) -> bool:
    """Whether every test was collected, run or not."""
    return [Path(config.rootpath, one) for one in config.args] == [Path(__file__).parent]


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put slow folders first, and refuse a run in which a test claims a promise that does not exist."""
    claims = config.stash[CLAIMS] = {}
    for item in items:
        for mark in item.iter_markers("promise"):
            if strangers := unknown(mark.args):
                raise pytest.UsageError(f"{item.nodeid} claims {strangers}; add the promise to tests/promises.py")
            for id in mark.args:
                claims.setdefault(id, []).append(item.nodeid)
    items.sort(key=_weight)


def _weight(item: pytest.Item) -> int:
    folder = "".join(item.nodeid.split("/")[1:-1][:1])
    return SLOW_FIRST.index(folder) if folder in SLOW_FIRST else len(SLOW_FIRST)
