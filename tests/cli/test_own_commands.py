"""Commands from Markdown files, and what a terminal pastes: parsed as data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stead.cli.attachments import named, pasted
from stead.cli.own_commands import OwnCommand, own_commands
from tests.fakes.pictures import png


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("Review $1 for $ARGUMENTS.\n", "a.py 'two words'", "Review a.py for a.py 'two words'."),
        ("Compare $1 and $2 and $3", "a 'b c'", "Compare a and b c and"),
        ("Go.", "all of it", "Go.\n\nall of it"),
        ("Go.\n", "", "Go."),
        ("Cost $10 of $HOME", "x", "Cost x0 of $HOME"),
        ("$1", "it's", "it's"),
        ("$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"),
    ],
)
def test_a_command_says_its_text_with_the_words_in_their_places(text: str, words: str, said: str) -> None:
    assert OwnCommand("a.md", "", text).filled(words) == said


def test_the_persons_own_come_before_a_projects_and_nothing_strange_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, home, project = tmp_path / "person", tmp_path / "stead", tmp_path / "project"
    monkeypatch.setenv("HOME", str(person))
    put(home, "commands/fix.md", "mine")
    put(person, ".claude/commands/fix.md", "theirs of the person")
    put(project, ".claude/commands/fix.md", "the project's")
    put(project, ".agents/commands/web/look.md", "---\ndescription: look\x1b[2J at it\n---\nLook.\u202e\n")
    put(project, ".stead/commands/web/deep/no.md", "too deep")
    put(project, ".stead/commands/Ümlaut name.md", "no name of a command")
    put(project, ".stead/commands/empty.md", "---\ndescription: none\n---\n\n")
    (project / ".stead/commands/bytes.md").write_bytes(b"\xff\xfe\x00")
    (project / ".stead/commands/out.md").symlink_to("/etc/passwd")
    os.mkfifo(project / ".stead/commands/pipe.md")
    found = own_commands(str(project), home)
    assert {name: command.text.strip() for name, command in found.items()} == {"fix": "mine", "web:look": "Look."}
    assert found["web:look"].description == "look at it"


def test_a_folder_of_commands_that_is_a_link_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    put(tmp_path, "elsewhere/commands/a.md", "from elsewhere")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".claude").symlink_to(tmp_path / "elsewhere")
    assert own_commands(str(tmp_path / "project"), tmp_path / "stead") == {}


def test_pictures_that_are_dropped_are_named_and_other_text_stays_as_it_is(tmp_path: Path) -> None:
    plain, spaced = tmp_path / "plan.png", tmp_path / "a plan.png"
    for path in (plain, spaced):
        path.write_bytes(png())
    assert pasted(str(plain)) == f"@{plain} "
    assert pasted(f"'{spaced}' file://{plain}") == f'@"{spaced}" @{plain} '
    for text in ("plan.png", "/etc/passwd", f"{plain} and text", "it's", "one\ntwo", "", str(tmp_path / "none.png")):
        assert pasted(text) == text
    assert named('see @plan.png and @"a plan.png", not @none.png', str(tmp_path)) == [str(plain)]
    assert named('@"a plan.png"', str(tmp_path)) == [str(spaced)]
