"""R6: an upgrade of every past schema, killed before each of its statements: lossless, or untouched.

Each kill leaves a file that must equal, row for row, one that was upgraded in peace to the step it stands at. Then the
upgrade is started again, and all that was recorded must be there. The step after the newest is one that a later version
might bring, so that the newest schema is upgraded too.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import tempfile
from itertools import count
from pathlib import Path

import msgspec

from bench.bar import Bar
from stead.storage.chain import Row, verify
from stead.storage.database import Database, connect
from stead.storage.migrate import migrate
from tests.storage.drafts import KEYS
from tests.storage.processes import command, run
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
    said = f"{len(past)} past schemas, {kills} kills, one before each statement of the upgrade, backup included"
    said += "".join(f"; {flaw}" for flaw in flaws[:3])
    return [Bar("R6", len(flaws), "upgrades lossy or half done", "0", not flaws and kills > 0, {}, said)]


def _killed_upgrades(folder: Path, past: Path) -> list[str]:
    """What was wrong after each kill; "" where nothing was."""
    whole = _whole_upgrades(folder, past)
    found: list[str] = []
    for number in count(1):
        home = folder / str(number)
        home.mkdir()
        shutil.copy(past, home / "journal.db")
        done = run(command("migrate_and_die", home, number))
        if done.returncode == 0:
            return found
        if done.returncode != -signal.SIGKILL:
            raise RuntimeError(f"the upgrade of {past.name} failed by itself: {done.stderr}")
        found.append(_flaw(home, past, number, whole))
        shutil.rmtree(home)
    raise AssertionError("unreachable")


def _whole_upgrades(folder: Path, past: Path) -> dict[int, str]:
    """The content of the file at each schema that an upgrade in peace passes, its own included."""
    path = folder / "peace.db"
    shutil.copy(past, path)
    steps = steps_with_one_more()
    contents = {int(past.stem): _content(path)}
    for newest in range(int(past.stem) + 1, max(steps) + 1):
        _upgrade(path, folder / "backups", {number: step for number, step in steps.items() if number <= newest})
        contents[newest] = _content(path)
    return contents


def _flaw(home: Path, past: Path, number: int, whole: dict[int, str]) -> str:
    path = home / "journal.db"
    if _content(path) not in whole.values():
        return f"{past.name} is neither upgraded nor untouched after a kill before statement {number}"
    steps = steps_with_one_more()
    _upgrade(path, home / "backups", steps)
    if _content(path) != whole[max(steps)]:
        return f"{past.name} was not whole after the upgrade that followed a kill before statement {number}"
    recorded = msgspec.json.decode(past.with_suffix(".json").read_bytes())
    connection = connect(path, KEYS.database)
    rows = connection.execute(f"SELECT {', '.join(Row._fields)} FROM events ORDER BY seq").fetchall()
    connection.close()
    if len(rows) != len(recorded) or verify(map(Row._make, rows)).faults:
        return f"{past.name} lost events or broke its chain after a kill before statement {number}"
    return ""


def _upgrade(path: Path, backups: Path, steps: dict[int, str]) -> None:
    database = Database(path, KEYS.database)
    migrate(database, backups, steps)
    database.close()


def _content(path: Path) -> str:
    """A digest of the schema and every row of every table."""
    connection = connect(path, KEYS.database)
    schema = connection.execute("SELECT name, type, sql FROM sqlite_master ORDER BY name").fetchall()
    tables = [name for name, kind, _ in schema if kind == "table"]
    rows = [sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in tables]
    connection.close()
    return hashlib.sha256(repr((schema, rows)).encode()).hexdigest()
