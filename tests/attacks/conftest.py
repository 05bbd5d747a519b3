"""Running daemons for attacks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.door_matrix import Knocker, open_knocker
from tests.flows.conftest import house, own_house, project

__all__ = ["house", "own_house", "project"]  # as in flows: a fresh home whose daemon runs, and a folder


@pytest.fixture(scope="module")
def knocker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knocker]:
    """Somebody at a running daemon's door, who knows everything that a knock could use."""
    root: Path = tmp_path_factory.mktemp("door")
    with open_knocker(root) as who:
        yield who
