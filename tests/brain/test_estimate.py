"""The bound of a request's tokens is never too low, and not so high as to be useless.

The counts below are the highest of three real tokenizers (o200k_base, cl100k_base and one of Anthropic's);
``bench/estimate_bound.py`` tries far more texts against the vocabularies themselves.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.estimate import estimate_request, estimate_tokens
from stead.domain.ids import CallKey
from stead.domain.messages import AssistantMessage, Message, ResultsMessage, Text, ToolCall, ToolResult, UserMessage
from stead.domain.policies import Label
from stead.domain.tools import Declaration, ToolEffect, ToolSpec

COUNTED = [
    ("", 0),
    ("a", 1),
    ("hello world", 2),
    ("The quick brown fox jumps over the lazy dog.", 10),
    ("    return self._models[name, thinking_field]\n", 13),
    ("def __init__(self, *, a: int = 0) -> None:\n        super().__init__()\n", 22),
    ('{"id": 17, "tags": ["x", "y"], "ok": true}', 20),
    ("(ab", 2),
    ("'thing' isn't theirs", 7),
    ("x = y == z != w", 7),
    ("-> :: ... === ~~~", 6),
    ("bqbqbqjxjx", 8),
    ("ZQXJ", 4),
    ("3141592653589793", 7),
    ("0x3fa9c2deadbeef", 10),
    ("TWFuIGlzIGRpc3Rpbmd1aXNoZWQ=", 18),
    ("\n\n\n\t\t  x    y", 5),
    ("a" * 40, 5),
    (" " * 100, 2),
    ("naïve café Zürich", 7),
    ("請閱讀該文件並寫出摘要", 18),
    ("鬱龘靐齉", 10),
    ("ひらがなとカタカナ", 11),
    ("안녕하세요 세계", 11),
    ("مرحبا بالعالم", 10),
    ("😀👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈", 29),
    ("<|endoftext|> <|im_start|>", 14),
    ("thisisalongwordwithoutanyspacesatall", 10),
    ("getHTTPResponseCodeFromURL", 6),
    ("snake_case_name_of_things", 9),
    ("C:\\Users\\x\\y.txt | grep -E '^[a-z]+$'", 20),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_the_bound_is_at_least_what_real_tokenizers_count(text: str, tokens: int) -> None:
    assert tokens <= estimate_tokens(text) <= len(text.encode()) + 1


def test_the_bound_of_prose_is_within_two_and_a_half_times_the_count() -> None:
    prose = "When the goal is met, reply without a call: what you did and where the result is, in a few sentences. "
    assert estimate_tokens(prose * 50) <= 2.5 * 24 * 50  # o200k_base counts 24 a sentence


@given(st.text(max_size=200), st.text(max_size=200))
def test_lines_are_bounded_one_by_one(one: str, other: str) -> None:
    # So a request is bounded by the sum of its parts, although providers count it joined.
    assert estimate_tokens(f"{one}\n{other}") == estimate_tokens(one) + 1 + estimate_tokens(other)


@given(st.text(alphabet=st.characters(codec=None), max_size=100))
def test_any_text_has_a_bound_from_zero_to_its_bytes(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text.encode("utf-8", "surrogatepass")) + 1


def test_a_request_is_bounded_by_its_parts_and_their_frames() -> None:
    label = Label()
    tool = ToolSpec("read", "Read a file.", {"type": "object", "properties": {}}, Declaration(ToolEffect.READ))
    key = CallKey("call_1_0")
    history: list[Message] = [
        UserMessage("hello", label),
        AssistantMessage((Text("I look."), ToolCall(key, "read", '{"path": "a"}'))),
        ResultsMessage((ToolResult(key, "read", "text", label),)),
    ]
    whole = estimate_request("Be good.", (tool,), history)
    assert whole == estimate_request("Be good.", (tool,), ()) + estimate_request("", (), history) - 24
    grown = estimate_request("Be good.", (tool,), [*history, UserMessage("more", label)])
    assert grown > whole > estimate_request("Be good.", (), history) > 0


def test_malformed_arguments_are_bounded_as_they_are_sent_again() -> None:
    broken = '{"path": "' + '\\"' * 50
    sent_again = '{"malformed":"' + broken.replace("\\", "\\\\").replace('"', '\\"') + '"}'
    call = AssistantMessage((ToolCall(CallKey("call_1_0"), "read", broken),))
    assert estimate_request("", (), (call,)) >= estimate_tokens(sent_again)
