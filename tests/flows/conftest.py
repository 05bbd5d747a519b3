"""Homes and folders for flows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.flows.house import LivingHome
from tests.flows.released import made  # noqa: F401 - a fixture


@contextmanager
def running_home(root: Path, **more: Any) -> Iterator[LivingHome]:
    """A fresh home below a folder, whose daemon runs; no model is configured, so the rehearsal model serves.

    ``more`` is what else a ``LivingHome`` takes.
    """
    living = LivingHome(root / "home", forked=True, **more)
    try:
        living.start()
        yield living
    finally:
        living.stop()


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[LivingHome]:
    """A home of the test's own, as ``running_home`` makes it."""
    with running_home(tmp_path) as living:
        yield living


@pytest.fixture
def house(own_house: LivingHome) -> LivingHome:
    """The home that a test works in: its own, unless its module takes ``shared_house`` for it."""
    return own_house


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    """A home for all tests of a module: each works in a folder and sessions of its own and looks at those alone.

    A module whose tests keep to that takes it as its ``house`` and starts one daemon instead of one for each test; a
    test that looks at the whole home asks for ``own_house``.
    """
    with running_home(tmp_path_factory.mktemp("shared"), shared=True) as living:
        yield living


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in, with a README."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text("# Quill\n\nNotes.\n\n## Install\n\ntext\n\n## Use\n\nmore\n", "utf-8")
    return folder
