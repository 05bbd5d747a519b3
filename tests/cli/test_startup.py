"""What a command may import before it has something to say: bar P8 stands on it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stead.cli.catalogue import GROUPS, SUMMARIES
from stead.cli.main import parser_of
from tests.cli.conftest import Cli
from tests.cli.simulator import Simulator

HEAVY = {
    "asyncio", "cryptography", "email", "http", "httpcore2", "logging", "msgspec", "pydantic", "sqlcipher3",
    "rich", "sqlite3", "ssl", "starlette", "subprocess", "textual", "tomllib", "uvicorn",
}  # fmt: skip
CODE = """
import sys
from stead.cli.main import main
code = main({words!r})
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def loaded_by(cli: Cli, *words: str) -> tuple[int, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(words=list(words))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=cli.environment(),
        timeout=30,
        check=False,
    )
    return done.returncode, set(done.stderr.splitlines()[-1].split())


def test_help_imports_nothing_but_the_parser(cli: Cli) -> None:
    code, modules = loaded_by(cli, "--help")
    assert code == 0
    assert not modules & (HEAVY | {"socket", "json.tool", "dataclasses"})
    ours = {name for name in modules if name.startswith("stead.") and not name.startswith("stead.cli")}
    assert ours <= {
        "stead.domain",
        "stead.domain.lazy_patterns",
        "stead.domain.figures",
        "stead.domain.shown",
        "stead.domain.templates",
    }, "how text is revealed, which every line may need"


@pytest.mark.parametrize(
    "words", [["status"], ["stop"], ["objectives"], ["approvals"], ["pause", "s_00000000000000aa"], ["session"]]
)
def test_a_quick_command_imports_nothing_heavy(cli: Cli, api: Simulator, words: list[str]) -> None:
    _, modules = loaded_by(cli, *words)
    assert modules & HEAVY == set()
    ours = {
        name for name in modules if name.startswith("stead.") and not name.startswith(("stead.cli", "stead.client"))
    }
    domain = {f"stead.domain{name}" for name in ("", ".errors", ".figures", ".lazy_patterns", ".shown", ".templates")}
    some = {f"stead.domain{name}" for name in (".ends", ".event_words", ".trash")}
    assert ours - some == {"stead.config", *domain}


def test_textual_is_imported_for_the_dashboard_itself_and_for_nothing_before_it(cli: Cli) -> None:
    code, modules = loaded_by(cli, "top")
    assert code == 3, "there is no terminal"
    assert not modules & HEAVY


def test_every_command_of_the_help_exists_and_explains_itself(cli: Cli) -> None:
    shown = cli("--help").out
    for name, summary in SUMMARIES.items():
        assert f"  {name:<11} {summary}" in shown
        assert "--json" in parser_of(name).format_help()
    assert all(title in shown for title in GROUPS)
    assert "exit codes" in shown
    assert cli("help", "run").out == cli("run", "--help").out
    assert cli().out == shown
    assert cli("--version").out.startswith("stead 0.")
