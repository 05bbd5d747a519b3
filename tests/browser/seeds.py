"""A home in three sizes: nobody was there yet; somebody works there; far too much.

The first two are made through the real API. For the third, events go into the journal through the storage's own
functions before the daemon starts, because ten thousand steps of a real objective take minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stead.domain.ends import WELL
from tests.browser import history
from tests.browser.plays import FERRY
from tests.browser.stage import Stage
from tests.flows.house import use_model
from tests.flows.sitting import Sitting

MEMORY = re.compile("m_[0-9a-f]{16}")
GENEROUS = {"tokens": 2_000_000, "usd_micros": "unlimited"}


def some(stage: Stage) -> None:
    """Somebody works here: a model, objectives in most states, a session with changes, one that waits, things set up.

    ``ids``: objectives ``done``, ``waiting``, ``failed``, ``paused``, ``cancelled``; sessions ``desk`` (two turns, a
    diff, checkpoints) and ``asking`` (its call waits); ``approval``, the question of ``waiting``; ``decision``, the seq
    of one of the guardian's decisions; ``memory``, one that rests on words of the session ``ferries``; ``wick``, one
    that took another's place.
    """
    house, ids = stage.house, stage.ids
    use_model(house, stage.model.openai)
    house.post("/cap", {"daily": {"tokens": 5_000_000, "usd_micros": 20_000_000}})
    house.post("/secrets", {"name": "harbour", "value": "an-invented-value-4711"})
    house.post("/secrets/harbour/bindings", {"binding": {"type": "host", "host": "api.harbour.example.com"}})
    house.post("/egress/hosts", {"host": "docs.harbour.example.com", "directory": str(stage.project)})
    house.post("/rules", {"text": "never run `git push`", "confirmed": True})
    give = {"budget": GENEROUS}
    ids["waiting"] = house.give("Please light the lamps", stage.project, **give)
    ids["done"] = house.give("Please summarise the tides", stage.project, allow=["write"], **give)
    ids["failed"] = house.give("Please summarise the tides at once", stage.project, limits={"iterations": 1}, **give)
    ids["paused"] = house.give("Please count the boats", stage.project, **give)
    ids["cancelled"] = house.give("Please count the boats twice", stage.project, **give)
    desk = _session(stage, "The harbour's code", allow=["edit", "shell"])
    ids["desk"] = desk.id
    desk.turn("Please add the west lamp")
    desk.turn("Now tell me of the harbour")
    asking = _session(stage, "A question")
    ids["asking"] = asking.id
    asking.say("Please count the boats")
    for name in ("waiting", "paused", "cancelled", "asking"):
        house.until(lambda name=name: bool(house.get("/approvals", session=ids[name])["items"]), f"{name} to ask")  # type: ignore[misc]  # the name of this round
    house.post(f"/objectives/{ids['paused']}/pause")
    house.post(f"/objectives/{ids['cancelled']}/cancel")
    house.wait(ids["done"], *WELL)
    house.wait(ids["failed"], "incomplete")
    ids["approval"] = house.get("/approvals", session=ids["waiting"])["items"][0]["id"]
    _remember(stage)
    ids["decision"] = str(house.get("/audit", session=ids["waiting"])["items"][0]["seq"])


def _remember(stage: Stage) -> None:
    """Something of each kind is remembered: said in a session, written by the person, corrected, taken back."""
    house, ids = stage.house, stage.ids
    ferries = _session(stage, "Ferries")
    ids["ferries"] = ferries.id
    ferries.turn(f"Please keep the ferry in mind. {FERRY}")
    ids["memory"] = house.get("/memories", words="ferry")["items"][0]["memory"]["id"]
    here = {"level": "workspace", "directory": str(stage.project)}
    remember(stage, {"text": "Answer in British English.", "kind": "preference", "standing": True, "pinned": True})
    remember(stage, {"text": "Ada Wharf keeps the lighthouse.", "kind": "person", "aliases": ["Ada", "the keeper"]})
    (wick,) = remember(stage, {"text": "The wick is trimmed on Mondays.", "key": "wick.day", "value": "Monday"}, **here)
    answer = house.client().put(f"/memories/{wick}", {"text": "The wick is trimmed on Fridays.", "value": "Friday"})
    (ids["wick"],) = MEMORY.findall(answer["text"])
    (old,) = remember(stage, {"text": "The quay is closed in winter."}, **here)
    house.post("/memories/retire", {"ids": [old]})
    remember(stage, {"text": "The spare key lies under the third step.", "ttl_days": 30}, **here | {"level": "private"})


def remember(stage: Stage, *items: Mapping[str, object], level: str = "global", directory: str = "") -> list[str]:
    """Remember things in the person's words; gives their ids."""
    answer = stage.house.post("/memories", {"items": items, "level": level, "directory": directory})
    return MEMORY.findall(str(answer["text"]))


def _session(stage: Stage, title: str, **fields: object) -> Sitting:
    body = {"directory": str(stage.project), "title": title, "budget": GENEROUS, "profile": "ask", **fields}
    return Sitting(stage.house, str(stage.house.post("/sessions", body)["session"]))


def plenty(stage: Stage) -> None:
    """Far too much, written before the daemon starts: see ``history.py``. The model can still be used.

    ``ids``: ``long``, an objective of 10,000 steps; ``talk``, a session of 5,000 events; and 500 objectives that ended.
    """
    stage.ids |= history.write(stage.house.home, str(stage.project))
