"""How much of a chat and of a person is taken in a while, how much was refused, and how much goes to a chat.

Layer: runtime. All of it is known until the daemon ends.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

from stead.domain.channel_wire import Manifest, Update
from stead.domain.channels import Place
from stead.domain.ports import Clock

PERSON_A_MINUTE, CHAT_A_MINUTE = 60, 120
OPENING_S = 30
"""Of five minutes, for a chat's files to be brought and opened. Other chats of the bot wait meanwhile, as platforms
hand over one update after another; and a picture that was made for it takes as long to open as a machine may."""
_WINDOW_MS, _OPENING_WINDOW_MS = 60_000, 300_000
_MOST_KNOWN = 10_000
"""People and chats; the longest unheard is forgotten, so that a flood of strangers fills no memory."""
_MOST_COUNTED = 1000
"""Updates that are known again: a platform sends one twice where its connection broke."""


class Rates:
    """Of all channels."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: OrderedDict[tuple[str, ...], tuple[int, int]] = OrderedDict()
        self._counted: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self.refused: Counter[str] = Counter()
        """By channel."""

    def refuse(self, channel: str) -> None:
        """Something was not taken."""
        self.refused[channel] += 1

    def answers(self, channel: str, chat: str, about: str, most: int) -> bool:
        """Whether a stranger's chat is answered, so often in a day about something; few are, in a minute."""
        return self._count((channel, about, chat), 86_400_000) <= most and self._count((channel, "new")) <= 10

    def over(self, channel: str, update: Update) -> str | None:
        """What to say to one who writes too much: something once, "" after that; None while they do not.

        An update that was let through and comes again is let through, and is not counted: it changes nothing.
        """
        if (once := (channel, update.chat, update.id)) in self._counted:
            return None
        person, chat = (channel, "person", update.person), (channel, "chat", update.chat)
        for key, most in ((person, PERSON_A_MINUTE), (chat, CHAT_A_MINUTE)):
            count = self._count(key)
            if count > most:
                said = f"Only {most} messages a minute are taken here; the rest is left out. Wait a minute."
                return said if count == most + 1 else ""
        self._counted[once] = None
        if len(self._counted) > _MOST_COUNTED:
            self._counted.popitem(last=False)
        return None

    def opening(self, place: Place, took_s: float = 0) -> bool:
        """Whether a chat's files took too long, with those that took this long now."""
        key = (place.channel, "files", place.chat)
        return self._count(key, _OPENING_WINDOW_MS, round(took_s * 1000)) > OPENING_S * 1000

    def _count(self, key: tuple[str, ...], window_ms: int = _WINDOW_MS, by: int = 1) -> int:
        """How often it came within its window, this time included."""
        now_ms = self._clock.now_ms()
        began_ms, count = self._counts.pop(key, (now_ms, 0))
        if not 0 <= now_ms - began_ms < window_ms:  # the clock may have been set back
            began_ms, count = now_ms, 0
        self._counts[key] = began_ms, count + by
        if len(self._counts) > _MOST_KNOWN:
            self._counts.popitem(last=False)
        return count + by


class Pace:
    """When a message may go to a chat, by its platform's pace."""

    def __init__(self) -> None:
        self._free_s: dict[tuple[str, str], float] = {}
        """By channel and chat: when it will be as one that was left alone."""

    def wait_s(self, chat: tuple[str, str], now_s: float, manifest: Manifest) -> float:
        """How long the next one has to wait, which counts from now on; 0 or less where it need not."""
        free_s = max(self._free_s.get(chat, 0), now_s)
        self._free_s[chat] = free_s + manifest.chat_s
        return free_s - (manifest.chat_burst - 1) * manifest.chat_s - now_s
