"""The words of events: what others wrote stays in places of its own, and every event of a session has words."""

from __future__ import annotations

import msgspec
import pytest

from stead.domain import events as ev
from stead.domain.event_words import lines, worded
from stead.domain.timeline import LineItem, StepItem
from tests.timelines import everything, items_of


def test_what_others_wrote_is_every_second_text_of_a_line_and_never_in_ours() -> None:
    said = "zq\x1b[31m{id}`"
    found = 0
    for item in items_of(everything(said).events):
        if isinstance(item, LineItem | StepItem):
            for line in item.words:
                assert all("zq" not in part for part in line.text[::2]), line
                found += sum("zq" in part for part in line.text[1::2])
    assert found > 10


def test_a_long_text_is_cut_to_one_line_and_a_path_is_whole() -> None:
    notice = {"type": "notice.given", "text": "a\n b" * 200}
    ((_, (own, text, _)),) = lines(worded(notice))
    assert (own, len(text), text[:5], text[-1]) == ("told the model: ", 400, "a ba ", "…")
    change = {"path": "x\n" * 200, "kind": "added", "what": "file", "added": 2, "removed": 0, "note": ""}
    ((_, shown),) = lines(worded({"type": "file.changed", "change": change}))
    assert shown == ("  + ", "x\n" * 200, "  +2 -0")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (ev.SessionPaused(""), "paused: by you"),
        (ev.SessionPaused("budget"), "paused: budget"),
        (ev.ObjectiveEnded("completed", "done", "It is so."), "completed"),
        (ev.ObjectiveEnded("failed", "stall", ""), "failed (stall)"),
        (ev.TurnEnded(2, "tide", ""), "turn 2 ended: tide"),
    ],
)
def test_why_work_ended_or_waits_is_said(body: ev.Body, text: str) -> None:
    ((_, shown),) = lines(worded(msgspec.to_builtins(body)))
    assert "".join(shown) == text
