"""One session that an editor has open: its timeline is followed and sent, its questions are put, its prompts end.

Layer: a door. The daemon says how a session stands; nothing is decided here. What other doors do to the session is sent
as it happens, and a question that is answered elsewhere is taken back.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from stead.client import ApiError, Client, Json, NoDaemon
from stead.domain.ends import ENDS
from stead.protocols.acp.jsonrpc import INTERNAL, Peer, Request
from stead.protocols.acp.options import NOTHING, Chosen, choose, config_options
from stead.protocols.acp.questions import Questions
from stead.protocols.acp.rendering import Renderer, message

AWAY_S = 20.0
"""How long a prompt waits for a daemon that went away."""
AWAY_SHOWN_S = 4.0
_TICK_S = 1.0
_AT_REST = ("idle", "paused", "closed", *ENDS)
_STOPS = {
    "done": "end_turn",
    "budget": "max_tokens",
    "context": "max_tokens",
    "iterations": "max_turn_requests",
    "wall_time": "max_turn_requests",
}
"""Why a turn ended, as the protocol has it; anything else is something that the model or its provider would not do."""


Work = Callable[[Callable[[], None]], None]
"""Has something done in another thread."""


class _Prompt(NamedTuple):
    request: Request
    seq: int


class OpenSession:
    """A session as one editor has it open.

    Args:
        peer: the editor.
        client: of this session alone; it starts no daemon.
        row: of the session.
        work: has something done after what the session was given before.
        terminals: see ``Renderer``.
    """

    def __init__(self, peer: Peer, client: Client, row: Json, work: Work, *, terminals: bool) -> None:
        self.id: str = row["id"]
        self.directory: str = row["directory"]
        self.chosen: Chosen = NOTHING
        self._peer = peer
        self._client = client
        self._row = row
        self._seq = self._heard = 0
        self._looked_s = 0.0
        self._rested = False
        self._shown = NOTHING, ""
        self._renderer = Renderer(self.directory, partial(_picture, client), terminals=terminals)
        self._lock = threading.RLock()
        self._questions = Questions(peer, client, self._renderer, self.id, _locked(self._lock, work), self.update)
        self._prompts: list[_Prompt] = []
        self._items: dict[int, Json] = {}
        self._behind = True
        self._cancelled = self._stopping = False
        self.cancels = 0
        """How often what is under way was cancelled; counted as it comes, before it is carried out."""
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def update(self, update: Json) -> None:
        """Tell the editor something of this session."""
        self._peer.notify("session/update", {"sessionId": self.id, "update": update})

    def read(self, *, tell: bool) -> None:
        """Take in the timeline up to now; ``tell`` all of it, or count it as known."""
        with self._lock:
            for update in self._pull():
                if tell:
                    self.update(update)
            self._shown = self.chosen, self._row["title"]

    def choose(self, client: Client, option: str, value: object) -> None:
        """Set an option.

        Raises:
            RpcError: there is no such option, or no such value.
            ApiError: the daemon refused.
        """
        with self._lock:
            self.chosen = choose(client, self.id, self.chosen, option, value)
            self._shown = self.chosen, self._shown[1]

    def follow(self) -> None:
        """Tell from now on what happens."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._follow, daemon=True)
                self._thread.start()

    def hand_over(self, other: OpenSession) -> None:
        """Tell no more; what waits for an answer waits in another one of the same session."""
        with self._lock:
            other._prompts, self._prompts = self._prompts, []
        self.close()

    def close(self) -> None:
        """Tell no more; the session goes on."""
        self._closed.set()
        with self._lock:
            self._questions.forget()
            self._end_prompts("cancelled")

    # -- prompts ------------------------------------------------------------------------------------------------------

    def prompt(self, request: Request, client: Client, body: Json) -> None:
        """Say something, and answer the request when the session rests.

        Raises:
            ApiError: it was not taken.
        """
        if self.cancels != request.mark:  # it never began
            request.answer({"stopReason": "cancelled"})
            return
        with self._lock:
            said = [body["text"], *(f"[{one['name']}]" for one in body.get("context", ()))]
            self._renderer.sent += said
            # What a cancelled prompt had asked for does not hold up this one.
            body, cancelled, self._cancelled = {**body, "interrupt": self._cancelled}, self._cancelled, False
        try:
            if cancelled and self._row["agents"]:
                _end_subagents(client, self.id, self._peer.log)
            answer = client.post(f"/sessions/{self.id}/messages", body)
        except ApiError:
            with self._lock:
                self._renderer.sent = [one for one in self._renderer.sent if one not in said]
            raise
        with self._lock:
            if answer["intent"]:  # it needed no model: Stead's own answer is all there is
                self._renderer.sent = [one for one in self._renderer.sent if one not in said]
                self.update(message(f"{answer['text']}\n"))
                request.answer({"stopReason": "end_turn"})
                return
            self._prompts.append(_Prompt(request, answer["seq"]))
            if self.cancels != request.mark:  # before the daemon had it
                self._cancelled = True
                self._stop(client)
            if answer["text"]:
                self.update(message(f"({answer['text']})\n\n"))
            self._settle()
        self.follow()

    def cancel(self, client: Client) -> None:
        """Stop what is under way; open prompts end as cancelled once it has."""
        with self._lock:
            waits = bool(self._prompts) or self._row["status"] not in _AT_REST
            if waits:
                self._cancelled = self._stopping = True
                self._questions.forget()
        if waits:
            self._stop(client)
            with suppress(ApiError):  # who follows meets it as well, and says so
                self._catch_up()

    def _stop(self, client: Client) -> None:
        try:
            client.post(f"/sessions/{self.id}/stop", {"why": "cancelled in the editor"})
        except ApiError as error:
            self._peer.log(f"{self.id} was not stopped: {error.message}")
        self._behind, self._stopping = True, False

    def _settle(self) -> None:
        """End the prompts that the session has done with; at rest, tell how full its context is."""
        rested, self._rested = self._rested, self._row["status"] in _AT_REST
        ended = self._rested and any(prompt.seq <= self._seq for prompt in self._prompts)
        if self._row["status"] == "idle" and (ended or not rested):
            self._tell_usage()
        if ended:
            if self._row["status"] == "idle":
                self._end_prompts(_STOPS.get(self._row["reason"], "refusal"))
            else:
                self._end_prompts("cancelled")

    def _end_prompts(self, reason: str) -> None:
        for prompt in self._prompts:
            if prompt.seq <= self._seq or self._closed.is_set():
                prompt.request.answer({"stopReason": reason})
        self._prompts = [prompt for prompt in self._prompts if prompt.seq > self._seq and not self._closed.is_set()]

    def _tell_usage(self) -> None:
        try:
            row = self._client.get(f"/sessions/{self.id}/context")
        except ApiError:
            return  # no prompt waits for a figure
        usage: Json = {"sessionUpdate": "usage_update", "used": row["tokens"], "size": row["window_tokens"]}
        if self._row["price_known"]:
            usage["cost"] = {"amount": self._row["usd_micros_used"] / 1_000_000, "currency": "USD"}
        self.update(usage)

    # -- following ----------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        try:
            self._watch()
        except ApiError as error:
            self._give_up(error.message)
        except Exception as error:  # noqa: BLE001 - the top of a thread: an editor must not wait for ever
            self._give_up(f"this should not have happened: {type(error).__name__}: {error}")

    def _give_up(self, why: str) -> None:
        if self._closed.is_set():
            return
        self._peer.log(f"{self.id} is followed no more: {why}")
        with self._lock:
            self._thread = None
            self._questions.forget()
            for prompt in self._prompts:
                prompt.request.fail(INTERNAL, f"{why}. The session is kept; say more, or load it again")
            self._prompts = []

    def _watch(self) -> None:
        stream = self._client.stream(self._seq, [self.id])
        away_since, said = 0.0, False
        try:
            while not self._closed.is_set():
                self._catch_up()
                batch = stream.next(_TICK_S)
                if stream.connected:
                    away_since = 0.0
                elif not away_since:
                    away_since = time.monotonic()
                    said = False
                elif not said and time.monotonic() - away_since > AWAY_SHOWN_S:
                    said = True
                    self.update(message("(The daemon is away; start it with: stead up)\n\n"))
                elif time.monotonic() - away_since > AWAY_S:
                    raise NoDaemon("the daemon is away; start it with: stead up")
                with self._lock:
                    self._take(batch)
        finally:
            stream.close()

    def _take(self, batch: Iterable[Json]) -> None:
        for envelope in batch:
            if (seq := envelope.get("seq")) is not None:
                self._heard = max(self._heard, seq)
                continue
            if self._heard > self._seq:
                self._catch_up()
            for update in self._renderer.piece(envelope["body"]):
                self.update(update)

    def _catch_up(self) -> None:
        """Read and tell what was heard of; while a stop is under way that waits, and is said at once with its end."""
        with self._lock:
            # What a subagent asks is in its own stream.
            looks = self._row["agents"] and time.monotonic() - self._looked_s >= _TICK_S
            if self._closed.is_set() or self._stopping or not (looks or self._behind or self._heard > self._seq):
                return
            self._behind, self._looked_s = True, time.monotonic()
            try:
                for update in self._pull():
                    self.update(update)
                self._tell_changes()
                self._behind = not self._questions.put(self._row)
                self._settle()
            except NoDaemon:
                return  # the stream says so when it stays away; what was not sent yet is sent later

    def _tell_changes(self) -> None:
        """Tell the title, and options that were set elsewhere."""
        chosen, title = self._shown
        self._shown = self.chosen, self._row["title"]
        if title != self._row["title"]:
            self.update({"sessionUpdate": "session_info_update", "title": self._row["title"]})
        if chosen != self.chosen:
            listed = config_options(self._client, self.chosen)
            self.update({"sessionUpdate": "config_option_update", "configOptions": listed})

    def _pull(self) -> Iterable[Json]:
        """The updates of what is new in the timeline."""
        more = True
        while more:
            page = self._client.get(f"/sessions/{self.id}/timeline", after=self._seq)
            self._items |= {item["place"]: item for item in page["items"]}
            self._seq, self._row, more = page["seq"], page["row"], page["more"]
        for place in sorted(self._items):
            self.chosen = self.chosen.after(self._items[place])
            yield from self._renderer.item(self._items[place])
            del self._items[place]


def _locked(lock: threading.RLock, work: Work) -> Work:
    """Work that holds a lock."""

    def locked(act: Callable[[], None]) -> None:
        with lock:
            act()

    return lambda act: work(partial(locked, act))


def _end_subagents(client: Client, session: str, log: Callable[[str], None]) -> None:
    for row in client.items(f"/sessions/{session}/agents"):
        if row["parent"] == session and row["status"] not in ENDS:
            try:
                client.post(f"/objectives/{row['id']}/cancel")
            except ApiError as error:
                log(f"{row['id']} was not cancelled: {error.message}")  # it may have ended just now


def _picture(client: Client, content: str) -> str:
    """What a message showed, in Base64; "" for what was erased."""
    try:
        return base64.b64encode(client.content(f"/attachments/{content}")).decode()
    except NoDaemon:
        raise
    except ApiError:
        return ""
