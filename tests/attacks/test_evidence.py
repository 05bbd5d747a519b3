"""A model that says that it is done, and is not: what counts as evidence is what happened, and no word of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.brain.claims import unsupported, written
from stead.domain.sessions import Action
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served


def ran(command: str) -> Action:
    return Action("shell", json.dumps({"command": command}), "ok")


@pytest.mark.parametrize(
    "command",
    [
        *("pytest --version", "pytest -h", "pytest --collect-only -q", "pytest --co", "pytest --fixtures"),
        *("true || pytest", "pytest || true", "pytest | cat", "pytest 2>&1 | tee log", "pytest & true", "pytest; true"),
        *(
            "true # pytest",
            "echo pytest",
            "echo x; make -n test",
            "make --dry-run test",
            "make -nk test",
            "make -q test",
        ),
        *("if false; then pytest; fi", "for x in; do pytest; done", "! pytest", "exit 0; pytest", "exec true; pytest"),
        *("./nothing.sh", "bash -c 'exit 0' pytest", "sh -c pytest", "cargo test --no-run", "go test --list .", "make"),
        *("pip install pytest", "python -m pip install pytest", "npm install jest", "uv add pytest", "go get test"),
        *(
            "cat tests/test_app.py",
            "ls tests",
            "git add tests",
            "vim tests",
            "rm -rf tests",
            "which pytest",
            "touch test",
        ),
        *(
            "cat <<EOF\npytest\nEOF",
            "true <<'X' && pytest\nX",
            "pytest() { true; }; pytest",
            "trap 'exit 0' EXIT; pytest",
        ),
        *(
            "(true || pytest)",
            "true '",
            "$(echo pytest)",
            "`pytest`",
            "python -c 'print(\"tests pass\")'",
            "",
            "&&",
            "#",
        ),
        *(
            "timeout 60 true pytest",
            "env true pytest",
            "sudo echo pytest",
            "pytest --version && true",
            "jest --listTests",
        ),
        *("echo '&&' pytest", 'echo ";" pytest', "echo \\; pytest", "echo a\\\n; pytest; true"),
    ],
)
def test_no_word_of_a_command_shows_that_tests_pass(command: str) -> None:
    assert unsupported("All tests pass.", [ran(command)])


@pytest.mark.parametrize(
    "command",
    [
        *(
            "pytest",
            "pytest -q tests/test_app.py",
            "python3 -m pytest",
            "cd app && pytest",
            "make -C app test",
            "npm test",
        ),
        *(
            "PYTHONPATH=src uv run pytest -q",
            "git stash; pytest",
            "pytest -n 4 > log 2>&1",
            "npx jest",
            "timeout 60 tox",
        ),
        *("set -e\ncd app\npytest", "npm run test && echo done", "cargo test # all of them", "bundle exec rspec"),
    ],
)
def test_a_run_of_the_tests_does(command: str) -> None:
    assert unsupported("All tests pass.", [ran(command)]) == ()


@pytest.mark.parametrize(
    "command", ["echo make", "true # make build", "true || make build", "cat Makefile", "false && make; true"]
)
def test_no_word_of_a_command_shows_that_another_one_ran(command: str) -> None:
    assert unsupported("I ran `make build`.", [ran(command)])


@pytest.mark.parametrize(
    "claim", ["I wrote SUMMARY.md.", "SUMMARY.md has been created.", "Saved it as `docs/SUMMARY.md`."]
)
@pytest.mark.parametrize(
    "command", ["echo SUMMARY.md", "touch -r a SUMMARY.md", "python3 make.py SUMMARY.md", "cat > SUMMARY.md"]
)
def test_a_command_that_names_a_file_has_not_written_it(claim: str, command: str) -> None:
    assert unsupported(claim, [ran(command)])
    seen = Action("shell", json.dumps({"command": command}), "ok", changed=("docs/SUMMARY.md", "SUMMARY.md"))
    assert unsupported(claim, [seen]) == ()


def test_a_file_that_was_removed_again_is_not_written() -> None:
    made = Action("write", '{"path":"SUMMARY.md","text":"x"}', "ok")
    gone = Action("shell", '{"command":"rm -rf ."}', "ok", removed=("SUMMARY.md",))
    assert written([made]) == {"SUMMARY.md"}
    assert written([made, gone]) == set()
    assert written([made, gone, made]) == {"SUMMARY.md"}


GOAL = "read README.md and write SUMMARY.md with its headings"


@pytest.mark.parametrize(
    ("commands", "done"),
    [
        (["ls README.md; echo SUMMARY.md"], False),
        (["touch x && echo SUMMARY.md > /dev/null"], False),
        (["echo x > SUMMARY.md", "rm SUM*"], False),
        (["mkdir SUMMARY.md"], False),
        (["grep '^#' README.md > SUMMARY.md"], True),
        (["printf 'grep \"^#\" README.md > SUMMARY.md' > make.sh", "bash make.sh"], True),
    ],
)
def test_a_goal_is_met_by_the_file_and_not_by_its_name(tmp_path: Path, commands: list[str], done: bool) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "README.md").write_text("# one\n# two\n")
    turns = [Turn("", calls=(Call("shell", {"command": command}),)) for command in commands]
    house = LivingHome(tmp_path / "home" / ".stead", forked=True)
    house.root.parent.mkdir()
    house.start()
    try:
        with served(by_turn(*turns, then=Turn("Done.")), strict=False) as model:
            use_model(house, model.openai)
            row = house.finish(house.give(GOAL, project, limits={"repetition": 50}), answer="once")
    finally:
        house.stop()
    assert (project / "SUMMARY.md").is_file() == done
    assert (row["status"], row["reason"]) == (("unverified", "done") if done else ("failed", "evidence"))
