"""Days as people say them, resolved against the moment of saying.

Layer: brain. Pure. "Tomorrow" is what the person's own calendar says it is, so the zone they live in is handed in; in
the evening of Los Angeles it is another day by UTC already.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

import msgspec

DAY_MS = 86_400_000

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_WEEKDAY = "|".join(_WEEKDAYS)
_TIME = r"(?:,?\s*(?P<at>at\s+)?(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>am|pm)?(?![\d/.-]))"
_FORMS = tuple(
    re.compile(rf"\b{form}(?:{_TIME})?", re.IGNORECASE)
    for form in (
        r"(?:on\s+)?(?P<iso>\d{4}-\d\d-\d\d)",
        rf"(?:on\s+)?(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?(?:,?\s+(?P<year>\d{{4}}))?",
        rf"(?:on\s+)?(?P<month>{_MONTH})\b\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<year>\d{{4}}))?",
        r"(?P<near>the day after tomorrow|tomorrow|today|tonight)(?:\s+(?:morning|afternoon|evening|night))?",
        rf"(?:on\s+)?(?P<which>next|this|coming)?\s*(?P<weekday>{_WEEKDAY})(?:\s+(?:morning|afternoon|evening|night))?",
        r"in\s+(?P<count>\d{1,3}|a|one|two|three|four|five|six)\s+(?P<unit>day|week)s?",
    )
)
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class Moment(msgspec.Struct, frozen=True):
    """A day, perhaps with a time of it.

    Args:
        start: of the words, in characters.
        end: behind them.
        day: ISO, as 2027-05-03.
        time: as 15:30; "at 3" where nobody said which half of the day; "" for none.
        over_ms: when the day is over, milliseconds since 1970.
    """

    start: int
    end: int
    day: str
    time: str
    over_ms: int

    @property
    def said(self) -> str:
        """Day and time as values have them."""
        return f"{self.day} {self.time}".strip()


def day_of(ts_ms: int, zone: tzinfo = UTC) -> str:
    """The day (``YYYY-MM-DD``) of a moment in a zone; "" for one that no calendar has."""
    try:
        return datetime.fromtimestamp(ts_ms / 1000, zone).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def moment(text: str, ts_ms: int, zone: tzinfo = UTC) -> Moment | None:
    """The first day that a sentence names, seen from when it was said; nothing when it names none that can be.

    Args:
        text: the sentence.
        ts_ms: when it was said.
        zone: where.
    """
    try:
        today = datetime.fromtimestamp(ts_ms / 1000, zone).date()
    except (ValueError, OverflowError, OSError):
        return None
    found = [match for form in _FORMS if (match := form.search(text))]
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        try:
            day = _day(match.groupdict(), today)
            over = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(days=1)
            over_ms = int(over.timestamp() * 1000)
        except (ValueError, OverflowError):
            continue
        return Moment(match.start(), match.end(), day.isoformat(), _time(match), over_ms)
    return None


def _day(said: dict[str, str | None], today: date) -> date:
    """Raises ``ValueError`` or ``OverflowError`` for a day that there is not."""
    if iso := said.get("iso"):
        return date.fromisoformat(iso)
    if (day := said.get("day")) and (month := said.get("month")):
        number = next(at for at, name in enumerate(_MONTHS, start=1) if name.startswith(month.casefold()[:3]))
        if year := said.get("year"):
            return date(int(year), number, int(day))
        this = date(today.year, number, int(day))
        return this if this >= today else date(today.year + 1, number, int(day))
    if near := said.get("near"):
        return today + timedelta(days={"tomorrow": 1, "the day after tomorrow": 2}.get(near.casefold(), 0))
    if weekday := said.get("weekday"):
        ahead = (_WEEKDAYS.index(weekday.casefold()) - today.weekday()) % 7
        which = (said.get("which") or "").casefold()
        if which == "next":
            return today + timedelta(days=7 - today.weekday() + _WEEKDAYS.index(weekday.casefold()))
        return today + timedelta(days=ahead or (0 if which == "this" else 7))
    count, unit = said.get("count") or "", said.get("unit") or ""
    return today + timedelta(days=(_COUNTS.get(count.casefold()) or int(count)) * (7 if unit == "week" else 1))


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], (match["half"] or "").casefold()
    if not hour or int(hour) > 23:
        return ""
    if not (minute or half):
        alone = f"{hour}:00" if int(hour) > 12 else f"at {int(hour)}"
        return alone if match["at"] else ""
    whole = int(hour) % 12 + (12 if half == "pm" else 0) if half else int(hour)
    return f"{whole:02}:{minute or '00'}" if whole < 24 and int(minute or 0) < 60 else ""
