"""What makes a session's changes reversible: checkpoints, and the files that calls name as they were.

Layer: runtime. Used by one actor, with the session's lock held, but where it says otherwise.

A checkpoint is taken when the first call of a turn is about to change something. A call that names its files does not
wait for a long one: they are kept first, one by one, and put into the tree afterwards (``amend``), so that the tree is
the folder as it was before the turn all the same. A call that may change anything, a command, waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from stead.domain import events as ev
from stead.domain.checkpoints import FileChange, Progress, Tree, Version
from stead.domain.errors import CallerError, SteadError, StorageFault
from stead.domain.ids import CallKey, CheckpointId, SessionId
from stead.domain.live import Progress as ProgressShown
from stead.domain.policies import Profile
from stead.domain.sessions import Session
from stead.runtime.deps import Deps
from stead.runtime.notes import Noted

log = logging.getLogger(__name__)

AT_ONCE_S = 1.0
"""How long a call that names its files waits for a checkpoint to be whole; most are by then."""
SURVEY_S = 5.0
"""How long the end of a turn waits to hear what has changed."""
MOST_CHANGES = 100


@dataclass
class _Taking:
    """A checkpoint on its way. ``saved``: files that changed meanwhile, as they were before."""

    turn: int
    task: asyncio.Task[None]
    saved: dict[str, Version] = field(default_factory=dict)


class Keeper:
    """Keeps for one session.

    Args:
        id: whose.
        deps: see there.
        note: takes facts that become known while nobody holds the lock.
    """

    def __init__(self, id: SessionId, deps: Deps, note: Callable[[Noted], None]) -> None:
        self._id = id
        self._deps = deps
        self._note = note
        self._taking: _Taking | None = None
        self._failed = 0
        """The last turn whose checkpoint failed."""

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is on its way."""
        return self._taking is not None

    def begin(self, session: Session) -> None:
        """Start the turn's checkpoint, unless there is one or the session has none."""
        if not keeps(session) or _has(session, session.turn) or self._failed == session.turn:
            return
        if self._taking is not None and self._taking.turn == session.turn:
            return
        task = asyncio.create_task(self._take_turn(session), name=f"checkpoint of {self._id}")
        saved: dict[str, Version] = {}
        for edit in session.edits:
            if edit.turn == session.turn:  # a daemon before this one edited, and died before its checkpoint was whole
                saved.setdefault(edit.before.path, edit.before)
        self._taking = _Taking(session.turn, task, saved)

    async def ready(self, *, whole: bool) -> None:
        """Wait until a call may change something. To be awaited with the lock free.

        Args:
            whole: the call may change anything, so the checkpoint has to be whole.
        """
        if self._taking is not None:
            await asyncio.wait([self._taking.task], timeout=None if whole else AT_ONCE_S)

    async def before(self, session: Session, paths: Sequence[str]) -> tuple[Version, ...]:
        """The files as they are, kept.

        Raises:
            StorageFault: they could not be kept.
        """
        versions = await self._deps.versions.keep(session.spec.directory, paths)
        if self._taking is not None and not self._taking.task.done():
            for version in versions:
                self._taking.saved.setdefault(version.path, version)
        return versions

    async def after(self, session: Session, key: CallKey, before: Sequence[Version]) -> tuple[ev.FileChanged, ...]:
        """What a call changed of the files that were kept before it."""
        facts = []
        now = await self._deps.versions.keep(session.spec.directory, [version.path for version in before])
        for old, new in zip(before, now, strict=True):
            if (old.content, old.mode) != (new.content, new.mode):
                change = await self._deps.versions.change(old, new)
                facts.append(ev.FileChanged(key=key, before=old, after=new, change=change))
        return tuple(facts)

    async def survey(self, session: Session) -> tuple[tuple[FileChange, ...], int]:
        """What differs from before the turn, without diffs, and how much that is; -1 when nobody could look."""
        mark = next((mark for mark in reversed(session.marks) if mark.turn == session.turn), None)
        if mark is None:
            return (), 0 if not session.ran else -1
        spec = session.spec
        try:
            async with asyncio.timeout(SURVEY_S):
                found = await self._deps.checkpoints.differences(spec.directory, session.spec.ignore, mark.root)
        except (SteadError, TimeoutError) as error:
            log.warning("session %s: nobody could look at what has changed: %s", self._id, error)
            return (), -1
        return tuple(msgspec.structs.replace(change, diff="", cut=-1) for change in found[:MOST_CHANGES]), len(found)

    async def take(self, session: Session, why: Literal["person", "restore", "fork"], note: str) -> ev.CheckpointTaken:
        """A checkpoint of files and conversation as they are now.

        Raises:
            CallerError, StorageFault: the folder could not be kept; the text says why.
        """
        tree = await self._deps.checkpoints.take(session.spec.directory, session.spec.ignore, self._shown())
        return self._taken(session, why, session.seq, tree, note)

    async def close(self) -> None:
        """Stop what is under way."""
        if self._taking is not None:
            self._taking.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._taking.task

    async def _take_turn(self, session: Session) -> None:
        turn, at = session.turn, session.turn_began - 1
        directory, ignore = session.spec.directory, session.spec.ignore
        try:
            tree = await self._deps.checkpoints.take(directory, ignore, self._shown())
            taking = self._taking
            if taking is not None and taking.saved:
                root = await self._deps.checkpoints.amend(tree.root, list(taking.saved.values()))
                tree = msgspec.structs.replace(tree, root=root)
        except (CallerError, StorageFault) as fault:
            self._failed = turn
            self._note(ev.CheckpointFailed(turn=turn, why=str(fault)))
        else:
            self._note(msgspec.structs.replace(self._taken(session, "turn", at, tree, ""), turn=turn))
        self._taking = None

    def _taken(
        self, session: Session, why: Literal["turn", "person", "restore", "fork"], at: int, tree: Tree, note: str
    ) -> ev.CheckpointTaken:
        return ev.CheckpointTaken(
            id=CheckpointId(self._deps.new_id("k")),
            turn=session.turn,
            at=at,
            why=why,
            note=note,
            **msgspec.structs.asdict(tree),
        )

    def _shown(self) -> Progress:
        loop = asyncio.get_running_loop()

        def show(done: int, total: int) -> None:
            fact = ProgressShown(self._id, "checkpoint", done, max(done, total))
            loop.call_soon_threadsafe(self._deps.bus.publish, (fact,))

        return show


def keeps(session: Session) -> bool:
    """Whether the folder is kept: it is interactive, and it can change. A trial keeps changes aside by itself."""
    spec = session.spec
    return spec.interactive and spec.mode != "trial" and spec.profile is not Profile.READONLY


def _has(session: Session, turn: int) -> bool:
    return any(mark.turn == turn and mark.at == session.turn_began - 1 for mark in session.marks)
