"""From what a person types to the one objective, session, checkpoint, approval or memory that is meant.

Layer: cli. Any unambiguous beginning of an id will do, with or without its ``s_``, ``a_`` or ``m_``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from stead.cli.invocation import CommandError
from stead.cli.output import clean_line
from stead.cli.templates import fill

if TYPE_CHECKING:
    from stead.client import Client, Json

T = TypeVar("T")
_ID_LENGTH = 18
_PAGE = 500
_MANY = {"limit": _PAGE}
_ANYWHERE = {**_MANY, "archived": "any"}
_EVERY_STATUS = ("live", "superseded", "expired", "retired")


class Kind(NamedTuple):
    """What is found by the beginning of its id: a prefix, a noun, the command that lists it, and where its rows are.

    With no prefix it has a name in place of an id, which is taken as it is typed: the beginning of one is no name.
    ``within`` is the row's field that has the id, "" for the row itself; ``id`` is its name in there, and ``title`` a
    template of what people know it by.
    """

    prefix: str
    noun: str
    listed_by: str
    paths: tuple[str, ...]
    query: Mapping[str, Any] = _MANY
    within: str = ""
    id: str = "id"
    title: str = "{title}"

    def row(self, client: Client, typed: str, **path: str) -> Json:
        """The row that is meant, with its ``id`` and ``title``.

        Raises:
            CommandError: none begins so, or several do; the text names them.
        """
        beginning = _with_prefix(typed, self.prefix)
        for place in self.paths:
            rows = [row | self._named(row) for row in client.items(place.format(**path), **self.query)]
            if found := [row for row in rows if row["id"].startswith(beginning)]:
                return only_one(found, typed, self.noun, self.listed_by)
        return only_one([], typed, self.noun, self.listed_by.format(**path))

    def __call__(self, client: Client, typed: str) -> str:
        """The id that is meant. A whole one costs no request."""
        if not self.prefix:
            return typed
        whole = _with_prefix(typed, self.prefix)
        return whole if len(whole) == _ID_LENGTH else str(self.row(client, typed)["id"])

    def ids(self, client: Client) -> list[str]:
        """The first ids of each list that is no part of another thing; they complete what is typed."""
        places = [place for place in self.paths if "{" not in place]
        rows = (islice(client.items(place, **self.query), _PAGE) for place in places)
        return [self._named(row)["id"] for row in chain.from_iterable(rows)]

    def _named(self, row: Json) -> Json:
        inner = row[self.within] if self.within else row
        return {"id": inner[self.id], "title": fill(self.title, inner)}


find_objective = Kind("s_", "objective", "stead objectives --all", ("/objectives", "/sessions"), _ANYWHERE)
find_session = Kind("s_", "session", "stead session list --all", ("/sessions",), _ANYWHERE)
find_memory = Kind(
    "m_",
    "memory",
    "stead memory list",
    ("/memories",),
    {"status": _EVERY_STATUS, "limit": _PAGE},
    "memory",
    title="{text}",
)
find_proposal = Kind(
    "p_", "proposal", "stead memory proposals", ("/memories/proposals",), {"status": "all"}, "proposal", title="{why}"
)
find_run = Kind("c_", "run", "stead memory runs", ("/memories/runs",), within="run", id="run", title="{by}")
find_rule = Kind("r_", "rule", "stead rules", ("/rules",), {}, title="{text}")
find_checkpoint = Kind(
    "k_",
    "checkpoint",
    "stead session checkpoint {session} --list",
    ("/sessions/{session}/checkpoints",),
    {},
    title="turn {turn}",
)


def call_key(_: Client, typed: str) -> str:
    """The key of a call, ``call_2_0``, whose first word may be left out.

    Raises:
        CommandError: it is none.
    """
    request, separator, index = typed.removeprefix("call_").partition("_")
    if not (separator and request.isdecimal() and index.isdecimal() and typed.isascii() and len(typed) < 40):
        raise CommandError(f"{clean_line(typed, 40)!r} is no call", "give its key, like call_2_0")
    return f"call_{request}_{index}"


def find_approval(client: Client, typed: str) -> Json:
    """The approval that begins so, or the one question that the objective of this id waits for.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    pending = list(client.items("/approvals", status="pending", limit=_PAGE))
    if not typed.startswith("s_"):
        whole = _with_prefix(typed, "a_")
        if len(whole) == _ID_LENGTH and typed.startswith("a_"):
            return client.get(f"/approvals/{whole}")
        by_id = [row for row in pending if row["id"].startswith(whole)]
        if by_id or typed.startswith("a_"):
            return only_one(by_id, typed, "pending approval", "stead approvals")
    session = _with_prefix(typed, "s_")
    of_session = [row for row in pending if row["session"].startswith(session)]
    return only_one(of_session, typed, "pending approval", "stead approvals")


def find_folder(_: Client, typed: str) -> str:
    """A folder as the daemon knows it. It need not be there any more: what is recorded of it is."""
    return os.path.realpath(os.path.expanduser(typed))


def only_one(found: list[Json], typed: str, noun: str, listed_by: str) -> Json:
    """The one row that was found.

    Raises:
        CommandError: there is none, or there are several; the text names them by ``id`` and ``title``.
    """
    if not found:
        raise CommandError(f"no {noun} begins with {typed!r}", listed_by, code="not_found")
    if len(found) > 1:
        names = ", ".join(clean_line(f"{row['id']} ({row['title']})", 60) for row in found[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        raise CommandError(f"{typed!r} begins several: {names}{more}", "give more of the id")
    return found[0]


def named_one(found: Mapping[str, T], typed: str, cause: str, none: str) -> T:
    """What has a name.

    Raises:
        CommandError: nothing has; says ``cause``, and the names that there are, or ``none`` where there are none.
    """
    if typed not in found:
        raise CommandError(cause, f"one of: {', '.join(sorted(found))}" if found else none)
    return found[typed]


def chats_of(client: Client) -> list[Json]:
    """The chats of all channels."""
    return [chat["chat"] for row in client.items("/channels") for chat in row["chats"]]


def _with_prefix(typed: str, prefix: str) -> str:
    hexadecimal = typed.removeprefix(prefix)
    if not hexadecimal or not set(hexadecimal) <= set("0123456789abcdef") or len(hexadecimal) > 16:
        raise CommandError(
            f"{clean_line(typed, 40)!r} is not a valid ID", f"give {prefix}… as lists show it, or its beginning"
        )
    return prefix + hexadecimal
