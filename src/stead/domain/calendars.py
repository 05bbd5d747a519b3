"""Calendars: when a schedule is due by the events of an iCalendar file, and what is known of such a file.

Layer: domain. The file is read elsewhere; what was found in it is a fact, and due times come from that fact alone.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import bounds

MOST_BEFORE_MIN = 7 * 24 * 60
"""How long before an event a run may come, in minutes: a week."""


class Calendar(msgspec.Struct, frozen=True, tag="calendar", forbid_unknown_fields=True):
    """At the start of each event of an iCalendar file (RFC 5545), or some time before it.

    Events that start within the same minute are one due time. Cancelled events are none. Changes of the file count
    from the moment that they are seen, within a minute.

    Args:
        file: path within the folder of the job, ending in .ics.
        before_min: so many minutes before the start, 0 to 10,080.
        matching: words of the summary, or a whole category, in any case; "" for every event.
        zone: of all-day events and of those that name no zone; "" is the person's own when it is set.
    """

    file: Annotated[str, bounds(minLength=1, maxLength=500)]
    before_min: Annotated[int, bounds(minimum=0, maximum=MOST_BEFORE_MIN)] = 0
    matching: Annotated[str, bounds(maxLength=200)] = ""
    zone: Annotated[str, bounds(maxLength=60)] = ""


class CalendarTimes(msgspec.Struct, frozen=True):
    """What was found in a calendar's file.

    Args:
        sha256: of the file as it was read; "" where it never could be.
        times: due time in milliseconds and the number of its text, in order; those to come are 100 at most.
        texts: what the events say of themselves: others' words.
        again_ms: until when these times are enough; then the file is read again.
        left_out: how many of its events could not be read.
        problem: why the file could not be read, so that earlier times hold; or why an event was left out.
    """

    sha256: str = ""
    times: tuple[tuple[int, int], ...] = ()
    texts: tuple[str, ...] = ()
    again_ms: int = 0
    left_out: int = 0
    problem: str = ""

    def text_at(self, due_ms: int) -> str:
        """What the event says that is due then; "" for none."""
        return next((self.texts[at] for due, at in self.times if due == due_ms), "")
