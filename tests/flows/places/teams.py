"""Ada's chat on Microsoft Teams."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.gate import Gate
from tests.fakes.teams import SECRET, FakeTeams, Json, teams
from tests.flows.places import Aside, Place, aside, gated
from tests.flows.places.posting import Posting, posting

WHO = {"person": "29:ada", "chat": "a:ada"}


class TeamsPlace(Place):
    """See ``Place``."""

    def __init__(self, served: Aside[FakeTeams], sender: Posting, gates: list[Gate]) -> None:
        super().__init__("teams", {"secret": SECRET}, served.server.settings, posts=True, gates=gates)
        self._teams, self._run, self._sender = served.server, served.run, sender
        self._agreed: set[str] = set()
        """Messages that asked her to take a file; she does when she looks."""

    def _posts(self, activity: Json) -> None:
        body = json.dumps(activity).encode()
        kind = "application/json"
        headers = lambda: {"content-type": kind, "authorization": self._teams.signed(activity)}  # noqa: E731
        self._sender.post(lambda: self.url, body, headers)

    def writes(self, text: str) -> None:
        self._posts(self._run(self._teams.activity, text, **WHO))

    def request(self, text: str, *, age_s: int = 0) -> tuple[bytes, Mapping[str, str]]:
        activity, now = self._run(self._teams.activity, text, **WHO), int(time.time())
        said = self._teams.signed(activity, nbf=now - age_s - 10, exp=now - age_s + 60)
        return json.dumps(activity).encode(), {"content-type": "application/json", "authorization": said}

    def sends(self, name: str, data: bytes, words: str) -> None:
        self._posts(self._run(self._teams.shares, name, data, words, **WHO))

    def sent(self) -> list[str]:
        return [str(one["text"]) for one in self._taken() if one.get("text")]

    def files(self) -> list[bytes]:
        attached = [(one, card) for one in self._taken() for card in one.get("attachments", ())]
        for asked, card in attached:
            if card["contentType"].endswith(".consent") and asked["id"] not in self._agreed:
                self._agreed.add(asked["id"])
                self._posts(self._run(self._teams.consents, asked, person=WHO["person"]))
        given = [card["content"]["uniqueId"] for _, card in attached if card["contentType"].endswith(".file.info")]
        return [data for id in given if (data := self._teams.drive[id])]

    def presses(self, part: str, button: str) -> None:
        asked = next(one for one in reversed(self._taken()) if part in one.get("text", ""))
        rows = [row for card in asked["attachments"] for row in card["content"]["body"]]
        data = next(one["data"] for row in rows for one in row["actions"] if one["title"] == button)
        self._posts(self._run(self._teams.activity, "", **WHO, value=data, replyToId=asked["id"]))

    def cut(self) -> None:
        self._sender.cut()
        self._run(self._teams.cut)

    def revokes(self) -> None:
        self._teams.revoked = True

    def renews(self) -> Mapping[str, str]:
        self._teams.revoked = False
        return {"secret": SECRET}

    def _taken(self) -> list[Json]:
        """The messages as they stand now."""
        now = {one["id"]: one for one in self._run(lambda: [*self._teams.sent, *self._teams.edits])}
        return list(now.values())


@contextmanager
def place() -> Iterator[Place]:
    """The double, served."""
    gates: list[Gate] = []
    with aside(lambda: gated(teams(), "port", gates)) as served, posting() as sender:
        yield TeamsPlace(served, sender, gates)
