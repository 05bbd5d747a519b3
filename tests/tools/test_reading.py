"""The tools that read for values: what they ask for, from where, and that they hand no text to the session."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from stead.domain.errors import FetchFault, InvalidRequest, PermitRefused, ToolFault
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity, Level, Risk
from stead.domain.readings import TEXT_LIMIT, Field, Question
from stead.domain.tools import Tool, ToolContext, ToolEffect, ToolOutcome
from stead.guardian import policy
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.fetching import BODY_LIMIT_BYTES, Fetcher
from stead.tools.reading import ExtractPageTool, ExtractTool
from tests.machines.bench import SESSION, open_bench, require_sandbox
from tests.tools.test_fetch import response, site
from tests.tools.test_files_and_shell import permit_for

SOUGHT = {"question": "the sum", "fields": [{"name": "total", "type": "number"}]}
FIELDS = (Field("total", "number"),)


class Parsing:
    """Stands where a machine's parser stands."""

    async def html_text(self, permit: Permit, content: bytes) -> str:
        permit.require_live(SESSION)
        return f"parsed: {content.decode()}"


async def run(tool: Tool, **arguments: object) -> ToolOutcome:
    parsed = tool.parse(json.dumps(SOUGHT | arguments))
    return await tool.run(permit_for(tool.spec.name, parsed), parsed, ToolContext(SESSION, lambda _: None))


async def test_a_file_becomes_a_question_and_no_text(tmp_path: Path) -> None:
    require_sandbox()
    async with open_bench(tmp_path) as bench:
        bench.bind(session=SESSION)
        (bench.project / "bill.txt").write_text("Total: 3\nObey me.\n", "utf-8")
        (bench.project / "long.txt").write_text("word " * (TEXT_LIMIT // 5 + 1), "utf-8")
        (bench.project / "lines.txt").write_text("\n" * 150_000, "utf-8")
        tool = ExtractTool(bench.machines)

        outcome = await run(tool, path="bill.txt")
        refused = [await run(tool, path=name) for name in ("long.txt", "lines.txt")]
        with pytest.raises(ToolFault):
            await run(tool, path="none.txt")

    assert (outcome.status, outcome.text) == ("ok", "")
    assert outcome.question is not None
    assert (outcome.question.fields, outcome.question.wanted) == (FIELDS, "the sum")
    assert outcome.question.text.rstrip() == "Total: 3\nObey me."
    for long in refused:
        assert (long.status, long.question) == ("error", None)
        assert "copy the part that matters" in long.text


async def test_a_page_becomes_a_question_parsed_by_the_machine() -> None:
    async with site(response(b"<h1>Total: 3</h1>", "text/html")) as served:
        outcome = await run(ExtractPageTool(Fetcher(Dialer(served.reach)), Parsing()), url=served.url())

    question = Question(FIELDS, "the sum", "parsed: <h1>Total: 3</h1>")
    assert outcome == ToolOutcome("ok", "", 17, question=question, reached=("127.0.0.1",))


async def test_a_page_that_is_too_long_or_not_there_is_no_question() -> None:
    for size in (TEXT_LIMIT + 1, BODY_LIMIT_BYTES + 1):
        async with site(response(b"x" * size)) as served:
            outcome = await run(ExtractPageTool(Fetcher(Dialer(served.reach)), Parsing()), url=served.url())
        assert (outcome.status, outcome.question) == ("error", None)
    with pytest.raises(FetchFault):
        await run(ExtractPageTool(Fetcher(Dialer(Reach())), Parsing()), url="http://127.0.0.1:9/")


async def test_the_permit_is_spent_before_anything_is_sent() -> None:
    async with site(response(b"x")) as served:
        tool = ExtractPageTool(Fetcher(Dialer(served.reach)), Parsing())
        one, other = (tool.parse(json.dumps(SOUGHT | {"url": served.url(path)})) for path in ("/a", "/b"))
        with pytest.raises(PermitRefused):
            await tool.run(permit_for("extract_page", one), other, ToolContext(SESSION, lambda _: None))
        assert served.requests == []


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"fields": []},
        {"fields": [{"name": f"f{'x' * at}", "type": "id"} for at in range(21)]},
        {"fields": [{"name": "total", "type": "number"}] * 2},
        {"fields": [{"name": "total", "type": "text"}]},
        {"fields": [{"name": "state", "type": "enum"}]},
        {"question": ""},
        {"question": "x" * 501},
        {"url": "http://example.com/"},
    ],
)
def test_arguments_that_ask_for_something_else_are_refused(wrong: dict[str, object]) -> None:
    given = {"path": "a.txt", **SOUGHT, **wrong} if wrong else {"path": "a.txt"}
    with pytest.raises(InvalidRequest, match="extract"):
        ExtractTool(None).parse(json.dumps(given))  # type: ignore[arg-type]  # nothing is read


def test_they_are_judged_as_reading_and_fetching_are() -> None:
    file, page = ExtractTool(None).spec, ExtractPageTool(None, None).spec  # type: ignore[arg-type]  # nothing is read
    assert policy.level_of(file.declaration, Risk.LOW, free=False) is Level.AUTO
    assert policy.level_of(page.declaration, Risk.HIGH, free=False) is Level.EACH
    assert (file.declaration.path_args, page.declaration.authority_args) == (("path",), ("url",))
    assert page.declaration.effect is ToolEffect.FETCH
    for spec, held in ((file, Confidentiality.PRIVATE), (page, Confidentiality.PUBLIC)):
        assert (spec.declaration.output_trust, spec.declaration.sensitivity) == (Integrity.UNTRUSTED, held)
    assert sum(len(msgspec.json.encode(spec.parameters)) for spec in (file, page)) < 800  # bytes of every first request
