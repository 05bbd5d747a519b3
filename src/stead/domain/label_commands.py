"""Requests that change a session's labels, goal, profile, and words that wait: a part of ``domain.commands``.

Layer: domain.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import Text, bounds
from stead.domain.ids import SessionId
from stead.domain.policies import Profile

Tag = Annotated[str, bounds(pattern=r"^[^\s,]{1,40}$")]


class LabelSession(msgspec.Struct, frozen=True, tag="session.label", forbid_unknown_fields=True):
    """Name a session or objective, tag it, put it into the archive or the trash or take it out.

    What is left out stays.

    Args:
        session: whose; it may have ended.
        title: up to 80 characters.
        tags: in place of those that it has, each of up to 40 characters without spaces and commas.
        archived: whether lists leave it out unless they are asked for it.
        trashed: deleted, and kept for 30 days (``domain.trash``); only what has ended or is closed can be.
    """

    session: SessionId
    title: Annotated[Text, bounds(maxLength=80)] | None = None
    tags: Annotated[tuple[Tag, ...], bounds(maxItems=20)] | None = None
    archived: bool | None = None
    trashed: bool | None = None


class ChangeMessage(msgspec.Struct, frozen=True, tag="message.change", forbid_unknown_fields=True):
    """Put other words in place of a message that waits, or with "" withdraw it.

    Args:
        session: whose.
        message: its number, as the list of those that wait has it.
        text: under 1 MB of UTF-8.
    """

    session: SessionId
    message: int
    text: str


class ChangeGoal(msgspec.Struct, frozen=True, tag="goal.change", forbid_unknown_fields=True):
    """Change the goal of an objective that has not begun, waits for an answer, or is paused."""

    session: SessionId
    goal: Text


class SetProfile(msgspec.Struct, frozen=True, tag="session.profile", forbid_unknown_fields=True):
    """Choose another strictness for a session: for every call that is judged from now on.

    A question that is open stays open. A session on trial cannot be made readonly.
    """

    session: SessionId
    profile: Profile


LabelCommand = LabelSession | ChangeMessage | ChangeGoal | SetProfile
