"""Edit, test, fix in three real projects: a person and a model at one desk, over the real wire.

The model is scripted; the projects, their tests, the daemon, its machines and its checkpoints are real.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, ServedModel, Turn
from tests.flows.code_bases import CACHETOOLS, JSONPOINTER, MISTUNE, CodeBase
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import Files, Sitting, files_of, sit_down
from tests.promises import promise

pytestmark = pytest.mark.timeout(240)


@dataclass(frozen=True)
class Job:
    """What is to be done in a project, and how the model goes about it.

    Args:
        base: the project.
        ask: what the person says first.
        fix: the calls that mend the bug.
        edited: the files that ``fix`` names in calls that edit files.
        further: the calls after the person's second message.
        added: the files that these write.
    """

    base: CodeBase
    ask: str
    fix: tuple[Call, ...]
    edited: tuple[str, ...]
    further: tuple[Call, ...]
    added: tuple[str, ...]

    def script(self) -> Iterator[Turn]:
        """The model's replies, in order."""
        run = Call("shell", {"command": self.base.command})
        yield Turn("I read the code and run its tests.", (Call("read", {"path": self.base.path}), run))
        yield Turn("The tests fail, and I see why.", self.fix)
        yield Turn("I run them again.", (run,))
        yield Turn(f"`{self.base.path}` is mended. I ran its tests, and the tests pass.")
        yield Turn("I write that down.", self.further)
        yield Turn("", (run,))
        yield Turn("There is a note of it, and the tests pass.")


LRU = Job(
    CACHETOOLS,
    "An entry of LRUCache that was just read is thrown out first. Find out why, and mend it.",
    (Call("edit", {"path": CACHETOOLS.path, "old": "(key, last=False)", "new": "(key)"}),),
    (CACHETOOLS.path,),
    (
        Call("write", {"path": "tests/test_lru_reading.py", "text": "import unittest\n"}),
        Call(
            "edit",
            {
                "path": "CHANGELOG.rst",
                "old": "v8.0.1 (2026-11-17)\n",
                "new": "- Keep what was just read in ``LRUCache``.\n\nv8.0.1 (2026-11-17)\n",
            },
        ),
    ),
    ("tests/test_lru_reading.py", "CHANGELOG.rst"),
)
ESCAPES = Job(
    JSONPOINTER,
    "'/~01' should name the member '~1'. It does not; please look into it.",
    (
        Call(
            "edit",
            {
                "path": JSONPOINTER.path,
                "old": f"def unescape(s):\n{JSONPOINTER.wrong}",
                "new": f"def unescape(s):\n{JSONPOINTER.right}",
            },
        ),
    ),
    (JSONPOINTER.path,),
    (
        Call("edit", {"path": JSONPOINTER.path, "old": "def unescape(s):\n", "new": "def unescape(s):\n    # order\n"}),
        Call("write", {"path": "NEWS.md", "text": "- Escapes are decoded once.\n"}),
        Call("edit", {"path": "NEWS.md", "old": "once", "new": "only once"}),
    ),
    (JSONPOINTER.path, "NEWS.md", "NEWS.md"),
)
TABLES = Job(
    MISTUNE,
    "Columns of tables are not centred any more. Find the reason and mend it.",
    (Call("shell", {"command": f"sed -i 's/\\^ \\*:-: \\*\\$/^ *:-+: *$/' {MISTUNE.path}"}),),
    (),
    (
        Call("edit", {"path": "docs/changes.rst", "old": "Changelog\n=====", "new": "Changes\n====="}),
        Call("shell", {"command": "printf 'centred\\n' > docs/tables.rst"}),
    ),
    ("docs/changes.rst",),
)


@promise("SES-1.diff", "SES-2.resume", "SES-2.fork", "WS-3.checkpoint")
@pytest.mark.parametrize(
    "job",
    [LRU, *(pytest.param(job, marks=pytest.mark.long) for job in (ESCAPES, TABLES))],
    ids=lambda job: job.base.name,
)
def test_a_bug_in_a_real_project_is_found_and_mended_and_every_change_can_be_undone(
    job: Job, house: LivingHome, tmp_path: Path
) -> None:
    folder = job.base.unpack(tmp_path / job.base.name)
    before = files_of(folder)
    with served([*job.script(), *IN_A_FORK, FROM_THERE]) as model:
        use_model(house, model.openai)
        desk = sit_down(house, folder)
        first = desk.turn(job.ask)
        assert job.base.passes(folder)
        second = desk.turn(FURTHER)
        assert job.base.passes(folder)
        after = files_of(folder)
        assert _story(desk) == [*_first_turn(job), *_second_turn(job)]
        _every_call_was_allowed_before_it_ran(desk)
        _exported(desk, job)
        _shown(desk, job, (first, second), before, after)
        _undone_one_by_one(desk, job, folder, before, after)
        _undone_as_a_whole(desk, folder, before, after)
        _forked(desk, folder, tmp_path, before, after)
        _goes_on(desk, model, job)
    assert not model.flaws


FURTHER = "Good. Now put down what you did."
IN_A_FORK = (Turn("", (Call("write", {"path": "ONLY-HERE.md", "text": "fork\n"}),)), Turn("Done."))
"""What the model does in the fork."""
FROM_THERE = Turn("As you like.")


def _first_turn(job: Job) -> list[str]:
    mended = [line for call in job.fix for line in _done(call)]
    return ["said", "read ok", "shell error", *mended, "shell ok", "turn 1 done"]


def _second_turn(job: Job) -> list[str]:
    return ["said", *[line for call in job.further for line in _done(call)], "shell ok", "turn 2 done"]


