"""Homes and folders for flows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.house import LivingHome


@pytest.fixture
def house(tmp_path: Path) -> Iterator[LivingHome]:
    """A fresh home whose daemon runs; no model is configured, so the rehearsal model serves."""
    living = LivingHome(tmp_path / "home")
    try:
        living.start()
        yield living
    finally:
        living.stop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in, with a README."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text("# Quill\n\nNotes.\n\n## Install\n\ntext\n\n## Use\n\nmore\n", "utf-8")
    return folder
