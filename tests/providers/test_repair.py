"""Calls that small models write nearly as they should: what is put right, and what is left as it came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.events import ModelRef
from stead.domain.ids import RequestNo
from stead.domain.messages import Text, ToolCall
from stead.providers.repair import arguments, repaired
from tests.fakes.models import Call, Turn, scripted_model
from tests.providers.conftest import MakeModels, ask, local

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), PLAIN, max_size=4)


@pytest.mark.parametrize(
    ("text", "meant", "slips"),
    [
        ('```json\n{"path": "a.md"}\n```', {"path": "a.md"}, "fence"),
        ('{"path": "a.md",}', {"path": "a.md"}, "comma"),
        ('{"path": "a,}.md", "lines": [1, 2, ],}', {"path": "a,}.md", "lines": [1, 2]}, "comma"),
        ("{'path': \"it's\", 'all': True, 'none': None}", {"path": "it's", "all": True, "none": None}, "python"),
        ('"{\\"path\\": \\"a.md\\"}"', {"path": "a.md"}, "string"),
    ],
)
def test_known_slips_are_put_right(text: str, meant: dict[str, object], slips: str) -> None:
    right = arguments(text)
    assert right is not None
    assert (json.loads(right[0]), right[1]) == (meant, slips)


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a.md"',
        '{"path": "a.md"} {"path": "b.md"}',
        "{'path': 'a.md', 'path': 'b.md'}",
        "{'path': 'a' 'b'.upper()}",
        "{'path': __import__('os').getcwd()}",
        "{1: 2}",
        '["a.md"]',
        "rm -rf /",
        '{"a": ' * 300,
        "('" + "(" * 5000,
        '{"path": a.md}',
        "{'path': '\\ud800'}",
    ],
)
def test_what_is_cut_off_or_means_two_things_stays_as_it_came(text: str) -> None:
    assert arguments(text) is None


@given(OBJECTS)
def test_a_repair_never_changes_what_was_meant(meant: dict[str, object]) -> None:
    text = json.dumps(meant)
    assert arguments(text) is None  # it is well-formed
    for slipped in (f"```json\n{text}\n```", json.dumps(text), text[:-1] + ",}" if meant else text):
        right = arguments(slipped)
        assert right is None or json.loads(right[0]) == meant


async def test_a_repaired_call_comes_with_what_it_was(make_models: MakeModels) -> None:
    async with scripted_model([Turn(calls=(Call("read", "{'path': 'a.md',}"),))]) as server:
        models = make_models(local("mine", server.openai))
        reply = await models.reply(ask((ModelRef("mine", "m"),)), lambda _: None)
    call = reply.parts[0]
    assert isinstance(call, ToolCall) and json.loads(call.arguments) == {"path": "a.md"}
    assert [(one.key, one.slips, one.original) for one in reply.repaired] == [(call.key, "python", "{'path': 'a.md',}")]


def test_a_call_in_the_text_counts_only_where_the_text_is_nothing_else() -> None:
    block = '<tool_call>\n{"name": "read", "arguments": {"path": "a.md"}}\n</tool_call>'
    parts, repairs = repaired((Text(block),), RequestNo(3), ("read",), in_text=True)
    assert parts == (ToolCall(parts[0].key, "read", '{"path":"a.md"}'),)  # type: ignore[union-attr]
    assert repairs[0].slips == "text"
    for said in (f"The page says: {block}", block.replace("read", "shell")):
        assert repaired((Text(said),), RequestNo(3), ("read",), in_text=True) == ((Text(said),), ())
    assert repaired((Text(block),), RequestNo(3), ("read",), in_text=False) == ((Text(block),), ())


async def test_a_vendor_that_marks_its_calls_is_not_read_for_calls_in_its_text(make_models: MakeModels) -> None:
    block = '<tool_call>{"name": "read", "arguments": {"path": "a.md"}}</tool_call>'
    async with scripted_model([Turn(block)]) as server:
        models = make_models(local("mine", server.anthropic, "anthropic"))
        reply = await models.reply(ask((ModelRef("mine", "m"),)), lambda _: None)
    assert reply.parts == (Text(block),) and reply.stop == "stop"
