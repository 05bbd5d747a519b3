"""Questions in a chat: how they are shown, with buttons, and what a press or a typed code does.

Layer: runtime. A button names a question, and the answer is for the digest that the question has in the record. A yes
counts only from an owner, only where the whole of the arguments was shown, and (``approvals.answer``) never through a
chat that brought what others wrote.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from stead.domain import commands as cmd
from stead.domain.channel_wire import Button, Pressed, Update
from stead.domain.channels import Chat, Place, Role
from stead.domain.errors import CallerError, NotFound
from stead.domain.ids import ApprovalId, CommandId
from stead.domain.notices import plain
from stead.domain.rows import ApprovalRow
from stead.domain.shown import must_be_opened, reveal
from stead.runtime.notifications import Subjects

if TYPE_CHECKING:
    from stead.storage.chat_box import ChatBox

_SHOWN_CHARS = 1500
_ENDS = 8
"""Characters of a question's id that its buttons carry."""
_DATA = re.compile(rf"([ysnwz])-([A-Za-z0-9]{{{_ENDS}}})")
_ANSWERS: dict[str, Literal["once", "session", "deny"]] = {"y": "once", "z": "once", "s": "session", "n": "deny"}
SAID = {"y": "Allowed", "z": "Allowed", "s": "Allowed in this session", "n": "Denied"}
Handle = Callable[[cmd.Command, CommandId, str], Awaitable[cmd.Answer]]
"""Carries a command out, once for its id."""
Buttons = tuple[tuple[Button, ...], ...]


def shown(row: ApprovalRow, *, answers: bool, door: str, link: str) -> tuple[str, Buttons]:
    """A question as it is sent, and its buttons.

    Args:
        row: it.
        answers: whether its platform can answer questions.
        door: the chat's.
        link: where it can be answered otherwise.
    """
    whole = _spelt(row.arguments)
    opened = not must_be_opened(row.arguments) and len(whole) <= _SHOWN_CHARS
    lines = [
        f"May I? {row.tool}, risk {row.risk}, in: {plain(row.title)}",
        whole if opened else f"{whole[:_SHOWN_CHARS]}\n… {len(whole):,} characters in all",
        f"Asked because: {row.reason}",
        f"It goes back to: {', '.join(row.sources)}" if row.sources else "",
    ]
    end, deny = row.id[-_ENDS:], Button("Deny", f"n-{row.id[-_ENDS:]}")
    if not answers:
        lines.append(f"No answer counts here; answer it on the page: {link}")
        buttons: Buttons = ()
    elif f"message:{door}" in row.sources:
        lines.append(f"What others wrote came through this chat, so a yes does not count here; on the page: {link}")
        buttons = ((deny,),)
    elif not opened:
        buttons = ((Button("Show all of it", f"w-{end}"), deny),)
    else:
        lasting = (Button("Allow in this session", f"s-{end}"),) if row.shape else ()
        buttons = ((Button("Allow", f"y-{end}"), deny), lasting) if lasting else ((Button("Allow", f"y-{end}"), deny),)
    return "\n\n".join(filter(None, lines)), buttons


def whole_of(row: ApprovalRow) -> tuple[str, Buttons]:
    """All arguments of a question, with what hides in them spelled out, and the buttons that they are needed for."""
    end = row.id[-_ENDS:]
    buttons = ((Button("Allow", f"z-{end}"), Button("Deny", f"n-{end}")),)
    return f"{row.tool}, all of it:\n\n{_spelt(row.arguments)}", buttons


def settled(row: ApprovalRow) -> str:
    """A question that was answered, as it then stands."""
    how = {"given": "Allowed", "denied": "Denied", "lapsed": "Not answered; it is void"}.get(row.status, row.status)
    by = f" ({row.door.partition(':')[0] or 'page'})" if row.door else ""
    return f"{how}{by}: {row.tool}, in: {plain(row.title)}\n\n{_spelt(row.arguments)[:_SHOWN_CHARS]}"


def _spelt(arguments: str) -> str:
    """Arguments a line each, with what hides in them spelled out; further lines of a value begin with a mark."""
    try:
        values = msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.MsgspecError:
        return reveal(arguments)
    texts = ((name, one if isinstance(one, str) else msgspec.json.encode(one).decode()) for name, one in values.items())
    return "\n".join(f"{reveal(name)}: {reveal(text)}".replace("\n", "\n  | ") for name, text in texts)


@dataclass(eq=False, repr=False)
class Presses:
    """Takes presses and typed codes.

    Args:
        questions: what is asked.
        box: knows where a question was shown.
        handle: carries an answer out.
        show: tells who pressed what came of it.
        whole: has all arguments of a question sent to a place.
    """

    _questions: Subjects
    _box: Callable[[], ChatBox]
    _handle: Handle
    _show: Callable[[Place, CommandId, Pressed], Awaitable[None]]
    _whole: Callable[[Place, CommandId, ApprovalRow], None]
    _said: Callable[[Place, str, str], Awaitable[None]]

    async def pressed(self, chat: Chat, role: Role, place: Place, update: Update, id: CommandId) -> None:
        """Do what a button says, and show the one who pressed it what came of that."""
        text = await self._done(chat, role, place, update.data, id)
        await self._show(place, id, Pressed(update.press, text or "There is no such question here."))

    async def typed(self, chat: Chat, role: Role, place: Place, update: Update, id: CommandId) -> bool:
        """Do what a typed code says; false where the text is none."""
        if update.forwarded or not _DATA.fullmatch(update.text.strip().casefold()):
            return False
        if not (text := await self._done(chat, role, place, update.text.strip(), id)):
            return False
        await self._said(place, id, text)
        return True

    async def _done(self, chat: Chat, role: Role, place: Place, data: str, id: CommandId) -> str:
        """What came of it; "" where no such question was shown here."""
        found = _DATA.fullmatch(data)
        row = await asyncio.to_thread(self._shown_here, place, found[2]) if found else None
        if found is None or row is None:
            return ""
        verb = found[1]
        if role != "owner":
            return "Only an owner of this chat can answer."
        if row.status != "pending":
            how = {"given": "allowed", "denied": "denied"}.get(row.status)
            return f"It was answered already: {how}." if how else "It is void by now and takes no answer."
        if verb == "w":
            await asyncio.to_thread(self._whole, place, id, row)
            return "Here is all of it."
        if verb == "z" and place.key not in await asyncio.to_thread(self._box().posted, f"whole:{row.id}"):
            return "All of it was not shown here yet; press: Show all of it"
        decision = cmd.Decide(row.id, row.digest, _ANSWERS[verb], whole=verb == "z")
        try:
            await self._handle(decision, id, chat.door)
        except CallerError as refused:
            return str(refused)
        return SAID[verb]

    def _shown_here(self, place: Place, end: str) -> ApprovalRow | None:
        """The question of an id's end that was shown in this place; newest first, should there be two."""
        for id in self._box().about(place.key):
            if id.casefold().endswith(end.casefold()):
                try:
                    return self._questions.approval(ApprovalId(id))
                except NotFound:
                    continue
        return None
