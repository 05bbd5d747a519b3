"""From what a person types to the one objective, session, checkpoint, approval or memory that is meant.

Layer: cli. Any unambiguous beginning of an id will do, with or without its ``s_``, ``a_`` or ``m_``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.cli.invocation import CommandError
from stead.cli.output import clean_line

if TYPE_CHECKING:
    from stead.client import Client, Json

_ID_LENGTH = 18


def find_objective(client: Client, typed: str) -> str:
    """The id of the objective, else of the session, that begins so. A whole id costs no request.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "s_")
    if len(whole) == _ID_LENGTH:
        return whole
    found = _beginning(client, "/objectives", whole) or _beginning(client, "/sessions", whole)
    return str(_only_one(found, typed, "objective", "stead objectives --all")["id"])


def find_session(client: Client, typed: str) -> str:
    """The id of the session that begins so. A whole id costs no request.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "s_")
    if len(whole) == _ID_LENGTH:
        return whole
    return str(_only_one(_beginning(client, "/sessions", whole), typed, "session", "stead session list --all")["id"])


def find_checkpoint(client: Client, session: str, typed: str) -> Json:
    """The checkpoint of a session that begins so, with or without its ``k_``.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "k_")
    rows = client.items(f"/sessions/{session}/checkpoints")
    found = [row | {"title": f"turn {row['turn']}"} for row in rows if row["id"].startswith(whole)]
    return _only_one(found, typed, "checkpoint", f"stead session checkpoint {session} --list")


def find_memory(client: Client, typed: str) -> str:
    """The id of the memory that begins so, whatever became of it. A whole id costs no request.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "m_")
    if len(whole) == _ID_LENGTH:
        return whole
    rows = client.items("/memories", status=("live", "superseded", "expired", "retired"), limit=500)
    found = [row["memory"] | {"title": row["memory"]["text"]} for row in rows if row["memory"]["id"].startswith(whole)]
    return str(_only_one(found, typed, "memory", "stead memory list")["id"])


def find_proposal(client: Client, typed: str) -> str:
    """The id of the proposal that begins so, with or without its ``p_``.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "p_")
    rows = [row["proposal"] for row in client.items("/memories/proposals", status="all")]
    found = [row | {"title": row["why"]} for row in rows if row["id"].startswith(whole)]
    return str(_only_one(found, typed, "proposal", "stead memory proposals")["id"])


def find_run(client: Client, typed: str) -> Json:
    """The run of consolidation that begins so, with or without its ``c_``.

    Raises:
        CommandError: none does, or several do; the text names them.
    """
    whole = _with_prefix(typed, "c_")
    rows = client.items("/memories/runs", limit=500)
    found = [row | {"id": row["run"]["run"], "title": row["run"]["by"]} for row in rows]
    return _only_one([row for row in found if row["id"].startswith(whole)], typed, "run", "stead memory runs")


def call_key(typed: str) -> str:
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
    pending = list(client.items("/approvals", status="pending", limit=500))
    if not typed.startswith("s_"):
        whole = _with_prefix(typed, "a_")
        if len(whole) == _ID_LENGTH and typed.startswith("a_"):
            return client.get(f"/approvals/{whole}")
        by_id = [row for row in pending if row["id"].startswith(whole)]
        if by_id or typed.startswith("a_"):
            return _only_one(by_id, typed, "pending approval", "stead approvals")
    session = _with_prefix(typed, "s_")
    of_session = [row for row in pending if row["session"].startswith(session)]
    return _only_one(of_session, typed, "pending approval", "stead approvals")


def _with_prefix(typed: str, prefix: str) -> str:
    hexadecimal = typed.removeprefix(prefix)
    if not hexadecimal or not set(hexadecimal) <= set("0123456789abcdef") or len(hexadecimal) > 16:
        raise CommandError(f"{clean_line(typed, 40)!r} is no id", f"give {prefix}… as lists show it, or its beginning")
    return prefix + hexadecimal


def _beginning(client: Client, path: str, whole: str) -> list[Json]:
    return [row for row in client.items(path, limit=500) if row["id"].startswith(whole)]


def _only_one(found: list[Json], typed: str, what: str, where: str) -> Json:
    if not found:
        raise CommandError(f"no {what} begins with {typed!r}", where, code="not_found")
    if len(found) > 1:
        names = ", ".join(clean_line(f"{row['id']} ({row['title']})", 60) for row in found[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        raise CommandError(f"{typed!r} begins several: {names}{more}", "give more of the id")
    return found[0]
