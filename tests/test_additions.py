"""How many files an addition touches: each is made in a copy of the tree, whose own tests then pass.

The numbers only fall. ``make docs`` writes one more for a tool, and one for an event.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import Source, package_lines
from tests.test_architecture import CHECKS as RULES
from tests.test_architecture import SOURCES

ROOT = Path(__file__).parents[1]
CHECKS = ("tests/test_docs.py::test_every_event_command_tool_and_setting_has_its_place", "tests/storage/test_codec.py")

TOOL = '''"""Giving a text back.

Layer: tools.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.permits import Permit
from stead.domain.policies import Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool


class EchoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of up to 1,000 characters."""

    text: Annotated[str, msgspec.Meta(max_length=1000)]


class EchoTool(StructTool[EchoArguments]):
    """``echo``: the text, unchanged."""

    def __init__(self) -> None:
        declaration = Declaration(ToolEffect.READ, output_trust=Integrity.TRUSTED, idempotent=True)
        super().__init__("echo", "Give a text back.", EchoArguments, declaration, deferred=True)

    async def work(self, permit: Permit, arguments: EchoArguments, context: ToolContext) -> ToolOutcome:
        """Give it back."""
        return ToolOutcome("ok", arguments.text)
'''

EVENT = '''class BellRung(msgspec.Struct, frozen=True, tag="bell.rung"):
    """The person rang for the session. ``door``: where."""

    door: str


SessionBody = BellRung | SessionOpened'''

PAGE = """/** The harbours that there are. */
import { t } from "@/i18n/en/harbours";
import { PageHead } from "@/ui/PageHead";

export function HarboursPage() {
  return <PageHead title={t("title")} />;
}
"""
PAGE_WORDS = """import { define } from "@/i18n";

export const t = define("harbours", { title: "Harbours" });
"""
PAGE_WORDS_IN_GERMAN = """import type { t } from "@/i18n/en/harbours";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({ title: "Häfen" });
"""
PAGE_ROW = """  harbours: {
    path: "/harbours",
    title: "harbours",
    load: async () => (await import("@/features/harbours/HarboursPage")).HarboursPage,
  },
"""


def add_tool(tree: Path) -> None:
    (tree / "src/stead/tools/echo.py").write_text(TOOL)
    insert(tree / "src/stead/daemon.py", "from stead.tools.files import", "from stead.tools.echo import EchoTool\n")
    insert(tree / "src/stead/daemon.py", "            Plan(),\n", "            EchoTool(),\n")


def add_session_event(tree: Path) -> None:
    events = tree / "src/stead/domain/session_events.py"
    text = events.read_text()
    assert text.count("SessionBody = SessionOpened") == 1
    events.write_text(text.replace("SessionBody = SessionOpened", EVENT))
    (tree / "tests/events/v1/bell.rung.json").write_text('{"type":"bell.rung","door":"web"}\n')
    words = '    "bell.rung": ("the person rang (from {door})", ""),\n'
    insert(tree / "src/stead/domain/event_words.py", '    "budget.raised"', words)


def add_page(tree: Path) -> None:
    page = tree / "frontend/src/features/harbours/HarboursPage.tsx"
    page.parent.mkdir()
    page.write_text(PAGE)
    words = tree / "frontend/src/i18n"
    (words / "en/harbours.ts").write_text(PAGE_WORDS)
    (words / "de/harbours.ts").write_text(PAGE_WORDS_IN_GERMAN)
    app = tree / "frontend/src/app"
    insert(words / "en/app.ts", "  settings:", '  harbours: "Harbours",\n')
    insert(words / "de/app.ts", "  settings:", '  harbours: "Häfen",\n')
    insert(app / "pages.ts", "  settings: {\n", PAGE_ROW)
    insert(app / "shell/places.ts", '"settings"]', '"harbours", ')
    insert(tree / "tests/browser/routes.py", '    "/settings":', '    "/harbours": ("/harbours",),\n')
    (tree / "frontend/node_modules").symlink_to(ROOT / "frontend/node_modules")
    run(
        tree,
        str(ROOT / "scripts/with_node.sh"),
        "npm",
        "--prefix",
        "frontend",
        "exec",
        "--",
        "tsc",
        "--noEmit",
        "-p",
        "frontend",
    )
    from_tests = "from tests.browser import routes; assert set(routes.of_the_app()) == routes.ROUTES.keys()"
    run_there(tree, "-c", from_tests)
    (tree / "frontend/node_modules").unlink()


def insert(path: Path, before: str, line: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1, f"{before!r} is no longer a place of its own in {path.name}"
    path.write_text(text.replace(before, line + before))


@pytest.mark.timeout(300)
def test_an_addition_touches_few_files_and_the_tree_is_whole_with_all_of_them(tmp_path: Path) -> None:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    before = {name: (ROOT / name).read_bytes() for name in names.split("\0") if name and (ROOT / name).is_file()}
    for name, content in before.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)

    def changed() -> dict[str, bytes]:
        after = {
            path.relative_to(tmp_path).as_posix(): path.read_bytes()
            for path in tmp_path.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        found = {name: content for name, content in after.items() if before.get(name) != content}
        before.update(found)
        return found

    product = {source.name: source for source in SOURCES}
    for add, most in ((add_tool, 2), (add_session_event, 3), (add_page, 8)):
        add(tmp_path)
        added = changed()
        assert len(added) <= most, added.keys()
        for name, content in added.items():
            if name.startswith("src/stead/"):
                inside = name.removeprefix("src/stead/")
                product[inside] = Source(inside, content.decode())
    run_there(tmp_path, "scripts/gen_docs.py")
    assert len(written := changed()) <= 2, f"the docs of the tool and of the event are more than one each: {written}"
    grown = [product[name] for name in sorted(product)]
    assert [flaw for rule in RULES if rule is not package_lines for flaw in rule(grown)] == []
    run_there(tmp_path, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *CHECKS)


def run_there(tree: Path, *words: str) -> None:
    run(tree, sys.executable, *words)


def run(tree: Path, *words: str) -> None:
    environment = dict(os.environ, PYTHONPATH=f"{tree / 'src'}:{tree}")
    done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
