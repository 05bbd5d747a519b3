"""A command line is understood before anyone is asked about it, and an answer covers what was understood, no more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.asking import answer, question, settle, turn, verdicts
from tests.flows.conftest import shared_house as house
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

__all__ = ["house"]

HARMLESS = ("ls -la", "cat README.md", "grep -n Quill README.md", "git log --oneline")
DISGUISED = {
    "r\\m -rf src": "shell-disguised-command",
    "$(printf 'r%s' m) -rf src": "shell-disguised-command",
    "echo cm0gLXJmIHNyYw== | base64 -d | sh": "shell-piped-code",
    'eval "$(cat README.md)"': "shell-dynamic-code",
    "PATH=/work/bin:$PATH ls": "shell-environment",
    "git -c core.pager='sh -c id' log": "shell-hijack",
    "tar xf a.tar --checkpoint-action=exec=sh": "shell-hijack",
    "ls\u202e -la": "shell-hidden-characters",
}


def shell(*commands: str) -> Turn:
    """A reply that runs commands."""
    return Turn("", calls=tuple(Call("shell", {"command": command}) for command in commands))


def asked_in_turn(house: LivingHome, id: str, count: int, word: str) -> list[Json]:
    """Give one answer to this many questions, one after the other; gives what was asked."""
    rows: list[Json] = []
    for _ in range(count):
        row = question(house, id)
        answer(house, row, word)
        rows.append(row)
        house.until(lambda: not _still_open(house, id, rows[-1]), "the next question, or the end")
    return rows


def _still_open(house: LivingHome, id: str, row: Json) -> bool:
    return row["id"] in {other["id"] for other in house.get("/approvals", session=id)["items"]}


@promise("SEC-3.parsed", "SEC-3.obfuscation")
def test_harmless_commands_run_unasked_and_what_hides_is_asked_by_name_each_time(
    house: LivingHome, project: Path
) -> None:
    for arguments in (["init", "-q"], ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]):
        commit = ["commit", "-q", "--allow-empty", "-m", "first"] if len(arguments) > 2 else []
        subprocess.run(["git", *arguments, *commit], cwd=project, check=True, capture_output=True)
    with served(by_turn(shell(*HARMLESS), shell(*DISGUISED), then=Turn("That was it."))) as model:
        use_model(house, model.openai)
        id = house.give("look around", project, allow=["shell"])
        first = question(house, id)
        with pytest.raises(ApiError) as refused:
            answer(house, first, "session")
        assert refused.value.status == 409
        rows = asked_in_turn(house, id, len(DISGUISED), "deny")
        house.wait(id, *WELL, "incomplete", "failed")
        shown = house.cli("show", id).stdout
    ran = house.bodies(id, "tool.finished")[: len(HARMLESS)]
    assert verdicts(house, id)[: len(HARMLESS)] == ["auto"] * len(HARMLESS)
    assert [end["outcome"] for end in ran] == ["ok"] * len(HARMLESS) and "first" in ran[-1]["text"]
    assert [row["rule"] for row in rows] == list(DISGUISED.values())
    assert {(row["risk"], row["level"], row["shape"]) for row in rows} == {("critical", "confirm", "")}
    assert len(house.bodies(id, "tool.started")) == len(HARMLESS)
    assert "asked by rule shell-piped-code" in shown


@promise("SEC-3.always")
def test_a_lasting_yes_covers_the_command_as_it_was_understood_and_no_other(house: LivingHome, project: Path) -> None:
    (project / "check.py").write_text("import sys\nprint('checked', *sys.argv[1:])\n", "utf-8")
    script = by_turn(
        shell("python3 check.py a", "python3  check.py 'a'", "python3 check.py b"),
        shell("mkdir made", "touch made/one", "cp README.md made/two", "rm -rf made"),
        shell("python3 -c 'print(1)'", "touch AGENTS.md"),
        then=Turn("That was it."),
    )
    with served(script) as model:
        use_model(house, model.openai)
        id = house.give("check it", project)
        rows = [settle(house, id, "session")]
        house.until(lambda: len(house.bodies(id, "tool.finished")) == 2, "the same command in other words")
        rows += asked_in_turn(house, id, 1, "deny")
        shown = house.cli("approvals", question(house, id)["id"]).stdout
        rows += asked_in_turn(house, id, 1, "session")
        rows += asked_in_turn(house, id, 3, "deny")
        house.wait(id, *WELL, "incomplete", "failed")
    asks = ["shell-runs-code", "shell-runs-code", "shell-writes", "shell-removes", "shell-inline-code"]
    assert [row["rule"] for row in rows] == [*asks, "shell-protected-path"]
    shapes = ["shell:python3 check.py a", "shell:python3 check.py b", "changes", "shell:rm -rf made"]
    assert [row["shape"] for row in rows][:4] == shapes
    assert rows[-1]["shape"] == ""
    ends = house.bodies(id, "tool.finished")
    assert [end["outcome"] for end in ends] == ["ok", "ok", "denied", "ok", "ok", "ok", "denied", "denied", "denied"]
    assert sorted(path.name for path in (project / "made").iterdir()) == ["one", "two"]
    assert not (project / "AGENTS.md").exists()
    assert "commands that only change files here" in shown


@promise("SEC-3.always", "SEC-2.digest")
def test_a_script_that_changes_between_question_and_answer_is_asked_for_again(house: LivingHome, project: Path) -> None:
    script = project / "check.py"
    script.write_text("print('as shown')\n", "utf-8")
    with served(by_turn(turn("shell", command="python3 check.py"), then=Turn("That was it."))) as model:
        use_model(house, model.openai)
        id = house.give("check it", project)
        first = question(house, id)
        script.write_text("print('swapped')\n", "utf-8")
        answer(house, first, "once")
        house.until(lambda: bool(house.bodies(id, "approval.lapsed")), "the answer to be void")
        second = question(house, id)
        assert house.bodies(id, "tool.started") == []
        assert second["digest"] != first["digest"] and second["arguments"] == first["arguments"]
        answer(house, second, "once")
        house.wait(id, *WELL, "incomplete", "failed")
    assert [body["why"] for body in house.bodies(id, "approval.lapsed")] == ["changed"]
    assert ["swapped" in end["text"] for end in house.bodies(id, "tool.finished")] == [True]
