"""What every test folder shares: promises are checked while tests are collected."""

from __future__ import annotations

import pytest

from tests.promises import unknown


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a run in which a test claims a promise that does not exist."""
    for item in items:
        for mark in item.iter_markers("promise"):
            if strangers := unknown(mark.args):
                raise pytest.UsageError(f"{item.nodeid} claims {strangers}; add the promise to tests/promises.py")
