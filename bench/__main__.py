"""Run benchmarks: ``python -m bench`` for all, ``python -m bench P4,P6`` for a choice.

Prints one line a bar, with ``--conditions`` a second one of what was measured how, and keeps them in
``bench/out/bars.json``, where a choice replaces only its own. A bar that is missed says ``short``; the command still
succeeds, because a figure is information. A benchmark that breaks is an error.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench.bar import Bar

MODULES = {
    "P1": "p01_prompt",
    "P1.SESSION": "p01_prompt",
    "P2": "p02_prefix",
    "P2.TRIMMING": "p02_trimming",
    "P3": "p03_idle",
    "P4": "p04_turns",
    "P5": "p04_turns",
    "P6": "p06_gap",
    "P7": "p07_start",
    "P8": "p08_cli",
    "ACP": "acp_start",
    "P9": "p09_memory",
    "P10": "p10_parallel",
    "P11": "p11_journal",
    "P12": "p12_install",
    "P13": "p13_sdk",
    "P14": "p14_store",
    "P15": "p15_age",
    "P15.WIRE": "p15_flat",
    "P16": "p16_beside",
    "B1": "b1_forecast",
    "M1": "m1_recall",
    "M2": "m1_recall",
    "M3": "m3_precision",
    "M4": "m4_isolation",
    "M5": "m5_scale",
    "M6": "m6_forgetting",
    "M7": "m7_updates",
    "R1": "r1_chaos",
    "R2": "r2_stop",
    "R3": "r3_budget",
    "R4": "r4_schedules",
    "R5": "r5_watchers",
    "R6": "r6_upgrade",
    "R7": "r7_faults",
    "R8": "r8_sleep",
    "CH": "ch_phone",
    "CH.IDLE": "ch_idle",
    "S1": "s1_escape",
    "S2": "s2_machine",
    "S3": "s3_injection",
    "S3.CHATS": "s3_chats",
    "S3.DYN": "s3_dyn",
    "S3.MCP": "s3_served",
    "S4": "s3_injection",
    "S4.CHATS": "s3_chats",
    "S4.DYN": "s3_dyn",
    "S4.MCP": "s3_served",
    "S5": "s3_injection",
    "S5.CHATS": "s3_chats",
    "S5.DYN": "s3_dyn",
    "S5.MCP": "s3_served",
    "S6": "s6_decide",
    "S7": "s7_shell",
    "S8": "s8_redaction",
    "S9": "s9_canary",
    "S10": "s10_ssrf",
    "S11": "s11_audit",
    "S12": "s12_doors",
    "S13": "s13_base",
    "S14": "s14",
    "S15": "s15_jobs",
    "T1": "t1_ends",
    "T2": "t2_rules",
    "T3": "t3_rejudging",
    "U1": "u1_load",
    "U2": "u2_canvas",
    "U3": "u3_table",
    "U4": "u4_timeline",
    "U5": "u5_axe",
    "U6": "u6_first_answer",
    "U7": "u7_hostile",
    "U8": "u8_input",
    "WS-3": "ws3_checkpoints",
}
"""Which file measures which bar. Each runs in a process of its own, so that none weighs on another's figure."""

OUT = Path(__file__).parent / "out" / "bars.json"


def main(arguments: list[str]) -> int:
    """Measure the chosen bars, print and keep them."""
    words = [word for word in arguments if word != "--conditions"]
    chosen = [name.strip().upper() for word in words for name in word.split(",") if name.strip()] or list(MODULES)
    if strangers := [name for name in chosen if name not in MODULES]:
        print(f"no such bar: {', '.join(strangers)}; there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    broken = 0
    for module in dict.fromkeys(MODULES[name] for name in chosen):
        bars, failed = _run(module)
        broken += failed
        for bar in bars:
            print(bar.line(), flush=True)
            if len(words) < len(arguments) and bar.conditions:
                print(f"    {bar.conditions}", flush=True)
        _keep(bars)
    return 1 if broken else 0


def _run(module: str) -> tuple[list[Bar], bool]:
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        done = subprocess.run(
            [sys.executable, "-c", _ONE.format(module=module), out.name], cwd=Path(__file__).parent.parent, check=False
        )
        found = json.loads(out.read() or "[]")
    return [Bar(**fields) for fields in found], done.returncode != 0


_ONE = """
import dataclasses, json, sys
from bench.{module} import measure
bars = [dataclasses.asdict(bar) for bar in measure()]
open(sys.argv[1], "w", encoding="utf-8").write(json.dumps(bars))
"""


def _keep(bars: list[Bar]) -> None:
    OUT.parent.mkdir(exist_ok=True)
    kept = json.loads(OUT.read_text("utf-8")) if OUT.exists() else []
    fresh = {bar.id for bar in bars}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [row for row in kept if row["id"] not in fresh]
    rows += [{**dataclasses.asdict(bar), "time": at} for bar in bars]
    OUT.write_text(json.dumps(sorted(rows, key=lambda row: row["id"]), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
