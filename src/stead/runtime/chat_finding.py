"""What of the journal goes to chats: replies, questions, ends, each found once and kept in the outbox.

Layer: runtime. It takes in what happened to whom; no words of a session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.domain import events as ev
from stead.domain.channels import Channels, Place
from stead.domain.errors import NotFound
from stead.domain.ids import HOME, SessionId
from stead.domain.notices import Notice, due_ms, kind_of
from stead.domain.notifications import ChatTarget
from stead.runtime.chat_house import ChatHouse
from stead.runtime.sending import Row, take_in

if TYPE_CHECKING:
    from stead.storage.chat_box import ChatBox

TAGS = (
    *("turn.ended", "intent.answered", "objective.ended", "session.paused", "review.wanted"),
    *("approval.requested", "approval.given", "approval.denied", "approval.lapsed"),
)


class ChatFinder:
    """Looks through the house's journal, on from where it was looked last. Everything of it blocks."""

    def __init__(self, house: ChatHouse) -> None:
        self._house = house
        self._reached = -1

    def _known(self) -> Channels:
        return self._house.home.state.channels

    def find(self, box: ChatBox, now_ms: int) -> None:
        """Take into the outbox what is to be sent of all that has happened since it was looked last."""
        if self._reached < 0:
            self._reached = box.reached
        journal = self._house.journal.tagged
        self._reached = take_in(box, journal, self._reached, TAGS, lambda event: self._rows_of(box, event, now_ms))

    def _rows_of(self, box: ChatBox, event: ev.Event, now_ms: int) -> list[Row]:
        times = [(key, notice, self._due_ms(key, event, now_ms)) for key, notice in self._wanted(box, event)]
        return [(key, notice, due, due > now_ms) for key, notice, due in times]

    def _due_ms(self, key: str, event: ev.Event, now_ms: int) -> int:
        """When it is sent: what an objective has to say when the chat is notified of other work; of a talk, at once."""
        place, kind = Place.of(key), kind_of(event.body)
        try:
            talk = self._house.views.objective(self._root(event.session)).kind == "session"
        except NotFound:
            return now_ms  # it was deleted meanwhile, or is none that talks here
        if talk or kind is None:
            return now_ms
        here = ChatTarget(place.channel, place.chat)
        targets = [one.target for one in self._house.home.state.targets.values() if one.on and one.target.via == here]
        return min((due_ms(target, kind[0], now_ms) for target in targets), default=now_ms)

    def _wanted(self, box: ChatBox, event: ev.Event) -> list[tuple[str, Notice]]:
        def notice(kind: str, of: str = "") -> Notice:
            return Notice(event.seq, event.session, kind, of, event.ts_ms)

        match event.body:
            case ev.ApprovalGiven(id=id) | ev.ApprovalDenied(id=id) | ev.ApprovalLapsed(id=id):
                return [(key, notice("settled", id)) for key in box.posted(id)]
            case _:
                place = self.place(event.session)
        if place is None:
            return []
        match event.body:
            case ev.ApprovalRequested(id=id):
                return [(place.key, notice("question", id))]
            case _ if self._known().places.get(event.session) is None:
                return []  # what a subagent does is for the one that started it
            case ev.TurnEnded():
                return [(place.key, notice("reply"))]
            case ev.IntentAnswered(door=door):
                here = self._known().chats.get((place.channel, place.chat))
                return [(place.key, notice("intent"))] if here and here.door == door else []
            case ev.ObjectiveEnded():
                return [(place.key, notice("ended"))]
            case ev.SessionPaused(fault=fault) if fault:
                return [(place.key, notice("paused"))]
            case ev.ReviewWanted(review=review) if review.waiting:
                return [(place.key, notice("review"))]
            case _:
                return []

    def place(self, session: SessionId) -> Place | None:
        """Where a session talks, or the one that started it."""
        return self._known().places.get(self._root(session))

    def _root(self, session: SessionId) -> SessionId:
        """The session that talks in a chat, of one that it started; "" where there is none."""
        try:
            while session not in self._known().places:
                if session in ("", HOME):
                    return SessionId("")
                session = self._house.views.objective(session).parent
        except NotFound:
            return SessionId("")
        return session
