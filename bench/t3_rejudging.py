"""T3: judging the record again: how many verdicts come out as recorded, and what 10,000 of them cost.

The journal is a real file: 40 sessions of 250 calls (commands of the shell's corpus, reads, writes of 1,000
characters, fetches), under eight standing rules and grants, with outputs of 1,000 characters from five sites. Each call
was judged by the gate when it was recorded; what is asked was answered yes, so that it was judged twice. Measured is
everything from opening the record to the figures: reading, folding, judging by the policy of the moment.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from bench.bar import Bar
from bench.s6_decide import PAGE, RULES, WORDS
from stead.brain.rule_sentences.grammar import understood
from stead.domain import events as ev
from stead.domain.folding import apply, begin
from stead.domain.ids import HOME, ApprovalId, CallKey, CommandId, RequestNo
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Allow, Ask, Label, Profile
from stead.domain.sessions import Session
from stead.domain.simulation import PolicyChange
from stead.guardian.reach import Reach
from stead.runtime import home
from stead.runtime.alarms import WallClock
from stead.runtime.gate import Gate, Judged
from stead.runtime.rejudging import Rejudging
from stead.runtime.steps import judgement
from stead.storage.journal import JournalFile, open_journal
from tests.attacks.injection_suite.guard import DeclaredTool, StillMachines
from tests.build import MODEL, START_MS, TOOLS, created, grant
from tests.guardian.shell_mutants import load
from tests.storage.drafts import KEYS, draft, session

SESSIONS, CALLS, RUNS = 40, 250, 5
VERSION = "bench"


def measure() -> list[Bar]:
    """The share that comes out the same, and the median CPU time for 10,000 verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "journal.db", KEYS)
        gate = asyncio.run(_record(journal))
        rejudging = Rejudging(journal, journal.decisions, gate, WallClock(), VERSION)
        everything = PolicyChange(last=2 * SESSIONS * CALLS)
        times: list[float] = []
        found = rejudging.simulate(everything)
        for _ in range(RUNS):
            began = time.process_time()
            found = rejudging.simulate(everything)
            times.append(time.process_time() - began)
        events = journal.head()
        journal.close()
    cpu_s = statistics.median(times) * 10_000 / found.verdicts
    share = 100 * found.same / found.verdicts
    said = f"{found.verdicts} verdicts in a journal of {events} events, {found.calls} calls; median of {RUNS} runs"
    whole = share == 100 and not found.apart
    return [
        Bar("T3", share, "% of recorded verdicts", "= 100", whole, {}, said),
        Bar("T3.time", cpu_s, "s CPU for 10,000", "≤ 2", cpu_s <= 2, {}, said),
    ]


class _Recording:
    """One session, judged as it is recorded."""

    def __init__(self, number: int, gate: Gate) -> None:
        self._gate = gate
        self._id = session(number)
        self.drafts: list[ev.Draft] = []
        opened = msgspec.structs.replace(created(WORDS), profile=Profile.ASK)
        self._session: Session = begin(self._event(opened))
        self.add(grant("shell", "shell:make test"))

    def add(self, *bodies: ev.Body) -> None:
        """Let these have happened."""
        for body in bodies:
            apply(self._session, self._event(body))

    async def call(self, number: int, tool: str, arguments: Mapping[str, object]) -> None:
        """A request, a reply with one call, its verdicts, and its outcome."""
        key, request = CallKey(f"call_{number}_0"), RequestNo(number)
        part = ToolCall(key, tool, msgspec.json.encode(arguments).decode())
        spend, usage = ev.Spend(tokens=100), Usage(100, 10)
        self.add(
            ev.ModelRequested(request, self._session.sent_sha256, len(self._session.messages), 1000, spend),
            ev.ModelReplied(request, (Text("Next."), part), "tool_call", MODEL, usage, spend, (), 900, 300),
        )
        judged = await self._judge(key)
        if isinstance(judged.verdict, Ask):
            question = ApprovalId(f"a_{number:016x}")
            self.add(
                ev.ApprovalRequested(
                    question,
                    key,
                    tool,
                    judged.arguments,
                    judged.digest,
                    "each",
                    judged.verdict.reason,
                    judged.verdict.risk,
                    START_MS * 2,
                    judged.verdict.shape,
                ),
                ev.ApprovalGiven(question, key, judged.digest, "cli"),
            )
            judged = await self._judge(key)
        ok = isinstance(judged.verdict, Allow)
        if ok:
            self.add(ev.ToolStarted(key, tool, judged.arguments, judged.digest, judged.idempotent))
        source = f"web:site{number % 5}.example" if tool == "fetch" else "workspace"
        text = PAGE[:1000] if ok else judged.verdict.reason.text
        self.add(ev.ToolFinished(key, tool, "ok" if ok else "denied", text, Label(), len(text), 5, source))

    async def _judge(self, key: CallKey) -> Judged:
        judged = await self._gate.judge(self._session, self._session.calls[key], START_MS)
        self.add(judgement(key, judged))
        return judged

    def _event(self, body: ev.Body) -> ev.Event:
        place = len(self.drafts) + 1
        self.drafts.append(draft(self._id, place, body))
        return ev.Event(0, self._id, place, START_MS, "stead", CommandId(""), body)


async def _record(journal: JournalFile) -> Gate:
    """Fill a journal; gives the gate that judged."""
    started = ev.DaemonStarted(VERSION, ())
    facts: list[ev.Body] = [started, *(ev.RuleMade(rule, "cli") for rule in map(understood, RULES) if rule)]
    state = home.HomeState()
    for event in await journal.append([draft(HOME, at, fact) for at, fact in enumerate(facts, start=1)]):
        state = home.fold(state, event)
    gate = Gate(
        [DeclaredTool(spec.name, spec.declaration, {}) for spec in TOOLS],
        StillMachines(),
        reach=Reach(),
        digest_key=KEYS.digests,
        random_bytes=bytes,
        standing=state.standing,
    )
    calls = _calls()
    for number in range(SESSIONS):
        recording = _Recording(number, gate)
        for place in range(1, CALLS + 1):
            await recording.call(place, *next(calls))
        await journal.append(recording.drafts)
    return gate


def _calls() -> Iterator[tuple[str, dict[str, object]]]:
    """A coding session's mix, again and again: a third commands."""
    commands = [sample.command for name in ("read_only", "dangerous") for sample in load(name)]
    while True:
        for number, command in enumerate(commands):
            yield "shell", {"command": command}
            yield "read", {"path": f"src/module_{number}.py"}
            yield (
                ("write", {"path": f"n/{number}.md", "text": PAGE[:1000]})
                if number % 2
                else (
                    "fetch",
                    {"url": f"https://site{number % 5}.example/page?id={number}"},
                )
            )
