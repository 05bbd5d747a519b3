"""The tools over files and the shell, with a real machine: what a model is told, and what it costs to tell it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest

from stead.domain.errors import InvalidRequest, PermitRefused, ToolFault
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.secrets import Known, RequestHead
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome
from stead.tools.files import EditTool, GlobTool, GrepTool, ReadTool, WriteTool
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.schema import terse_schema
from stead.tools.shell import ShellTool
from stead.tools.tool import StructTool
from tests.fakes.attachments import NOTHING_SHOWN
from tests.machines.bench import SESSION, Bench, open_bench


class Tools:
    """Every tool of this folder over one machine.

    Args:
        bench: whose machine.
    """

    def __init__(self, bench: Bench) -> None:
        machines = bench.machines
        made: list[Tool] = [
            *(
                ShellTool(machines, machines.services),
                ReadTool(machines, machines.pictures, NOTHING_SHOWN),
                WriteTool(machines),
            ),
            *(EditTool(machines), GlobTool(machines), GrepTool(machines)),
        ]
        self.project = bench.project
        self.by_name = {tool.spec.name: tool for tool in made}
        self.progress: list[str] = []

    async def call(self, name: str, **arguments: object) -> ToolOutcome:
        """As the gate does it: parse, permit, run."""
        tool = self.by_name[name]
        parsed = tool.parse(json.dumps(arguments))
        return await tool.run(permit_for(name, parsed), parsed, ToolContext(SESSION, self.progress.append))

    async def text(self, name: str, **arguments: object) -> str:
        outcome = await self.call(name, **arguments)
        assert outcome.status == "ok", outcome
        return outcome.text


def permit_for(tool: str, arguments: Mapping[str, object]) -> Permit:
    return Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool=tool,
        arguments=arguments,
        digest=CallDigest("d"),
        nonce=b"n" * 16,
    )


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[Tools]:
    async with open_bench(tmp_path) as bench:
        yield Tools(bench)


async def test_the_shell_tells_output_and_exit_code(tools: Tools) -> None:
    assert await tools.text("shell", command="echo hello") == "hello\n"
    assert await tools.text("shell", command="true") == "(no output)"
    failed = await tools.call("shell", command="echo oops >&2; exit 3")
    assert failed == ToolOutcome("error", "oops\n[exit code 3]", size_bytes=5, exit_code=3)
    late = await tools.call("shell", command="printf begun; sleep 60", timeout_s=1)
    assert late == ToolOutcome("error", "begun\n[killed after 1 s]", size_bytes=5)
    assert "".join(tools.progress) == "hello\noops\nbegun"


async def test_long_output_is_cut_in_the_middle_with_a_note(tools: Tools) -> None:
    outcome = await tools.call("shell", command="seq 1 100000; exit 1")
    assert len(outcome.text) <= OUTPUT_CAP and outcome.size_bytes == 588_895
    assert outcome.text.startswith("1\n2\n") and outcome.text.endswith("99999\n100000\n[exit code 1]")
    assert "characters left out" in outcome.text


async def test_a_whole_file_is_read_as_it_is(tools: Tools) -> None:
    (tools.project / "a.md").write_text("# One\n\ntext\n")
    assert await tools.text("read", path="a.md") == "# One\n\ntext"
    (tools.project / "empty").touch()
    assert await tools.text("read", path="empty") == "(empty)"


async def test_a_part_of_a_file_says_which_and_where_to_go_on(tools: Tools) -> None:
    (tools.project / "a").write_text("".join(f"{number}\n" for number in range(1, 11)))
    assert await tools.text("read", path="a", line=3, lines=2) == "3\n4\n[lines 3-4 of 10; go on at line 5]"
    assert await tools.text("read", path="a", line=9) == "9\n10\n[lines 9-10 of 10]"
    assert await tools.text("read", path="a", line=11) == "[the file has 10 lines]"


async def test_a_long_file_can_be_read_to_its_end_in_steps(tools: Tools) -> None:
    content = "".join(f"line {number} {'x' * (number % 90)}\n" for number in range(1, 3001))
    (tools.project / "long").write_text(content)
    line, seen = 1, ""
    while line:
        text = await tools.text("read", path="long", line=line)
        assert len(text) <= OUTPUT_CAP
        part, _, note = text.rpartition("\n[lines ")
        seen += part + "\n"
        line = int(note.partition("go on at line ")[2].rstrip("]") or 0)
    assert seen == content


async def test_a_line_longer_than_the_cap_is_shown_in_part(tools: Tools) -> None:
    (tools.project / "wide").write_text("x" * 300_000 + "\nnext\n")
    text = await tools.text("read", path="wide")
    assert len(text) <= OUTPUT_CAP and text.endswith("[line 1 of 2, in part; use shell (cut) for more]")


async def test_writing_and_editing_say_what_was_done_and_show_it_to_watchers(tools: Tools) -> None:
    assert await tools.text("write", path="d/a", text="one\n") == "created 'd/a', 4 bytes"
    assert await tools.text("write", path="d/a", text="one one\n") == "replaced 'd/a', 8 bytes"
    assert await tools.text("edit", path="d/a", old="one\n", new="two\n") == "edited 'd/a' in 1 place, 8 bytes"
    assert await tools.text("edit", path="d/a", old="o", new="0", every=True) == "edited 'd/a' in 2 places, 8 bytes"
    assert (tools.project / "d/a").read_text() == "0ne tw0\n"
    assert tools.progress[0] == "@@ -1,0 +1,1 @@\n+one" and tools.progress[3].endswith("-one two\n+0ne tw0")
    with pytest.raises(ToolFault, match="occurs 0 times"):
        await tools.call("edit", path="d/a", old="absent", new="")


HIDING = "\ufeff# Title\r\nif admin\u202e: pass\u200bword\r\n"
AS_SHOWN = "<U+FEFF># Title\nif admin<U+202E>: pass<U+200B>word"


async def test_what_a_file_hides_is_shown_by_number_and_edited_by_it(tools: Tools) -> None:
    file = tools.project / "a.py"
    file.write_bytes(HIDING.encode())
    seen = await tools.call("read", path="a.py")
    assert seen.text == AS_SHOWN
    (warning,) = seen.warnings
    assert "3 hidden characters" in warning.text
    await tools.text("edit", path="a.py", old=AS_SHOWN, new=AS_SHOWN.replace("if admin<U+202E>", "if admin"))
    assert file.read_bytes() == HIDING.replace("\u202e", "").encode()
    await tools.text("edit", path="a.py", old="pass\u200bword", new="password")
    assert file.read_bytes() == HIDING.replace("\u202e", "").replace("\u200b", "").encode()


async def test_a_search_shows_what_a_line_and_a_name_hide(tools: Tools) -> None:
    (tools.project / "a\u202egpj.exe").write_text("pass\u200bword\n")
    found = await tools.call("grep", pattern="word")
    assert found.text == r"a\u202egpj.exe:1:pass<U+200B>word"
    assert [warning.rule for warning in found.warnings] == ["hidden-shown"]
    assert await tools.text("glob", pattern="*.exe") == r"a\u202egpj.exe"


async def test_a_spelling_that_stands_in_the_file_itself_is_edited_as_it_stands(tools: Tools) -> None:
    file = tools.project / "notes.md"
    file.write_text("a <U+200B> is unseen\n")
    said = await tools.text("edit", path="notes.md", old="a <U+200B> is", new="the <U+200B> is")
    assert file.read_text() == "the <U+200B> is unseen\n"
    assert "<U+200B> stands there as 8 visible characters" in said
    assert "<U+FEFF> stands there" in await tools.text("write", path="new.md", text="<U+FEFF># New\n")
    assert (tools.project / "new.md").read_text() == "<U+FEFF># New\n"
    file.write_text("x\u200by x\u200by")
    with pytest.raises(ToolFault, match=r"(?s)occurs 0 times .* spells: .* occurs 2 times"):
        await tools.call("edit", path="notes.md", old="x<U+200B>y", new="z")
    with pytest.raises(ToolFault, match="1: x<U\\+200B>y x<U\\+200B>y"):
        await tools.call("edit", path="notes.md", old="x y x y", new="z")


async def test_searches_list_rows_and_what_was_left_out(tools: Tools) -> None:
    (tools.project / "a.py").write_text("x = 1\n")
    assert await tools.text("glob", pattern="**/*.py") == "a.py"
    assert await tools.text("grep", pattern="x") == "a.py:1:x = 1"
    assert await tools.text("glob", pattern="*.rs") == "no match"
    assert await tools.text("grep", pattern="x", path="a.py", include="*.rs") == "a.py:1:x = 1"
    (tools.project / "many").write_text("needle " + "y" * 60 + "\n" + ("needle " + "y" * 60 + "\n") * 1999)
    text = await tools.text("grep", pattern="needle")
    assert len(text) <= OUTPUT_CAP and text.endswith("of 2000 shown; narrow the search]")


async def test_searches_say_what_is_ignored_and_show_it_when_asked(tools: Tools) -> None:
    for path in ("a.py", "node_modules/b.py"):
        (tools.project / path).parent.mkdir(exist_ok=True)
        (tools.project / path).write_text("x = 1\n")
    text = await tools.text("glob", pattern="**/*.py")
    assert text == "a.py\n[1 ignored match left out; set ignored to include them]"
    text = await tools.text("grep", pattern="x")
    assert text == "a.py:1:x = 1\n[1 ignored file left out; set ignored to include them]"
    assert await tools.text("glob", pattern="**/*.py", ignored=True) == "a.py\nnode_modules/b.py"
    assert await tools.text("grep", pattern="x", ignored=True) == "a.py:1:x = 1\nnode_modules/b.py:1:x = 1"


async def test_a_permit_is_spent_first_and_only_for_what_was_judged(tools: Tools) -> None:
    tool = tools.by_name["write"]
    judged = tool.parse('{"path": "a", "text": "judged"}')
    permit = permit_for("write", judged)
    context = ToolContext(SESSION, tools.progress.append)
    with pytest.raises(PermitRefused):
        await tool.run(permit, {**judged, "text": "another"}, context)
    assert not (tools.project / "a").exists()
    await tool.run(permit, judged, context)
    with pytest.raises(PermitRefused, match="is spent"):
        await tool.run(permit, judged, context)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read", "not json"),
        ("read", "[]"),
        ("read", "{}"),
        ("read", '{"path": "a", "extra": 1}'),
        ("read", '{"path": 7}'),
        ("read", '{"path": ""}'),
        ("read", '{"path": "a", "line": 0}'),
        ("read", '{"path": "\\ud800"}'),
        ("edit", '{"path": "a", "old": "", "new": "b"}'),
        ("shell", '{"command": "true", "timeout_s": 3601}'),
        ("shell", '{"command": "true", "timeout_s": "9"}'),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_with_the_tools_name(
    tools: Tools, name: str, arguments: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"arguments of '{name}'.*call again"):
        tools.by_name[name].parse(arguments)


async def test_parsing_fills_in_defaults_and_repeats_itself(tools: Tools) -> None:
    parsed = tools.by_name["shell"].parse(' {"command": "true"} ')
    assert parsed == {"command": "true", "timeout_s": 120, "hosts": []}
    assert tools.by_name["shell"].parse(json.dumps(parsed)) == parsed


async def test_declarations_say_what_each_tool_can_do(tools: Tools) -> None:
    declared = {name: tool.spec.declaration for name, tool in tools.by_name.items()}
    assert {name: declaration.effect for name, declaration in declared.items()} == {
        "shell": ToolEffect.EXECUTE,
        "read": ToolEffect.READ,
        "write": ToolEffect.WRITE,
        "edit": ToolEffect.WRITE,
        "glob": ToolEffect.READ,
        "grep": ToolEffect.READ,
    }
    for name, tool in tools.by_name.items():
        declaration, properties = declared[name], tool.spec.parameters["properties"]
        assert isinstance(properties, dict)
        assert {*declaration.path_args, *declaration.authority_args, *declaration.content_args} <= set(properties)
        assert declaration.idempotent == (declaration.effect is ToolEffect.READ)


async def test_the_schemas_of_all_tools_are_small(tools: Tools) -> None:
    sent = [
        {"name": tool.spec.name, "description": tool.spec.description, "parameters": tool.spec.parameters}
        for tool in tools.by_name.values()
    ]
    assert len(json.dumps(sent, separators=(",", ":"))) < 1500


class _Step(msgspec.Struct, frozen=True):
    title: str
    status: Literal["todo", "done"] = "todo"


class _Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence that no model needs."""

    steps: tuple[_Step, ...]
    count: Annotated[int, msgspec.Meta(ge=1, description="how many")] = 1


