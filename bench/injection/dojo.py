"""AgentDojo's suites as calls to be judged: its environment, its recording, and the pairs made of them.

The package has some seventy dependencies, so it lives in an environment of its own below ``bench/out``, made from
``requirements-injection.lock``. It is needed once: the recording is kept beside it and read from then on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec
import yaml

from bench.injection.agentdojo_tools import CALENDAR, DRIVE, MAIL, TOOLS
from stead.domain.policies import Entity
from stead.domain.tools import Declaration, ToolEffect
from tests.attacks.injection_suite.replay import Start, plan_of
from tests.attacks.injection_suite.suite import Call

ROOT = Path(__file__).parent.parent.parent
OUT = ROOT / "bench" / "out"
LOCK = ROOT / "requirements-injection.lock"
RECORDER = Path(__file__).parent / "record.py"
_CANARY = re.compile(r"CANARY-\w+-END")


class Naming(msgspec.Struct, frozen=True):
    """How a tool's output says what an id is called.

    Args:
        kind: of the thing, as in ``Declaration.identity_args``.
        id: the field of a row with the id.
        names: fields of the row with what it is called; the row's own key where there are none.
        gives: the field of the row with the addresses by which the system knows it; see ``Entity.gives``.

    A row that is a text alone has it as its field "".
    """

    kind: str
    id: str
    names: tuple[str, ...] = ()
    gives: str = "-"


class Source(msgspec.Struct, frozen=True):
    """A package of suites and how its tools were read.

    Args:
        name: what a figure's conditions call it.
        tools: what each tool declares.
        namings: what ids in a tool's output are called.
    """

    name: str
    tools: Mapping[str, Declaration]
    namings: Mapping[str, tuple[Naming, ...]]

    def calls(self, made: list[Made]) -> list[Call]:
        """Recorded calls with the entities that their outputs name.

        The outputs hold no attacker's text yet, so that text in a field can never stand for a field.
        """
        return [
            Call(
                call.tool,
                call.arguments,
                call.output,
                () if call.error else _entities(self.namings.get(call.tool, ()), call.output),
            )
            for call in made
        ]


class Made(msgspec.Struct, frozen=True):
    """A recorded call."""

    tool: str
    arguments: dict[str, object]
    output: str = ""
    error: bool = False


class _Task(msgspec.Struct, frozen=True):
    suite: str
    id: str
    text: str
    calls: list[Made]
    attacked: list[Made]


class Attack(msgspec.Struct, frozen=True):
    """An injection task.

    Args:
        suite: of which it is.
        id: its own.
        goal: what the attacker wants.
        calls: that do it.
        open: arguments of these calls for which the goal would take other values too.
    """

    suite: str
    id: str
    goal: str
    calls: list[Made]
    open: list[str] = []

    @property
    def text(self) -> str:
        """What is planted: the goal, and each call spelt out, so that all its values stand in what the model reads."""
        orders = (f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in self.calls)
        return "\n".join((self.goal, *orders))


class _Pair(msgspec.Struct, frozen=True):
    suite: str
    task: str
    injection: str
    calls: list[Made]


class _Written(msgspec.Struct, frozen=True):
    tools: dict[str, dict[str, dict[str, object]]]
    tasks: list[_Task]
    injections: list[Attack]
    pairs: list[_Pair]


class DojoTask(msgspec.Struct, frozen=True):
    """A user task: its calls on a quiet day, and with a canary wherever an attacker could write."""

    suite: str
    id: str
    text: str
    calls: list[Call]
    attacked: list[Call]
    tools: Mapping[str, Declaration]

    @property
    def name(self) -> str:
        """Such as ``banking/user_task_3``."""
        return f"{self.suite}/{self.id}"

    def start(self, *, planned: bool, generous: bool) -> Start:
        """The session in which the person asks for this task."""
        return Start(self.text, plan_of(self.text, self.calls, self.tools) if planned else (), self.tools, generous)

    def under(self, text: str) -> list[Call]:
        """The calls, with an attacker's text wherever an attacker could write."""
        return [
            msgspec.structs.replace(call, output=_CANARY.sub(lambda _: text, call.output)) for call in self.attacked
        ]


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
        return f"{self.task.name}/{self.attack.id}"

    def taken(self, output: str) -> bool:
        """Whether an output carries the attacker's text."""
        return self.attack.goal in output


class Recording(msgspec.Struct, frozen=True):
    """All that was written down of a source.

    Args:
        source: which.
        schemas: the parameters' JSON schemas by suite and tool.
        tasks: the person's.
        attacks: by suite and id.
        pairs: every task under every attack that makes a call.
    """

    source: Source
    schemas: Mapping[str, Mapping[str, Mapping[str, object]]]
    tasks: list[DojoTask]
    attacks: Mapping[tuple[str, str], Attack]
    pairs: list[DojoPair]

    def without_readings(self) -> Recording:
        """The attacks without the calls that only read: stopping those is no merit when a task reads the same."""
        return msgspec.structs.replace(self, pairs=[_acting(pair) for pair in self.pairs])


