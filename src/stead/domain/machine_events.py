"""Events of a session's machine: start and end, its changes of files, and its connections.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.ids import CallKey
from stead.domain.policies import Label, Reason
from stead.domain.terminals import Why
from stead.domain.trials import Held, Landing, Review


class MachineStarted(msgspec.Struct, frozen=True, tag="machine.started"):
    """A sandbox was made for the session."""

    driver: str
    isolation: str


class MachineEnded(msgspec.Struct, frozen=True, tag="machine.ended"):
    """The sandbox went away; the next call starts another."""

    why: str


class ProtectedQuarantined(msgspec.Struct, frozen=True, tag="protected.quarantined"):
    """Recorded by earlier versions: planted files (id and path of each) had been moved out of the folder."""

    moved: tuple[tuple[str, str], ...]
    changed: tuple[str, ...]
    unseen: bool
    where: str = ""
    stripped: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()


class QuarantineSettled(msgspec.Struct, frozen=True, tag="quarantine.settled"):
    """Recorded by earlier versions: the person put something back that had been moved out, or removed it for good."""

    id: str
    directory: str
    path: str
    restored: bool
    door: str


class ChangesLanded(msgspec.Struct, frozen=True, tag="changes.landed"):
    """What became of the changes of a call; ``key`` is "" for those that no call waited for, of a terminal for one."""

    key: CallKey
    landing: Landing


class ReviewWanted(msgspec.Struct, frozen=True, tag="review.wanted"):
    """The changes that wait for review as a session becomes idle; recorded when they differ from the last event.

    ``runnable`` names what can be run and is new in the folder since the session rested last, the first hundred.
    """

    review: Review = Review()
    runnable: tuple[str, ...] = ()


class TrialApplied(msgspec.Struct, frozen=True, tag="trial.applied"):
    """The person let changes that waited into the folder.

    ``paths`` and ``held`` (those that were chosen and held back) name the first hundred each; ``left`` says whether
    more changes wait.
    """

    applied: int
    paths: tuple[str, ...]
    held_back: int
    held: tuple[Held, ...]
    left: bool
    door: str


class TrialDiscarded(msgspec.Struct, frozen=True, tag="trial.discarded"):
    """The person threw the changes that waited away, for good. ``changes`` is 0 when they could not be counted."""

    changes: int
    door: str


class EgressUsed(msgspec.Struct, frozen=True, tag="egress.used"):
    """A connection out of the machine is over, or was refused.

    Args:
        key: the call whose permit covered it; "" when an allow-list did, or nothing.
        host: lower case; "" when none could be read, and in a summary.
        port: 0 when none could be read, and in a summary.
        address: that was connected to; "" for none.
        method: CONNECT for a tunnel, in which nothing more is seen.
        path: with the names in its query, without their values; "" for a tunnel.
        verdict: "allow" when a connection was made.
        reason: which rule, as docs/security-model.md lists it, and what became of it.
        up_bytes: from the machine.
        down_bytes: to the machine.
        secrets: names of the values that were put in.
        duration_ms: from its beginning to its end.
        connections: more than 1 in a summary of connections that came too fast to be recorded one by one.
        query_bytes: of the request's query, whose values are not recorded; 0 in a tunnel, and where it was not counted.
        body_bytes: of the request's body, which is not recorded; 0 in a tunnel, and where it was not counted.
    """

    key: CallKey
    host: str
    port: int
    address: str
    method: str
    path: str
    verdict: Literal["allow", "deny"]
    reason: Reason
    up_bytes: int
    down_bytes: int
    secrets: tuple[str, ...]
    duration_ms: int
    connections: int = 1
    query_bytes: int = 0
    body_bytes: int = 0


class TerminalOpened(msgspec.Struct, frozen=True, tag="terminal.opened", omit_defaults=True):
    """The person opened a terminal in the session's folder; what they type and read there is not recorded.

    ``line``: the one line of theirs that it runs, in place of a shell to type in; see ``LineRan``.
    """

    id: str
    rows: int
    columns: int
    door: str
    line: str = ""


class TerminalClosed(msgspec.Struct, frozen=True, tag="terminal.closed"):
    """A terminal of the person's ended.

    Args:
        id: which one.
        exit_code: of its shell; 128 and the signal when it was killed.
        why: "exited" by itself, "closed" by the person, "stopped" with the session, "disk" or "memory" when it took
            too much, "lost" with its machine or with Stead.
        door: where the person closed it; "" for any other reason.
    """

    id: str
    exit_code: int
    why: Why
    door: str = ""


class LineRan(msgspec.Struct, frozen=True, tag="line.ran"):
    """A line ended that the person ran themselves, and its terminal with it. The model reads what it printed.

    Args:
        id: of its terminal.
        line: as they gave it.
        exit_code: 128 and the signal when it was killed.
        why: as of ``TerminalClosed``.
        text: what it printed, without what nobody sees and what is secret; in the middle, what is too much is left out.
        size_bytes: of all that it printed.
        duration_ms: how long it ran.
        source: what its output may come from, as of ``ToolFinished``.
        label: of the output, which is no word of the person's.
    """

    id: str
    line: str
    exit_code: int
    why: Why
    text: str
    size_bytes: int
    duration_ms: int
    source: str
    label: Label = Label()


MachineBody = (
    MachineStarted
    | MachineEnded
    | ProtectedQuarantined
    | QuarantineSettled
    | ChangesLanded
    | ReviewWanted
    | TrialApplied
    | TrialDiscarded
    | EgressUsed
    | TerminalOpened
    | LineRan
    | TerminalClosed
)
"""In the order in which docs/generated lists them."""