def test_a_schema_is_flat_and_without_noise() -> None:
    assert terse_schema(_Arguments) == {
        "type": "object",
        "required": ["steps"],
        "properties": {
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["title"],
                    "properties": {"title": {"type": "string"}, "status": {"enum": ["done", "todo"]}},
                },
            },
            "count": {"type": "integer", "description": "how many"},
        },
    }


class _Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Idle(StructTool[_Nothing]):
    async def work(self, permit: Permit, arguments: _Nothing, context: ToolContext) -> ToolOutcome:
        return ToolOutcome("ok", "done")


async def test_a_tool_without_arguments_takes_none_at_all() -> None:
    tool = _Idle("idle", "Do nothing.", _Nothing, Declaration(ToolEffect.THINK))
    assert tool.parse("") == tool.parse("{}") == {}
    assert tool.spec.parameters == {"type": "object", "required": [], "properties": {}}
    outcome = await tool.run(permit_for("idle", {}), {}, ToolContext(SESSION, lambda _: None))
    assert outcome.text == "done"


class _Noted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(max_length=40)]


class _Note(StructTool[_Noted]):
    async def work(self, permit: Permit, arguments: _Noted, context: ToolContext) -> ToolOutcome:
        return ToolOutcome("ok", arguments.text)


class _Book:
    """Lets one value into everything."""

    def __init__(self, value: str) -> None:
        self.value = value

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> str | None:
        return self.value if (tool, argument) == ("note", "text") else None

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> str | None:
        return None

    def opens_tls(self, host: str) -> bool:
        return False

    def known(self) -> Sequence[Known]:
        return ()


@pytest.mark.parametrize(("value", "status"), [("quill-4711", "ok"), ("quill-4711" * 5, "error")])
async def test_a_value_takes_its_placeholders_place_after_the_permit_is_spent_if_it_fits(
    value: str, status: str
) -> None:
    tool = _Note("note", "Write it down.", _Noted, Declaration(ToolEffect.THINK))
    given = {"text": "key={{secret:shop#0a1b2c3d}}"}
    outcome = await tool.run(permit_for("note", given), given, ToolContext(SESSION, lambda _: None, _Book(value)))
    assert outcome.status == status
    assert (f"key={value}" == outcome.text) == (status == "ok")
    assert status == "ok" or value not in outcome.text


@pytest.mark.parametrize("length", [0, 99, 100, 101, 5000])
def test_clipping_keeps_head_and_tail_within_the_cap(length: int) -> None:
    text = "".join(chr(65 + index % 26) for index in range(length))
    clipped = clip(text, 100)
    assert len(clipped) <= 100 and clipped[:10] == text[:10] and clipped[-10:] == text[-10:]
    assert (clipped == text) == (length <= 100)
