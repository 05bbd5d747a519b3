"""The power goes out while somebody works: the session goes on or rests as it was, and every change can be had back.

Calls leave traces in the folder that are counted there, outside Stead.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import Files, Sitting, files_of, sit_down
from tests.promises import promise

pytestmark = pytest.mark.timeout(400)  # daemons start many times, which a busy machine makes slow

SEED = 20261122
KILLS = 3
LOG = "effects.log"
PATIENCE_S = 90.0


def turns(count: int, pause_s: float) -> list[Turn]:
    """Turns that write a file of their own and add a line of their own to the log, slow enough to be hit."""
    slow = f"sleep {pause_s}; echo {{}} >> {LOG}; sleep {pause_s}"
    calls = [
        (Call("write", {"path": f"{n}.md", "text": f"{n}\n"}), Call("shell", {"command": slow.format(n)}))
        for n in range(count)
    ]
    return [Turn("", both, delay_s=pause_s / 5) for both in calls]


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[LivingHome]:
    """A home whose daemon can be told when to die."""
    living = LivingHome(tmp_path / "home", module="bench.chaos_daemon", forked=True)
    try:
        living.start()
        yield living
    finally:
        living.kill()


def require_whole(desk: Sitting, folder: Path, before: Files, count: int) -> None:
    """Nothing happened twice or was lost, what is not known is called so, and the way back and forth is open.

    What had not landed when the power went out waits for the person. Each file is as it was or as it was to be, whole.
    """
    landed, waiting = files_of(folder), desk.waiting()
    assert not [change for change in waiting.values() if change["held"]]
    assert not [one for path, one in before.items() if landed[path] != one]
    if waiting:
        desk.apply()
    after = files_of(folder)
    assert after.keys() == {*landed, *waiting}
    assert {path for path, one in after.items() if landed.get(path) != one} == waiting.keys()
    assert LOG not in landed or after[LOG][1].startswith(landed[LOG][1])
    whole = {f"{n}.md": b"%d\n" % n for n in range(count)}
    made = {path: content for path, (_, content) in after.items() if path not in {*before, LOG}}
    assert made.items() <= whole.items()
    calls = desk.bodies("tool.finished")
    unknown = {body["key"] for body in calls if body["outcome"] == "unknown"}
    lines = (folder / LOG).read_text("utf-8").split() if (folder / LOG).exists() else []
    assert len(lines) == len(set(lines))
    written = [n for n in range(count) if f"{n}.md" in after]
    assert (count - len(lines)) + (count - len(written)) <= len(unknown)
    done = {body["key"] for body in calls if body["tool"] == "write" and body["outcome"] == "ok"}
    changes = desk.items("changes")
    held = {body["key"] for body in desk.bodies("changes.landed") if body["landing"]["held"]}
    undoable = {row["key"] for row in changes}
    assert done <= undoable | held and not undoable & held
    [end] = desk.bodies("turn.ended")
    assert end["reason"] == "done"
    assert {change["path"] for change in end["changes"]} == landed.keys() - before.keys()
    first = desk.items("checkpoints")[0]
    assert (first["turn"], first["why"]) == (1, "turn")
    back = desk.restore(first["id"])
    assert not back["failed"] and files_of(folder) == before
    assert not desk.restore(back["before"])["failed"]
    assert files_of(folder) == after
    for row in changes:
        desk.undo(row)
    assert {path for path in after if path not in files_of(folder)} == {row["change"]["path"] for row in changes}


@pytest.mark.long
@promise("OBJ-6.resume", "OBJ-6.once", "WS-3.checkpoint")
def test_a_turn_survives_kills_at_random_moments_with_every_change_and_its_checkpoint(
    doomed: LivingHome, project: Path
) -> None:
    chance, count = random.Random(SEED), 8
    before = files_of(project)
    with served(by_turn(*turns(count, 0.1))) as model:
        use_model(doomed, model.openai)
        desk = sit_down(doomed, project, allow=["write", "shell"])
        desk.say("go")
        for _ in range(KILLS):
            at = _traces(doomed, project)
            doomed.until(partial(_left_more, doomed, project, at), "another trace", poll_s=0.005)
            time.sleep(chance.uniform(0.0, 0.2))
            doomed.kill()
            doomed.start()
        assert desk.rest(timeout_s=PATIENCE_S)["status"] == "idle"
        require_whole(desk, project, before, count)


def _left_more(house: LivingHome, folder: Path, than: int) -> bool:
    return _traces(house, folder) > than


def _traces(house: LivingHome, folder: Path) -> int:
    """How much has been done: in the folder, and of what waits since a kill."""
    places = [folder, *house.root.glob("trials/*/layers/pending")]
    files = {path.name for place in places for path in place.glob("*.md")}
    logs = [place / LOG for place in places if (place / LOG).exists()]
    return len(files) + max((len(log.read_text("utf-8").split()) for log in logs), default=0)


FEW = 2
NEAR_CHANGES = ("before:4", "after:5", "before:7")
"""Around the first checkpoint and the first changes."""


@promise("OBJ-6.resume", "OBJ-6.once", "WS-3.checkpoint")
@pytest.mark.parametrize(
    "fates",
    [
        NEAR_CHANGES,
        pytest.param(
            tuple(f"{when}:{at}" for at in range(1, 13) for when in ("before", "after")),
            marks=[pytest.mark.long, pytest.mark.timeout(900)],
        ),
    ],
    ids=["near changes", "everywhere"],
)
def test_a_turn_survives_kills_between_a_fact_and_the_next(
    fates: tuple[str, ...], doomed: LivingHome, tmp_path: Path
) -> None:
    died = 0
    with served(by_turn(*turns(FEW, 0.01))) as model:
        use_model(doomed, model.openai)
        for fate in fates:
            folder = tmp_path / fate.replace(":", "-")
            folder.mkdir()
            (folder / "kept").write_text("as it was\n", "utf-8")
            before = files_of(folder)
            doomed.kill()
            doomed.env = {"STEAD_CHAOS": fate}
            died += _dies(doomed, folder)
            doomed.env = {}
            doomed.kill()
            doomed.start()
            desk = _taken_up(doomed, folder)
            assert desk.rest(timeout_s=PATIENCE_S)["status"] == "idle"
            require_whole(desk, folder, before, FEW)
    assert died >= min(len(fates), 20)  # the last fates find that the turn is over


def _dies(house: LivingHome, folder: Path) -> bool:
    """Start a doomed daemon and have a turn in it; whether it died before the turn was over."""
    try:
        house.start()
        desk = sit_down(house, folder, allow=["write", "shell"], title=folder.name)
        desk.say("go")
        desk.rest()
    except (ApiError, AssertionError):
        assert house.process is not None
        house.process.wait(10)
    return house.process is not None and house.process.poll() is not None


def _taken_up(house: LivingHome, folder: Path) -> Sitting:
    """The folder's session as it is after a crash; what had not become durable is said again."""
    rows = [row for row in house.client().items("/sessions") if Path(row["directory"]) == folder]
    assert len(rows) <= 1
    if rows:
        desk = Sitting(house, rows[0]["id"])
    else:
        desk = sit_down(house, folder, allow=["write", "shell"], title=folder.name)
    if not desk.bodies("message.received"):
        desk.say("go")
    return desk
