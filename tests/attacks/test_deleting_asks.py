"""Nothing is deleted by the command line where nobody can be asked, unless the command itself says ``--yes``."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.cli.catalogue import SUMMARIES
from stead.cli.main import parser_of
from stead.domain.ends import WELL
from tests.flows.house import LivingHome

_DESTROYS = {"delete", "remove", "discard", "forget", "revert", "erase", "drop", "purge"}
_HARMLESS = {
    "egress remove": "takes leave back, and what is refused can be allowed again",
    "checks remove": "the check is named in the answer and can be added again; nothing that was made goes",
}


def leaves(parser: ArgumentParser, words: tuple[str, ...]) -> Iterator[tuple[str, ArgumentParser]]:
    """Every command below a parser; an action that is an argument with choices counts as one."""
    below = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    for action in below:
        for name, inner in action.choices.items():
            yield from leaves(inner, (*words, name))
    if not below:
        chosen = next((action.choices for action in parser._actions if action.dest == "action" and action.choices), ())
        for name in chosen or ("",):
            yield " ".join(filter(None, (*words, str(name)))), parser


EVERY = dict(leaf for name in SUMMARIES for leaf in leaves(parser_of(name), (name,)))
DESTRUCTIVE = sorted(name for name in EVERY if name.split()[-1] in _DESTROYS and name not in _HARMLESS)


def test_every_command_that_destroys_is_among_those_that_are_tried() -> None:
    assert len(DESTRUCTIVE) >= 11 and set(_HARMLESS) <= set(EVERY), DESTRUCTIVE
    deletes = re.compile(r"client\.delete\(|/(delete|discard|forget|revert)\"")
    for file in sorted((Path(__file__).parents[2] / "src/stead/cli").glob("*.py")):
        for function in re.split(r"^def ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            if deletes.search(function) and "/preview" not in function.replace("/forget/preview", ""):
                asks = "confirm(" in function or "confirm=" in function or "memories/forget/preview" in function
                assert asks, f"{file.name}: {function[:60]}"


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_it_takes_a_yes_with_the_command(command: str) -> None:
    (option,) = [action for action in EVERY[command]._actions if "--yes" in action.option_strings]
    assert option.default is False


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
def test_nothing_is_deleted_where_nobody_can_be_asked(house: LivingHome, project: Path, step: int) -> None:
    def made(*words: str, stdin: str = "") -> str:
        done = house.cli(*words, stdin=stdin)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    made("providers", "add", "acme", "--preset", "openai", "--model", "m-1", "--key-env", "ACME_KEY")
    rule = json.loads(made("rules", "add", "never change infra/", "--yes", "--json"))["rule"]["id"]
    made("directives", "add", "Tone", "--text", "Be brief.")
    made("secret", "add", "shop", stdin="a value of it")
    made("memory", "add", "The shop opens at nine.")
    house.cli("mcp", "add", "files", "--command", "true")  # it is added, and ends as soon as it is tried
    made("agent", "add", "pear", "--host", "api.pear.example.com", "--command", "pear --acp")
    made("schedule", "add", "nightly", "--dir", str(project), "Look around", "--when", "0 3 * * *")
    made("trigger", "add", "builds", "--dir", str(project), "Look", "--from", "webhook:github", "--key", "shop")
    made("notify", "add", "desk", "--desktop")
    made("profile", "add", "night", "--profile", "ask")
    directive = house.get("/directives")["items"][0]["directive"]["id"]
    memory = house.get("/memories")["items"][0]["memory"]["id"]
    objective = house.give("Look around", project)
    house.wait(objective, "waiting", *WELL, "incomplete", "failed")
    session = str(house.post("/sessions", {"directory": str(project)})["session"])
    house.post(f"/sessions/{session}/close", {})
    targets = {
        "agent remove": "pear",
        "channel remove": "quill",
        "remote remove": "phone",
        "delete --now": objective,
        "mcp remove": "files",
        "notify remove": "desk",
        "directives remove": directive,
        "held discard": objective,
        "trial discard": objective,
        "memory forget": memory,
        "profile remove": "night",
        "providers remove": "acme",
        "rules remove": rule,
        "schedule remove": "nightly",
        "search remove": "",
        "secret remove": "shop",
        "session delete --now": session,
        "trigger remove": "builds",
    }
    # What needs a run, or a chat that is paired, is tried with the others of memory and of channels.
    assert {name.removesuffix(" --now") for name in targets} == set(DESTRUCTIVE) - {
        "memory revert",
        "channel chat remove",
    }
    head = house.get("/status")["head"]
    for number, (command, target) in enumerate(targets.items()):
        tries: tuple[tuple[list[str], str], ...] = (
            ([], ""),
            ([], "yes\n"),
            ([], f"{command.split()[-1]}\n"),
            (["--json"], "y\n"),
        )
        for options, stdin in tries[number % step :: step]:  # all of them ask by one function
            done = house.cli(*command.split(), *filter(None, [target]), *options, stdin=stdin)
            assert done.returncode == 3, (command, options, done.stdout, done.stderr)
            assert "no terminal to ask at" in done.stderr and "--yes" in done.stderr, command
    assert house.get("/status")["head"] == head, "no fact came of any of them"
    for command in ("rules remove", "secret remove", "memory forget", "directives remove", "providers remove"):
        made(*command.split(), targets[command], "--yes")
