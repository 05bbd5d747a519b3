"""S6: how long one decision takes, from the parsed arguments to the verdict, a command's reading included.

The session has said and read things of ordinary size: a goal of a few hundred words, twenty outputs of 4,000
characters from five sources, a plan of ten calls, eight standing rules, twenty grants. The calls are all commands of
the shell's corpus, and as many reads, writes of 4,000 characters, fetches, and messages of 1,000. Looking for links
in a message is part of it; what the gate does beside deciding (fingerprints of files in the machine) is not.
"""

from __future__ import annotations

import statistics
import time

import msgspec

from bench.bar import Bar
from stead.brain.rule_sentences.grammar import understood
from stead.domain.permits import canonical
from stead.domain.policies import PlannedCall
from stead.domain.sessions import Grant
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.flow import Context, Texts
from stead.guardian.reach import Reach
from stead.guardian.shell import assess
from stead.screen.outgoing import links
from tests.guardian.shell_mutants import load
from tests.guardian.test_decide import SPECS, facts

REPEATS = 5
RULES = (
    "never change infra/",
    "never run `git push --force`",
    "never send mail to anyone outside b.example",
    "ask before running `make`",
    "only fetch from docs.example.com",
    "only change files in src/",
    "never use the network",
    "always allow running `pytest`",
)
WORDS = "Look through the notes, compare the prices, and mail the table to bo@b.example. " * 8
PAGE = "The offer stands until Friday; see the terms for what is left out. " * 60


def measure() -> list[Bar]:
    """Median and 95th percentile over all calls, in CPU time."""
    under = _facts()
    times = sorted(_micros(tool, arguments, under) for tool, arguments in _calls())
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    said = f"{len(times)} calls, median of {REPEATS} runs each, CPU; a fifth of them shell commands of the corpus"
    return [
        Bar("S6", p95, "µs CPU p95", "≤ 200", p95 <= 200, {"Cedar, the rule alone": 146, "Rego": 544}, said),
        Bar("S6.median", p50, "µs CPU", "none", True, {"a plain rule in Python": 0.1}, said),
    ]


def _facts() -> Facts:
    outputs = tuple((f"web:site{number % 5}.example", f"{PAGE} item {number}") for number in range(20))
    planned = tuple(PlannedCall("mail", canonical({"to": f"p{n}@b.example"}).decode()) for n in range(10))
    context = Context(
        words=(WORDS,), sources=tuple(dict(outputs)), texts=lambda: Texts(outputs=outputs), planned=planned
    )
    return msgspec.structs.replace(
        facts(),
        context=context,
        rules=tuple(filter(None, map(understood, RULES))),
        grants=tuple(Grant("shell", f"shell:make target{n}", 2**62, ("web",)) for n in range(20)),
        reach=Reach(),
    )


def _calls() -> list[tuple[str, dict[str, object]]]:
    commands = [sample.command for name in ("read_only", "dangerous") for sample in load(name)]
    calls: list[tuple[str, dict[str, object]]] = [("shell", {"command": command}) for command in commands]
    for number in range(len(commands)):
        calls += [
            ("read", {"path": f"src/module_{number}.py"}),
            ("write", {"path": f"notes/{number}.md", "text": PAGE}),
            ("fetch", {"url": f"https://site{number}.example/page?id={number}"}),
            ("mail", {"to": [f"p{number}@b.example", "bo@b.example"], "text": PAGE[:1000]}),
        ]
    return calls


def _micros(tool: str, arguments: dict[str, object], under: Facts) -> float:
    found = []
    for _ in range(REPEATS):
        began = time.thread_time()
        shell = assess(str(arguments["command"])) if "command" in arguments else None
        carries = links(str(arguments["text"])) if tool == "mail" else ()
        decide(Proposed(tool, SPECS[tool], arguments, "", shell, carries), under)
        found.append((time.thread_time() - began) * 1e6)
    return statistics.median(found)
