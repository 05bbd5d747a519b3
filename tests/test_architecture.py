"""The house keeps its rules, and each rule's check is shown to fail on a planted breach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from scripts import dead_code
from tests import architecture as rules
from tests.architecture import Source

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "stead"
SOURCES = rules.load(PACKAGE)
TESTS = rules.load(ROOT / "tests")

BROAD_EXCEPTS = {
    "channels/base.py": 1,
    "cli/main.py": 1,
    "protocols/acp/agent.py": 1,
    "protocols/acp/following.py": 1,
    "runtime/sessions.py": 1,
    "runtime/calendar_worker.py": 2,
    "storage/writer.py": 1,
    "web/guard.py": 1,
    "web/webhooks.py": 1,
}
"""Who may catch everything, and how often: the top of an actor, of a thread, a door, over what a stranger wrote."""

TRUSTED_BASE = rules.TrustedBase(
    members=(
        "guardian/",
        "machines/",
        "egress/",
        "net/",
        "runtime/gate.py",
        "runtime/approvals.py",
        "runtime/screening.py",
        "runtime/secrets.py",
        "runtime/known_values.py",
        "domain/bindings.py",
        "domain/devices.py",
        "domain/hosts.py",
        "domain/obeyed.py",
        "domain/permits.py",
        "domain/secrets.py",
        "storage/appending.py",
        "storage/journal.py",
        "storage/redacting.py",
        "storage/replacements.py",
        "storage/vault.py",
        "tools/tool.py",
        "web/auth.py",
        "web/guard.py",
        "web/passkeys.py",
        "web/remote.py",
        "web/signin.py",
    ),
    tables=("domain/obeyed_table.py",),
    confined=tuple(
        f"machines/runner/{name}.py"
        for name in (
            "bridge",
            "browse",
            "browser_page",
            "chromium",
            "devtools",
            "files",
            "page_script",
            "pages",
            "search",
        )
    )
    # It decides what is asked, and nothing about what can happen: docs/adr/0032, and what tests show a liar changes.
    + tuple(
        f"guardian/shell{name}.py"
        for name in ("", "_commands", "_options", "_paths", "_programs", "_rules", "_specs", "_tree", "_words")
    )
    # They keep what a machine printed until it is shown, and a machine can print what it likes.
    + ("machines/output.py", "machines/scrollback.py"),
)


def broad_excepts(sources: Sequence[Source]) -> Iterator[str]:
    return rules.broad_excepts(sources, BROAD_EXCEPTS)


def trusted_base(sources: Sequence[Source]) -> Iterator[str]:
    return rules.trusted_base(sources, TRUSTED_BASE)


def drawers(sources: Sequence[Source]) -> Iterator[str]:
    return rules.drawers(source.name for source in sources)


Check = Callable[[Sequence[Source]], Iterator[str]]
CHECKS: list[Check] = [
    rules.sizes,
    rules.import_cycles,
    rules.permits_built,
    broad_excepts,
    rules.impure,
    rules.leftovers,
    drawers,
    trusted_base,
    rules.undocumented,
    rules.package_lines,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_product_keeps_the_rule(check: Check) -> None:
    assert list(check(SOURCES)) == []


@pytest.mark.parametrize("check", [rules.leftovers, drawers, rules.mocks], ids=lambda check: check.__name__)
def test_the_tests_keep_the_rule(check: Check) -> None:
    assert list(check([source for source in TESTS if source.name != "test_architecture.py"])) == []


def test_every_member_of_the_trusted_base_exists() -> None:
    named = (*TRUSTED_BASE.members, *TRUSTED_BASE.tables, *TRUSTED_BASE.confined)

    assert [name for name in named if not (PACKAGE / name).exists()] == []


def long_function(lines: int) -> str:
    return "def f():\n" + "    x = 1\n" * (lines - 1)


def wide_class(methods: int, base: str = "") -> str:
    return f"class C({base}):\n" + "".join(f"    def m{n}(self): ...\n" for n in range(methods))


def at_most(most: dict[str, int]) -> Check:
    """The ratchet of packages with numbers of its own."""
    return lambda sources: rules.package_lines(sources, most)


PLANTED: list[tuple[Check, dict[str, str], str]] = [
    (rules.sizes, {"tools/a.py": "x = 1\n" * 501}, "501 lines"),
    (rules.sizes, {"tools/a.py": long_function(71)}, "f has 71 lines"),
    (rules.sizes, {"tools/a.py": "class C:\n" + "    x = 1\n" * 400}, "C has 401 lines"),
    (rules.sizes, {"tools/a.py": wide_class(21)}, "C has 21 methods"),
    (rules.sizes, {"tools/a.py": wide_class(6, "Protocol")}, "protocol C has 6 methods"),
    (
        rules.sizes,
        {"tools/a.py": "class C:\n    def __init__(self, a, b, c, d, *, e, f, g, h): ...\n"},
        "C() takes 8 parameters",
    ),
    (
        rules.sizes,
        {"tools/a.py": "@dataclass(eq=False, repr=False)\nclass C:\n" + "".join(f"    p{n}: int\n" for n in range(8))},
        "C() takes 8 parameters",
    ),
    (rules.sizes, {f"tools/a{n}.py": "x = 1\n" * 171 for n in range(30)}, "the median file has 171 lines"),
    (rules.sizes, {f"tools/a{n}.py": long_function(41) for n in range(30)}, "95 % of functions have up to 41 lines"),
    (
        rules.import_cycles,
        {"tools/a.py": "from stead.tools import b\n", "tools/b.py": "def f():\n    import stead.tools.a\n"},
        "stead.tools.a -> stead.tools.b",
    ),
    (
        rules.import_cycles,
        {"tools/a.py": "if TYPE_CHECKING:\n    from .b import B\n", "tools/b.py": "from .a import A\n"},
        "stead.tools.a -> stead.tools.b",
    ),
    (rules.permits_built, {"tools/a.py": "permit = Permit(session=s)\n"}, "tools/a.py:1"),
    (rules.permits_built, {"tools/a.py": "permit = permits.Permit(session=s)\n"}, "tools/a.py:1"),
    (rules.permits_built, {"tools/a.py": "permit = object.__new__(Permit)\n"}, "tools/a.py:1"),
    (rules.permits_built, {"tools/a.py": "from stead.domain.permits import Permit as P\n"}, "keeps its name"),
    (broad_excepts, {"tools/a.py": "try:\n    f()\nexcept Exception:\n    pass\n"}, "1 broad excepts, 0 allowed"),
    (broad_excepts, {"tools/a.py": "try:\n    f()\nexcept:\n    pass\n"}, "1 broad excepts, 0 allowed"),
    (broad_excepts, {"tools/a.py": "try:\n    f()\nexcept (OSError, BaseException):\n    pass\n"}, "0 allowed"),
    (broad_excepts, {"tools/a.py": "with contextlib.suppress(Exception):\n    f()\n"}, "0 allowed"),
    (rules.impure, {"brain/a.py": "text = open('x').read()\n"}, "open() in a pure package"),
    (rules.impure, {"guardian/a.py": "at = datetime.datetime.now()\n"}, "now() in a pure package"),
    (rules.impure, {"domain/a.py": "page = urllib.request.urlopen(u)\n"}, "in a pure package"),
    (rules.leftovers, {"tools/a.py": "x = 1  # TODO: more\n"}, "TODO"),
    (drawers, {"tools/utils.py": ""}, "'utils' says nothing"),
    (drawers, {"common/a.py": ""}, "'common' says nothing"),
    (trusted_base, {"guardian/a.py": "x = 1\n" * rules.TRUSTED_BASE_LINES, "egress/b.py": "x = 1\n"}, "lines of code"),
    (trusted_base, {"domain/obeyed_table.py": "x = 1\n" * (rules.TRUSTED_TABLE_LINES + 1)}, "lines of tables"),
    (rules.undocumented, {"tools/a.py": '"""No layer."""\n'}, "says 'Layer: ...'"),
    (
        rules.undocumented,
        {"tools/a.py": '"""Layer: tools."""\nclass C:\n    """C."""\n    def f(self):\n        x = 1\n        y = x\n'},
        "C.f has no",
    ),
    (at_most({"a": 1}), {"a/a.py": "x = 1\n" * 2}, "a: 2 lines of code, 1 are the most"),
    (at_most({"a": 99}), {"a/a.py": "x = 1\n"}, "lower its number"),
    (at_most({}), {"new/a.py": "x = 1\n"}, "new: 1 lines of code, 0 are the most"),
    (rules.mocks, {"tests/a.py": "from unittest.mock import patch\n"}, "unittest.mock"),
    (rules.mocks, {"tests/a.py": "import unittest.mock\n"}, "unittest.mock"),
    (rules.mocks, {"tests/a.py": "def test_x(monkeypatch):\n    monkeypatch.setattr(a, 'b', 1)\n"}, "setattr"),
]


@pytest.mark.parametrize(("check", "files", "finding"), PLANTED)
def test_a_planted_breach_is_found(check: Check, files: dict[str, str], finding: str) -> None:
    found = list(check([Source(name, text) for name, text in files.items()]))

    assert [line for line in found if finding in line], found


@pytest.mark.parametrize(
    ("check", "name", "text"),
    [
        (rules.sizes, "tools/a.py", long_function(70) + wide_class(20)),
        (rules.permits_built, "tools/a.py", "def run(permit: Permit) -> Permit | None: ...\nx: list[Permit]\n"),
        (rules.permits_built, "guardian/decide.py", "permit = Permit(session=s)\n"),
        (broad_excepts, "tools/a.py", "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n"),
        (broad_excepts, "tools/a.py", "try:\n    f()\nexcept OSError:\n    pass\n"),
        (rules.impure, "tools/a.py", "text = open('x').read()\n"),
        (rules.leftovers, "tools/a.py", "text = 'TODO'\n"),
        (trusted_base, "machines/runner/files.py", "x = 1\n" * (rules.TRUSTED_BASE_LINES + 1)),
        (trusted_base, "guardian/a.py", '"""Said."""\n\n# Why.\n' * rules.TRUSTED_BASE_LINES + "x = 1\n"),
        (rules.mocks, "tests/a.py", "def test_x(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n"),
        (rules.mocks, "tests/a.py", "def test_x(monkeypatch):\n    monkeypatch.setattr(a, 'LIMIT_S', 1)\n"),
    ],
)
def test_what_is_allowed_is_not_found(check: Check, name: str, text: str) -> None:
    assert list(check([Source(name, text)])) == []


def test_code_that_nothing_uses_is_found_and_a_field_is_not(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("class Row(Struct):\n    size_bytes: int\n\n\ndef left():\n    return Row\n")

    assert [line.rpartition(":")[2] for line in dead_code.findings([tmp_path])] == [" unused function 'left'"]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import contracts over a copy of the package, as ``make check`` does over the package itself."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--config", ROOT / ".importlinter", "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},  # a name is not to be broken
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_product_keeps_the_import_contracts() -> None:
    done = lint_imports(ROOT / "src")

    assert done.returncode == 0, done.stdout + done.stderr


APART = (
    ("storage/planted.py", "import stead.runtime.gate", "Commands go down"),
    ("drawer/__init__.py", "", "Commands go down"),
    ("tools/planted.py", "def f():\n    import stead.providers", "Commands go down"),
)
TOGETHER = (
    ("brain/planted.py", "import asyncio", "touch no clock"),
    ("guardian/planted.py", "import stead.config", "touch no clock"),
    ("runtime/planted.py", "from stead.guardian import decide", "Only the gate"),
    ("cli/planted.py", "import stead.machines", "Only the composition root"),
    ("web/planted.py", "import stead.brain.turn", "A door decides nothing"),
    ("providers/planted.py", "if 1 > 2:\n    import openai", "No vendor's library"),
    ("runtime/planted_too.py", "import httpcore2", "Only providers"),
    ("web/planted_too.py", "import sqlcipher3", "Only storage"),
)
"""Files, what is planted in each, and the contract that this breaks; these can be looked for at once."""


@pytest.mark.parametrize("plants", [*((plant,) for plant in APART), TOGETHER])
def test_a_planted_import_breaks_its_contract(tmp_path: Path, plants: tuple[tuple[str, str, str], ...]) -> None:
    copy = tmp_path / "stead"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for file, line, _ in plants:
        (copy / file).parent.mkdir(exist_ok=True)
        (copy / file).write_text(line + "\n")

    done = lint_imports(tmp_path)

    broken = [row for row in done.stdout.splitlines() if " BROKEN" in row]
    assert done.returncode == 1
    for file, _, contract in plants:
        package, _, module = file.removesuffix(".py").partition("/")
        assert [row for row in broken if contract in row], done.stdout + done.stderr
        assert f"stead.{package}" + ("" if module == "__init__" else f".{module}") in done.stdout
