"""Templates and the forms that commands are made of: what they show, and what no value can make them show."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import pytest

from stead.cli.catalogue import SUMMARIES
from stead.cli.commands import load
from stead.cli.finding import Kind
from stead.cli.forms import Act, Argument, Listing, arg, command, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.main import parser_of
from stead.cli.templates import columns, fill, lines, pairs

ROW: dict[str, Any] = {
    "id": "s_1",
    "title": "a long title of a session",
    "run": {"by": "you"},
    "uses": 3,
    "used_ms": 0,
    "files": ["a", "b"],
    "on": True,
    "spent": 1_250_000,
    "none": "",
}


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{id} by {run.by}", "s_1 by you"),
        ("{title:8}", "a long …"),
        ("{uses:#time}, {files:#file}, {used_ms:#memory/memories}", "3 times, 2 files, 0 memories"),
        ("{none|nothing} {id|nothing}", "nothing s_1"),
        ("{on?on:off} {none?on:off}{none?on}", "on off"),
        ("{uses}[, last {used_ms}][ in {run.by}]", "3 in you"),
        ("{files}; {spent:number}; {spent:money}", "a, b; 1,250,000; $1.25"),
        ("{used_ms}", "0"),
    ],
)
def test_a_template_is_filled_from_a_row(template: str, shown: str) -> None:
    assert fill(template, ROW) == shown


def test_lines_and_pairs_with_nothing_to_say_are_left_out() -> None:
    assert lines("{id}\n[{none}]\n{none}", ROW) == ["s_1"]
    assert pairs("id: {id} | last: [{used_ms} ago] | by: {run.by}", ROW) == [("id", "s_1"), ("by", "you")]
    assert list(columns("ID: {id} | >TOKENS IN: +{uses:number} | : {on?yes}")) == [
        ("ID", "{id}"),
        (">TOKENS IN", "+{uses:number}"),
        ("", "{on?yes}"),
    ]


def test_a_field_or_a_style_that_there_is_not_is_an_error_and_no_blank() -> None:
    for template in ("{nothing}", "{run.nothing}", "{id:nothing}", "[{nothing}]"):
        with pytest.raises(KeyError):
            fill(template, ROW)


@pytest.mark.parametrize("hostile", ["{id}", "[{id}]", "{id|x}", "} {", "][", "{title:raw}", " | ID: {id}"])
def test_a_value_is_never_read_as_a_template(hostile: str) -> None:
    for template in ("{title}", "[{title}]", "{title:90}", "{files}"):
        assert fill(template, {**ROW, "title": hostile, "files": [hostile]}) == hostile.strip()


def test_a_value_is_cleaned_in_every_place_that_does_not_say_otherwise() -> None:
    hostile = "\x1b]0;t\x07red\x1b[31m\u202e\r\nsecond\x9b2J line"
    for template in (
        "{text}",
        "{text:60}",
        "[{text}]",
        "{text:number}",
        "{text:money}",
        "{text|x}",
        "{many}",
        "{many:then}",
        "{inner.text}",
        "{rows:paths}",
    ):
        row = {"text": hostile, "many": [hostile], "inner": {"text": hostile}, "rows": [{"path": hostile}]}
        assert fill(template, row) == "red second line", template
    assert fill("{text:path}", {"text": hostile}).isprintable()


def acts() -> list[tuple[str, Act]]:
    """Every act that a command line can name, found through the parsers' own rows."""
    found = []
    for name in SUMMARIES:
        cells = [cell.cell_contents for cell in load(name).run.__closure__ or ()]
        for content in cells:
            if isinstance(content, Act):
                found.append((name, content))
            if isinstance(content, dict):
                found += [(f"{name} {part}", does) for part, (_, _, does) in content.items() if isinstance(does, Act)]
    return found


def test_an_act_that_destroys_asks_first() -> None:
    every = acts()
    assert len(every) > 30
    destroys = re.compile(r"^DELETE |/(delete|discard|forget|revert)$")
    destroying = {name for name, act in every if destroys.search(act.request)}
    assert {"rules remove", "memory revert", "secret remove"} <= destroying
    assert [name for name, act in every if name in destroying and not act.confirm] == []
    for name, act in every:
        options = [option for action in _parser(name)._actions for option in action.option_strings]
        assert ("--yes" in options) == bool(act.confirm), name


def _parser(name: str) -> ArgumentParser:
    first, *rest = name.split()
    parser = parser_of(first)
    for word in rest:
        (below,) = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
        parser = below[word]
    return parser


def test_a_number_out_of_its_range_is_refused_with_the_range() -> None:
    parser = ArgumentParser()
    number("-n --limit N", 20, "how many", most=500).add(parser)
    assert parser.parse_args([]).limit == 20
    for typed in ("0", "501"):
        with pytest.raises(CommandError, match=f"-n {typed} is not between 1 and 500"):
            parser.parse_args(["-n", typed])


def test_what_is_typed_is_looked_up_once_and_in_its_order() -> None:
    asked = []

    def find(_: object, typed: str) -> str:
        asked.append(typed)
        return typed.upper()

    seen: list[Any] = []
    declared: Argument = arg("[ids ID...]", "", find)

    def keep(_: Invocation, arguments: Namespace) -> int:
        seen.append(arguments.ids)
        return 0

    made = command(keep, declared)
    invocation = Invocation(Namespace(home="/nowhere", json=False, plain=True, debug=False), parser_of)
    made.run(invocation, Namespace(ids=["b", "a", "b"]))
    made.run(invocation, Namespace(ids=[]))
    assert (seen, asked) == ([["B", "A"], []], ["b", "a", "b"])


def test_no_source_of_the_command_line_puts_a_value_into_a_template() -> None:
    """An f-string as a template could carry a value in; those that there are hold constants and figures alone."""
    allowed = {
        "{_ONE}",
        "{ONE}",
        "{_LOSS}",
        "{_DID}",
        "{used}",
        "{took}",
        "{holds}",
        "{what}",
        "{limit}",
        "{period}",
        "{said}",
        "{TOUCHED}",
    }
    pattern = re.compile(r"\b(?:fill|lines|pairs|table)\(f([\"'])(.*?)\1")
    found = []
    for file in sorted((Path(__file__).parents[2] / "src/stead/cli").glob("*.py")):
        for _, template in pattern.findall(file.read_text("utf-8")):
            named = set(re.findall(r"(?<!\{)\{[^{}]+\}(?!\})", template))
            found += [f"{file.name}: {place}" for place in named - allowed]
    assert found == []


def test_a_kind_is_found_by_a_beginning_alone() -> None:
    kind = Kind("x_", "thing", "stead things", ("/things",), title="{name}")
    for typed in ("", "x_", "../rules", "x_" + "0" * 17, "X1"):
        with pytest.raises(CommandError, match="is not a valid ID"):
            kind(None, typed)  # type: ignore[arg-type]
    assert kind(None, "x_" + "a" * 16) == "x_" + "a" * 16  # type: ignore[arg-type]


def test_a_listing_shows_rows_or_says_that_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    invocation = Invocation(Namespace(home="/nowhere", json=False, plain=True, debug=False), parser_of)
    listing = Listing("/things", "ID: {id} | >USES: {uses}", "None of {kind}.", more="more: stead things {kind}")
    arguments = Namespace(kind="metal")
    assert listing.show(invocation, [], arguments) == 0
    assert listing.show(invocation, [ROW], arguments) == 0
    assert capsys.readouterr().out == "None of metal.\nID   USES\ns_1     3\n\nmore: stead things metal\n"
