"""Lines of the dashboard in every window, their order, and what is said where Textual is not installed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from stead.cli.dashboard_feed import ordered
from stead.cli.dashboard_lines import heading, line_of
from stead.cli.output import width_of
from stead.cli.top import TEXTUAL
from tests.cli.conftest import Cli
from tests.cli.simulator import Simulator
from tests.cli.terminal import at_terminal


def row(id: str, **given: Any) -> dict[str, Any]:
    """A row as ``/sessions/ID`` has it."""
    return {
        "id": id, "title": id, "status": "idle", "directory": "/work", "specialist": "", "parent": "", "created_ms": 1,
        "pending_approvals": 0, "review": {"waiting": 0}, "chain": [{"provider": "acme", "model": "m"}],
        "budget": {"tokens": 1000, "usd_micros": 5_000_000}, "tokens_used": 120, "usd_micros_used": 0,
        "price_known": True, **given,
    }  # fmt: skip


@given(some.integers(1, 300), some.text(max_size=80), some.text(max_size=20), some.integers(0, 30))
def test_a_line_never_takes_more_columns_than_the_window_has(width: int, title: str, asked: str, depth: int) -> None:
    for line in [heading(width), *line_of(depth, row("s_1", title=title), width, [asked]).split("\n")]:
        assert width_of(line) <= width


def test_what_waits_for_the_person_is_first_and_a_subagent_below_its_parent() -> None:
    rows = [
        row("s_old", created_ms=1),
        row("s_new", created_ms=9),
        row("s_runs", status="running", created_ms=5),
        row("s_root", status="running", created_ms=2),
        row("s_kid", status="waiting", parent="s_root", pending_approvals=1),
        row("s_deep", status="running", parent="s_kid", title="mend the quill"),
        row("s_orphan", parent="s_elsewhere", status="paused"),
    ]
    by_id = {each["id"]: each for each in rows}
    assert [(depth, each["id"]) for depth, each in ordered(by_id, "")] == [
        (0, "s_root"), (1, "s_kid"), (2, "s_deep"), (0, "s_runs"), (0, "s_orphan"), (0, "s_new"), (0, "s_old"),
    ]  # fmt: skip
    assert [each["id"] for _, each in ordered(by_id, "MEND quill")] == ["s_root", "s_kid", "s_deep"]


def test_without_the_extra_the_command_that_installs_it_is_named(cli: Cli, api: Simulator, tmp_path: Path) -> None:
    hidden = tmp_path / "without"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['textual'] = None\n", "utf-8")
    with at_terminal(cli, "top", env={"PYTHONPATH": str(hidden)}) as terminal:
        terminal.until("error:\x1b[0m the dashboard needs the extra 'top', which is not installed\nnext: ")
        assert f" --python {sys.executable} {TEXTUAL}" in terminal.until(TEXTUAL)
        assert terminal.end() == 1
    assert api.requests == []


def test_what_is_installed_is_what_the_extra_pins() -> None:
    pins = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    assert pins["project"]["optional-dependencies"]["top"] == [TEXTUAL]


def test_without_a_terminal_it_says_what_shows_the_same(cli: Cli) -> None:
    result = cli("top")
    assert (result.code, result.out) == (3, "")
    assert "next: stead status, stead objectives, or stead watch ID" in result.err
