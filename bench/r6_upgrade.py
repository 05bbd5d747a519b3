"""R6: an upgrade of every past schema, killed before each statement and each change of a name: lossless, or untouched.

Each kill leaves a journal that must equal the old one or one that was upgraded in peace, row for row. Then the upgrade
is started again, and at last the way back is gone, which must give the old one. The step after the newest is one that a
later version might bring, so that the newest schema is upgraded too.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from functools import partial
from pathlib import Path

from bench.bar import Bar
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
    kills, flaws = 0, []
    for schema in past:
        with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
            found = _killed_upgrades(Path(name), schema)
            kills += len(found)
            flaws += [flaw for flaw in found if flaw]
    said = (
        f"{len(past)} past schemas, {kills} kills, one before each statement and each change of a name, each with a way"
    )
    said += " back" + "".join(f"; {flaw}" for flaw in flaws[:3])
    return [Bar("R6", len(flaws), "upgrades lossy or half done", "0", not flaws and kills > 0, {}, said)]


def _killed_upgrades(folder: Path, past: Path) -> list[str]:
    """What was wrong after each kill; "" where nothing was."""
    whole = _home(folder / "whole", past)
    old = _content(whole)
    upgrade(whole, KEYS, "2", steps_with_one_more())
    new = _content(whole)
    found: list[str] = []
    for number in each_kill():
        home = _home(folder / str(number), past)
        if not killed_at(number, partial(upgrade, home, KEYS, "2", steps_with_one_more())):
            return found
        flaw = "" if _content(home) in (old, new) else f"{past.name} is half upgraded after a kill at {number}"
        upgrade(home, KEYS, "2", steps_with_one_more())
        if _content(home) != new:
            flaw = flaw or f"{past.name} was not whole after the upgrade that followed a kill at {number}"
        back(home, KEYS, home.heads)
        if _content(home) != old:
            flaw = flaw or f"{past.name} was not what it had been after a kill at {number} and the way back"
        found.append(flaw)
        shutil.rmtree(home.root)
    raise AssertionError("unreachable")


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
