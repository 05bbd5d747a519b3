"""R7: faults of a provider, made and judged by another project's server, ``llmock``, with the whole daemon as client.

The reply that breaks asks for a shell command that leaves a mark in a file; so does the whole reply after it. A stream
is broken at every place before its stop reason. A mark of a broken reply is a call that ran from a turn without stop
reason. Silence in a stream is left out: the product waits a minute for it; the tests of providers shorten that.
"""

from __future__ import annotations

import http.client
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from llmock.chaos import StreamChaos
from llmock.scenarios import Behavior, Fail, Reply, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from llmock.verdict import judge

from bench.bar import Bar
from bench.rig import PATIENT, UNLIMITED
from stead.domain.ends import WELL
from tests.flows.house import Json, LivingHome

MODEL = "mock-model"
BROKEN = Reply(text="I mark.", tool_calls=(ToolCall("shell", {"command": "echo broken >> marks"}),))
WHOLE = Reply(text="Again.", tool_calls=(ToolCall("shell", {"command": "echo whole >> marks"}),))
LAST = Reply(text="Done.")
WIRES = {"openai": "compatible", "anthropic": "anthropic"}
UNUSABLE: tuple[Behavior, ...] = (
    Fail(429, retry_after=0.5),
    Fail(429, times=2),
    Fail(500),
    Fail(503),
    Fail(529),
    ToolFault("malformed_arguments"),
    ToolFault("unknown_tool"),
)


@dataclass
class Found:
    """What came of the faults."""

    cases: int = 0
    ran: int = 0
    """Calls of turns without stop reason that were executed."""
    flaws: list[str] = field(default_factory=list)


def measure() -> list[Bar]:
    """Both wires, every fault."""
    found = Found()
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name, LLMockServer() as server:
        server.state.stream_chaos = StreamChaos(chunk_delay_ms=5)
        house = LivingHome(Path(name) / "home")
        house.start()
        try:
            for wire, preset in WIRES.items():
                _use(house, server, wire, preset)
                for script in _scripts(server, wire):
                    folder = Path(name) / f"case-{found.cases}"
                    folder.mkdir()
                    _run(house, server, folder, script, found)
        finally:
            house.stop()
    said = f"{found.cases} faults on 2 wires through the whole daemon; {len(found.flaws)} runs or verdicts not clean"
    said += "".join(f"; {flaw}" for flaw in found.flaws[:3])
    holds = found.ran == 0 and not found.flaws
    return [Bar("R7", found.ran, "calls run from turns without stop reason", "0", holds, {}, said)]


def _use(house: LivingHome, server: LLMockServer, wire: str, preset: str) -> None:
    provider = {"name": wire, "preset": preset, "base_url": server.base_url(wire), "model": MODEL}
    house.post("/providers", provider)
    house.post(f"/providers/{wire}/key", {"key": "sk-ant-invented"})
    house.post("/chain", {"chain": [{"provider": wire, "model": MODEL}]})


def _scripts(server: LLMockServer, wire: str) -> Iterator[tuple[Behavior, ...]]:
    for fault in UNUSABLE:
        yield (fault, WHOLE, LAST) if isinstance(fault, Fail) else (fault, BROKEN, WHOLE, LAST)
    for place in range(_pieces_before_stop(server, wire) + 1):
        for kind in ("disconnect", "truncate", "malformed"):
            yield BROKEN, StreamFault(kind, after_chunks=place), WHOLE, LAST


def _run(house: LivingHome, server: LLMockServer, folder: Path, script: tuple[Behavior, ...], found: Found) -> None:
    server.state.scenarios.clear()
    server.state.journal.clear()
    server.state.scenarios.add(*script)
    found.cases += 1
    id = house.give("leave a mark", folder, budget=UNLIMITED, limits=PATIENT, allow=["shell"])
    row = house.wait(id, *WELL, "incomplete", "failed", "paused", timeout_s=60)
    marks = (folder / "marks").read_text("utf-8").split() if (folder / "marks").exists() else []
    found.ran += marks.count("broken")
    if (row["status"], marks) != ("unverified", ["whole"]):
        found.flaws.append(f"{script[:2]} led to {row['status']} with marks {marks}: {row['summary']}")
    verdict = judge(server.state.journal.records(wait=10.0))
    if verdict.findings:
        found.flaws.append(f"{script[:2]} was judged {[finding.code for finding in verdict.findings]}")


def _pieces_before_stop(server: LLMockServer, wire: str) -> int:
    """How many pieces of the reply come before the one with its stop reason."""
    server.state.scenarios.clear()
    server.state.scenarios.add(BROKEN)
    url = urlsplit(server.base_url(wire))
    path = url.path + ("/v1/messages" if wire == "anthropic" else "/chat/completions")
    body = {"model": MODEL, "stream": True, "max_tokens": 500, "messages": [{"role": "user", "content": "mark"}]}
    headers = {"content-type": "application/json", "authorization": "Bearer x", "x-api-key": "x"}
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=20)
    connection.request("POST", path, json.dumps(body), {**headers, "anthropic-version": "2023-06-01"})
    pieces = [line[5:] for line in connection.getresponse().read().split(b"\n") if line.startswith(b"data:")]
    connection.close()
    return next(place for place, piece in enumerate(pieces) if _stops(json.loads(piece)))


def _stops(piece: Json) -> bool:
    choices = piece.get("choices") or [{}]
    return bool(choices[0].get("finish_reason") or piece.get("delta", {}).get("stop_reason"))
