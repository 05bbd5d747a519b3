"""P13: CPU of 11 requests and 10 tools through Stead, against the raw vendor SDK doing the same requests.

Both stream from the same scripted server in turn (A B A B). Stead's side is the daemon: gate, encrypted journal with
two durable commits a call, live events. The raw side is a loop of the vendor's client that appends messages and
nothing else.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from bench.bar import Bar
from bench.meters import own_cpu_s
from bench.rig import Rig, plans, rig

ROUNDS = 7
RUNS = 5
_RAW = """
import asyncio, json, sys, time

RUNS, URL = int(sys.argv[1]), sys.argv[2]
FIRST = json.loads(sys.stdin.read())

async def openai_runs(count):
    from openai import AsyncOpenAI
    client = AsyncOpenAI(base_url=URL, api_key="none", max_retries=0)
    for _ in range(count):
        body = json.loads(json.dumps(FIRST))
        while True:
            text, calls = "", {}
            async for chunk in await client.chat.completions.create(**body):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for piece in choice.delta.tool_calls or ():
                        call = calls.setdefault(piece.index, [piece.id, piece.function.name, ""])
                        call[2] += piece.function.arguments or ""
            if not calls:
                break
            made = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls.values()
            ]
            body["messages"].append({"role": "assistant", "content": text or None, "tool_calls": made})
            body["messages"] += [{"role": "tool", "tool_call_id": i, "content": "done"} for i, _, _ in calls.values()]
    await client.close()

async def anthropic_runs(count):
    from anthropic import AsyncAnthropic
    client = AsyncAnthropic(base_url=URL, api_key="none", max_retries=0)
    for _ in range(count):
        body = json.loads(json.dumps(FIRST))
        body.pop("stream", None)
        while True:
            async with client.messages.stream(**body) as stream:
                reply = await stream.get_final_message()
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                break
            content = [
                {"type": "text", "text": block.text} if block.type == "text"
                else {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
                for block in reply.content
            ]
            body["messages"].append({"role": "assistant", "content": content})
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": "done"} for call in calls]
            body["messages"].append({"role": "user", "content": results})
    await client.close()

async def main():
    runs = openai_runs if URL.endswith("/v1") else anthropic_runs
    await runs(1)
    before = time.process_time()
    await runs(RUNS)
    print(time.process_time() - before)

asyncio.run(main())
"""


def measure() -> list[Bar]:
    """Medians of the ratio, per wire."""
    bars = []
    for wire, preset, target, peer in (("OpenAI", "compatible", 2.0, 1.9), ("Anthropic", "anthropic", 3.0, 3.3)):
        with rig(plans(10), preset=preset) as r:
            r.run()
            first = r.model.requests()[0].body
            pairs = [(_ours(r), _raw(r, first, preset)) for _ in range(ROUNDS)]
        ratio = statistics.median(ours / raw for ours, raw in pairs)
        ours_ms = statistics.median(ours for ours, _ in pairs) / RUNS * 1000
        raw_ms = statistics.median(raw for _, raw in pairs) / RUNS * 1000
        said = f"{wire}: ours {ours_ms:.0f} ms, raw {raw_ms:.0f} ms for 11 requests and 10 tools; {ROUNDS} rounds"
        id = "P13" if wire == "OpenAI" else "P13.anthropic"
        anchors = {"pydantic-ai's agent, no gate, no journal": peer}
        bars.append(Bar(id, ratio, f"x raw SDK ({wire})", f"≤ {target}", ratio <= target, anchors, said))
    return bars


def _ours(r: Rig) -> float:
    before = own_cpu_s(r.pid)
    for _ in range(RUNS):
        r.run()
    return own_cpu_s(r.pid) - before


def _raw(r: Rig, first: dict[str, object], preset: str) -> float:
    url = r.model.anthropic if preset == "anthropic" else r.model.openai
    done = subprocess.run(
        [sys.executable, "-c", _RAW, str(RUNS), url],
        input=json.dumps(first),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)
