"""What a person who looks elsewhere is notified of, and in which words.

Layer: domain. What the page tells by itself while it is open is of the same events, which a test compares. Of what a
model or a stranger wrote, only a session's title is sent, on one line and cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from stead.domain import events as ev
from stead.domain.channels import ChannelLost
from stead.domain.due_times import due_times
from stead.domain.notifications import Kind, Message, NotificationTarget
from stead.domain.schedules import Cron, ScheduleRunEnded
from stead.domain.shown import HIDDEN

TITLE_CHARS = 120
LISTED = 10
MOST_MESSAGES, WINDOW_MS = 6, 300_000
"""To one target in so long; what is more comes together in the last of them."""
TAGS = (
    "approval.requested",
    "review.wanted",
    "objective.ended",
    "turn.ended",
    "session.paused",
    "schedule.run_ended",
    "cap.warned",
    "channel.lost",
)
"""The types of events that ``kind_of`` has a kind for."""
_WORDS: dict[str, str] = {
    "question": "Waits for you: {}",
    "failed": "Could not go on: {}",
    "cap": "Stopped by its budget or a cap: {}",
    "schedule": "A scheduled run did not happen: {}",
    "verified": "Reached its goal: {}",
    "answered": "Answered: {}",
    "unverified": "Done, and nothing shows that it is the goal: {}",
    "incomplete": "Ended before its goal: {}",
    "cancelled": "Cancelled: {}",
    "heartbeat": "Has something to say: {}",
    "warned": "Spent by now: {}",
    "channel": "A channel is not connected: {}",
    "test": "A test of {}",
}
"""By the kind, for what ended by how it did, and for some of the home's by what they are."""


class Notice(msgspec.Struct, frozen=True):
    """Something to notify of. It holds no words of a session's, so that there are none to be forgotten.

    Args:
        seq: of the journal's event.
        session: "" for the home.
        kind: see ``Kind``; "test" for a test.
        of: the question's id, how it ended, or the schedule's or target's name; "heartbeat:NAME" for one that says
            something, "warned:SHARE" for how much of a cap is spent, "channel:NAME" for one that is not connected.
        ts_ms: when it happened.
    """

    seq: int
    session: str
    kind: str
    of: str
    ts_ms: int


class Subject(msgspec.Struct, frozen=True):
    """Whose notice it is: the session's title, and its place in the page."""

    title: str
    path: str


def kind_of(body: ev.Body) -> tuple[Kind, str] | None:
    """The kind of notification that an event makes, and ``Notice.of``; nothing for most."""
    match body:
        case ev.ApprovalRequested(id=id):
            return "question", id
        case ev.ReviewWanted(review=review) if review.waiting:
            return "question", ""
        case ev.ObjectiveEnded(reason="confirm"):
            return "question", ""
        case ev.ObjectiveEnded(reason="budget") | ev.TurnEnded(reason="budget") | ev.SessionPaused(fault="budget"):
            return "cap", ""
        case ev.ObjectiveEnded(status="failed") | ev.TurnEnded(status="failed"):
            return "failed", ""
        case ev.SessionPaused(fault=fault) if fault:
            return "failed", ""
        case ev.ObjectiveEnded(status=status):
            return "ended", status
        case ev.TurnEnded(status=status):
            return "turn", status or "answered"
        case ScheduleRunEnded(name=name, end="refused" | "lost"):
            return "schedule", name
        case ChannelLost(name=name):
            return "failed", f"channel:{name}"
        case ev.CapWarned(share=share, period=period):
            return "cap", f"warned:{share} % of the cap of {period}"
        case _:
            return None


def message_of(id: str, parts: Sequence[tuple[Notice, Subject]], page: str) -> Message:
    """What is sent of one notice, or of several together.

    Args:
        id: the message's.
        parts: what of whom, oldest first; not empty.
        page: the page's address, without a slash at its end.
    """
    first, subject = parts[0]
    lines = tuple(_words(one).format(whose.title) for one, whose in parts)
    if len(parts) == 1:
        about = first.of if first.kind == "question" else ""
        return Message(id, first.kind, lines[0], (), page + subject.path, first.ts_ms, about)
    more = len(lines) - LISTED
    waiting = sum(one.kind == "question" for one, _ in parts)
    title = f"{len(lines)} things happened" + (f", {waiting} of them wait for you" if waiting else "")
    listed = lines if more <= 0 else (*lines[: LISTED - 1], f"{more + 1} more")
    return Message(id, "digest", title, listed, f"{page}/", first.ts_ms)


def _words(notice: Notice) -> str:
    how = notice.of.partition(":")[0] if notice.kind in ("ended", "turn", "cap", "failed") else ""
    return _WORDS.get(how) or _WORDS.get(notice.kind, "{}")


def grouped(due: Sequence[tuple[Notice, bool]], made: Sequence[int], now_ms: int) -> list[Sequence[Notice]]:
    """What goes into one message each: what waited for a digest together, the rest one by one as far as there is room.

    Args:
        due: what is due, oldest first, each with whether it waited for a digest.
        made: when messages were made lately.
        now_ms: what time it is.
    """
    room = MOST_MESSAGES - sum(made_ms > now_ms - WINDOW_MS for made_ms in made)
    if room <= 0:
        return []
    digest = [one for one, waited in due if waited]
    single = [one for one, waited in due if not waited]
    if len(single) > room:
        single, rest = single[: room - 1], single[room - 1 :]
    else:
        rest = []
    return [*([digest] if digest else []), *([one] for one in single), *([rest] if rest else [])]


def plain(text: str, most: int = TITLE_CHARS) -> str:
    """A text on one line, without characters that nobody sees, cut."""
    line = " ".join(HIDDEN.sub(" ", text[: most * 8]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def due_ms(target: NotificationTarget, kind: Kind, now_ms: int) -> int:
    """When something that happens now is sent: now, at the end of the quiet hours, or with the digest."""
    if kind == "question" and target.urgent:
        return now_ms
    if target.digest:
        return next(_daily(target.digest, target.zone, now_ms))
    if target.quiet_from:
        begins = next(_daily(target.quiet_from, target.zone, now_ms))
        ends = next(_daily(target.quiet_to, target.zone, now_ms))
        return ends if ends < begins else now_ms
    return now_ms


def _daily(time: str, zone: str, after_ms: int) -> Iterator[int]:
    return due_times(Cron(f"{int(time[3:])} {int(time[:2])} * * *", zone), after_ms)