def _done(call: Call) -> list[str]:
    assert not isinstance(call.arguments, str)
    named = [] if call.tool == "shell" else [f"changed {call.arguments['path']}"]
    return [*named, f"{call.tool} ok"]


def _story(desk: Sitting) -> list[str]:
    """What the journal tells, a few words an event."""
    told = []
    for body in (event["body"] for event in desk.events()):
        match body["type"]:
            case "message.received":
                told.append("said")
            case "tool.finished":
                told.append(f"{body['tool']} {body['outcome']}")
            case "file.changed":
                told.append(f"changed {body['change']['path']}")
            case "notice.given":
                told.append(f"told: {body['why']}")
            case "turn.ended":
                told.append(f"turn {body['turn']} {body['reason']}")
            case _:
                pass
    return told


def _every_call_was_allowed_before_it_ran(desk: Sitting) -> None:
    kinds: dict[str, list[str]] = {}
    for body in (event["body"] for event in desk.events()):
        if "key" in body:
            kinds.setdefault(body["key"], []).append(f"{body['type']} {body.get('verdict', '')}".strip())
    assert kinds
    for key, told in kinds.items():
        order = [told.index(kind) for kind in ("call.judged allow", "tool.started", "tool.finished")]
        assert order == sorted(order), (key, told)
        if "approval.requested" in told:
            assert told.index("approval.requested") < told.index("approval.given") < order[0], (key, told)


def _exported(desk: Sitting, job: Job) -> None:
    """The session as a text for people tells the same, in the same order."""
    text = desk.house.client().text(f"{desk.path}/export", format="markdown")
    at = 0
    for words in (
        job.ask,
        "FAILED",
        "OK",
        FURTHER,
    ):
        assert words in text[at:], words
        at = text.index(words, at)


def _shown(desk: Sitting, job: Job, ends: Sequence[Json], before: Files, after: Files) -> None:
    """Every edit is shown with its difference, and whatever changed with each turn, also by a command."""
    changes = desk.items("changes")
    assert [row["change"]["path"] for row in changes] == [*job.edited, *job.added]
    assert all(row["change"]["diff"] for row in changes)
    assert [end["reason"] for end in ends] == ["done", "done"]
    assert _by_hand(ends[0]["changes"]) == [job.base.path]
    differing = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    found = desk.items("diff")
    assert sorted(_by_hand(found)) == differing
    assert {path for end in ends for path in _by_hand(end["changes"])} == set(differing)
    mended = next(change["diff"] for change in found if change["path"] == job.base.path)
    assert f"+{_changed_line(job.base)}" in mended


def _by_hand(changes: Sequence[Json]) -> list[str]:
    """Paths but those of what Python made as it ran the tests."""
    return [change["path"] for change in changes if not change["path"].endswith("__pycache__")]


def _changed_line(base: CodeBase) -> str:
    return next(line for line in base.right.splitlines() if line not in base.wrong.splitlines())


def _undone_one_by_one(desk: Sitting, job: Job, folder: Path, before: Files, after: Files) -> None:
    changes = desk.items("changes")
    named = {row["change"]["path"] for row in changes}
    if len(named) < len(changes):
        with pytest.raises(ApiError) as refused:  # another edit stands on this one
            desk.undo(changes[0])
        assert refused.value.status == 409 and files_of(folder) == after
    for row in reversed(changes):
        desk.undo(row)
    assert files_of(folder) == {**{path: after[path] for path in after if path not in named}, **_of(before, named)}
    assert job.base.passes(folder) is not bool(job.edited)
    assert all(row["undone"] for row in desk.items("changes"))
    for row in changes:
        desk.undo(row, again=True)
    assert files_of(folder) == after


def _undone_as_a_whole(desk: Sitting, folder: Path, before: Files, after: Files) -> None:
    """Back to before the first change with all that was said, and forward again."""
    messages = desk.house.get(f"{desk.path}/context")["messages"]
    first = desk.items("checkpoints")[0]
    done = desk.restore(first["id"])
    assert files_of(folder) == before
    assert desk.house.get(f"{desk.path}/context")["messages"] < messages
    assert not done["failed"]
    desk.restore(done["before"])
    assert files_of(folder) == after
    assert desk.house.get(f"{desk.path}/context")["messages"] == messages


def _forked(desk: Sitting, folder: Path, room: Path, before: Files, after: Files) -> None:
    """Somebody goes on elsewhere, from now and from then; nothing that happens there is seen here."""
    (room / "now").mkdir()
    fork = desk.fork(directory=str(room / "now"))
    events = desk.events()
    assert files_of(room / "now") == after
    assert fork.turn("Go on here.")["reason"] == "done"
    assert files_of(room / "now") == {**after, "ONLY-HERE.md": (0o644, b"fork\n")}
    (room / "then").mkdir()
    end = next(at for at, event in enumerate(events, 1) if event["body"]["type"] == "turn.ended")
    past = desk.fork(at=end, directory=str(room / "then"))
    assert files_of(room / "then") == before  # as they were kept last before that
    assert past.row()["status"] == "idle"
    assert files_of(folder) == after
    assert desk.events() == events


def _goes_on(desk: Sitting, model: ServedModel, job: Job) -> None:
    """The session goes on from between its two turns: the model knows the first, and never heard of the second."""
    between = desk.items("checkpoints")[1]
    assert (between["turn"], between["why"]) == (2, "turn")
    desk.restore(between["id"])
    assert job.base.passes(Path(desk.row()["directory"]))
    assert desk.turn("Leave it at that.")["reason"] == "done"
    told = json.dumps(model.requests()[-1].body["messages"])
    assert job.ask in told and "Leave it at that." in told and FURTHER not in told


def _of(files: Files, paths: set[str]) -> Files:
    return {path: files[path] for path in paths if path in files}
