"""Pairing a chat by a code that the person was shown and sends in it, once.

Layer: runtime. Codes are known to this daemon alone and live for ten minutes. A few wrong ones end all of a channel's.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain.channel_wire import Update
from stead.domain.channels import CODE_LIVES_MS, MOST_CHATS, MOST_PEOPLE, Chat, ChatSet, Person, WantedPairing
from stead.domain.errors import Conflict, StorageFault
from stead.domain.ids import HOME, CommandId
from stead.domain.notifications import ChatTarget, NotificationTarget, TargetFact, TargetSet, TargetSwitched
from stead.runtime.answers import claim_of
from stead.runtime.channel_changes import loses_owner
from stead.runtime.chat_house import ChatHouse

MOST_TRIES = 5
_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without those that are taken for others; eight of them have 39 bits."""
_WORD = re.compile(r"(?:/(?:start|pair)(?:@\S+)?\s+)?([A-HJ-NP-Z2-9]{4}-?[A-HJ-NP-Z2-9]{4})", re.IGNORECASE)


@dataclass
class _Offer:
    code: str
    wanted: WantedPairing
    expires_ms: int


class Pairing:
    """Of all channels."""

    def __init__(self, house: ChatHouse) -> None:
        self._house = house
        self._offers: dict[str, list[_Offer]] = {}
        self._tries: dict[str, int] = {}
        self._lock = asyncio.Lock()

    def offer(self, channel: str, wanted: WantedPairing) -> tuple[str, int]:
        """A new code, and until when it holds."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(8))
        expires_ms = self._house.clock.now_ms() + CODE_LIVES_MS
        self._offers.setdefault(channel, []).append(_Offer(code, wanted, expires_ms))
        self._tries[channel] = 0
        return f"{code[:4]}-{code[4:]}", expires_ms

    @staticmethod
    def is_code(text: str) -> bool:
        """Whether a text reads as a code, one that holds or not."""
        return _WORD.fullmatch(text.strip()) is not None

    async def redeem(self, channel: str, update: Update, id: CommandId) -> str:
        """What to say where a message is a code that holds; "" where it is none, and then it is a message as any."""
        found = _WORD.fullmatch(update.text.strip())
        if not found:
            return ""
        if self._house.journal.claimed(id):
            return _paired(update)
        offers = [one for one in self._offers.get(channel, ()) if one.expires_ms > self._house.clock.now_ms()]
        given = found[1].replace("-", "").upper().encode()
        mine = [one for one in offers if hmac.compare_digest(one.code.encode(), given)]
        if not mine:
            if offers and not update.forwarded:
                self._tries[channel] = self._tries.get(channel, 0) + 1
                if self._tries[channel] >= MOST_TRIES:
                    self._offers.pop(channel)
            return ""
        if update.forwarded:
            return ""  # who passes a code on is not the one it was shown to
        self._offers[channel] = [one for one in offers if one is not mine[0]]  # before anything is waited for
        try:
            async with self._lock:
                return await self._pair(channel, mine[0].wanted, update, id)
        except StorageFault:
            self._offers.setdefault(channel, []).append(mine[0])  # the update comes again
            raise

    async def _pair(self, channel: str, wanted: WantedPairing, update: Update, id: CommandId) -> str:
        known = self._house.home.state.channels
        person = Person(update.person, wanted.role, " ".join(update.name.split())[:100])
        chat = known.chats.get((channel, update.chat))
        if chat is None:
            if len(known.chats) >= MOST_CHATS:
                return f"{MOST_CHATS} chats are paired already; remove one first."
            title = " ".join((update.title or update.name or update.chat).split())[:200]
            name = _free(wanted.name or _named(title), {one.name for one in known.chats.values()})
            chat = Chat(channel, update.chat, name, title, update.private, (person,), wanted.rights)
        else:
            others = tuple(one for one in chat.people if one.id != person.id)
            if len(others) >= MOST_PEOPLE:
                return f"{MOST_PEOPLE} people have a role here already; take one away first."
            if loses_owner(chat, (*others, person)):
                return "This chat needs an owner; it was left as it is."
            chat = replace(
                chat, people=(*others, person), rights=wanted.rights if wanted.role == "owner" else chat.rights
            )
        facts: list[ChatSet | TargetFact] = [ChatSet(chat, chat.door)]
        if chat.private and wanted.role == "owner":
            facts += self._notified(chat)
        with suppress(Conflict):  # the same update a second time
            await self._house.home.record(*facts, cause=id, claim=claim_of(id, "", HOME, ""))
        return _paired(update)

    def _notified(self, chat: Chat) -> list[TargetFact]:
        """Who has the bot to themselves is notified there of what goes on elsewhere, questions above all."""
        targets, via = self._house.home.state.targets, ChatTarget(chat.channel, chat.id)
        known = next((one for one in targets.values() if one.target.via == via), None)
        if known is None:
            return [TargetSet(NotificationTarget(_free(chat.name, set(targets)), via), chat.door)]
        # One that is off for a reason of Stead's own is so because the chat was not paired any more.
        return [TargetSwitched(known.target.name, on=True, door=chat.door)] if known.why else []


def _paired(update: Update) -> str:
    how = "Write to me here" if update.private else "I answer here to what names me or replies to me"
    return f"Paired. {how}; /help says what else there is."


def _named(title: str) -> str:
    """A name from a title: small letters, digits and lines."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:24].strip("-")
    return plain if plain[:1].isalpha() else f"chat-{plain}".strip("-")


def _free(name: str, taken: set[str]) -> str:
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, MOST_CHATS + 3))) if one not in taken)
