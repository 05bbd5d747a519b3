"""What is said in a chat of something that happened: the words, the buttons, the files.

Layer: runtime. Words are read when they are sent, and cleaned as for anybody who is not at the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain import channel_wire as wire
from stead.domain import events as ev
from stead.domain.channels import Chat
from stead.domain.errors import NotFound
from stead.domain.ids import ApprovalId, SessionId
from stead.domain.notices import Notice, plain
from stead.domain.notifications import ChatTarget
from stead.domain.rows import ApprovalRow
from stead.runtime.chat_house import ChatHouse
from stead.runtime.chat_messages import KIND, ChatMessages
from stead.runtime.chat_questions import Buttons, settled, shown, whole_of
from stead.runtime.chat_words import without_names, without_strange

_ENDS: Mapping[str, str] = {
    "verified": "Reached its goal",
    "answered": "Done",
    "unverified": "Done, and nothing shows that it is the goal",
    "incomplete": "Ended before its goal",
    "failed": "Could not go on",
    "cancelled": "Cancelled",
}
ELSEWHERE = "elsewhere:"
"""Begins the kind of a notice of other work than the chat's own."""
Said = tuple[str, Buttons, tuple[wire.FileOut, ...]]


@dataclass(eq=False, repr=False)
class ChatWriter:
    """Finds the words.

    Args:
        house: has them.
        messages: what calls of tools send.
        manifest: what a channel's platform can do.
    """

    _house: ChatHouse
    _messages: ChatMessages
    manifest: Callable[[str], wire.Manifest | None]

    def clean(self, text: str) -> str:
        """Take secrets out of a text."""
        return self._house.book.redactor().clean(text)

    async def said(self, chat: Chat | None, notice: Notice) -> Said:
        """What is said of something now; nothing where it is settled or gone. No chat: one that is not paired."""
        if notice.kind == "said":  # a stranger may hear how to be paired
            return self.clean(notice.of), (), ()
        if chat is None:
            return "", (), ()
        if notice.kind.startswith(ELSEWHERE):
            notice = replace(notice, kind=notice.kind.removeprefix(ELSEWHERE))
            text = await asyncio.to_thread(self._elsewhere, chat, notice)
            if not text or not is_question(notice):
                return self.clean(text), (), ()
        if notice.kind == KIND:
            text, files = await asyncio.to_thread(self._called, notice)
            return self.clean(text), (), files
        if notice.kind in ("question", "whole"):
            row = await self.row(notice.of)
            if row.status != "pending":
                return "", (), ()
            if notice.kind == "question":
                return (*self.question(chat, row), ())
            text, buttons = whole_of(row)
            return self.clean(text), buttons, ()
        text = await self._apart(notice, await asyncio.to_thread(self._body, notice))
        return self.clean(text), (), ()

    async def digest(self, chat: Chat | None, notices: Sequence[Notice]) -> str:
        """What is said of several things together; "" where all of it is gone."""
        texts = [text for one in notices if (text := (await self.said(chat, one))[0])]
        return "\n\n".join([f"{len(texts)} things happened", *texts] if len(texts) > 1 else texts)

    async def row(self, question: str) -> ApprovalRow:
        """A question by its id; raises ``NotFound``."""
        return await asyncio.to_thread(self._house.views.approval, ApprovalId(question))

    def settled(self, row: ApprovalRow) -> str:
        """How a question was answered."""
        return self.clean(settled(row))

    def question(self, chat: Chat, row: ApprovalRow) -> tuple[str, Buttons]:
        """A question as this chat is asked it."""
        manifest = self.manifest(chat.channel)
        answers = bool(manifest and manifest.answers) and any(one.role == "owner" for one in chat.people)
        link = f"{self._house.notifications.page}/approvals/{row.id}"
        text, buttons = shown(row, answers=answers, door=chat.door, link=link)
        return self.clean(text), buttons

    def _elsewhere(self, chat: Chat, notice: Notice) -> str:
        """What a chat is notified of other work by; "" where it is not any more. In a thread."""
        via, targets = ChatTarget(chat.channel, chat.id), self._house.home.state.targets.values()
        if not any(one.target.via == via and one.hears_of(notice.seq) for one in targets):
            return ""
        message = self._house.notifications.message("", (notice,))
        return f"{message.title}\n{message.link}" if message else ""

    def _event(self, notice: Notice) -> ev.Body | None:
        """What a notice is of, unless it was forgotten. In a thread."""
        event = next(self._house.journal.events(after=notice.seq - 1, session=SessionId(notice.session)), None)
        return event.body if isinstance(event, ev.Event) and event.seq == notice.seq else None

    def _called(self, notice: Notice) -> tuple[str, tuple[wire.FileOut, ...]]:
        """What a session's call sends. In a thread."""
        started = self._event(notice)
        return self._messages.parts(started, notice.of) if isinstance(started, ev.ToolStarted) else ("", ())

    def _body(self, notice: Notice) -> str:
        """The words of an event. In a thread."""
        match self._event(notice):
            case ev.TurnEnded(status="failed", summary=summary):
                return f"Could not go on: {summary}"
            case ev.TurnEnded(reason="budget", summary=summary):
                return f"{summary}\n\nHere /reset begins a session with a budget of its own."
            case ev.TurnEnded(summary=summary, changed=changed):
                return summary + (f"\n\n({changed} file{'s' * (changed > 1)} changed)" if changed > 0 else "")
            case ev.IntentAnswered(answer=answer):
                return answer
            case ev.ObjectiveEnded(status=status, summary=summary):
                title = plain(self._house.views.objective(SessionId(notice.session)).title)
                return f"{_ENDS.get(status, status)}: {title}\n\n{summary}"
            case ev.SessionPaused(why=why):
                return f"It waits: {why}"
            case ev.ReviewWanted(review=review):
                page, row = self._house.notifications.page, self._house.views.objective(SessionId(notice.session))
                return f"{review.waiting} changes wait for your review: {page}/{row.kind}s/{row.id}"
            case _:
                return ""

    async def _apart(self, notice: Notice, text: str) -> str:
        """The words of an event without what does not go to a chat."""
        try:
            state = await self._house.sessions.actor(SessionId(notice.session)).state()
        except NotFound:
            return ""  # it was deleted meanwhile
        tools = [spec.name for spec in self._house.deps.gate.specs(())]
        text = without_names(text, state, tools, own=await asyncio.to_thread(self._is_own, notice))
        return without_strange(text, state, self._house.notifications.page)

    def _is_own(self, notice: Notice) -> bool:
        """Whether an event's words are Stead's own, of a fault. In a thread."""
        match self._event(notice):
            case ev.TurnEnded(status="failed") | ev.ObjectiveEnded(status="failed") | ev.SessionPaused():
                return True
            case _:
                return False


def is_question(notice: Notice) -> bool:
    """Whether a notice is asked with buttons, and so by a message of its own."""
    return notice.kind.removeprefix(ELSEWHERE) == "question" and notice.of != ""
