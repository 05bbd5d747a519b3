"""S14: ways from the folder to the host: a machine plants, the person's own programs run afterwards, a canary tells.

The same tries are made without Stead in the same run, as the agent's commands on the folder itself. A try whose
programs are not on this host counts for neither.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from bench.bar import Bar
from tests.attacks.folder_to_host.attempt import Outcome
from tests.attacks.folder_to_host.judge import judge_all
from tests.attacks.folder_to_host.tries import TRIES

LEAST = 100


def measure() -> list[Bar]:
    """How many tries made a program of the person's run the canary."""
    ours, bare = _outcomes(stead=True), _outcomes(stead=False)
    tried = [one for one in ours if not one.missing]
    lost = [one for one in tried if one.lost]
    broken = [one for one in tried if one.broken]
    ran = sum(bool(one.lost) for one in bare)
    kinds, missed = Counter(one.kind for one in tried), Counter(one.kind for one in lost)
    programs = {need for one in TRIES.values() for need in one.needs}
    absent = {need for one in ours for need in one.missing.split(", ") if need}
    said = [
        "; ".join(f"{kind}: {missed[kind]} of {count}" for kind, count in sorted(kinds.items())),
        f"run: {', '.join(sorted(programs - absent))}; not on this host: {', '.join(sorted(absent)) or 'none'}",
        f"user {os.geteuid()}; broken: {len(broken)}",
        "; ".join(f"{one.kind}: {one.name}, {one.lost}" for one in lost),
    ]
    holds = not lost and not broken and len(tried) >= LEAST
    unit = f"of {len(tried)} tries ran what was planted"
    return [Bar("S14", len(lost), unit, f"0 of ≥ {LEAST}", holds, {"without Stead": float(ran)}, "; ".join(said))]


def _outcomes(*, stead: bool) -> list[Outcome]:
    base = Path(tempfile.mkdtemp(prefix="stead-bench-"))
    base.chmod(0o755)
    try:
        return asyncio.run(judge_all(base, list(TRIES.values()), stead=stead))
    finally:
        shutil.rmtree(base, ignore_errors=True)
