"""What a model finds again of what was said and done, over a real journal and its read models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.config import Home
from stead.domain import events as ev
from stead.domain.errors import InvalidRequest
from stead.domain.ids import SessionId, WorkspaceId
from stead.domain.policies import Label
from stead.domain.ports import HistoryQuery
from stead.domain.tools import ToolContext, ToolOutcome
from stead.guardian import policy
from stead.storage.history import History
from stead.storage.journal import JournalFile, open_journal
from stead.storage.views import Views
from stead.tools.history import OWN_TOOLS, HistoryAllTool, HistoryTool
from stead.tools.output import OUTPUT_CAP
from tests.build import START_MS, Story, created, desk
from tests.machines.bench import SESSION
from tests.storage.drafts import KEYS, draft, finished, session, stream
from tests.tools.test_files_and_shell import permit_for

OTHER = session(2)
HOUR_MS = 3_600_000


class Record:
    """A journal, its read models, and both tools over them."""

    def __init__(self, home: Home, journal: JournalFile) -> None:
        self.journal = journal
        self.views = Views(home.views / "default.db", KEYS, journal, now_ms=lambda: START_MS)
        self.history = history = History(self.views.reading, OWN_TOOLS)
        self.tools = {tool.spec.name: tool for tool in (HistoryTool(history), HistoryAllTool(history))}

    async def tell(self, id: SessionId, *bodies: ev.Body, first: int = 1, ts_ms: int = START_MS) -> None:
        await self.journal.append(stream(id, bodies, first=first, ts_ms=ts_ms))

    async def call(self, name: str, **arguments: object) -> ToolOutcome:
        tool = self.tools[name]
        parsed = tool.parse(json.dumps(arguments))
        permit = permit_for(name, parsed)
        return await tool.run(permit, parsed, ToolContext(SESSION, lambda _: None))

    async def text(self, name: str, **arguments: object) -> str:
        outcome = await self.call(name, **arguments)
        assert outcome.status == "ok", outcome
        return outcome.text


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    home = Home(tmp_path / "home")
    home.make()
    journal = open_journal(home.journal, KEYS)
    made = Record(home, journal)
    yield made
    made.views.close()
    journal.close()


async def test_everything_that_was_said_and_done_here_is_found_with_its_place_and_date(record: Record) -> None:
    story = Story(created("count the otters")).tell(ev.MessageReceived("and the herons", "cli", Label()))
    story.ask().reply("Looking for badgers.", ("shell", '{"command": "grep -r weasels ."}')).run(text="three lynxes")
    bodies = [event.body for event in story.events]
    await record.tell(SESSION, *bodies)
    assert await record.text("history", query="otters") == f"[1] 2027-01-15 08:00 {SESSION} goal count the «otters»"
    assert (await record.text("history", query="heron")).endswith("person and the «herons»")
    assert (await record.text("history", query="badgers weasels")).endswith(
        "model Looking for «badgers». shell grep -r «weasels» ."
    )
    assert (await record.text("history", query="lynx")).endswith("shell: ok three «lynxes»")
    assert await record.text("history", query="otters lynxes") == "Nothing was found; try fewer words."
    assert await record.text("history", query="*") == "Nothing was found; try fewer words."
    newest_first = await record.text("history")
    assert [line.split("]")[0] for line in newest_first.splitlines()] == ["[6", "[4", "[2", "[1"]


async def test_a_result_that_is_no_longer_in_the_context_is_read_whole(record: Record) -> None:
    long = "".join(f"line {number}\n" for number in range(3_000))
    await record.tell(SESSION, created("read it"), finished(f"{long}the needle"))
    (line,) = (await record.text("history", query="needle")).splitlines()
    event = int(line[1:].partition("]")[0])
    pages = [await record.text("history", event=event, page=page) for page in (1, 2)]
    assert all(len(page) <= OUTPUT_CAP for page in pages)
    assert pages[0].startswith(f"[{event}] 2027-01-15 08:00 {SESSION} shell: ok\nline 0\n")
    assert pages[1].endswith("\n[page 2 of 2]")
    whole = "".join(page.partition("\n")[2].rpartition("\n[page")[0] for page in pages)
    assert whole == f"{long}the needle"
    missing = await record.call("history", event=99)
    assert (missing.status, "event 99" in missing.text) == ("error", True)


async def test_a_session_looks_into_others_by_the_tool_for_that_alone(record: Record) -> None:
    await record.tell(SESSION, created("count the otters"))
    await record.tell(OTHER, created("feed the otters"))
    assert "feed" not in await record.text("history", query="otters")
    refused = await record.call("history", event=2)
    assert (refused.status, "history_all" in refused.text, "feed" in refused.text) == ("error", True, False)
    assert len((await record.text("history_all", query="otters")).splitlines()) == 2
    assert "count" not in await record.text("history_all", query="otters", session=OTHER)
    assert "feed the otters" in await record.text("history_all", event=2)
    with pytest.raises(InvalidRequest):
        record.tools["history"].parse(json.dumps({"session": "all"}))


async def test_hits_are_narrowed_by_date_and_come_in_pages(record: Record) -> None:
    await record.tell(SESSION, created("otters"), *[finished("an otter")] * 45)
    await record.tell(SESSION, finished("a late otter"), first=47, ts_ms=START_MS + 30 * HOUR_MS)
    pages = [await record.text("history", query="otter", page=page) for page in (1, 2, 3)]
    assert [len(page.splitlines()) for page in pages] == [21, 21, 7]
    assert pages[0].endswith("[more on page 2]") and "more on page" not in pages[2]
    assert await record.text("history", query="otter", page=4) == "Nothing more."
    assert "late" in (late := await record.text("history", query="otter", after="2027-01-16"))
    assert len(late.splitlines()) == 1
    early = await record.text("history", query="otter", before="2027-01-15T08:00:02")
    assert len(early.splitlines()) == 2
    assert "late" in await record.text("history", after="2027-01-16T14:00:00+00:00")
    for wrong in ("yesterday", "2027-13-01"):
        outcome = await record.call("history", query="otter", after=wrong)
        assert (outcome.status, "2026-01-31" in outcome.text) == ("error", True), wrong


async def test_what_it_found_before_is_no_hit(record: Record) -> None:
    again = ev.ToolFinished(finished().key, "history", "ok", "[1] an otter", Label(), 12, 5)
    elsewhere = ev.ToolFinished(finished().key, "history_all", "ok", "[1] an otter", Label(), 12, 5)
    await record.tell(SESSION, created("otters"), again, elsewhere)
    assert len((await record.text("history", query="otter")).splitlines()) == 1
    assert len(record.views.search("otter")) == 3, "people find it all the same"


async def test_deleted_sessions_and_those_of_other_workspaces_are_not_there(record: Record) -> None:
    await record.tell(SESSION, created("count the otters"))
    await record.tell(OTHER, created("feed the otters"), finished("otters are fed"), ev.SessionDeleted())
    foreign = created("sell the otters")
    await record.journal.append([draft(session(3), 1, replace(foreign, workspace=WorkspaceId("w2")))])
    assert await record.text("history_all", query="otters") == await record.text("history", query="otters")
    assert (await record.call("history_all", event=3)).status == "error"
    assert (await record.call("history_all", event=5)).status == "error"
    record.views.rebuild()
    assert len((await record.text("history_all", query="otters")).splitlines()) == 1


def test_the_own_record_is_thought_and_that_of_others_an_account(record: Record) -> None:
    own, others = (record.tools[name].spec for name in ("history", "history_all"))
    assert own.deferred and others.deferred
    assert not policy.reads_account(own.declaration) and policy.reads_account(others.declaration)
    for spec in (own, others):
        assert not policy.changes(spec.declaration)
        assert (spec.declaration.output_trust, spec.declaration.sensitivity) == ("untrusted", "private")


async def test_other_folders_and_what_a_person_works_in_themselves_are_seen_as_memorys_scopes_have_it(
    record: Record,
) -> None:
    shop, here, desk_here = session(3), session(4), session(5)
    await record.tell(SESSION, created("count the otters"))
    await record.tell(shop, replace(created("otters in the shop"), directory="/ada/shop"))
    await record.tell(here, created("otters by the sea"))
    attended = replace(desk("otters at the desk"), directory=created().directory)
    await record.tell(desk_here, attended)
    found = await record.text("history_all", query="otters")
    assert (["otters", "by", "the", "sea"][-1] in found, "shop" in found, "desk" in found) == (True, False, False)
    for seq in (2, 4):
        outcome = await record.call("history_all", event=seq)
        assert outcome.status == "error", "an event of theirs is not there for it"
    looked = record.history.search(HistoryQuery("otters", "", 0, 2**62, 0, desk_here), 10)
    assert {row.session for row in looked} == {SESSION, here, desk_here}, "who sits at the desk sees it all"
    assert {row.session for row in record.history.search(HistoryQuery("otters", "", 0, 2**62), 10)} >= {shop}
