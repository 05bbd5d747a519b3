"""P1: tokens of the first model request with every built-in tool, of an objective and of a session, as sent.

Counted is the JSON text of tools, instructions and messages that a scripted server got, by the vocabulary o200k_base.
The vocabulary is large and not ours to ship: npm brings it into ``bench/node`` at the first use.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.bar import Bar
from bench.rig import Rig, rig
from tests.fakes.aimock import WITH_NODE
from tests.fakes.models import Seen
from tests.flows.sitting import sit_down

NODE = Path(__file__).parent / "node"
PARTS = ("tools", "system", "messages")
TARGET = 1800
ANCHORS = {"nanobot": 7400.0, "Codex": 8700.0, "Hermes": 13400.0, "OpenClaw": 14500.0, "Claude Code": 19900.0}
CODING = {peer: ANCHORS[peer] for peer in ("Codex", "Claude Code")}
GOAL = "read README.md and tell what it is about"


def measure() -> list[Bar]:
    """The first request of an objective and of a session, each on both wires; the larger one counts."""
    install()
    return [_bar("P1", _objective, ANCHORS), _bar("P1.session", _turn, CODING)]


def _objective(r: Rig) -> None:
    r.run(GOAL)


def _turn(r: Rig) -> None:
    sit_down(r.house, r.project).turn(GOAL)


def _bar(name: str, run: Callable[[Rig], None], anchors: dict[str, float]) -> Bar:
    first = {}
    for preset in ("compatible", "anthropic"):
        with rig([], preset=preset) as r:
            run(r)
            first[preset] = r.model.requests()[0]
    counts = {preset: _tokens(_sent(seen)) for preset, seen in first.items()}
    figure = max(counts.values())
    offered = len(first["compatible"].body["tools"])
    apart = ", ".join(f"{part} {_tokens(text)}" for part, text in _parts(first["compatible"]).items())
    said = (
        f"o200k_base, {offered} tools; OpenAI wire {counts['compatible']} ({apart}), "
        f"Anthropic wire {counts['anthropic']}"
    )
    return Bar(name, figure, "tokens", f"≤ {TARGET}", figure <= TARGET, anchors, said)


def _parts(seen: Seen) -> dict[str, str]:
    """Each part's JSON, exactly as it stands in the request."""
    raw = seen.request.body.decode()
    found = {
        part: json.dumps(seen.body[part], ensure_ascii=False, separators=(",", ":"))
        for part in PARTS
        if part in seen.body
    }
    if strangers := [part for part, text in found.items() if text not in raw]:
        raise AssertionError(f"{strangers} were sent in another form than they are counted in")
    return found


def _sent(seen: Seen) -> str:
    return "".join(_parts(seen).values())


def install() -> None:
    """Bring the vocabulary into place, once."""
    if (NODE / "node_modules").is_dir():
        return
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund")
    subprocess.run(
        [WITH_NODE, "npm", "ci", "--prefix", str(NODE), *quiet], check=True, capture_output=True, timeout=300
    )


def _tokens(text: str) -> int:
    done = subprocess.run(
        [WITH_NODE, "node", "count.js"], cwd=NODE, input=text.encode(), capture_output=True, check=True
    )
    return int(done.stdout)
