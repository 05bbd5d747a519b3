"""What every test folder shares: promises are checked and files put in order while tests are collected; Hypothesis."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
import pytest_rerunfailures
from hypothesis import HealthCheck, settings

from tests.promises import unknown

gc.disable()  # until all tests are collected: there is hardly any garbage before, and looking for it takes 2.5 s of CPU

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


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every second worker reads the tests from the end: each file is compiled by one of them and read by both."""
    report = yield
    worker = getattr(collector.config, "workerinput", {"workerid": "gw0"})["workerid"]
    if isinstance(collector, pytest.Directory) and int(worker.removeprefix("gw")) % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put slow folders first, and refuse a run in which a test claims a promise that does not exist."""
    claims = config.stash[CLAIMS] = {}
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker(pytest.mark.flaky(reruns=0))  # a second try would have other examples
        for mark in item.iter_markers("promise"):
            if strangers := unknown(mark.args):
                raise pytest.UsageError(f"{item.nodeid} claims {strangers}; add the promise to tests/promises.py")
            for id in mark.args:
                claims.setdefault(id, []).append(item.nodeid)
    items.sort(key=_place)


def _place(item: pytest.Item) -> tuple[int, Path]:
    folder = "".join(item.nodeid.split("/")[1:-1][:1])
    return (SLOW_FIRST.index(folder) if folder in SLOW_FIRST else len(SLOW_FIRST)), item.path


def pytest_collection_finish() -> None:
    """Garbage is collected from now on, but not among what was loaded: that would take half a second each time."""
    gc.freeze()
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give each second try fixtures of its own."""
    session.config.pluginmanager.register(SecondTries(session))


class SecondTries:
    """A test that failed is tried once more (`make test`, ADR 0084) with new fixtures, those of its file too."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What the plugin holds back of the first try is taken down, where this process ran it."""
        outcome: str = report.outcome  # "rerun" is the plugin's own
        if outcome == "rerun" and not hasattr(report, "node"):
            state = self._session._setupstate
            state.stack.update(pytest_rerunfailures.suspended_finalizers)
            pytest_rerunfailures.suspended_finalizers.clear()
            state.teardown_exact(None)
