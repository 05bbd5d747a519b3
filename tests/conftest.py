"""What every test folder shares: promises are checked while tests are collected, and Hypothesis keeps no clock."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.promises import unknown

# How fast an example runs says more about the machine than about the code. What is found is printed to be replayed.
settings.register_profile("stead", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("stead")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a run in which a test claims a promise that does not exist."""
    for item in items:
        for mark in item.iter_markers("promise"):
            if strangers := unknown(mark.args):
                raise pytest.UsageError(f"{item.nodeid} claims {strangers}; add the promise to tests/promises.py")
