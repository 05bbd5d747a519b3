"""The scripted runs of ``tests/corpora.py`` on a living daemon: what each ended as, and what is so in its folder.

Shared by a test and a benchmark.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, assert_never

from stead.domain.ends import ENDS
from tests import corpora
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.replay import failing, lay_out

_NUMBER = re.compile(r"\(Run ([a-z]{2}-\d+)\.\)")
_BESIDE = 16


class Ended(NamedTuple):
    """A run, its row, and which of its checks an independent look at its folder finds broken."""

    run: corpora.Run
    row: Json
    broken: list[corpora.Check]


def carried_out(
    house: LivingHome, runs: Sequence[corpora.Run], folder: Path, other: Callable[[], Turn] | None = None
) -> Iterator[Ended]:
    """Carry the runs out, a few side by side, each in a folder of its own; with ``other`` by that model, unscripted."""
    by_id = {run.id: run for run in runs}

    def reply(seen: Seen) -> Turn:
        found = _NUMBER.search(json.dumps(seen.body["messages"]))
        assert found, "a request names no run"
        run = by_id[found[1]]
        at = sum(message["role"] == "assistant" for message in seen.body["messages"])
        turn = run.turns[min(at, len(run.turns) - 1)]
        if at >= len(run.turns):
            turn = corpora.Reply(text=next((one.text for one in reversed(run.turns) if one.text), "Done."))
        return Turn(turn.text, calls=tuple(Call(call.tool, dict(call.arguments)) for call in turn.calls))

    with served((lambda _: other()) if other else reply, strict=False) as model:
        house.shared = True  # each run is told by itself, whatever the model did in those before
        use_model(house, model.openai)
        for first in range(0, len(runs), _BESIDE):
            part = [(run, _given(house, run, folder / run.id)) for run in runs[first : first + _BESIDE]]
            for run, id in part:
                row = house.wait(id, *ENDS, "paused", "waiting", timeout_s=120)
                yield Ended(run, row, failing(run, folder / run.id, _succeeded(house, id)))


def _given(house: LivingHome, run: corpora.Run, folder: Path) -> str:
    folder.mkdir(parents=True)
    lay_out(run, folder)
    checks = [plain for check in run.checks for plain in _typed(check)]
    return house.give(f"{run.goal}\n\n(Run {run.id}.)", folder, checks=checks, profile="work")


def _succeeded(house: LivingHome, id: str) -> list[corpora.Call]:
    steps = house.get(f"/objectives/{id}/steps", limit=200)["items"]
    return [corpora.Call(step["tool"], json.loads(step["input"])) for step in steps if step["outcome"] == "ok"]


def _typed(check: corpora.Check) -> list[Json]:
    """A check as the API has it."""
    match check:
        case corpora.CommandCheck(argv=argv):
            return [{"kind": "command", "subject": shlex.join(argv)}]
        case corpora.ExistsCheck(path=path):
            return [{"kind": "exists", "subject": path}]
        case corpora.AbsentCheck(path=path):
            return [{"kind": "absent", "subject": path}]
        case corpora.ContainsCheck(path=path, text=text):
            return [{"kind": "contains", "subject": path, "text": text}]
        case corpora.MatchesCheck(path=path, pattern=pattern):
            return [{"kind": "matches", "subject": path, "text": pattern}]
        case corpora.ParsesCheck(path=path, form=form):
            return [{"kind": "parses", "subject": path, "text": form}]
        case corpora.ChangedCheck(paths=paths):
            return [{"kind": "changed", "subject": path} for path in paths]
        case corpora.UntouchedCheck(paths=paths):
            return [{"kind": "untouched", "subject": path} for path in paths]
        case corpora.EffectCheck(effect=effect, tool=tool, arguments=arguments):
            return [{"kind": "effect", "subject": effect, "tool": tool, "arguments": arguments}]
        case _:
            assert_never(check)
