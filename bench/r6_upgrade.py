"""R6: an upgrade of every past schema, killed before each statement and each change of a name: lossless, or untouched.

Each kill leaves a journal that must equal the old one or one that was upgraded in peace, row for row. Then the upgrade
is started again, and at last the way back is gone, which must give the old one. The step after the newest is one that a
later version might bring, so that the newest schema is upgraded too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.bar import Bar
from bench.long_runs import Progress, memory_folder
from stead.config import Home
from stead.storage.database import connect
from stead.storage.upgrading import back, upgrade
from tests.storage.drafts import KEYS
from tests.storage.killed import each_kill, killed_at
from tests.storage.workers import steps_with_one_more

SCHEMAS = Path(__file__).parent.parent / "tests" / "storage" / "schemas"


def measure() -> list[Bar]:
    """Every past schema."""
    past = sorted(SCHEMAS.glob("*.db"))
    progress = Progress("R6", len(past), "past schemas")
    found: list[str] = []
    for number, schema in enumerate(past):
        with memory_folder() as name:
            for flaw in _killed_upgrades(Path(name), schema):
                found.append(flaw)
                progress.done(number, f" and {len(found)} kills")
    flaws = [flaw for flaw in found if flaw]
    said = (
        f"{len(past)} past schemas, {len(found)} kills, one before each statement and each change of a name, each with "
        f"a way back{''.join(f'; {flaw}' for flaw in flaws[:3])}"
    )
    return [Bar("R6", len(flaws), "upgrades lossy or half done", "0", not flaws and bool(found), {}, said)]


def _killed_upgrades(folder: Path, past: Path) -> Iterator[str]:
    """What was wrong after each kill; "" where nothing was."""
    whole = _home(folder / "whole", past)
    old = _content(whole)
    upgrade(whole, KEYS, "2", steps_with_one_more())
    new = _content(whole)
    for number in each_kill():
        home = _home(folder / str(number), past)
        if not killed_at(number, partial(upgrade, home, KEYS, "2", steps_with_one_more())):
            return
        flaw = "" if _content(home) in (old, new) else f"{past.name} is half upgraded after a kill at {number}"
        upgrade(home, KEYS, "2", steps_with_one_more())
        if _content(home) != new:
            flaw = flaw or f"{past.name} was not whole after the upgrade that followed a kill at {number}"
        back(home, KEYS, home.heads)
        if _content(home) != old:
            flaw = flaw or f"{past.name} was not what it had been after a kill at {number} and the way back"
        yield flaw
        shutil.rmtree(home.root)


def _home(root: Path, past: Path) -> Home:
    home = Home(root)
    home.make()
    shutil.copy(past, home.journal)
    return home


def _content(home: Home) -> str:
    """A digest of the schema and every row of every table."""
    connection = connect(home.journal, KEYS.database)
    schema = connection.execute("SELECT name, type, sql FROM sqlite_master ORDER BY name").fetchall()
    tables = [name for name, kind, _ in schema if kind == "table"]
    rows = [sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in tables]
    connection.close()
    return hashlib.sha256(repr((schema, rows)).encode()).hexdigest()
