"""The tools that write to a chat of the person's: a message, and a file of the workspace.

Layer: tools. Knows chats only as the ``ChatMail`` port. Neither sends: what is to be sent is taken into the outbox of
chats, once for a call, and goes from there. Where a name leads is looked up when the call is parsed, and is a part of
what is shown, judged and approved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar, cast

import msgspec

from stead.domain.channel_wire import MOST_FILE_BYTES
from stead.domain.channels import ChatMail
from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.ports import RawFiles
from stead.domain.tools import Declaration, Role, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class MessageArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chat's name, and plain text. ``where``: which chat that is and who reads it; the tool fills it in."""

    to: Name
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000, pattern=r"\S")]
    where: str = ""


class FileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chat's name, a file of the workspace, and words to go with it. ``where``: as of ``MessageArguments``."""

    to: Name
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    caption: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    where: str = ""


A = TypeVar("A", bound=MessageArguments | FileArguments)


class _ChatTool(StructTool[A]):
    """A tool that names a chat."""

    def __init__(
        self, name: str, description: str, arguments: type[A], declared: Declaration, chats: Callable[[], ChatMail]
    ) -> None:
        super().__init__(name, description, arguments, declared, deferred=True)
        del cast("dict[str, object]", self.spec.parameters["properties"])["where"]
        self._chats = chats

    def parse(self, arguments: str) -> Mapping[str, object]:
        """As every tool, with which chat it is and who reads it there filled in.

        Raises:
            InvalidRequest: also when there is no such chat.
        """
        parsed = super().parse(arguments)
        return {**parsed, "where": self._chats().where(str(parsed["to"]))}


class MessageTool(_ChatTool[MessageArguments]):
    """``message``: text to a chat.

    Args:
        chats: those that were paired; asked for when needed.
    """

    def __init__(self, chats: Callable[[], ChatMail]) -> None:
        declared = Declaration(
            ToolEffect.SEND,
            authority_args=("to",),
            content_args=("text",),
            roles={"to": Role.RECIPIENT},
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,  # the outbox takes a call's message once
        )
        description = "Send a message to one of the person's chats, by its name."
        super().__init__("message", description, MessageArguments, declared, chats)

    async def work(self, permit: Permit, arguments: MessageArguments, context: ToolContext) -> ToolOutcome:
        """Put it into the outbox."""
        try:
            await self._chats().post(permit.session, permit.call, arguments.to, (arguments.text,))
        except InvalidRequest as refused:
            return ToolOutcome("error", f"Nothing was sent: {refused}")
        return ToolOutcome("ok", "It is in the outbox, and goes to the chat as soon as its channel takes it.")


class SendFileTool(_ChatTool[FileArguments]):
    """``send_file``: a file of the workspace to a chat.

    Args:
        chats: as of ``MessageTool``.
        files: of the session's machine.
    """

    def __init__(self, chats: Callable[[], ChatMail], files: RawFiles) -> None:
        declared = Declaration(
            ToolEffect.SEND,
            path_args=("path",),
            authority_args=("to", "path"),
            content_args=("caption",),
            roles={"to": Role.RECIPIENT},
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
            unplanned=True,  # what the file will hold by then is in no plan
        )
        description = "Send a file of the folder to one of the person's chats, by its name."
        super().__init__("send_file", description, FileArguments, declared, chats)
        self._files = files

    async def work(self, permit: Permit, arguments: FileArguments, context: ToolContext) -> ToolOutcome:
        """Read it, and put it into the outbox as it is now.

        Raises:
            ToolFault: it is too large, or changes while it is read.
        """
        data = await self._whole(permit, arguments.path)
        try:
            given = (arguments.caption, arguments.path)
            await self._chats().post(permit.session, permit.call, arguments.to, given, data)
        except InvalidRequest as refused:
            return ToolOutcome("error", f"Nothing was sent: {refused}")
        text = f"{len(data):,} bytes are in the outbox, and go to the chat as soon as its channel takes them."
        return ToolOutcome("ok", text, size_bytes=len(data))

    async def _whole(self, permit: Permit, path: str) -> bytes:
        data, size = await self._files.chunk(permit, path, 0)
        if size > MOST_FILE_BYTES:
            raise ToolFault("{!r} has {} bytes, more than {} MB", path, size, MOST_FILE_BYTES // 10**6)
        whole = bytearray(data)
        while len(whole) < size and data:
            data, _ = await self._files.chunk(permit, path, len(whole))
            whole += data
        if not whole or len(whole) != size:
            raise ToolFault("{!r} is empty, or was changed while it was read", path)
        return bytes(whole)
