"""STOP from every place where a person works, in a short form of the bench ``r2_stop``, which has the figures."""

from __future__ import annotations

import statistics

import pytest

from bench.r2_stop import BUSY, stop_times
from bench.rig import rig
from tests.machines.bench import require_sandbox
from tests.promises import promise

HELD_MS = {"CLI": 6000}
"""What the median keeps below where other tests have both cores; the command line's has the start of Python in it."""
OTHERS_MS = 1500


@promise("SEC-5.stop")
@pytest.mark.parametrize(("tries", "busy"), [(1, 0), pytest.param(3, BUSY, marks=pytest.mark.long)])
def test_a_stop_from_api_command_line_editor_and_chat_ends_what_runs_and_what_streams(tries: int, busy: int) -> None:
    """Whatever goes on fails; how soon it ends is told by several tries beside other work alone."""
    require_sandbox()
    with rig([]) as r:
        taken, _ = stop_times(r, tries, busy)
    assert {name for name, _ in taken} == {"API", "CLI", "ACP", "chat"}
    assert {moment for _, moment in taken} == {
        f"{moment}{end}" for moment in ("tool", "stream", "tree") for end in ("", " answered")
    }
    if not busy:
        return
    slow = {at: times for at, times in taken.items() if statistics.median(times) > HELD_MS.get(at[0], OTHERS_MS)}
    assert not slow, slow
