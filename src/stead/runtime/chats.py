"""What is written in a chat, carried out: pairing, rights, words to a session, commands, answers to questions.

Layer: runtime. Who wrote is the platform's id of them and never a name; what they may do is in ``domain.channels``.
What an update becomes is a command under an id of the update's own, so that one that comes again changes nothing and is
answered as before. A stranger hears only that the chat is not paired, or that a code does not hold.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from stead.brain.intents import intent
from stead.domain import commands as cmd
from stead.domain.attachments import MOST_UPLOAD_BYTES
from stead.domain.channel_wire import MOST_FILE_BYTES, Manifest, RemoteFile, Update
from stead.domain.channels import Channels, Chat, ChatTalks, Place, Role
from stead.domain.errors import BudgetRefused, CallerError, InvalidRequest, MachineError, NotFound
from stead.domain.ids import NO_COMMAND, CommandId, SessionId
from stead.domain.messages import Material
from stead.domain.notifications import Undelivered
from stead.domain.rows import ObjectiveRow
from stead.runtime.attachments import shown_name
from stead.runtime.chat_house import ChatHouse
from stead.runtime.chat_pairing import MOST_TRIES, Pairing
from stead.runtime.chat_questions import Handle, Presses
from stead.runtime.chat_rates import Rates

log = logging.getLogger(__name__)
_LISTED = 10
_SHORT = 4
"""Characters at the end of an id by which a chat names a session."""
_TEXT_CHARS = 190_000
_OWN = ("status", "stop", "pause", "resume")
"""Intents that reach no further than the chat's own session."""
_Steering = cmd.Pause | cmd.Resume | cmd.Stop
_STEERED: Mapping[str, type[_Steering]] = {"/pause": cmd.Pause, "/resume": cmd.Resume, "/stop": cmd.Stop}
HELP = """What you write goes to this chat's session. Besides:
/new GOAL  begin an objective that works by itself
/list  what was begun in this chat
/status, /pause, /resume, /stop  this chat's session; with an id of /list another one
/reset  begin a new session
/connect KIND  a link to the page, to add a channel
/help  this"""
_UNPAIRED = "This bot answers in chats that were paired with it, and this one is not."
_NO_CODE = "This code does not hold: one pairs one chat, within ten minutes. A new one: stead channel pair"
_GUEST = "You are a guest here: what you write is read, and commands are for members."


