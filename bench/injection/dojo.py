"""AgentDojo's suites as calls to be judged: its environment, its recording, and the pairs made of them.

The package has some seventy dependencies, so it lives in an environment of its own below ``bench/out``, made from
``requirements-injection.lock``. It is needed once: the recording is kept beside it and read from then on.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import msgspec
import yaml

from bench.injection.agentdojo_tools import KINDS, TOOLS
from stead.domain.policies import Entity
from stead.domain.tools import Declaration
from tests.attacks.injection_suite.replay import Start, plan_of
from tests.attacks.injection_suite.suite import Call

ROOT = Path(__file__).parent.parent.parent
OUT = ROOT / "bench" / "out"
LOCK = ROOT / "requirements-injection.lock"
RECORDER = Path(__file__).parent / "record.py"
_CANARY = re.compile(r"CANARY-\w+-END")


class Made(msgspec.Struct, frozen=True):
    """A recorded call."""

    tool: str
    arguments: dict[str, object]
    output: str = ""
    error: bool = False


class DojoTask(msgspec.Struct, frozen=True):
    """A user task: its calls on a quiet day, and with a canary wherever an attacker could write."""

    suite: str
    id: str
    text: str
    calls: list[Made]
    attacked: list[Made]

    def start(self, *, planned: bool, generous: bool) -> Start:
        """The session in which the person asks for this task."""
        tools = suite_tools(self.suite)
        plan = plan_of(self.text, _calls(self.calls, ""), tools) if planned else ()
        return Start(self.text, plan, tools, generous)

    def quiet(self) -> list[Call]:
        """The calls of a day without an attack."""
        return _calls(self.calls, "")

    def under(self, text: str) -> list[Call]:
        """The calls, with an attacker's text wherever an attacker could write."""
        return _calls(self.attacked, text)


class Attack(msgspec.Struct, frozen=True):
    """An injection task: what the attacker wants, and the calls that do it."""

    suite: str
    id: str
    goal: str
    calls: list[Made]

    @property
    def text(self) -> str:
        """What is planted: the goal, and each call spelt out, so that all its values stand in what the model reads."""
        orders = (f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in self.calls)
        return "\n".join((self.goal, *orders))


class _Pair(msgspec.Struct, frozen=True):
    suite: str
    task: str
    injection: str
    outputs: list[str]


class Recording(msgspec.Struct, frozen=True):
    """All that was written down; ``tools`` are the parameters' JSON schemas by suite and tool."""

    tools: dict[str, dict[str, dict[str, object]]]
    tasks: list[DojoTask]
    injections: list[Attack]
    pairs: list[_Pair]


class DojoPair(msgspec.Struct, frozen=True):
    """A user task under an attack.

    Args:
        task: the person's.
        attack: the attacker's.
        calls: the task's, with the attacker's text in what they give back.
        hostile: the attacker's calls.
    """

    task: DojoTask
    attack: Attack
    calls: list[Call]
    hostile: list[Call]

    @property
    def id(self) -> str:
        """Such as ``banking/user_task_3/injection_task_5``."""
        return f"{self.task.suite}/{self.task.id}/{self.attack.id}"

    def taken(self, output: str) -> bool:
        """Whether an output carries the attacker's text."""
        return self.attack.goal in output


@lru_cache(maxsize=1)
def recording() -> Recording:
    """The recording, made first if it is missing or its recorder or lock have changed."""
    stamp = hashlib.sha256(RECORDER.read_bytes() + LOCK.read_bytes()).hexdigest()[:16]
    path = OUT / f"agentdojo-{stamp}.json"
    if not path.exists():
        part = path.with_suffix(".part")
        subprocess.run([_python(), RECORDER, part], check=True, timeout=600)
        part.rename(path)
    return msgspec.json.decode(path.read_bytes(), type=Recording)


def pairs() -> list[DojoPair]:
    """The 929 pairs whose attack makes a call; 20 attacks of the travel suite only want a sentence said."""
    kept = recording()
    tasks = {(task.suite, task.id): task for task in kept.tasks}
    attacks = {(attack.suite, attack.id): attack for attack in kept.injections}
    found = []
    for pair in kept.pairs:
        task, attack = tasks[pair.suite, pair.task], attacks[pair.suite, pair.injection]
        if attack.calls:
            outputs = [*pair.outputs, ""]
            hostile = [
                Call(call.tool, call.arguments, output) for call, output in zip(attack.calls, outputs, strict=True)
            ]
            found.append(DojoPair(task, attack, task.under(attack.text), hostile))
    return found


def suite_tools(suite: str) -> dict[str, Declaration]:
    """The declarations of one suite's tools."""
    return {name: TOOLS[name] for name in recording().tools[suite]}


def _calls(made: list[Made], text: str) -> list[Call]:
    return [
        Call(call.tool, call.arguments, _CANARY.sub(lambda _: text, call.output), _entities(call.tool, call.output))
        for call in made
    ]


@lru_cache(maxsize=4096)
def _entities(tool: str, output: str) -> tuple[Entity, ...]:
    """What a mail, an event or a file is called, as the tool that gives it back knows: the output's own fields.

    Read before any attacker's text is put in, so that text in a field can never stand for a field.
    """
    kind = KINDS.get(tool, "")
    if not kind:
        return ()
    found = yaml.load(output, _Loader)
    rows = found if isinstance(found, list) else [found]
    if rows and all(isinstance(row, str) for row in rows):
        return tuple(Entity(kind, row, row) for row in rows)
    return tuple(
        Entity(kind, str(row[id]), str(row[name]), tuple(map(str, _listed(row.get(gives)))))
        for row in rows
        if isinstance(row, dict)
        for id, name, gives in _FIELDS
        if id in row and name in row
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value] if value else []


_FIELDS = (
    ("id_", "title", "participants"),
    ("id_", "filename", ""),
    ("id_", "subject", "sender"),
    ("email", "name", "email"),
    ("id", "subject", ""),
)
"""Of an event, a file, a mail, a contact and a transaction: its id, its name, and whom the system knows it by."""


_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _python() -> str:
    """The interpreter of AgentDojo's environment, made if it is missing or made from another lock."""
    home = OUT / "injection"
    python, stamp = home / "bin" / "python", home / "lock.sha256"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not python.exists() or not stamp.exists() or stamp.read_text() != wanted:
        print("setting up AgentDojo in bench/out/injection ...", file=sys.stderr)
        uv = ROOT / ".uv" / "bin" / "uv"
        OUT.mkdir(exist_ok=True)
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, home], check=True, timeout=60)
        install = [str(uv), "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK), "--python", str(python)]
        subprocess.run(install, check=True, timeout=600)
        stamp.write_text(wanted)
    return str(python)
