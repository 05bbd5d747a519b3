"""A session as a story: it says what happened, in order, and nothing that anybody wrote gets out of its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange, Version
from stead.domain.ids import ApprovalId, CallDigest, CallKey, CheckpointId
from stead.domain.memory_events import ContentRedacted, Redacted
from stead.domain.policies import Label
from stead.domain.sessions import PERSON
from stead.runtime.markdown import TEXT_CHARS
from stead.runtime.story import told
from tests.build import Story, created, desk
from tests.storage.histories import History, histories
from tests.timelines import everything, items_of

KEY = CallKey("call_1_1")
_MARKER = "zqmarker"
"""Stands in everything that somebody else wrote."""

BLOCKS = ("`", "```", "~~~", "````", "> ", "# ", "- ", "1. ", "    ", "---", "===", "|", "*", "_", "\\", "&lt;")
BREAKS = ("\n", "\r", "\n\n", "\t", "\x0c", "\u2028", " ", "word")
LOADED = ("<!--", "-->", "<script>", "![x](http://a.example.com/p)", "[y](http://b.example.com)", "www.example.com")
UNSEEN = ("\u202e", "\u200b", "\x1b[31m", "\x00")
marks = st.sampled_from([*BLOCKS, *BREAKS, *LOADED, *UNSEEN])
hostile = st.lists(marks, max_size=12).map(lambda parts: _MARKER + "".join(parts) + _MARKER + "".join(reversed(parts)))


def _text(events: Iterable[ev.Event]) -> str:
    first, *others = events
    return "".join(told(first.session, items_of([first, *others])))


def _inline(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        yield token
        yield from _inline(token.children or ())


@given(said=hostile)
@example(f"{_MARKER} plain words only")
@example(f"a\n```\n{_MARKER} got out\n```text\n")
@example(f"a\n`````\r{_MARKER} got out")
@example(f"- {_MARKER}\n\n# {_MARKER}\n    {_MARKER}")
def test_what_others_wrote_stands_in_fences_quotes_and_spans_of_code_alone(said: str) -> None:
    text = _text(everything(said).events)
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u200b]", text)
    quoted = 0
    for token in _inline(MarkdownIt("commonmark").enable("table").parse(text)):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        assert token.type not in ("html_block", "html_inline", "image", "link_open", "code_block") or quoted
        assert token.type not in ("html_block", "html_inline", "image", "link_open")
        if token.type == "text" and not quoted:
            assert _MARKER not in token.content, token.content
        if token.type == "heading_open" and not quoted:
            assert token.markup in ("#", "##")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert len([line for line in headings if line.startswith("## Turn ")]) >= 1


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(history=histories())
def test_whatever_happened_can_be_told(history: History) -> None:
    for story in history.stories.values():
        text = _text(story.events)
        assert text.startswith("# ")
        assert text.count("\n## Turn ") == story.session.turn


def test_a_session_reads_like_a_story() -> None:
    story = Story(desk("The harbour")).tell(ev.MessageReceived("Sort the boats, please", "cli", PERSON))
    story.turn("I sort them.", ("use_tool", '{"name":"write","arguments":{"path":"boats.txt"}}')).question()
    change = FileChange("boats.txt", "changed", "file", 20, 2, 1, "", "--- a/boats.txt\n+++ b/boats.txt\n-c\n+a\n+b\n")
    story.tell(
        ev.ApprovalGiven(ApprovalId("a_1"), KEY, CallDigest("d"), "web"),
        ev.CheckpointTaken(CheckpointId("k_1"), 1, 1, "turn", "r", 12, 90, 1, 9, (), 0, 5),
        ev.ToolStarted(KEY, "write", '{"path":"boats.txt"}', CallDigest("d"), idempotent=False),
        ev.FileChanged(KEY, Version("boats.txt", "a"), Version("boats.txt", "b"), change),
    ).finish(KEY, "write", text="wrote 20 bytes")
    story.turn("They are sorted.").tell(ev.TurnEnded(1, "done", "They are sorted.", (change,), 1))
    story.tell(ev.MessageReceived("Thanks", "web", PERSON)).turn(("read", "{}"))

    text = _text(story.events)

    at = 0
    for words in (
        "# `The harbour`",
        "In `/home/ada/notes` since 2027-01-15 08:00:01 UTC, with `acme/m1`.",
        "## Turn 1",
        "**Said** through `cli` at 2027-01-15 08:00:02 UTC:\n\n> Sort the boats, please",
        "**Model** `acme/m1`:\n\n> I sort them.",
        '**Call** `write` (`call_1_1`): **ok**, 5 ms\n\n```json\n{"path":"boats.txt"}\n```',
        "**Asked** whether it may run",
        "*allowed `call_1_1` (answered from `web`)*",
        "**Changed** ~ `boats.txt`  +2 -1.\n\n```diff\n--- a/boats.txt",
        "wrote 20 bytes",
        "*checkpoint `k_1` before turn 1 (12 files, 90 bytes, 1 changed) in 5 ms*",
        "> They are sorted.",
        "*turn 1 done, 1 path changed*\n\n- \\~ `boats.txt`  +2 -1",
        "## Turn 2",
        "> Thanks",
        "**Call** `read` (`call_3_0`) has not ended.",
    ):
        assert words in text[at:], f"{words!r} is not in what follows:\n{text[at:]}"
        at = text.index(words, at)


def test_what_the_model_was_told_of_memory_and_what_was_forgotten_is_told() -> None:
    story = Story(desk("The harbour")).tell(
        ev.MemoryLoaded((ev.LoadedFile("user.md", "Ada", "0" * 64),), Label()),
        ev.MemoryRecalled((ev.Told("m_0000000000000001", "High water at `six`.", ("words",)),), (), Label()),
        ContentRedacted((Redacted(1, ""), Redacted(2, ""))),
    )
    text = _text(story.events)
    assert "*loaded memory: `user.md`*" in text
    assert "- `m_0000000000000001`  ``High water at `six`.``" in text
    assert "*words of 2 events here were forgotten*" in text


def test_an_objective_is_told_too_and_a_long_output_is_cut() -> None:
    story = Story(created("tidy the notes")).turn(("shell", '{"command":"ls"}')).run(text="x" * (TEXT_CHARS + 7))
    text = _text(story.events)
    assert "**Goal**:\n\n> tidy the notes" in text
    assert "*7 more characters are in the journal.*" in text
    assert len(text) < TEXT_CHARS + 1000


def test_terminals_of_the_person_are_told_without_what_was_typed() -> None:
    story = Story(desk("Quill")).tell(
        ev.TerminalOpened("t_0000000000000001", 24, 80, "web"), ev.TerminalClosed("t_0000000000000001", 137, "memory")
    )
    text = _text(story.events)
    assert "*a terminal was opened (from `web`)*" in text
    assert "*a terminal ended: it took too much memory*" in text