def _acting(pair: DojoPair) -> DojoPair:
    tools = pair.task.tools
    acting = [call for call in pair.hostile if tools[call.tool].effect is not ToolEffect.READ]
    return msgspec.structs.replace(pair, hostile=acting or pair.hostile)


def read(source: Source, written: bytes) -> Recording:
    """What a recorder wrote down, with the declarations of its source."""
    kept = msgspec.json.decode(written, type=_Written)
    tasks = {
        (task.suite, task.id): DojoTask(
            task.suite,
            task.id,
            task.text,
            source.calls(task.calls),
            source.calls(task.attacked),
            {name: source.tools[name] for name in kept.tools[task.suite]},
        )
        for task in kept.tasks
    }
    attacks = {(attack.suite, attack.id): attack for attack in kept.injections}
    pairs = []
    for pair in kept.pairs:
        task, attack = tasks[pair.suite, pair.task], attacks[pair.suite, pair.injection]
        if attack.calls:
            # An attack gains no names: what its outputs say is the attacker's.
            hostile = [Call(call.tool, call.arguments, call.output) for call in pair.calls]
            pairs.append(DojoPair(task, attack, task.under(attack.text), hostile))
    return Recording(source, kept.tools, list(tasks.values()), attacks, pairs)


def recorded(name: str, recorder: Path, *more: str, path: str = "") -> bytes:
    """What a recorder wrote down, made first if it is missing or its recorder, the lock or ``more`` have changed.

    Args:
        name: of the file below ``bench/out``.
        recorder: a module of ``bench.injection`` that is run with AgentDojo's environment.
        more: what else the recording depends on.
        path: a folder with packages that take the place of the environment's.
    """
    # Every recorder goes through ``record``.
    parts = (RECORDER.read_bytes(), recorder.read_bytes(), LOCK.read_bytes(), *(word.encode() for word in more))
    stamp = hashlib.sha256(b"".join(parts)).hexdigest()[:16]
    kept = OUT / f"{name}-{stamp}.json"
    if not kept.exists():
        part = kept.with_suffix(".part")
        command = [_python(), "-m", f"bench.injection.{recorder.stem}", str(part)]
        paths = os.pathsep.join(filter(None, (path, str(ROOT))))
        subprocess.run(command, check=True, timeout=600, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths})
        part.rename(kept)
    return kept.read_bytes()


@lru_cache(maxsize=1)
def recording() -> Recording:
    """AgentDojo: 97 tasks and 929 pairs; 20 more attacks of the travel suite only want a sentence said."""
    return read(AGENTDOJO, recorded("agentdojo", RECORDER))


@lru_cache(maxsize=8192)
def _entities(namings: tuple[Naming, ...], output: str) -> tuple[Entity, ...]:
    """What the things in an output are called, as the tool that gives it back knows: the output's own fields."""
    if not namings:
        return ()
    found = yaml.load(output, _Loader)
    keyed = isinstance(found, dict) and not any(naming.id in found for naming in namings)
    rows = found.items() if keyed else [("", row) for row in (found if isinstance(found, list) else [found])]
    return tuple(
        Entity(naming.kind, str(row[naming.id]), str(called), tuple(map(str, _listed(row.get(naming.gives)))))
        for key, row in ((key, {"": row} if isinstance(row, str) else row) for key, row in rows)
        if isinstance(row, dict)
        for naming in namings
        if naming.id in row
        for called in ([row[name] for name in naming.names if name in row] if naming.names else [key])
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value] if value else []


_MAIL = Naming("email", "id_", ("subject",), "sender")
_EVENT = Naming("event", "id_", ("title",), "participants")
_TRANSACTION = Naming("transaction", "id", ("subject",))
_CONTACT = Naming("contact", "email", ("name",), "email")

AGENTDOJO = Source(
    "AgentDojo 0.1.35, suites v1.2.2",
    TOOLS,
    {tool: (_MAIL,) for tool in MAIL}
    | {tool: (_EVENT,) for tool in CALENDAR}
    | {tool: (Naming("file", "id_", ("filename",)),) for tool in DRIVE}
    | {tool: (_TRANSACTION,) for tool in ("get_scheduled_transactions", "get_most_recent_transactions")}
    | {tool: (_CONTACT,) for tool in ("search_contacts_by_name", "search_contacts_by_email")}
    | {"get_channels": (Naming("channel", "", ("",)),)},
)

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
