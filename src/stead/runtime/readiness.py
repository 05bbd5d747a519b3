"""Whether Stead can do its work: the one answer, for the command line, the page and the doctor.

Layer: runtime. ``parts`` is pure: what is known goes in, and a verdict on each part comes out, with the way to mend it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from stead.domain.events import ModelRef
from stead.domain.ports import REHEARSAL, Clock, Isolation, Machines
from stead.domain.providers import ProviderCheck, ProviderHealth, ProviderRow, Quota
from stead.runtime.home import ProviderService
from stead.runtime.service import Readiness, ReadyPart

NO_KEY = ("missing", "(not set)")
"""How a row's ``key`` ends when the key that it needs is not there."""


class Conditions:
    """Implements ``service.Conditions``: what work needs, and what the last look at each of it said.

    Args:
        machines: say what this computer offers.
        service: lists and tests providers.
        clock: stamps tests.
        clean: takes secrets out of what a server said.
    """

    def __init__(self, machines: Machines, service: ProviderService, clock: Clock, clean: Callable[[str], str]) -> None:
        self._machines = machines
        self._providers = service
        self._clock = clock
        self._clean = clean
        self._checks: dict[str, tuple[ProviderRow, ProviderCheck]] = {}
        """By name, with the row as it was tested: a provider that was changed since has not been tested."""

    def rows(self) -> tuple[ProviderRow, ...]:
        """All providers, each with its last test."""
        return tuple(replace(row, checked=self._check_of(row)) for row in self._providers.rows())

    def _check_of(self, row: ProviderRow) -> ProviderCheck | None:
        tested, check = self._checks.get(row.name, (None, None))
        return check if tested == _as_set_up(row) else None

    async def check(self, name: str) -> ProviderCheck:
        """See ``service.Holdings.check_provider``."""
        tested = next((row for row in self._providers.rows() if row.name == name), None)
        check = await self._providers.check(name)
        check = replace(check, text=self._clean(check.text), at_ms=self._clock.now_ms())
        if tested is not None:
            self._checks[name] = (_as_set_up(tested), check)
        return check

    def forget(self, name: str) -> None:
        """Another key was put in, which no row shows."""
        self._checks.pop(name, None)

    async def look_again(self) -> None:
        """See ``service.Conditions``."""
        await asyncio.to_thread(lambda: self._machines.isolation(again=True))
        await self._providers.discover()

    def of(self, standing: Readiness) -> Readiness:
        """How things stand, with a verdict on each part."""
        found = parts(standing.chain, self.rows(), standing.isolation)
        return replace(standing, parts=found, ready=all(part.verdict != "fail" for part in found))


def _as_set_up(row: ProviderRow) -> ProviderRow:
    """The row without what changes by itself."""
    return replace(row, health=ProviderHealth(), quota=Quota())


def parts(chain: Sequence[ModelRef], rows: Sequence[ProviderRow], isolation: Isolation) -> tuple[ReadyPart, ...]:
    """What work needs, each with a verdict.

    Args:
        chain: the models of new objectives, not empty.
        rows: every provider, with what its last test said.
        isolation: what this host offers.
    """
    return _model(chain, {row.name: row for row in rows}), _sandbox(isolation)


def _model(chain: Sequence[ModelRef], rows: Mapping[str, ProviderRow]) -> ReadyPart:
    first = chain[0]
    if first.provider == REHEARSAL:
        text = "the rehearsal model: offline, follows a fixed grammar, no AI"
        return ReadyPart("model", "warn", text, "stead providers presets; stead providers add NAME --preset PRESET")
    named = ", then ".join(f"{ref.provider}/{ref.model}" for ref in chain)
    row = rows.get(first.provider)
    if row is None:
        return ReadyPart("model", "fail", f"there is no provider {first.provider!r}", "stead providers use NAME/MODEL")
    if row.key.endswith(NO_KEY):
        fix = f"stead providers set-key {row.name}, or set the variable before Stead starts"
        return ReadyPart("model", "fail", f"{named}: {row.name} has no key ({row.key})", fix)
    if row.checked is not None and not row.checked.ok:
        return ReadyPart("model", "fail", f"{named}: {row.checked.text}", row.checked.fix)
    return ReadyPart("model", "ok", named, "")


def _sandbox(isolation: Isolation) -> ReadyPart:
    if isolation.copies:
        fix = "put Stead's home (STEAD_HOME) on ext4, xfs or btrfs; see docs/security-model.md"
        return ReadyPart("sandbox", "warn", f"{isolation.driver}: {isolation.statement}", fix)
    if isolation.available:
        return ReadyPart("sandbox", "ok", f"{isolation.driver}: {isolation.statement}", "")
    fix = "; ".join(isolation.missing) or "see docs/security-model.md"
    return ReadyPart("sandbox", "fail", f"shell and code are off: {isolation.statement}", fix)
