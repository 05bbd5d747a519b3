"""What the grammar makes of a goal, and what it leaves alone; ``tests/test_docs.py`` runs the published examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.providers.rehearsal_grammar import Task, TaskKind, understand

PAGE = (Path(__file__).parents[2] / "docs" / "rehearsal.md").read_text("utf-8")


def test_what_the_page_calls_outside_the_grammar_is_not_understood() -> None:
    outside = PAGE.partition("These get no action:")[2].partition("\n- ")[0]
    goals = re.findall(r"`([^`]+)`", outside)
    assert len(goals) >= 4
    assert [goal for goal in goals if understand(goal)] == []


@pytest.mark.parametrize(
    ("goal", "task"),
    [
        ("list the headings of a.md into b.md", Task("headings", ("a.md",), "b.md")),
        ("PLEASE list the headings of `a b.md` into 'c d.md'.", Task("headings", ("a b.md",), "c d.md")),
        ('replace "a b" with "" in x.md', Task("replace", ("x.md",), text="a b", new="")),
        ("which files mention Alice?", Task("find", (), text="Alice")),
        ('append "x y" to a.txt', Task("write", (), "a.txt", text="x y", append=True)),
        ("run `make -j2` and write the output to log.txt", Task("run", (), "log.txt", text="make -j2")),
        ("fetch https://example.com/a.html.", Task("fetch", (), text="https://example.com/a.html")),
        ("list the files in src", Task("list", ("src",))),
        ("how many lines does Makefile have", Task("count", ("Makefile",), unit="lines")),
    ],
)
def test_a_goal_becomes_exactly_this_task(goal: str, task: Task) -> None:
    assert understand(goal) == task


@pytest.mark.parametrize(
    "goal",
    [
        "",
        "hello",
        "delete everything",
        "read README.md and improve it",
        "copy a.txt",
        "write SUMMARY.md",
        "do not copy a.txt to b.txt",
        "copy a.txt to b.txt and delete a.txt",
        "list the headings of a.md into b.md and run `rm -rf .`",
        "never run `ls`",
    ],
)
def test_what_the_grammar_does_not_cover_whole_is_not_done_in_part(goal: str) -> None:
    assert understand(goal) is None


@given(st.text(max_size=300))
def test_no_text_breaks_it(goal: str) -> None:
    understand(goal)


@given(st.lists(st.sampled_from(re.findall(r"\S+", 'list the headings of a.md into "x" `y` and . , count lines *.py'))))
def test_no_mixture_of_its_own_words_breaks_it(words: list[str]) -> None:
    task = understand(" ".join(words))
    assert task is None or task.kind in get_args(TaskKind)
