"""Whether a person's words name a day and a time of day, in the ways in which people write them in English.

Layer: guardian. Pure. A calendar's tool wants ``2026-06-10 13:00`` where a person writes "June 10th at 1 pm". Only what
stands there counts: a month and a day (the year too, if one stands with them), and the hour. "Tomorrow" names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>[0-9]{4}))?"
_DATES = (
    re.compile(r"\b(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})\b"),
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b{_YEAR}", re.IGNORECASE),
)
_TIME = re.compile(
    r"\b(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?(?::00)?\s*(?P<half>[ap]\.?m\b\.?)?|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:[Tt ](?P<time>[0-9]{2}:[0-9]{2})(?::00)?)?"
)
_WHOLE_DAY = ("00:00", "23:59")


class Date(NamedTuple):
    """A day as it stands in a text; year 0 when none is given."""

    year: int
    month: int
    day: int


def is_moment(value: str) -> bool:
    """Whether a value is a day, with or without a time of day, as ``named`` takes it."""
    return _MOMENT.fullmatch(value) is not None


def named(value: str, text: str) -> bool:
    """Whether the text names this day, and, if it names any time of day, this one too.

    A day's first and last minute stand for the whole day.

    Args:
        value: ``2026-06-10`` or ``2026-06-10 13:00``; anything else is named by no text.
        text: a person's words.
    """
    moment = _MOMENT.fullmatch(value.strip())
    if moment is None:
        return False
    year, month, day = int(moment["year"]), int(moment["month"]), int(moment["day"])
    if not any((date.month, date.day) == (month, day) and date.year in (0, year) for date in _dates(text)):
        return False
    time, times = moment["time"], list(_times(text))
    return time is None or time in _WHOLE_DAY or not times or time in times


def _dates(text: str) -> Iterator[Date]:
    for pattern in _DATES:
        for found in pattern.finditer(text):
            month = found["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            yield Date(int(found["year"] or 0), number, int(found["day"]))


def _times(text: str) -> Iterator[str]:
    for found in _TIME.finditer(text):
        if found["word"]:
            yield "12:00" if found["word"].lower() == "noon" else "00:00"
        elif found["minute"] or found["half"]:
            hour = int(found["hour"])
            if found["half"]:
                hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
            yield f"{hour:02}:{found['minute'] or '00'}"
