"""The docs say what the code does: nothing generated is stale, nothing named is missing, nothing named is unknown."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from stead.cli.catalogue import SUMMARIES
from stead.cli.commands import load
from stead.cli.parsing import command_parser
from stead.config import Settings
from stead.domain.commands import Command
from stead.domain.events import Body
from stead.providers.rehearsal_grammar import TaskKind, understand

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = DOCS / "generated"
WRITTEN = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated pages as the code makes them now."""
    folder = tmp_path_factory.mktemp("generated")
    program = "import sys; sys.path.insert(0, 'scripts'); import gen_docs, pathlib; "
    program += "gen_docs.FOLDER = pathlib.Path(sys.argv[1]); gen_docs.main()"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_generated_pages_are_what_the_code_makes_now(fresh: Path) -> None:
    made = {path.name: path.read_text("utf-8") for path in fresh.glob("*.md")}
    kept = {path.name: path.read_text("utf-8") for path in GENERATED.glob("*.md")}

    assert kept.keys() == made.keys(), "run `make docs`"
    assert [name for name in made if kept[name] != made[name]] == [], "run `make docs`"


def test_every_event_command_tool_and_setting_has_its_place() -> None:
    tools = {
        str(node.args[0].value)
        for path in (ROOT / "src/stead/tools").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "super().__init__"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    wanted = {
        "events.md": {str(kind.__struct_config__.tag) for kind in get_args(Body)},
        "commands.md": {str(kind.__struct_config__.tag) for kind in get_args(Command)},
        "settings.md": set(Settings._fields) - {"unknown"},
        "tools.md": tools,
    }

    for page, names in wanted.items():
        text = (GENERATED / page).read_text("utf-8")
        assert {name for name in names if f"`{name}`" not in text} == set(), page
    assert {"fetch", "plan"} <= tools


def test_every_rule_of_the_guardian_is_in_the_security_model_and_no_other() -> None:
    used: set[str] = set()
    for path in (ROOT / "src/stead/guardian").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Reason", "_deny"):
                used |= _rules(node.args[1 if ast.unparse(node.func) == "_deny" else 0])
    section = (DOCS / "security-model.md").read_text("utf-8").split("## The rules by name")[1].split("\n## ")[0]
    told = set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE))

    assert told == used
    assert "unknown-tool" in used


def _rules(name: ast.expr) -> set[str]:
    """The rule that an argument names; ``f"level-{level.value}"`` names one for each level that asks."""
    if isinstance(name, ast.Constant):
        return {str(name.value)}
    if isinstance(name, ast.JoinedStr):
        assert ast.unparse(name) == "f'level-{level.value}'"
        return {"level-session", "level-each", "level-confirm"}
    return set()


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    missing = [link for link in links if link and not (page.parent / link).exists()]
    named = re.findall(r"`((?:src|tests|docs|scripts|bench)/[\w./-]+)`", text)
    missing += [name for name in named if not re.search("NAME|NNNN", name) and not (ROOT / name).exists()]

    assert missing == []


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

    assert {name for name in re.findall(r"`(?:\.venv/bin/)?stead ([a-z][a-z-]*)", text)} <= {*SUMMARIES, "help"}
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= targets


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_every_command_line_that_a_page_shows_is_understood(page: Path) -> None:
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for line in re.findall(r"^\$ stead (.+)$", block, re.MULTILINE):
            name, *words = shlex.split(line, comments=True)
            parser = command_parser(name, SUMMARIES[name])
            load(name).configure(parser)
            parser.parse_args(words)


def _rehearsed() -> list[tuple[str, str]]:
    """(kind, goal) of every example in the published grammar."""
    table = (DOCS / "rehearsal.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z]+) \| (.+) \|$", table, re.MULTILINE)
    return [
        (kind, example.strip("` ").replace("``", ""))
        for kind, cell in rows
        for example in cell.split(" · ")
        if kind != "kind"
    ]


@pytest.mark.parametrize(("kind", "goal"), _rehearsed())
def test_every_example_of_the_published_grammar_is_understood_as_what_it_stands_for(kind: str, goal: str) -> None:
    task = understand(goal)

    assert task is not None
    assert task.kind == kind


def test_every_kind_of_task_is_published() -> None:
    assert {kind for kind, _ in _rehearsed()} == set(get_args(TaskKind))
    assert understand("make me a cup of tea") is None


def _dependencies() -> str:
    """What the records say of dependencies: a record is not edited, so those that came later are in another."""
    return "\n".join(path.read_text("utf-8") for path in sorted((DOCS / "adr").glob("*-dependencies*.md")))


def test_every_dependency_is_accounted_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = [*project["dependencies"], *(pin for extra in project["optional-dependencies"].values() for pin in extra)]
    record = _dependencies()

    for pin in pins:
        name, _, version = pin.partition("==")
        assert version, f"{pin!r} is not pinned exactly"
        parts = [name.partition("[")[0], *re.findall(r"\[(.*)\]", name)]
        assert all(re.search(rf"\b{re.escape(part)}\b", record) for part in ",".join(parts).split(",")), pin


def test_every_library_that_is_imported_is_accounted_for_and_locked() -> None:
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
    }
    foreign = imported - sys.stdlib_module_names - {"stead"}
    record = _dependencies().replace("_", "-")
    locked = (ROOT / "requirements.lock").read_text("utf-8")

    for name in (DISTRIBUTIONS.get(module, module.replace("_", "-")) for module in foreign):
        assert re.search(rf"\b{re.escape(name)}\b", record), name
        assert f"{name}==" in locked or name in EXTRAS, name
    assert "msgspec" in foreign


DISTRIBUTIONS = {
    "argon2": "argon2-cffi",
    "mailparser_reply": "mail-parser-reply",
    "opentelemetry": "opentelemetry-exporter-otlp-proto-http",
}
"""Where a module's package has another name."""
EXTRAS = {
    *("keyring", "numpy", "textual", "tokenizers", "icalendar", "recurring-ical-events"),
    *("opentelemetry-exporter-otlp-proto-http", "requests"),
    *("aiohttp", "slack-sdk"),
    *("aioimaplib", "aiosmtplib", "mail-parser-reply"),
}
"""Modules of extras, which are imported only where they are installed."""


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_the_small_pages_stay_small() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()) <= 150
    entries = re.findall(r"^- (.+(?:\n  .+)*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert entries
    assert [entry for entry in entries if len(entry.split()) > 25] == []


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")

    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
