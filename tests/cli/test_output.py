"""What is written is safe for a terminal, aligned for a reader, and reads like a figure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.cli import figures
from stead.cli.cards import card, is_cut
from stead.cli.labels import subject_of
from stead.cli.output import Output, clean, clean_line, width_of
from stead.domain.shown import hidden, reveal

TERMINAL_TEXT = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x9d[]\\\x07;0m\r\n\b\u202e\u200b\x90P"))
)
PLAIN = Output(plain=True, as_json=False, colourless=True)


def is_harmless(text: str) -> bool:
    return all(character in "\n\t" or ord(character) >= 32 for character in text) and not (
        set(text) & {chr(code) for code in (*range(0x7F, 0xA0), *range(0x200B, 0x2010), *range(0x2028, 0x202F), 0xFEFF)}
    )


@given(TERMINAL_TEXT)
def test_cleaned_text_has_nothing_that_a_terminal_obeys(text: str) -> None:
    assert is_harmless(clean(text))
    assert is_harmless(clean_line(text))
    assert "\n" not in clean_line(text)
    assert clean(clean(text)) == clean(text)


@given(TERMINAL_TEXT)
def test_revealed_text_has_nothing_that_a_terminal_obeys_and_hides_nothing(text: str) -> None:
    assert is_harmless(reveal(text))
    visible = [character for character in text if character.isprintable() and not hidden(character)]
    shown = iter(reveal(text))
    assert all(character in shown for character in visible), "every visible character is still there, in order"


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x9b2Jgone", "gone"),
        ("\x9d0;t\x9cx", "x"),
        ("a\rb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("\x1b", ""),
        ("\x1b]never ends", "never ends"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("tags\U000e0041", "tags"),
        ("tab\tline\n", "tab\tline\n"),
        ("Grüße, 漢字", "Grüße, 漢字"),
    ],
)
def test_known_attacks_are_taken_out_and_language_stays(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_a_long_line_is_cut_with_an_ellipsis() -> None:
    assert clean_line("a" * 20, 10) == "a" * 9 + "…"
    assert clean_line("a" * 10, 10) == "a" * 10


def test_tables_align_wide_characters_too(capsys: pytest.CaptureFixture[str]) -> None:
    PLAIN.table(["NAME", ">COUNT"], [["漢字", "1"], ["abcdefg", "1,000"], ["x\x1b[2J\ny", "3"]])
    assert capsys.readouterr().out.splitlines() == [
        "NAME     COUNT",
        "漢字         1",
        "abcdefg  1,000",
        "x y          3",
    ]
    assert width_of("e\u0301") == 1


def test_json_is_ascii_on_one_line_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "ä\u202e\x1b[2J\x7f\x9b\n"}
    PLAIN.json(value)
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert line.isascii()
    assert line.strip().isprintable()
    assert json.loads(line) == value


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (figures.tokens(1234567), "1,234,567"),
        (figures.tokens("unlimited"), "unlimited"),
        (figures.money(0), "$0.00"),
        (figures.money(1_234), "$0.0012"),
        (figures.money(12_345_678), "$12.35"),
        (figures.money(0, known=False), "price unknown"),
        (figures.money(5000, known=False), "at least $0.0050"),
        (figures.size(1), "1 byte"),
        (figures.size(999), "999 bytes"),
        (figures.size(4200), "4.2 kB"),
        (figures.size(3 * 10**12), "3.0 TB"),
        (figures.duration(12), "12 ms"),
        (figures.duration(-3), "0 ms"),
        (figures.duration(3400), "3.4 s"),
        (figures.duration(125_000), "2 min 5 s"),
        (figures.duration(3_780_000), "1 h 3 min"),
        (figures.duration(6.99 * 86_400_000), "6 d 23 h"),
        (figures.age(0, 5000), ""),
        (figures.age(1000, 5000), "just now"),
        (figures.age(1, 3 * 3_600_000), "2 h ago"),
        (figures.counted(1, "step"), "1 step"),
        (figures.counted(2, "query", "queries"), "2 queries"),
    ],
)
def test_figures_read_like_figures(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ('{"command": "ls -la\\nwhoami"}', "ls -la whoami"),
        ('{"content": "x", "path": "a.txt"}', "a.txt"),
        ('{"steps": [1]}', "1 step"),
        ('{"to": "ada"}', '{"to": "ada"}'),
        ("{}", ""),
        ("not json", "not json"),
        ("[1]", "[1]"),
    ],
)
def test_a_call_is_named_by_what_it_is_about(arguments: str, subject: str) -> None:
    assert subject_of(arguments) == subject


def row(arguments: str) -> dict[str, object]:
    texts = {"id": "a_1", "tool": "write", "directory": "/p", "reason": "why", "rule": "r", "risk": "low", "door": ""}
    facts = {"shape": "", "sources": [], "origins": [], "bound": ""}
    return {**texts, **facts, "arguments": arguments, "status": "pending", "expires_at_ms": 0}


@given(st.dictionaries(st.text(max_size=8), st.one_of(TERMINAL_TEXT, st.integers(), st.booleans()), max_size=4))
def test_a_card_shows_every_argument_and_no_line_of_it_can_be_forged(arguments: dict[str, object]) -> None:
    lines = card(row(json.dumps(arguments)), PLAIN, whole=True)
    names = [reveal(name).replace("\n", "\\n") for name in arguments]
    ours = [line for line in lines[1:] if not line.startswith("    | ")]
    assert all(is_harmless(line) and "\n" not in line for line in lines)
    assert len(ours) == len(names) + 3, "one line an argument, then directory, why and lapses; contents are set off"


def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    assert any("arguments  [1, 2]" in line for line in card(row("[1, 2]"), PLAIN))
    assert any("{broken" in line for line in card(row("{broken"), PLAIN))


def test_a_card_shows_an_edit_as_a_diff_with_its_indentation_and_no_argument_that_was_left_out() -> None:
    edit = {"path": "a.py", "every": False, "old": "def f():\n    return 1", "new": "def f():\n    return 2"}
    shown = card(row(json.dumps(edit)) | {"tool": "edit"}, PLAIN)
    at = next(number for number, line in enumerate(shown) if line.startswith("  change"))
    assert shown[at + 1 : at + 4] == ["    |   def f():", "    | -     return 1", "    | +     return 2"]
    assert not any("every" in line or line.startswith(("  old", "  new")) for line in shown), "the diff has every line"
    assert any("every" in line and "true" in line for line in card(row(json.dumps({**edit, "every": True})), PLAIN))
    assert any("every" in line for line in card(row(json.dumps(edit)) | {"tool": "edit"}, PLAIN, whole=True))


def test_a_card_says_where_a_target_came_from_and_what_a_lasting_yes_would_cover() -> None:
    origins = [
        {"argument": "to[0]", "integrity": "person", "source": ""},
        {"argument": "to[1]", "integrity": "untrusted", "source": "web:bad\x1b.example"},
        {"argument": "url", "integrity": "untrusted", "source": ""},
    ]
    asked = row("{}") | {"shape": "host:a.example", "sources": ["web:b.example"], "origins": origins}
    shown = [" ".join(line.split()) for line in card(asked, PLAIN)]
    assert "source to[0]: your own words" in shown
    assert "source to[1]: pages of bad\\x1b.example (untrusted)" in shown
    assert not any("url" in line for line in shown), "what the model wrote itself is the usual case"
    assert "session a yes also allows every request to a.example" in shown
    assert not any(line.startswith("untrusted") for line in shown), "the source is named where it matters"
    read = row("{}") | {"shape": '{"path":"a"}', "origins": []}
    read["sources"] = ["workspace", "web:b.example", "mail", "registry:pypi.org"]
    shown += [" ".join(line.split()) for line in card(read, PLAIN)]
    assert "untrusted input so far: files of this folder, pages of b.example, mail, packages of pypi.org" in shown
    assert "session a yes also allows exactly this call again" in shown
    assert all(is_harmless(line) for line in shown)


def test_only_contents_are_ever_cut() -> None:
    long = "x" * 5000
    assert is_cut(row(json.dumps({"content": long})))
    assert not is_cut(row(json.dumps({"command": long, "path": long})))
    assert any(long in line for line in card(row(json.dumps({"command": long})), PLAIN))
