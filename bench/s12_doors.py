"""S12: the web API against its own document, and every knock at every route of the door.

Schemathesis makes up requests in all its phases, the stateful one included; the matrix takes every flaw alone and a
seventh of all pairs of flaws, at every route.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bar import Bar
from tests.attacks.door_matrix import flaws, judge, open_knocker, routes, tries
from tests.attacks.fuzzing import fuzz
from tests.flows.house import LivingHome

EXAMPLES = 50
SEED = 2026
PHASES = ("examples", "coverage", "fuzzing", "stateful")


def measure() -> list[Bar]:
    """Failures of both."""
    return [_fuzzed(), _matrix()]


def _fuzzed() -> Bar:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        house, folder = LivingHome(Path(name) / "home"), Path(name) / "project"
        folder.mkdir()
        house.start()
        try:
            found = fuzz(house, folder, examples=EXAMPLES, seed=SEED, phases=PHASES, timeout_s=900)
        finally:
            house.stop()
    said = f"{found.cases} made-up requests to {found.operations} of {found.documented} operations, seed {SEED}"
    for failure in found.failures:
        print(failure)
    failed = len(found.failures)
    return Bar("S12", failed, "failures of Schemathesis", "0", not failed, {}, said)


def _matrix() -> Bar:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name, open_knocker(Path(name)) as who:
        all_routes, all_flaws = routes(who.house.get("/openapi.json")), flaws(who)
        chosen = [*tries(all_routes, all_flaws, 1), *list(tries(all_routes, all_flaws, 2))[::7]]
        secrets = [who.bearer, who.cookie, who.signed_out, *who.elsewhere, str(who.house.root), "Traceback"]
        wrong = [said for one in chosen if (said := judge(who, one, secrets))]
    for line in wrong[:20]:
        print(line)
    said = f"{len(chosen)} knocks with one flaw or two at {len(all_routes)} routes"
    return Bar("S12.matrix", len(wrong), "failures of the matrix", "0", not wrong, {}, said)
