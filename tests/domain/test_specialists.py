"""Specialists' files: what they may hold, what is wrong in which line, and which one is chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import InvalidRequest
from stead.domain.front_matter import parse_head
from stead.domain.specialists import BUNDLED, VARIABLES, choose, filled, parse_specialist
from stead.runtime.specialists import Specialists

TOOLS = ("read", "write", "shell")
WHOLE = """---
# the person's own
kind: mender
description: "Mends things: quickly."
model: acme/large
tools: [read, 'write']
max_iterations: 12
tool_budget: 30
timeout_secs: 600
---
Mend {{task}} in {{ working_dir }}.
"""


def test_every_field_is_read() -> None:
    one = parse_specialist("mender", WHOLE, "person", TOOLS)
    assert (one.kind, one.description, one.model, one.tools) == (
        "mender",
        "Mends things: quickly.",
        "acme/large",
        ("read", "write"),
    )
    assert (one.max_iterations, one.tool_budget, one.timeout_secs) == (12, 30, 600)
    assert one.text == "Mend {{task}} in {{ working_dir }}."
    listed = WHOLE.replace("tools: [read, 'write']", "tools:\n  - read\n  - write")
    assert parse_specialist("mender", listed, "person", TOOLS).tools == ("read", "write")
    assert parse_specialist("mender", WHOLE.replace("[read, 'write']", "[]"), "person", TOOLS).tools == ()
    assert parse_specialist("mender", WHOLE.replace("tools: [read, 'write']\n", ""), "person", TOOLS).tools is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("max_iterations", "max_iteration", "line 7: there is no field 'max_iteration'"),
        ("tools: [read, 'write']", "hosts: [a.example.com]", "line 6: there is no field 'hosts'"),
        ("tools: [read, 'write']", "tools: [read, sudo]", "line 6: there is no tool 'sudo'"),
        ("12", "0", "line 7: 'max_iterations' is a number from 1"),
        ("12", "12.5", "line 7: 'max_iterations' is a number"),
        ("12", "٣", "line 7: 'max_iterations' is a number"),
        ("30", "-1", "line 8: 'tool_budget'"),
        ("600", "99999999999999999999", "line 9: 'timeout_secs'"),
        ("kind: mender", "kind: other", "line 3: the kind 'other'"),
        ("kind: mender\n", "", "line 1: the field 'kind' is missing"),
        ("kind: mender", "kind: mender\nkind: mender", "line 4: 'kind' stands there twice"),
        ("acme/large", "large", "line 5: 'large' is no PROVIDER/MODEL"),
        ("acme/large", "*anchor", "line 5: '*anchor' is not plain"),
        ("acme/large", "!!python/object:os.system x", "line 5:"),
        ("{{task}}", "{{secret}}", "line 11: there is no variable 'secret'"),
        ("---\nMend", "Mend", "line 1: the front matter has no end"),
        ("[read, 'write']", "[read,", "line 6: a list in brackets"),
        ("Mend {{task}} in {{ working_dir }}.\n", "", "line 11: below the front matter"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as wrong:
        parse_specialist("mender", WHOLE.replace(old, new, 1), "person", TOOLS)
    assert str(wrong.value).startswith(said)


@given(
    st.text(max_size=400) | st.text(alphabet="-:kind[]'\"#\n {}", max_size=200).map(lambda text: f"---\n{text}\n---\nx")
)
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        parse_head(text)
        parse_specialist("mender", text, "person", TOOLS)
    except InvalidRequest as wrong:
        assert str(wrong).startswith("line ")


def test_the_variables_are_filled_in_once_and_nothing_in_a_value_is_a_place() -> None:
    values = {name: f"<{name}>" for name in VARIABLES} | {"mission": "{{task}}", "task": "mend it"}
    text = "\n".join(f"{{{{{name}}}}}" for name in VARIABLES)
    one = parse_specialist("mender", WHOLE.replace("Mend {{task}} in {{ working_dir }}.", text), "person", ())
    lines = filled(one, values).split("\n")
    assert lines == ["{{task}}", "mend it", *(f"<{name}>" for name in VARIABLES[2:])]
    silent = parse_specialist("mender", WHOLE.replace("{{task}}", "it"), "person", ())
    assert filled(silent, values).endswith("Your task:\nmend it")


@pytest.mark.parametrize(
    ("role", "asked", "tools", "kind"),
    [
        ("executor", "reader", (), "executor"),
        ("task_lead", "coder", None, "task_lead"),
        ("", "researcher", ("shell",), "researcher"),
        ("", "", None, "executor"),
        ("", "", (), "reader"),
        ("", "", ("read", "spawn_agent", "write"), "task_lead"),
        ("", "", ("read", "edit", "shell"), "coder"),
        ("", "", ("read", "shell"), "operator"),
        ("", "", ("fetch",), "researcher"),
        ("", "", ("read", "grep"), "reviewer"),
    ],
)
def test_a_kind_is_chosen_by_role_then_by_name_then_by_tools(
    role: str, asked: str, tools: tuple[str, ...] | None, kind: str
) -> None:
    assert choose(role, asked, tools) == kind


def test_those_that_stead_brings_are_in_order_and_the_reader_has_no_tools(tmp_path: object) -> None:
    from pathlib import Path

    files = Specialists(Path(str(tmp_path)) / "none").files()
    assert [file.kind for file in files] == [*BUNDLED] and not [file for file in files if file.fault]
    reader = next(file.specialist for file in files if file.kind == "reader")
    assert reader is not None and (reader.tools, reader.tool_budget) == ((), 0)
