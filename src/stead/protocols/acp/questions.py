"""What a session asks, put to the person in the editor.

Layer: a door. The editor is one door among others: the first answer wins, and a question that is settled elsewhere is
taken back. An answer carries the digest of what was shown. Three answers exist here: this once, for this session, no;
what reaches further is answered where its terms can be read. A yes counts only if all of it was shown, and for
something risky not at once, as programs answer.

A subagent has no session in the editor. Its question is put in the session that it works for, about a call that the
editor hears of first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from stead.client import ApiError, Client, Json
from stead.domain.shown import must_be_opened, reveal
from stead.protocols.acp.jsonrpc import Peer
from stead.protocols.acp.rendering import Renderer, message, nested, settled, text_block, wanted

DWELL_S = 1.2
HASTY_LIMIT = 3
"""So many answers that came too quickly, and the question is left to the other doors."""
_ONCE = {"optionId": "once", "name": "Allow once", "kind": "allow_once"}
_SESSION = {"optionId": "session", "name": "Allow for this session", "kind": "allow_always"}
_SHOW = {"optionId": "show", "name": "Show all of it, then ask again", "kind": "allow_once"}
_DENY = {"optionId": "deny", "name": "Deny", "kind": "reject_once"}


class _Asked:
    """A question that is open in the editor."""

    def __init__(self, row: Json) -> None:
        self.row = row
        self.whole = not must_be_opened(row["arguments"])
        self.hasty = 0
        self.request = 0
        self.shown_s = 0.0
        self.call: str = row["key"]
        """What the editor knows the call by."""

    @property
    def options(self) -> list[Json]:
        if not self.whole:
            return [_SHOW, _DENY]
        return [_ONCE, *([_SESSION] if self.row["shape"] else []), _DENY]


@dataclass(eq=False, repr=False)
class Questions:
    """The open questions of a session, in one editor.

    Args:
        peer: the editor.
        client: answers go to its daemon.
        renderer: knows which calls the editor has heard of.
        session: whose.
        work: has something done outside of the reading thread, while nothing else is done for the session.
        tell: sends an update of the session.
    """

    _peer: Peer
    _client: Client
    _renderer: Renderer
    _session: str
    _work: Callable[[Callable[[], None]], None]
    _tell: Callable[[Json], None]

    def __post_init__(self) -> None:
        self._open: dict[str, _Asked] = {}
        self._left: set[str] = set()
        self._nested: dict[str, str] = {}

    def put(self, row: Json) -> bool:
        """Ask what is new, and take back what is settled.

        Whether every question that waits was put: one whose call the editor has not heard of is not.
        """
        rows = self._client.items("/approvals", session=self._session) if row["pending_approvals"] else ()
        pending = {question["id"]: question for question in rows}
        for id in [id for id in self._open if id not in pending]:
            self._peer.withdraw(self._open.pop(id).request)
        for id in [id for id in self._nested if id not in pending]:
            self._tell(settled(self._nested.pop(id), self._client.get(f"/approvals/{id}")))
        self._left &= pending.keys()
        new = [question for id, question in pending.items() if id not in self._open and id not in self._left]
        ready = [question for question in reversed(new) if self._is_known(question)]
        for question in ready:
            self._open[question["id"]] = asked = _Asked(question)
            if question["session"] != self._session:
                asked.call = self._nested[question["id"]] = f"{question['session']}.{question['key']}"
                self._tell(nested(asked.call, question))
            self._ask(asked)
        return len(ready) == len(new)

    def _is_known(self, question: Json) -> bool:
        return question["session"] != self._session or self._renderer.knows(question["key"])

    def forget(self) -> None:
        """Take every question back; what waits goes on waiting elsewhere."""
        for id, asked in self._open.items():
            self._left.add(id)
            self._peer.withdraw(asked.request)
        self._open = {}

    def _ask(self, asked: _Asked, note: str = "") -> None:
        row = asked.row
        arguments = row["arguments"]
        text = f"{note}{row['tool']} asks, risk {row['risk']}: {reveal(row['reason'])} (rule {row['rule']})"
        values = json.loads(arguments)
        shown = reveal(json.dumps(values, ensure_ascii=False, indent=1) if asked.whole else arguments[:2000])
        content = [text_block(text), text_block(shown, fence=True, limit=len(shown)), *self._diffs(asked, values)]
        if row["session"] == self._session:
            self._renderer.replaced(row["key"], content)
        call = {"toolCallId": asked.call, "status": "pending", "content": content}
        asked.shown_s = time.monotonic()
        params = {"sessionId": self._session, "toolCall": call, "options": asked.options}
        asked.request = self._peer.ask(
            "session/request_permission", params, lambda result: self._work(partial(self._hear, asked, result))
        )

    def _diffs(self, asked: _Asked, values: Json) -> list[Json]:
        return wanted(asked.row["directory"], values) if asked.whole else []

    def _hear(self, asked: _Asked, result: Json | None) -> None:
        """Carry out what the editor answered; what it was not offered, or no answer, leaves the question open."""
        row = asked.row
        if self._open.get(row["id"]) is not asked:
            return
        outcome = (result or {}).get("outcome")
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if chosen not in [option["optionId"] for option in asked.options]:
            self._leave(asked)
        elif chosen == "show":
            asked.whole = True
            self._ask(asked, "All of it. ")
        elif chosen != "deny" and row["risk"] in ("high", "critical") and time.monotonic() - asked.shown_s < DWELL_S:
            asked.hasty += 1
            if asked.hasty == HASTY_LIMIT:
                self._leave(asked)
            else:
                self._ask(asked, "That was quick for something risky; read it, and answer again. ")
        else:
            self._decide(row, str(chosen))

    def _leave(self, asked: _Asked) -> None:
        id = asked.row["id"]
        self._open.pop(id, None)
        self._left.add(id)
        self._tell(message(f"The question stays open. Answer it in the page, or with: stead approve {id}\n\n"))

    def _decide(self, row: Json, answer: str) -> None:
        body = {"answer": answer, "digest": row["digest"], "reason": "", "whole": answer != "deny"}
        self._open.pop(row["id"], None)
        self._left.add(row["id"])
        try:
            self._client.post(f"/approvals/{row['id']}/decision", body)
        except ApiError as error:
            self._tell(message(f"(Your answer did not count: {error.message})\n\n"))