@dataclass(eq=False, repr=False)
class Chats:
    """Takes in updates.

    Args:
        house: what it works with.
        handle: carries a command out, once for its id.
        fetch: brings the bytes of a channel's file; raises ``Undelivered``.
        said: has Stead's own words sent to a place, once for an id.
    """

    _house: ChatHouse
    _handle: Handle
    _fetch: Callable[[str, str], Awaitable[bytes]]
    _said: Callable[[Place, str, str], Awaitable[None]]

    def __post_init__(self) -> None:
        self.pairing: Pairing
        self.presses: Presses
        self.rates: Rates
        self.kinds: Callable[[], Sequence[Manifest]] = tuple
        """The platforms."""

    @property
    def _known(self) -> Channels:
        return self._house.home.state.channels

    async def take(self, channel: str, account: str, update: Update) -> None:
        """Carry an update out; it is recorded when this returns. Raises ``StorageFault`` where it is not."""
        # Of the bot too: another may come under the same channel's name, with ids that begin again.
        digest = hashlib.sha256(f"{account}\n{update.id}".encode("utf-8", "replace")).hexdigest()[:40]
        id, place = CommandId(f"chat:{channel}:{digest}"), Place(channel, update.chat, update.thread)
        if update.press or not update.text or not (paired := await self.pairing.redeem(channel, update, id)):
            paired = ""
        if paired:
            await self._said(place, id, paired)
            return
        chat = self._known.chats.get((channel, update.chat))
        if chat and not (update.addressed or update.press or (place.thread and place in self._known.current)):
            return  # what people of a group say to each other
        role = chat.role(update.person) if chat else ""
        if chat is None or not role:
            self.rates.refuse(channel)
            if chat is None and update.private and (words := self._for_stranger(channel, update)):
                await self._said(place, id, words)
            return
        if (over := self.rates.over(channel, update)) is not None:
            self.rates.refuse(channel)
            if over:
                await self._said(place, id, over)
            return
        try:
            if update.press:
                await self.presses.pressed(chat, role, place, update, id)
            elif not await self.presses.typed(chat, role, place, update, id):
                await self._heard(chat, role, place, update, id)
        except (CallerError, BudgetRefused, MachineError) as refused:
            await self._said(place, id, f"It was not done: {refused}")

    def _for_stranger(self, channel: str, update: Update) -> str:
        """What is said in a chat that is not paired, a few times a day; "" for nothing."""
        if self.pairing.is_code(update.text):
            return _NO_CODE if self.rates.answers(channel, update.chat, "code", MOST_TRIES) else ""
        return _UNPAIRED if self.rates.answers(channel, update.chat, "stranger", 1) else ""

    # -- words -----------------------------------------------------------------------------------------------------

    async def _heard(self, chat: Chat, role: Role, place: Place, update: Update, id: CommandId) -> None:
        text = update.text.strip()
        word, *rest = text.split(maxsplit=1) if text.startswith("/") and not update.forwarded else ("",)
        if not word:
            await self._talk(chat, role, place, update, id)
        elif role == "guest":
            await self._said(place, id, _GUEST)
        else:
            if update.files:
                await self._said(
                    place, CommandId(f"{id}-files"), "Not taken: a command takes no files. Send them with words."
                )
            await self._commanded(chat, role, place, word.casefold(), "".join(rest), id)

    async def _commanded(self, chat: Chat, role: Role, place: Place, word: str, rest: str, id: CommandId) -> None:
        match word:
            case "/help" | "/start":
                await self._said(place, id, HELP)
            case "/new" if rest:
                await self._begin(chat, place, rest, id)
            case "/new":
                await self._said(place, id, "Say what to reach: /new GOAL")
            case "/list" | "/sessions" | "/objectives":
                await self._said(place, id, await asyncio.to_thread(self._listed, place))
            case "/reset":
                session = await self._opened(chat, place, CommandId(f"{id}-open"), fresh=True)
                await self._said(place, id, f"A new session ({session[-_SHORT:]}); the one before stays as it is.")
            case "/connect":
                await self._said(place, id, self._connecting(chat, role, rest.casefold()))
            case "/status" | "/pause" | "/resume" | "/stop" if rest:
                await self._steered(chat, place, word, rest, id)
            case "/status" | "/pause" | "/resume" | "/stop":
                session = await self._opened(chat, place, CommandId(f"{id}-open"))
                status = (await asyncio.to_thread(self._house.views.objective, session)).status
                if word == "/resume" and status in ("idle", "closed"):  # the word alone would go to the model
                    await self._said(place, id, f"Nothing is paused here; it is {status}.")
                    return
                await self._handle(cmd.SendMessage(session, word.removeprefix("/")), id, chat.door)
            case _:
                await self._said(place, id, f"There is no {word[:40]}; see /help")

    def _connecting(self, chat: Chat, role: Role, kind: str) -> str:
        """The way to the form of the page that adds a channel. Nothing but a kind is taken, and nothing is repeated."""
        if role != "owner" or not chat.private:
            return "A channel is connected by the owner of a private chat, or on the page."
        if kind not in (kinds := [one.kind for one in self.kinds()]):
            return f"Say /connect and one of {', '.join(kinds)}, and nothing else: a token is given on the page alone."
        page = f"{self._house.notifications.page}/channels?connect={kind}"
        return f"Where you are signed in, open {page} and give the token there, never here."

    async def _begin(self, chat: Chat, place: Place, goal: str, id: CommandId) -> None:
        session = await self._open(chat, place, id, goal=goal)
        await self._said(place, id, f"Begun ({session[-_SHORT:]}). How it ends is said here.")

    async def _steered(self, chat: Chat, place: Place, word: str, rest: str, id: CommandId) -> None:
        """A command about a session that was begun in this chat, by the end of its id."""
        mine = [session for session in self._mine(place) if session.endswith(rest.casefold())]
        if len(mine) != 1 or len(rest) < _SHORT:
            await self._said(place, id, f"Name one by the {_SHORT} signs that /list shows of it.")
            return
        (session,) = mine
        row = await asyncio.to_thread(self._house.views.objective, session)
        if word == "/status":
            await self._said(place, id, _line(row) + (f"\n{row.summary}" if row.summary else ""))
            return
        await self._handle(_STEERED[word](session), id, chat.door)
        await self._said(place, id, _line(await asyncio.to_thread(self._house.views.objective, session)))

    async def _talk(self, chat: Chat, role: Role, place: Place, update: Update, id: CommandId) -> None:
        if self._house.journal.claimed(id):
            return
        given, handed, lost = await self._files(place, update.files)
        text, foreign = update.text.strip(), role == "guest" or update.forwarded
        if lost:
            await self._said(place, CommandId(f"{id}-files"), "Not taken: " + "; ".join(lost))
        if not text and handed:
            text = "Look at what I sent."
        if not text and not given:
            return
        meant = intent(text)
        free = role == "owner" and (chat.private or (meant is not None and meant.kind in ("approve", "deny")))
        to_model = meant is not None and not free and meant.kind not in _OWN
        session = await self._opened(chat, place, CommandId(f"{id}-open"))
        words = cmd.SendMessage(session, text, attachments=given, context=handed, to_model=to_model, foreign=foreign)
        await self._handle(words, id, chat.door)

    async def _files(
        self, place: Place, files: Sequence[RemoteFile]
    ) -> tuple[tuple[str, ...], tuple[Material, ...], list[str]]:
        """What came with words: pictures and documents, texts, and what could not be taken with the reason."""
        given: list[str] = []
        handed: list[Material] = []
        lost: list[str] = []
        for file in files:
            name, began_s = shown_name(file.name), time.monotonic()
            try:
                if self.rates.opening(place):
                    raise InvalidRequest("files of this chat took too long to open; send it in five minutes")
                if file.size_bytes > min(MOST_FILE_BYTES, MOST_UPLOAD_BYTES):
                    raise InvalidRequest(f"it has more than {MOST_FILE_BYTES // 1_000_000} MB")
                data = await self._fetch(place.channel, file.id)
                if (text := _as_text(data)) is not None:
                    handed.append(Material(name, text[:_TEXT_CHARS]))
                else:
                    given.append((await self._house.attachments.give(name, data)).content)
            except (Undelivered, CallerError, MachineError) as fault:
                lost.append(f"{name}: {fault}")
            self.rates.opening(place, time.monotonic() - began_s)
        return tuple(given), tuple(handed), lost

    # -- sessions --------------------------------------------------------------------------------------------------

    async def _opened(self, chat: Chat, place: Place, id: CommandId, *, fresh: bool = False) -> SessionId:
        """The session that is talked to here; a new one where there is none any more."""
        session = self._known.current.get(place)
        if session and not fresh and await asyncio.to_thread(self._lives, session):
            return session
        return await self._open(chat, place, id, title=" ".join(chat.title.split())[:60] or chat.name)

    async def _open(
        self, chat: Chat, place: Place, id: CommandId, *, goal: str | None = None, title: str = ""
    ) -> SessionId:
        """A session with what the chat may do; one without a goal is the one that is talked to here from now on."""
        may = chat.rights
        opening = cmd.OpenSession(
            may.directory, goal=goal, title=title, chain=may.chain, budget=may.budget, profile=may.profile
        )
        session = (await self._handle(opening, id, chat.door)).session
        await self._talks(place, session, current=goal is None)
        return session

    def _lives(self, session: SessionId) -> bool:
        try:
            return not self._house.views.objective(session).trashed_ms
        except NotFound:
            return False

    async def _talks(self, place: Place, session: SessionId, *, current: bool) -> None:
        known = self._known
        if session in known.places and (not current or known.current.get(place) == session):
            return
        fact = ChatTalks(place.channel, place.chat, place.thread, session, current)
        await self._house.home.record(fact, cause=NO_COMMAND)

    def _mine(self, place: Place) -> list[SessionId]:
        """The sessions that were begun in a chat, newest first."""
        here = self._known.places.items()
        return [one for one, at in here if (at.channel, at.chat) == (place.channel, place.chat)][::-1]

    def _listed(self, place: Place) -> str:
        lines: list[str] = []
        for session in self._mine(place):
            try:
                row = self._house.views.objective(session)
            except NotFound:
                continue
            if not row.trashed_ms:
                lines.append(_line(row))
            if len(lines) == _LISTED:
                break
        return "\n".join(lines) or "Nothing was begun here yet. Write something, or /new GOAL"


def _line(row: ObjectiveRow) -> str:
    return f"{row.id[-_SHORT:]}  {row.status}  {' '.join(row.title.split())[:80]}"


def _as_text(data: bytes) -> str | None:
    """A file of text; None for one that is something else."""
    if b"\0" in data[:4096] or data.startswith(b"%PDF-"):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
