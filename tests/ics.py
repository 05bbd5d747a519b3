"""iCalendar files for tests."""

from __future__ import annotations


def event(uid: str, start: str, *lines: str) -> str:
    """An event; ``start`` is what follows DTSTART and a colon, or a semicolon and parameters."""
    begins = f"DTSTART{start if start.startswith(';') else f':{start}'}"
    return "\r\n".join(("BEGIN:VEVENT", f"UID:{uid}@example.com", begins, *lines, "END:VEVENT", ""))


def calendar(*parts: str) -> str:
    """A calendar of such parts."""
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example.com//tests//EN\r\n{''.join(parts)}END:VCALENDAR\r\n"
