"""What every session works with, handed in by the composition root.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from stead.domain.checkpoints import Checkpoints, Versions
from stead.domain.directives import Directives
from stead.domain.folders import Folders
from stead.domain.ports import Clock, Ingested, Journal, Machines, Models, Project, Snapshots
from stead.domain.proving import Proofs
from stead.domain.services import Services
from stead.domain.terminals import Terminals
from stead.domain.trials import Trials
from stead.runtime.attachments import GivenAttachments
from stead.runtime.bus import Bus
from stead.runtime.gate import Gate
from stead.runtime.memory_service import MemoryService
from stead.runtime.pinned_blobs import PinnedBlobs


@dataclass(frozen=True)
class Deps:
    """What every actor works with."""

    journal: Journal
    snapshots: Snapshots
    models: Models
    machines: Machines
    terminals: Terminals
    services: Services
    proofs: Proofs
    trials: Trials
    checkpoints: Checkpoints
    versions: Versions
    pinned: PinnedBlobs
    project: Project
    folders: Folders
    history: Ingested
    gate: Gate
    bus: Bus
    clock: Clock
    directives: Callable[[], Directives]
    """What the person tells models always, as it is now."""
    new_id: Callable[[str], str]
    """Makes an id with this prefix."""
    attachments: GivenAttachments
    memory: MemoryService
    approval_ttl_s: int
    backoff_ms: int = 1000
    """The first pause after a model failure; it doubles up to a minute."""
    lanes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    """How many sessions work at the same time."""
